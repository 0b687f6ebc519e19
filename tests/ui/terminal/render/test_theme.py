"""Themes fit the terminal, and their colours can be read."""

import pytest
from rich.color import Color, ColorSystem

from tejat.core.ui.status import Preferences, ThemeName
from tejat.ui.terminal.render.palettes.colours import MIN_CONTRAST, contrast
from tejat.ui.terminal.render.rich_output import color_system
from tejat.ui.terminal.render.theme import ColourDepth, StyleRole, Theme, detect_theme

DARK_BACKGROUNDS = ("#000000", "#1e1e1e", "#282c34")
LIGHT_BACKGROUNDS = ("#ffffff", "#f8f8f8", "#fdf6e3")
CASES = [(True, each) for each in DARK_BACKGROUNDS] + [(False, each) for each in LIGHT_BACKGROUNDS]


@pytest.mark.parametrize("depth", [ColourDepth.ANSI_256, ColourDepth.TRUE_COLOUR])
@pytest.mark.parametrize(("is_dark", "background"), CASES)
@pytest.mark.parametrize("role", StyleRole)
def test_every_role_reaches_wcag_aa(role: StyleRole, is_dark: bool, background: str, depth: ColourDepth) -> None:
    style = Theme(colour_depth=depth, is_dark=is_dark).style(role)
    system = color_system(depth)
    if style.color is None:
        return  # the terminal's own colour
    behind = Color.parse(background) if style.bgcolor is None else style.bgcolor.downgrade(system)
    assert contrast(style.color.downgrade(system).get_truecolor(), behind.get_truecolor()) >= MIN_CONTRAST


@pytest.mark.parametrize("is_dark", [True, False])
def test_words_differ_from_lines_and_both_from_the_terminal(*, is_dark: bool) -> None:
    for depth in (ColourDepth.ANSI_256, ColourDepth.TRUE_COLOUR):
        theme = Theme(colour_depth=depth, is_dark=is_dark)
        roles = (StyleRole.ADDED_LINE, StyleRole.ADDED_WORD, StyleRole.REMOVED_LINE, StyleRole.REMOVED_WORD)
        backgrounds = [theme.style(role).bgcolor for role in roles]
        downgraded = {each.downgrade(color_system(depth)).get_truecolor() for each in backgrounds if each is not None}
        assert len(downgraded) == 4


def test_basic_colours_are_the_terminals_own() -> None:
    for is_dark in (True, False):
        theme = Theme(colour_depth=ColourDepth.ANSI_16, is_dark=is_dark)
        for role in StyleRole:
            style = theme.style(role)
            assert style.bgcolor is None
            assert style.color is None or style.color.type <= ColorSystem.STANDARD


def test_without_colours_there_are_none() -> None:
    assert all(Theme().style(role).color is None for role in StyleRole)
    assert Theme().style(StyleRole.ADDED_WORD).underline


@pytest.mark.parametrize(
    ("environment", "preferences", "is_dark", "shows_dark"),
    [
        ({}, Preferences(), None, True),
        ({"COLORFGBG": "0;15"}, Preferences(), None, False),
        ({"COLORFGBG": "15;default;0"}, Preferences(), None, True),
        ({}, Preferences(), False, False),
        ({}, Preferences(ThemeName.DARK), False, True),
        ({}, Preferences(ThemeName.LIGHT), True, False),
        ({"COLORFGBG": "0;15"}, Preferences(ThemeName.DARK), None, True),
    ],
)
def test_the_background(
    environment: dict[str, str], preferences: Preferences, is_dark: bool | None, shows_dark: bool
) -> None:
    theme = detect_theme(environment, encoding="utf-8", preferences=preferences, is_dark=is_dark)
    assert theme.is_dark is shows_dark


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        ({"TERM": "xterm"}, ColourDepth.ANSI_16),
        ({"TERM": "xterm-256color"}, ColourDepth.ANSI_256),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, ColourDepth.TRUE_COLOUR),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, ColourDepth.NONE),
        ({"TERM": "dumb"}, ColourDepth.NONE),
    ],
)
def test_the_number_of_colours(environment: dict[str, str], depth: ColourDepth) -> None:
    assert detect_theme(environment, encoding="utf-8").colour_depth is depth
    plain = detect_theme(environment, encoding="utf-8", preferences=Preferences(ThemeName.PLAIN))
    assert plain.colour_depth is ColourDepth.NONE


def test_preferences_about_diffs() -> None:
    theme = detect_theme(
        {}, encoding="ascii", preferences=Preferences(uses_backgrounds=False, shows_line_numbers=False)
    )
    assert (theme.uses_backgrounds, theme.shows_line_numbers, theme.is_ascii) == (False, False, True)
