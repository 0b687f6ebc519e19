"""`/theme`."""

from support.command_runner import CommandEnv
from support.prompter import FakePrompter
from tejat.core.ui.status import Preferences, ThemeName


def test_by_name(env: CommandEnv) -> None:
    assert env.preferences_after("/theme light") == ("ui.theme is now light.", Preferences(ThemeName.LIGHT))
    assert env.preferences_after("/theme Dracula") == ("ui.theme is now dark.", Preferences(ThemeName.DARK))
    assert env.saved_settings() == {"ui": {"theme": "dark"}}


def test_by_choice(env: CommandEnv) -> None:
    person = FakePrompter(choices=[3])
    assert env.preferences_after("/theme", prompter=person) == ("ui.theme is now plain.", Preferences(ThemeName.PLAIN))
    assert env.preferences_after("/theme", prompter=FakePrompter()) == ("", Preferences(ThemeName.PLAIN))


def test_one_that_there_is_not(env: CommandEnv) -> None:
    told = "There is no theme pink. There are auto, dark, light, plain."
    assert env.preferences_after("/theme pink") == (told, Preferences())
