"""What the settings say about the screen and the keys."""

import pytest

from tejat.app.session.preferences import find_theme, preferences_from_settings, theme_names
from tejat.config.settings.types import Setting, Settings
from tejat.core.ui.status import NotificationMethod, NotificationOptions, Preferences, ThemeName
from tejat.core.ui.theme_colours import ThemeColours


def test_nothing_is_set() -> None:
    assert preferences_from_settings(Settings()) == Preferences()


def test_everything_is_set() -> None:
    settings = Settings(
        theme=Setting("light"),
        vim_mode=Setting(value=True),
        preferred_editor=Setting("nano"),
        editor_new_window=Setting(value=True),
        animations=Setting(value=False),
        compact_tool_output=Setting(value=False),
        notifications_enabled=Setting(value=True),
        notification_method=Setting("osc9"),
    )
    assert preferences_from_settings(settings) == Preferences(
        ThemeName.LIGHT,
        vi_mode=True,
        editor="nano",
        editor_new_window=True,
        animations=False,
        compact_results=False,
        notifications=NotificationOptions(is_enabled=True, method=NotificationMethod.OSC9),
    )


def test_without_automatic_themes_it_is_dark() -> None:
    fixed = Setting(value=False)
    assert preferences_from_settings(Settings(auto_theme=fixed)).theme is ThemeName.DARK
    assert preferences_from_settings(Settings(auto_theme=fixed, theme=Setting("Xcode"))).theme is ThemeName.LIGHT


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("dark", ThemeName.DARK),
        (" Auto ", ThemeName.AUTO),
        ("plain", ThemeName.PLAIN),
        ("No Color", ThemeName.PLAIN),
        ("Dracula", ThemeName.DARK),
        ("GitHub Light", ThemeName.LIGHT),
        ("Xcode", ThemeName.LIGHT),
        ("my own", None),
        ("", None),
    ],
)
def test_names_of_themes(name: str, meant: ThemeName | None) -> None:
    found = find_theme(name, Settings())
    assert (found and found[0]) is meant
    stands_for = preferences_from_settings(Settings(theme=Setting(name))).theme
    assert stands_for is (meant or ThemeName.AUTO)


def test_a_theme_of_gemini_cli_has_its_colours() -> None:
    preferences = preferences_from_settings(Settings(theme=Setting("dracula")))
    assert preferences.colours is not None
    assert (preferences.colours.name, preferences.colours.background) == ("Dracula", "#282a36")
    assert preferences_from_settings(Settings(theme=Setting("dark"))).colours is None


@pytest.mark.parametrize(
    ("is_dark", "meant"), [(True, ThemeName.DARK), (False, ThemeName.LIGHT), (None, ThemeName.AUTO)]
)
def test_a_custom_theme_is_for_its_background(is_dark: bool | None, meant: ThemeName) -> None:
    colours = ThemeColours("Dracula", is_dark, link="#123456")
    settings = Settings(theme=Setting("Dracula"), custom_themes={"Dracula": Setting(colours)})
    preferences = preferences_from_settings(settings)
    assert (preferences.theme, preferences.colours) == (meant, colours)


def test_diffs() -> None:
    off = Setting(value=False)
    preferences = preferences_from_settings(Settings(uses_backgrounds=off, shows_line_numbers=off))
    assert (preferences.uses_backgrounds, preferences.shows_line_numbers) == (False, False)


def test_all_names_of_themes() -> None:
    settings = Settings(custom_themes={"Mine": Setting(ThemeColours("Mine", is_dark=None))})
    names = theme_names(settings)
    assert names[:6] == ["auto", "dark", "light", "plain", "Mine", "ANSI"]
    assert all(find_theme(name, settings) is not None for name in names)
