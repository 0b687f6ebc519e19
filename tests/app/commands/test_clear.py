"""`/clear`."""

import json
from pathlib import Path

import pytest

from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import text_script
from tejat.core.agent.events import SessionStarted
from tejat.core.ui.commands import ClearScreenAction


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


LONG = " ".join(map(str, range(3000)))


def test_another_session_with_a_journal_of_its_own(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[list[str], list[str]]:
        await runner.prompt("one")
        first = runner.session.session_id
        assert await runner.run_command("/clear") == (ClearScreenAction(), "")
        assert runner.messages == []
        await runner.prompt("two")
        return [first, runner.session.session_id], runner.texts

    ids, texts = env.run_with(work, script=text_script("a", "b"))
    assert texts == ["two", "b"]
    kept = [[json.loads(line) for line in path.read_text().splitlines()] for path in env.journal_paths()]
    assert sorted(records[0]["session"] for records in kept) == sorted(ids)
    assert sorted(records[0]["title"] for records in kept) == ["one", "two"]


def test_the_session_that_is_over_can_be_taken_up(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await runner.prompt("one")
        await runner.run_command("/clear")
        return await runner.command_output("/resume latest")

    assert env.run_with(work, script=text_script("a")) == "Where you left off\n> one\na"


def test_it_is_told_as_a_session_of_its_own(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[bool]:
        await runner.prompt("one")
        await runner.run_command("/clear")
        await runner.prompt("two")
        started = runner.events_of(SessionStarted)
        assert started[0].session_id != started[1].session_id
        return [event.is_resumed for event in started]

    assert env.run_with(work, script=text_script("a", "b")) == [False, False]


def test_hooks_hear_of_it(env: InteractiveEnv) -> None:
    def hook(event: str) -> list[object]:
        command = f"{{ cat; echo; }} >> {env.base}/{event}"
        return [{"hooks": [{"type": "command", "command": command}]}]

    env.write_user_settings(hooks={event: hook(event) for event in ("SessionStart", "SessionEnd")})

    async def work(runner: InteractiveRunner) -> None:
        await runner.prompt("one")
        await runner.run_command("/clear")
        await runner.run_command("/clear")
        await runner.prompt("two")

    env.run_with(work, script=text_script("a", "b"))

    def hook_field(event: str, field: str) -> list[str]:
        lines = (env.base / event).read_text().splitlines()
        return [json.loads(line)[field] for line in lines if line]

    assert hook_field("SessionStart", "source") == ["startup", "clear"]
    assert hook_field("SessionEnd", "reason") == ["clear", "exit"]
    assert hook_field("SessionStart", "session_id") == hook_field("SessionEnd", "session_id")


def test_a_session_that_is_not_kept_is_followed_by_one_that_is_not(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> None:
        await runner.run_command("/clear")
        await runner.prompt("two")

    env.run_with(work, script=text_script("a"), keeps_session=False)
    assert env.journal_paths() == []
