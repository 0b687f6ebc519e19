"""`/editor`."""

from support.command_runner import CommandEnv
from support.prompter import FakePrompter
from tejat.core.ui.status import Preferences


def test_by_name(env: CommandEnv) -> None:
    told = f"general.preferredEditor is now code --wait.\nSaved in {env.own_file}."
    assert env.preferences_after("/editor code --wait") == (told, Preferences(editor="code --wait"))
    assert env.saved_settings(own=True) == {"general": {"preferredEditor": "code --wait"}}


def test_one_that_gemini_cli_knows(env: CommandEnv) -> None:
    shown, preferences = env.preferences_after("/editor vim")
    assert shown == f"general.preferredEditor is now vim.\nSaved in {env.user_file}."
    assert preferences == Preferences(editor="vim")


def test_by_choice(env: CommandEnv) -> None:
    assert env.preferences_after("/editor", prompter=FakePrompter(choices=[1]))[1] == Preferences(editor="vim")


def test_another_one(env: CommandEnv) -> None:
    person = FakePrompter(choices=[9], entries=["ed"])
    assert env.preferences_after("/editor", prompter=person)[1] == Preferences(editor="ed")


def test_none_after_all(env: CommandEnv) -> None:
    for person in (FakePrompter(), FakePrompter(choices=[9], entries=[None])):
        assert env.preferences_after("/editor", prompter=person) == ("", Preferences())
