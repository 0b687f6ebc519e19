"""What the settings say about the screen and the keys."""

import pytest

from tejat.app.preferences import find_theme, preferences_from_settings
from tejat.config.settings.types import Setting, Settings
from tejat.core.ui.status import NotificationMethod, NotificationOptions, Preferences, ThemeName


def test_nothing_is_set() -> None:
    assert preferences_from_settings(Settings()) == Preferences()


def test_everything_is_set() -> None:
    settings = Settings(
        theme=Setting("light"),
        vim_mode=Setting(value=True),
        preferred_editor=Setting("nano"),
        editor_new_window=Setting(value=True),
        animations=Setting(value=False),
        notifications_enabled=Setting(value=True),
        notification_method=Setting("osc9"),
    )
    assert preferences_from_settings(settings) == Preferences(
        ThemeName.LIGHT,
        vi_mode=True,
        editor="nano",
        editor_new_window=True,
        animations=False,
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
    assert find_theme(name) is meant
    stands_for = preferences_from_settings(Settings(theme=Setting(name))).theme
    assert stands_for is (meant or ThemeName.AUTO)


@pytest.mark.parametrize(
    ("background", "meant"), [("dark", ThemeName.DARK), ("light", ThemeName.LIGHT), (None, ThemeName.AUTO)]
)
def test_a_custom_theme_stands_for_dark_or_light(background: str | None, meant: ThemeName) -> None:
    settings = Settings(theme=Setting("Mine"), custom_themes={"Mine": Setting(background)})
    assert preferences_from_settings(settings).theme is meant
