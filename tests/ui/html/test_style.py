"""The style sheet: contrast in both themes, and nothing that is loaded."""

import re

import pytest

from tejat.ui.html.document import STYLE_FILE, read_style
from tejat.ui.shared.text.code_tokens import CodeRole

TEXT_COLOURS = ("text", "quiet", "accent", "good", "warning", "bad")
SURFACES = ("bg", "surface", "raised")
CODE_COLOURS = ("text", "hl-comment", "hl-keyword", "hl-type", "hl-string", "hl-number", "hl-name")
CODE_SURFACES = ("bg", "surface", "raised", "added-line", "added-word", "removed-line", "removed-word")
CHANGE_PAIRS = [("quiet", "added-line"), ("quiet", "removed-line"), ("good", "added-line"), ("bad", "removed-line")]


def variables(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def themes() -> dict[str, dict[str, str]]:
    style = read_style()
    light = variables(style[: style.index("@media")])
    preferred = variables(style[style.index("@media (prefers-color-scheme: dark)") : style.index("box-sizing")])
    chosen = variables(style[style.index(':root[data-theme="dark"] {') : style.index("box-sizing")])
    assert preferred == chosen
    return {"light": light, "dark": {**light, **chosen}}


def luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured() -> None:
    assert round(contrast("#000000", "#ffffff"), 1) == 21.0
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_text_can_be_read(theme: str) -> None:
    colours = themes()[theme]
    pairs = [(text, surface) for text in TEXT_COLOURS for surface in SURFACES]
    pairs += [(text, surface) for text in CODE_COLOURS for surface in CODE_SURFACES]
    pairs += CHANGE_PAIRS
    low = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}


def test_every_role_of_code_has_a_rule() -> None:
    style = read_style()
    assert [role for role in CodeRole if f".hl-{role.value}" not in style] == []


def test_every_variable_is_defined() -> None:
    style = read_style()
    defined = set(re.findall(r"(--[\w-]+):", style))
    assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= defined


def test_nothing_is_loaded_and_nothing_ends_the_element() -> None:
    style = read_style()
    assert not re.search(r"url\(|@import|@font-face|</|expression\(", style)


@pytest.mark.parametrize(
    "rule",
    [
        ":focus-visible",
        "prefers-reduced-motion",
        "forced-colors",
        "@media print",
        "prefers-color-scheme: dark",
        '[data-theme="light"]',
    ],
)
def test_needs_of_readers_are_met(rule: str) -> None:
    assert rule in read_style()


def test_it_is_beside_the_modules() -> None:
    assert STYLE_FILE.endswith("tejat/ui/html/style.css")
