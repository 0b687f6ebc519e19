"""`/theme`."""

import json

from support.command_runner import CommandEnv
from support.prompter import FakePrompter
from tejat.config.settings.themes.catalogue import load_themes
from tejat.core.ui.prompter import Choice
from tejat.core.ui.status import Preferences, ThemeName


def test_one_of_ours_by_name(env: CommandEnv) -> None:
    saved = f"Saved in {env.own_file}."
    assert env.preferences_after("/theme light") == (f"ui.theme is now light.\n{saved}", Preferences(ThemeName.LIGHT))
    assert env.saved_settings(own=True) == {"ui": {"theme": "light"}}
    assert not env.user_file.exists()


def test_one_of_gemini_cli_by_name(env: CommandEnv) -> None:
    shown, preferences = env.preferences_after("/theme dracula")
    assert shown == f"ui.theme is now Dracula.\nSaved in {env.user_file}."
    assert preferences == Preferences(ThemeName.DARK, load_themes()["Dracula"])
    assert env.saved_settings() == {"ui": {"theme": "Dracula"}}


def test_a_custom_one(env: CommandEnv) -> None:
    theme = {"type": "custom", "Background": "#fff", "AccentBlue": "teal"}
    env.user_file.parent.mkdir(parents=True, exist_ok=True)
    env.user_file.write_text(json.dumps({"ui": {"customThemes": {"Mine": theme}}}), encoding="utf-8")
    _, preferences = env.preferences_after("/theme mine")
    assert preferences.colours is not None
    assert (preferences.theme, preferences.colours.link) == (ThemeName.LIGHT, "#008080")


def test_by_choice_with_a_preview(env: CommandEnv) -> None:
    person = FakePrompter(choices=[3])
    shown = f"ui.theme is now plain.\nSaved in {env.own_file}."
    assert env.preferences_after("/theme", prompter=person) == (shown, Preferences(ThemeName.PLAIN))
    (choice,) = person.asked
    assert isinstance(choice, Choice)
    labels = [option.label for option in choice.options]
    assert labels[:5] == ["auto", "dark", "light", "plain", "ANSI"]
    assert choice.preview is not None
    preview = choice.preview(labels.index("Xcode"))
    assert preview.preferences == Preferences(ThemeName.LIGHT, load_themes()["Xcode"])
    assert env.preferences_after("/theme", prompter=FakePrompter()) == ("", Preferences(ThemeName.PLAIN))


def test_an_unknown_one(env: CommandEnv) -> None:
    shown, preferences = env.preferences_after("/theme pink")
    assert shown.startswith("Unknown theme 'pink'. Choose one of: auto, dark, light, plain, ANSI, ")
    assert preferences == Preferences()
