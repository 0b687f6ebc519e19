"""Custom themes in both forms."""

import json
from pathlib import Path

import pytest

from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingKey, SettingsError
from tejat.config.settings.loader import read_settings_file
from tejat.config.settings.themes.custom_theme import read_custom_theme
from tejat.core.messages.types import JsonObject
from tejat.core.ui.theme_colours import ThemeColours

NESTED: JsonObject = {
    "name": "Gruvbox",
    "type": "custom",
    "background": {"primary": "#282828", "diff": {"added": "#2b3312", "removed": "#341212"}},
    "text": {"primary": "#ebdbb2", "secondary": "#a89984", "link": "#83a598", "accent": "#d3869b"},
    "border": {"default": "#3c3836", "focused": "#458588"},
    "status": {"success": "#b8bb26", "warning": "gold", "error": "#f43"},
    "ui": {"comment": "#928374", "symbol": "#8ec07c", "gradient": ["#cc241d", "orange"]},
}
FLAT: JsonObject = {
    "name": "Old",
    "type": "custom",
    "Background": "white",
    "Foreground": "#222",
    "AccentBlue": "#005faf",
    "AccentPurple": "#8250df",
    "AccentCyan": "#0a3069",
    "AccentGreen": "#116329",
    "AccentYellow": "#9a6700",
    "AccentRed": "#cf222e",
    "DiffAdded": "#dafbe1",
    "DiffRemoved": "#ffebe9",
    "Comment": "#57606a",
    "Gray": "#57606a",
    "GradientColors": ["#005faf", "#8250df"],
}


def theme_of(tmp_path: Path, theme: JsonObject) -> ThemeColours:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"ui": {"customThemes": {"Mine": theme}}}, indent=1), encoding="utf-8")
    read = read_settings_file(str(file), SourceTier.USER, {})
    assert read is not None
    found = read.find(SettingKey("ui.customThemes"))
    assert found is not None
    return read_custom_theme(found.members()["Mine"])


def test_the_nested_form(tmp_path: Path) -> None:
    theme = theme_of(tmp_path, NESTED)
    assert (theme.name, theme.is_dark, theme.text, theme.secondary) == ("Mine", True, "#ebdbb2", "#a89984")
    assert (theme.warning, theme.error, theme.added) == ("#ffd700", "#ff4433", "#2b3312")
    assert (theme.keyword, theme.string, theme.comment) == ("#83a598", "#ffd700", "#928374")


def test_the_flat_form(tmp_path: Path) -> None:
    theme = theme_of(tmp_path, FLAT)
    assert (theme.is_dark, theme.background, theme.text) == (False, "white", "#222222")
    assert (theme.accent, theme.type_name, theme.removed) == ("#8250df", "#0a3069", "#ffebe9")


def test_the_nested_form_wins_and_most_may_be_missing(tmp_path: Path) -> None:
    theme = theme_of(tmp_path, {"Foreground": "#111", "text": {"primary": "#222"}, "status": {"error": ""}, "new": 1})
    assert theme == ThemeColours("Mine", None, text="#222222", function="#222222")


@pytest.mark.parametrize(
    ("theme", "key", "line"),
    [
        ({"text": {"link": "#12"}}, "ui.customThemes.Mine.text.link", 6),
        ({"AccentRed": "blurple"}, "ui.customThemes.Mine.AccentRed", 5),
        ({"background": {"diff": {"added": 7}}}, "ui.customThemes.Mine.background.diff.added", 7),
        ({"border": {"focused": "nope"}}, "ui.customThemes.Mine.border.focused", 6),
        ({"ui": {"gradient": ["#fff", "nope"]}}, "ui.customThemes.Mine.ui.gradient", 8),
        ({"status": "red"}, "ui.customThemes.Mine.status", 5),
        ({"type": "neon"}, "ui.customThemes.Mine.type", 5),
    ],
)
def test_a_wrong_colour_is_named_with_its_key_and_line(tmp_path: Path, theme: JsonObject, key: str, line: int) -> None:
    with pytest.raises(SettingsError) as caught:
        theme_of(tmp_path, theme)
    assert caught.value.value is not None
    assert (caught.value.value.key, caught.value.value.line) == (key, line)


def test_the_error_shows_what_is_accepted(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="must be a colour such as #1e90ff, #19f or the CSS name dodgerblue"):
        theme_of(tmp_path, {"Gray": "#12"})
