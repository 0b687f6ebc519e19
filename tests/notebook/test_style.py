"""The style of outputs: nothing else on the page changes, and every notebook theme is readable."""

import re

from tejat.notebook.style import scoped_style, view_markup
from tejat.ui.html.document import read_style

INSIDE = ".tejat-view:not(#_)"
ALL = frozenset(re.findall(r"\.([a-z][\w-]*)", read_style()))


def selectors(style: str) -> list[str]:
    """The selectors of all rules, also of those in other rules."""
    style = re.sub(r"@keyframes [^{]*\{(?:[^{}]*\{[^{}]*\})*\}", "", style)
    found = re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", style)
    return [each.strip() for group in found for each in re.split(r",(?![^()]*\))", group)]


def variables(style: str, selector: str) -> dict[str, str]:
    """The colours that rules for this selector set."""
    bodies = re.findall(rf"(?:^|[,}}])\s*{re.escape(selector)}\s*(?:,[^{{}}]*)?\{{([^{{}}]*)\}}", style)
    return dict(pair for body in bodies for pair in re.findall(r"(--[\w-]+): (#\w+)", body))


def test_every_rule_is_for_outputs_only() -> None:
    found = selectors(scoped_style(ALL))
    assert len(found) > 150
    assert [each for each in found if ".tejat-view" not in each] == []


def test_every_rule_of_the_style_sheet_is_there() -> None:
    """Except those that place a page on the screen."""
    original = selectors(re.sub(r"/\*.*?\*/", "", read_style(), flags=re.DOTALL))
    kept = selectors(scoped_style(ALL))
    lost = {each for each in original if f"{INSIDE} {each}" not in kept and not each.startswith((":root", "html"))}
    assert lost == {"body", "50%"}  # the latter is a step of an animation


def test_the_theme_of_the_notebook_decides_about_colours() -> None:
    style = scoped_style(frozenset())
    light, dark = '[data-jp-theme-light="true"] .tejat-view', '[data-jp-theme-light="false"] .tejat-view'
    assert variables(style, light)["--bg"] == "#ffffff"
    assert variables(style, dark)["--bg"] == "#13161a"
    assert variables(style, dark).keys() == {name for name in variables(style, light) if name != "--width"}
    for theme in (".vscode-dark", ".vscode-high-contrast", '[theme="dark"]'):
        assert f"{theme} .tejat-view" in style
    assert "background: var(--bg); color: var(--text)" in style


def test_only_rules_that_are_needed_are_written() -> None:
    small, whole = scoped_style(frozenset({"todos"})), scoped_style(ALL)
    assert f"{INSIDE} .todos" in small
    assert ".diff" not in small
    assert len(small) < len(whole) / 2


def test_markup_brings_its_style() -> None:
    shown = view_markup('<ul class="todos more"></ul>')
    assert shown.startswith('<div class="tejat-view"><style>')
    assert f"{INSIDE} .todos{{" in shown
    assert shown.endswith('</style><ul class="todos more"></ul></div>')
    assert "</style" not in read_style()
