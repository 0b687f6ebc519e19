"""`/clear` and `/compress`."""

import json
from pathlib import Path

import pytest

from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from tejat.core.agent.events import SessionStarted
from tejat.core.ui.commands import ClearScreenAction, NoAction


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


LONG = " ".join(map(str, range(3000)))


class TestClear:
    def test_another_session_with_a_journal_of_its_own(self, env: InteractiveEnv) -> None:
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

    def test_the_session_that_is_over_can_be_taken_up(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> str:
            await runner.prompt("one")
            await runner.run_command("/clear")
            return await runner.command_output("/resume latest")

        assert env.run_with(work, script=text_script("a")) == "Where you left off\n> one\na"

    def test_it_is_told_as_a_session_of_its_own(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[bool]:
            await runner.prompt("one")
            await runner.run_command("/clear")
            await runner.prompt("two")
            started = runner.events_of(SessionStarted)
            assert started[0].session_id != started[1].session_id
            return [event.is_resumed for event in started]

        assert env.run_with(work, script=text_script("a", "b")) == [False, False]

    def test_hooks_hear_of_it(self, env: InteractiveEnv) -> None:
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

        def told(event: str, field: str) -> list[str]:
            lines = (env.base / event).read_text().splitlines()
            return [json.loads(line)[field] for line in lines if line]

        assert told("SessionStart", "source") == ["startup", "clear"]
        assert told("SessionEnd", "reason") == ["clear", "exit"]
        assert told("SessionStart", "session_id") == told("SessionEnd", "session_id")

    def test_a_session_that_is_not_kept_is_followed_by_one_that_is_not(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> None:
            await runner.run_command("/clear")
            await runner.prompt("two")

        env.run_with(work, script=text_script("a"), keeps_session=False)
        assert env.journal_paths() == []


class TestCompress:
    def test_the_counts_are_told(self, env: InteractiveEnv) -> None:
        script = text_script(LONG, LONG[::-1], "c") + script_answer(
            say="<state_snapshot>short</state_snapshot>", purpose="compression"
        )

        async def work(runner: InteractiveRunner) -> tuple[list[str], int, int]:
            for prompt in ("one", "two", "three"):
                await runner.prompt(prompt)
            before = runner.session.conversation.tokens
            effect, shown = await runner.run_command("/compress")
            assert effect == NoAction()
            return shown.split(), before, runner.session.conversation.tokens

        words, before, after = env.run_with(work, script=script)
        assert words == ["Chat", "history", "compressed", "from", str(before), "to", str(after), "tokens."]
        assert after < before

    def test_where_there_is_nothing(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> str:
            return await runner.command_output("/compress")

        assert env.run_with(work) == "Nothing to compress."

    def test_where_the_model_fails(self, env: InteractiveEnv) -> None:
        script = text_script(LONG, "b") + script_answer(
            fail="bad_request", detail="No such luck.", purpose="compression"
        )

        async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
            await runner.prompt("one")
            await runner.prompt("two")
            return await runner.command_output("/compress"), runner.texts

        shown, texts = env.run_with(work, script=script)
        assert shown == "Could not compress chat history: No such luck."
        assert texts == ["one", LONG, "two", "b"]

    def test_what_it_costs_counts(self, env: InteractiveEnv) -> None:
        usage = {"prompt": 10, "output": 5}
        script = text_script(LONG, "b") + script_answer(say="short", purpose="compression", usage=usage)

        async def work(runner: InteractiveRunner) -> int:
            await runner.prompt("one")
            await runner.prompt("two")
            await runner.run_command("/compress")
            return runner.interactive.command_context.statistics.usage.total

        assert env.run_with(work, script=script) == 15
