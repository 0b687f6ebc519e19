"""`/compress`."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from tejat.core.agent.events import (
    AgentEvent,
    Compressed,
    CompressionStarted,
    CompressionStatus,
    Noticed,
    Severity,
)
from tejat.core.ui.commands import NoAction
from tejat.ui.shared.notices import notice_for_event


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def outcomes(events: Sequence[AgentEvent]) -> list[AgentEvent]:
    return [event for event in events if isinstance(event, CompressionStarted | Compressed)]


LONG = " ".join(map(str, range(3000)))


def test_every_front_end_is_told_once(env: InteractiveEnv) -> None:
    script = text_script(LONG, LONG[::-1], "c") + script_answer(
        say="<state_snapshot>short</state_snapshot>", purpose="compression"
    )

    async def work(runner: InteractiveRunner) -> tuple[str, list[AgentEvent], list[AgentEvent]]:
        for prompt in ("one", "two", "three"):
            await runner.prompt(prompt)
        second: list[AgentEvent] = []
        runner.session.subscribe(second.append)
        effect, shown = await runner.run_command("/compress")
        assert effect == NoAction()
        return shown, outcomes(runner.events), outcomes(second)

    shown, first, second = env.run_with(work, script=script)
    started, compressed = first
    assert (shown, started, second) == ("", CompressionStarted(), first)
    assert isinstance(compressed, Compressed)
    assert (compressed.status, compressed.by_user) == (CompressionStatus.COMPRESSED, True)
    assert compressed.after < compressed.before


def test_where_there_is_nothing(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[AgentEvent]:
        await runner.run_command("/compress")
        return outcomes(runner.events)

    (outcome,) = env.run_with(work)
    assert notice_for_event(outcome) == Noticed("Nothing to compress yet.", Severity.NOTE)


def test_where_the_model_fails(env: InteractiveEnv) -> None:
    script = text_script(LONG, "b") + script_answer(fail="bad_request", detail="No such luck.", purpose="compression")

    async def work(runner: InteractiveRunner) -> tuple[list[AgentEvent], list[str]]:
        await runner.prompt("one")
        await runner.prompt("two")
        await runner.run_command("/compress")
        return outcomes(runner.events)[1:], runner.texts

    (outcome,), texts = env.run_with(work, script=script)
    assert notice_for_event(outcome) == Noticed("Could not compress the conversation: No such luck.")
    assert texts == ["one", LONG, "two", "b"]


def test_what_it_costs_counts(env: InteractiveEnv) -> None:
    usage = {"prompt": 10, "output": 5}
    script = text_script(LONG, "b") + script_answer(say="short", purpose="compression", usage=usage)

    async def work(runner: InteractiveRunner) -> int:
        await runner.prompt("one")
        await runner.prompt("two")
        await runner.run_command("/compress")
        return runner.interactive.command_context.statistics.usage.total

    assert env.run_with(work, script=script) == 15


class TestPreview:
    SCRIPT = text_script(LONG, LONG[::-1], "c") + script_answer(
        say="<state_snapshot>short</state_snapshot>", purpose="compression"
    )

    def test_it_says_what_the_next_compression_does(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[str, str, list[str], list[AgentEvent]]:
            for prompt in ("one", "two\nlines", "three"):
                await runner.prompt(prompt)
            runner.session.conversation.carried["todos"] = lambda: "1. [pending] test"
            runner.session.conversation.carried["plan"] = lambda: ""
            shown = await runner.command_output("/compress --preview")
            again = await runner.command_output("/compress preview")
            told = outcomes(runner.events)
            await runner.run_command("/compress")
            return shown, again, runner.texts, told

        shown, again, texts, told = env.run_with(work, script=self.SCRIPT)
        assert shown == again
        assert told == []
        lines = [line.strip() for line in shown.splitlines()]
        assert "- two lines" in lines
        assert any(line.startswith("Summarized") and line.endswith("5 messages") for line in lines)
        assert any(line.startswith("Kept with the session") and "todos, about 5 tokens" in line for line in lines)
        assert "plan" not in shown
        assert texts[-1] == "c"
        assert len(texts) == 2
        for part in ("word for word:\none", "word for word:\ntwo\nlines", "1. [pending] test"):
            assert part in texts[0]

    def test_where_there_is_nothing(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> str:
            return await runner.command_output("/compress --preview")

        assert env.run_with(work).strip() == "Nothing to compress yet."

    def test_other_words(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> str:
            return await runner.command_output("/compress all")

        assert "Usage: /compress [--preview]" in env.run_with(work)
