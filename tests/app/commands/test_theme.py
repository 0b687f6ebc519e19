"""`/theme`."""

from support.command_runner import CommandEnv
from support.prompter import FakePrompter
from tejat.core.ui.status import Preferences, ThemeName


def test_by_name(env: CommandEnv) -> None:
    saved = f"Saved in {env.own_file}."
    assert env.preferences_after("/theme light") == (f"ui.theme is now light.\n{saved}", Preferences(ThemeName.LIGHT))
    assert env.preferences_after("/theme Dracula") == (f"ui.theme is now dark.\n{saved}", Preferences(ThemeName.DARK))
    assert env.saved_settings(own=True) == {"ui": {"theme": "dark"}}
    assert not env.user_file.exists()


def test_by_choice(env: CommandEnv) -> None:
    person = FakePrompter(choices=[3])
    shown = f"ui.theme is now plain.\nSaved in {env.own_file}."
    assert env.preferences_after("/theme", prompter=person) == (shown, Preferences(ThemeName.PLAIN))
    assert env.preferences_after("/theme", prompter=FakePrompter()) == ("", Preferences(ThemeName.PLAIN))


def test_one_that_there_is_not(env: CommandEnv) -> None:
    told = "There is no theme pink. There are auto, dark, light, plain."
    assert env.preferences_after("/theme pink") == (told, Preferences())
