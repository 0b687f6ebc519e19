"""The themes of Gemini CLI."""

import pytest

from tejat.config.settings.destination import gemini_accepts
from tejat.config.settings.themes.catalogue import find_named_theme, load_themes
from tejat.config.settings.themes.colours import is_dark_colour, parse_colour
from tejat.core.frozen import fields_of
from tejat.core.ui.theme_colours import ThemeColours

BASIC = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "bright_black"}


def test_there_are_all_of_them() -> None:
    themes = load_themes()
    assert list(themes) == [
        *("ANSI", "Atom One", "Ayu", "Default", "Dracula", "GitHub Dark Colorblind", "GitHub", "Holiday"),
        *("Shades Of Purple", "Solarized Dark", "Tokyo Night"),
        *("ANSI Light", "Ayu Light", "Default Light", "GitHub Light Colorblind", "GitHub Light", "Google Code"),
        *("Solarized Light", "Xcode"),
    ]
    assert all(gemini_accepts("ui.theme", name) for name in themes)


@pytest.mark.parametrize("theme", load_themes().values(), ids=lambda theme: theme.name)
def test_every_colour_is_one(theme: ThemeColours) -> None:
    colours = {field.name: getattr(theme, field.name) for field in fields_of(ThemeColours)[2:]}
    for role, colour in colours.items():
        assert colour in BASIC or parse_colour(colour) == colour or (role == "text" and colour == "")
    assert is_dark_colour(theme.background) is theme.is_dark


def test_names_are_found_in_any_case() -> None:
    dracula = find_named_theme(" dracula ")
    assert dracula is not None
    assert (dracula.name, dracula.is_dark, dracula.background, dracula.added) == ("Dracula", True, "#282a36", "#11431d")
    vs = find_named_theme("VS")
    assert vs is not None
    assert vs.name == "Default Light"
    assert find_named_theme("mine") is None
