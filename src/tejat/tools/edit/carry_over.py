"""Makes a change that was meant for one text in another that differs a little from it.

What the change leaves alone stays as it is found, down to the white space; only what it changes is written. Where both
differ at the same place nobody knows what is right, and the change is refused.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tejat.tools.edit.distance import distance
from tejat.workspace.line_edits import Edit, line_edits

SLIP = 5
"""One character in so many may differ in what is replaced or deleted. Digits may not: they are no slips."""

_BLANK_BEFORE = re.compile(r"\A(?:[ \t]*\n)*")
_BLANK_BEHIND = re.compile(r"(?:\n[ \t]*)*\Z")
_TOKEN = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")
_DIGITS = re.compile(r"\d+")

_Settle: TypeAlias = Callable[[Sequence[str], Sequence[str], Sequence[str]], "Sequence[str] | None"]
"""Says what becomes of a place that the change touches, from what it was thought to be, what it is, and the new."""


def carried_over(old: str, found: str, new: str) -> str | None:
    """What `found` becomes by the change from `old` to `new`; None if that is not certain. Lines end with LF."""
    old_core, found_core, new_core = _Core(old), _Core(found), _Core(new)
    before = _outer(old_core.before, found_core.before, new_core.before)
    behind = _outer(old_core.behind, found_core.behind, new_core.behind)
    if before is None or behind is None:
        return None
    lines = _merged_lines(old_core.text.split("\n"), found_core.text.split("\n"), new_core.text.split("\n"))
    return None if lines is None else before + "\n".join(lines) + behind


class _Core:
    """A text and the blank lines around it, which models add and forget as they like."""

    __slots__ = ("before", "behind", "text")

    def __init__(self, text: str) -> None:
        before = _BLANK_BEFORE.match(text)
        self.before = before[0] if before and text.strip() else ""
        rest = text[len(self.before) :]
        behind = _BLANK_BEHIND.search(rest)
        self.behind = behind[0] if behind else ""
        self.text = rest[: len(rest) - len(self.behind)]


def _outer(old: str, found: str, new: str) -> str | None:
    if found == old:
        return new
    return found if new == old else None


def _merged_lines(old: Sequence[str], found: Sequence[str], new: Sequence[str]) -> Sequence[str] | None:
    places = _places(old, found, blur=_without_white_space)
    indentation = _Indentation([(old[i], found[place]) for i, place in enumerate(places) if place is not None])

    def settle(was: Sequence[str], actual: Sequence[str], becomes: Sequence[str]) -> Sequence[str] | None:
        indented = indentation.of(becomes, was, actual)
        if indented is None or list(map(_without_white_space, was)) == list(map(_without_white_space, actual)):
            return indented
        remembered = [_reindented(line, _indent(there)) for line, there in zip(was, actual, strict=True)]
        return _merged_words(remembered, actual, indented)

    return _merged(old, found, new, places, settle)


def _merged_words(old: Sequence[str], found: Sequence[str], new: Sequence[str]) -> Sequence[str] | None:
    old_words, found_words, new_words = (_words(lines) for lines in (old, found, new))
    words = _merged(old_words, found_words, new_words, _places(old_words, found_words, blur=str), _if_known)
    if words is None or words[-1:] not in ([], ["\n"]):
        return None
    return "".join(words).split("\n")[:-1]


def _words(lines: Sequence[str]) -> list[str]:
    """Every line ends with a word that is its end, so that no lines are something else than an empty one."""
    return [word for line in lines for word in _TOKEN.findall(f"{line}\n")]


def _if_known(was: Sequence[str], actual: Sequence[str], becomes: Sequence[str]) -> Sequence[str] | None:
    return becomes if actual in (was, becomes) or _is_slip("".join(was), "".join(actual)) else None


def _is_slip(given: str, actual: str) -> bool:
    return _DIGITS.findall(given) == _DIGITS.findall(actual) and distance(given, actual) <= len(given) // SLIP


def _merged(
    old: Sequence[str], found: Sequence[str], new: Sequence[str], places: "list[int | None]", settle: _Settle
) -> list[str] | None:
    merged: list[str] = []
    done = 0
    for edit in line_edits(old, new):
        span = _span(places, edit, len(found))
        if span is None:
            return None
        start, end = span
        settled = settle(old[edit.old_start : edit.old_end], found[start:end], new[edit.new_start : edit.new_end])
        if settled is None:
            return None
        merged += [*found[done:start], *settled]
        done = end
    return [*merged, *found[done:]]


def _places(old: Sequence[str], found: Sequence[str], *, blur: Callable[[str], str]) -> "list[int | None]":
    """Where each item of `old` stands in `found`; None for those in stretches that have no like number there."""
    places: list[int | None] = []
    shift = 0
    for edit in line_edits([blur(item) for item in old], [blur(item) for item in found]):
        places += range(len(places) + shift, edit.new_start)
        count = edit.old_end - edit.old_start
        is_alike = count == edit.new_end - edit.new_start
        places += range(edit.new_start, edit.new_end) if is_alike else [None] * count
        shift = edit.new_end - edit.old_end
    places += range(len(places) + shift, len(found))
    return places


def _span(places: "list[int | None]", edit: Edit, found_end: int) -> tuple[int, int] | None:
    """Where in `found` the edit takes place; None where something is there that was not thought of, or is missing."""
    start, end = edit.old_start, edit.old_end
    if start < end:
        first = places[start]
        if first is None or places[start:end] != list(range(first, first + end - start)):
            return None
        return first, first + end - start
    before = places[start - 1] if start else -1
    behind = places[start] if start < len(places) else found_end
    return (behind, behind) if before is not None and behind is not None and before + 1 == behind else None


class _Indentation:
    """How the indentation of lines that were thought to be there is really written."""

    __slots__ = ("_added", "_known", "_removed")

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        """`pairs` are lines as they were thought to be, and as they are."""
        indents = [(_indent(old), _indent(found)) for old, found in pairs if old.strip() and found.strip()]
        self._known: dict[str, set[str]] = {}
        for old, found in indents:
            self._known.setdefault(old, set()).add(found)
        added = {found.removesuffix(old) if found.endswith(old) else None for old, found in indents} or {""}
        removed = {old.removesuffix(found) if old.endswith(found) else None for old, found in indents} or {""}
        self._added = added.pop() if len(added) == 1 else None
        self._removed = removed.pop() if len(removed) == 1 else None

    def of(self, lines: Sequence[str], was: Sequence[str], actual: Sequence[str]) -> list[str] | None:
        """The lines that replace others, indented as they have to be; None if that cannot be told of one of them."""
        like = [(_indent(old), _indent(found)) for old, found in zip(was, actual, strict=True)]
        indented: list[str] = []
        for index, line in enumerate(lines):
            own = like[index] if len(like) == len(lines) else None
            indent = own[1] if own and own[0] == _indent(line) else self._written(_indent(line))
            if indent is None and line.strip():
                return None
            indented.append(_reindented(line, indent or ""))
        return indented

    def _written(self, indent: str) -> str | None:
        known = self._known.get(indent)
        if known is not None:
            return next(iter(known)) if len(known) == 1 else None
        if self._added is not None:
            return self._added + indent
        if self._removed is not None and indent.startswith(self._removed):
            return indent.removeprefix(self._removed)
        return None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _reindented(line: str, indent: str) -> str:
    return indent + line.lstrip(" \t") if line.strip() else line


def _without_white_space(line: str) -> str:
    return "".join(line.split())
