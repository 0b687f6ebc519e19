"""The style sheet of transcripts, limited to the outputs of a notebook.

A notebook is one page, so every rule applies below `.tejat-view` only, and those of the notebook do not apply there.
Colours follow the theme of the notebook, not that of the system, where it is known.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from tejat.ui.html.document import read_style

VIEW_CLASS = "tejat-view"
_VIEW = f".{VIEW_CLASS}"
_INSIDE = f"{_VIEW}:not(#_)"
"""No element has this id: it makes our rules outweigh those of a notebook, such as JupyterLab's for tables."""
_LIGHT_THEMES = ('[data-jp-theme-light="true"]', ".vscode-light", ".vscode-high-contrast-light", '[theme="light"]')
_DARK_THEMES = ('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast", '[theme="dark"]')
"""Ancestors in JupyterLab, Visual Studio Code and Colab."""
_LIGHT = ", ".join(f"{theme} {_VIEW}" for theme in _LIGHT_THEMES)
_ROOTS = {
    ":root": f"{_VIEW}, {_LIGHT}",
    ':root:not([data-theme="light"])': _VIEW,
    ':root[data-theme="light"]': _LIGHT,
    ':root[data-theme="dark"]': ", ".join(f"{theme} {_VIEW}" for theme in _DARK_THEMES),
    "html": _VIEW,
}
"""What selects the page in the style sheet, and the output of a notebook instead."""
_RESET = f"{_INSIDE} :where(:not(svg,svg *)){{all:revert}}"
"""Leaves only the style of the browser. Pictures have theirs in attributes, which this would undo."""
_FRAME = (
    f"{_VIEW}{{padding:.75rem;border-radius:var(--radius);font-size:.9375rem;text-align:left}}"
    f"{_INSIDE}>style+*,{_INSIDE}>.transcript>:first-child{{margin-top:0}}"
    f"{_INSIDE}>:last-child,{_INSIDE}>.transcript>:last-child{{margin-bottom:0}}"
)
_MAX_CACHED_STYLES = 64


class _Rule(NamedTuple):
    """A rule, or a rule such as `@media` with rules in it."""

    prelude: str
    body: str
    inner: "tuple[_Rule, ...]" = ()


def view_markup(markup: str) -> str:
    """Return markup as one output, with the style that it needs."""
    classes = frozenset(word for names in re.findall(r'class="([^"]*)"', markup) for word in names.split())
    return f'<div class="{VIEW_CLASS}"><style>{scoped_style(classes)}</style>{markup}</div>'


@lru_cache(_MAX_CACHED_STYLES)
def scoped_style(classes: frozenset[str]) -> str:
    """Return the rules that apply to elements with these classes or without one."""
    return _RESET + "".join(_write(rule, classes) for rule in _rules()) + _FRAME


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(_parse(re.sub(r"/\*.*?\*/", "", read_style(), flags=re.DOTALL)))


def _parse(text: str) -> Iterator[_Rule]:
    start = depth = opened = 0
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            depth += 1
            opened = match.end() if depth == 1 else opened
            continue
        depth -= 1
        if depth == 0:
            prelude, body = " ".join(text[start : opened - 1].split()), text[opened : match.start()]
            yield _Rule(prelude, "", tuple(_parse(body))) if "{" in body else _Rule(prelude, " ".join(body.split()))
            start = match.end()


def _write(rule: _Rule, classes: frozenset[str]) -> str:
    if rule.prelude.startswith("@keyframes"):
        return f"{rule.prelude}{{{''.join(f'{each.prelude}{{{each.body}}}' for each in rule.inner)}}}"
    if rule.inner:
        inner = "".join(_write(each, classes) for each in rule.inner)
        return f"{rule.prelude}{{{inner}}}" if inner else ""
    selectors = [_scope(each) for each in _split_list(rule.prelude) if _applies(each, classes)]
    return f"{','.join(selectors)}{{{rule.body}}}" if selectors else ""


def _split_list(selectors: str) -> list[str]:
    """Split a list of selectors at commas that are not in parentheses."""
    return [each.strip() for each in re.findall(r"(?:\([^()]*\)|[^,()])+", selectors)]


def _scope(selector: str) -> str:
    return _ROOTS.get(selector) or f"{_INSIDE} {selector}"


def _applies(selector: str, classes: frozenset[str]) -> bool:
    """Whether a selector may match elements that have no other classes than these. Alternatives are not looked at."""
    if selector == "body":
        return False
    return set(re.findall(r"\.([a-z][\w-]*)", re.sub(r"\([^()]*\)", "", selector))) <= classes
