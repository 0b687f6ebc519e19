"""`/theme`, `/editor` and `/vim`."""

import json
from pathlib import Path

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.prompter import FakePrompter
from tejat.core.ui.status import Preferences, ThemeName


@pytest.fixture
def env(tmp_path: Path) -> CommandEnv:
    return CommandEnv(tmp_path)


def after(env: CommandEnv, *lines: str, prompter: FakePrompter | None = None) -> tuple[str, Preferences]:
    async def work(runner: CommandRunner) -> tuple[str, Preferences]:
        for line in lines:
            await runner.run(line)
        return runner.prompter.output, runner.parts.preferences

    return env.run_with(work, prompter=prompter)


def kept(env: CommandEnv) -> object:
    return json.loads((env.home / ".gemini" / "settings.json").read_text())


class TestTheme:
    def test_by_name(self, env: CommandEnv) -> None:
        assert after(env, "/theme light") == ("ui.theme is now light.", Preferences(ThemeName.LIGHT))
        assert after(env, "/theme Dracula") == ("ui.theme is now dark.", Preferences(ThemeName.DARK))
        assert kept(env) == {"ui": {"theme": "dark"}}

    def test_by_choice(self, env: CommandEnv) -> None:
        person = FakePrompter(choices=[3])
        assert after(env, "/theme", prompter=person) == ("ui.theme is now plain.", Preferences(ThemeName.PLAIN))
        assert after(env, "/theme", prompter=FakePrompter()) == ("", Preferences(ThemeName.PLAIN))

    def test_one_that_there_is_not(self, env: CommandEnv) -> None:
        told = "There is no theme pink. There are auto, dark, light, plain."
        assert after(env, "/theme pink") == (told, Preferences())


class TestEditor:
    def test_by_name(self, env: CommandEnv) -> None:
        told = "general.preferredEditor is now code --wait."
        assert after(env, "/editor code --wait") == (told, Preferences(editor="code --wait"))
        assert kept(env) == {"general": {"preferredEditor": "code --wait"}}

    def test_by_choice(self, env: CommandEnv) -> None:
        assert after(env, "/editor", prompter=FakePrompter(choices=[1]))[1] == Preferences(editor="vim")

    def test_another_one(self, env: CommandEnv) -> None:
        person = FakePrompter(choices=[9], entries=["ed"])
        assert after(env, "/editor", prompter=person)[1] == Preferences(editor="ed")

    def test_none_after_all(self, env: CommandEnv) -> None:
        for person in (FakePrompter(), FakePrompter(choices=[9], entries=[None])):
            assert after(env, "/editor", prompter=person) == ("", Preferences())


class TestVim:
    def test_on_and_off(self, env: CommandEnv) -> None:
        assert after(env, "/vim") == ("The keys of vi are on.", Preferences(vi_mode=True))
        assert after(env, "/vim") == ("The keys of vi are off.", Preferences())
        assert after(env, "/vim on", "/vim on")[1] == Preferences(vi_mode=True)
        assert after(env, "/vim off")[1] == Preferences()

    def test_somebody_else_has_the_last_word(self, env: CommandEnv) -> None:
        path = env.write_project_settings(vimMode=True)
        shown, preferences = after(env, "/vim off")
        assert shown == f"general.vimMode is now true.\nThat is what {path}:1 says, which has the last word."
        assert preferences.vi_mode

    def test_any_other_word(self, env: CommandEnv) -> None:
        assert after(env, "/vim maybe") == ("Usage: /vim [on | off]", Preferences())
