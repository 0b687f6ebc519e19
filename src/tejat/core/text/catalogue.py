"""A catalogue of names and descriptions for a prompt, cut to a number of tokens."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.frozen import Frozen
from tejat.core.messages.tokens import estimate_text_tokens

MIN_DESCRIPTION = 80
"""Descriptions are cut to this length before they are left out."""
MAX_DESCRIPTION = 1024

_LENGTHS = (MAX_DESCRIPTION, 768, 512, 384, 256, 192, 128, MIN_DESCRIPTION, 0)
_SENTENCE_END = r"[.!?](?=\s|$)"


class CatalogueItem(Frozen):
    name: str
    description: str


class FittedCatalogue(Frozen):
    """The items that fit, and the names `left_out`. `is_cut`: descriptions are shortened or missing."""

    items: tuple[CatalogueItem, ...]
    tokens: int
    is_cut: bool = False
    left_out: tuple[str, ...] = ()


def fit_catalogue(items: Sequence[CatalogueItem], *, tag: str, max_tokens: int) -> FittedCatalogue:
    """Cut descriptions at the end of a sentence, all to the same length, then leave out items from the end.

    `tag` is the element of one item in `render_catalogue`. A `max_tokens` of 0 means no limit, except that very long
    descriptions are cut.
    """
    items = [CatalogueItem(item.name, " ".join(item.description.split())) for item in items]
    for length in _LENGTHS:
        cut = tuple(CatalogueItem(item.name, shorten_description(item.description, length)) for item in items)
        tokens = estimate_text_tokens(render_catalogue(cut, tag=tag))
        if not max_tokens or tokens <= max_tokens:
            is_cut = any(len(now.description) < len(item.description) for now, item in zip(cut, items, strict=True))
            return FittedCatalogue(cut, tokens, is_cut=is_cut)
    kept = [CatalogueItem(item.name, "") for item in items]
    left_out: list[str] = []
    while kept and estimate_text_tokens(render_catalogue(kept, tag=tag)) > max_tokens:
        left_out.append(kept.pop().name)
    tokens = estimate_text_tokens(render_catalogue(kept, tag=tag))
    return FittedCatalogue(tuple(kept), tokens, is_cut=True, left_out=tuple(reversed(left_out)))


def render_catalogue(items: Sequence[CatalogueItem], *, tag: str) -> str:
    """The items as XML, with markup in their texts escaped."""
    return "\n".join(line for item in items for line in _lines(item, tag))


def _lines(item: CatalogueItem, tag: str) -> Iterator[str]:
    yield f"  <{tag}>"
    yield f"    <name>{escape_markup(item.name)}</name>"
    if item.description:
        yield f"    <description>{escape_markup(item.description)}</description>"
    yield f"  </{tag}>"


def escape_markup(text: str) -> str:
    """Write `<`, `>` and `&` so that a text cannot end the element it is in."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shorten_description(text: str, length: int) -> str:
    """A description of one line with at most this many characters, ended at a sentence if one ends late enough."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    if length < MIN_DESCRIPTION:
        return ""
    ends = [found.end() for found in re.finditer(_SENTENCE_END, line[: length + 1]) if found.end() <= length]
    if ends and ends[-1] >= length // 2:
        return line[: ends[-1]]
    return line[: length - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
