"""The end of a call is told when it is written down, and written down whatever becomes of the telling."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.agent_env import AgentEnv, calling
from tejat.core.agent.events import AgentEvent, QuestionAsked
from tejat.core.agent.hook_decorator import hook
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.model import NO_USAGE
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallFinished, CallState, Event, OutputUpdated, StateChanged
from tejat.engine.calls.call_recorder import CallRecorder
from tejat.engine.sessions.journal import SessionJournal
from tejat.tools.python.function_tool import tool

CALLS = [FunctionCall("glob", {"pattern": str(number)}, f"id-{number}") for number in range(3)]


def finished(index: int) -> CallFinished:
    call = CALLS[index]
    response = (FunctionResponse(call.name, {"output": "x"}, call.id),)
    return CallFinished(index, call, CallState.SUCCESS, ToolResult("x", "x"), response, 0.1)


def begun(directory: Path) -> SessionJournal:
    journal = SessionJournal.create(str(directory), session_id="session-1", root="/", model="m")
    journal.record_prompt(user_message("hi"), "hi")
    journal.record_answer(model_message(*CALLS), NO_USAGE, "m")
    return journal


def written(journal: SessionJournal) -> list[int]:
    """The places of the calls whose responses are in the file."""
    with open(journal.path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [record["index"] for record in records if record["kind"] == "response"]


def watching(
    journal: SessionJournal,
    events: list[Event],
    emit: Callable[[Any], None],
    *,
    pause_after: int | None = None,
) -> CallRecorder:
    async def main() -> CallRecorder:
        watch = CallRecorder(journal.record, emit)
        for number, event in enumerate(events):
            watch(event)
            if number == pause_after:
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        watch.flush()
        return watch

    return asyncio.run(main())


def test_events_keep_their_order_and_ends_are_written_before_they_are_told(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    told: list[tuple[Event, list[int]]] = []
    events: list[Event] = [
        StateChanged(0, CALLS[0], CallState.EXECUTING),
        StateChanged(0, CALLS[0], CallState.SUCCESS),
        finished(0),
        OutputUpdated(1, CALLS[1], "half"),
        StateChanged(1, CALLS[1], CallState.SUCCESS),
        finished(1),
    ]
    watch = watching(journal, events, lambda event: told.append((event, written(journal))))
    journal.close()
    assert watch.sink_error is None
    assert [event for event, _ in told] == events
    assert [there for _, there in told] == [[], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]


def test_an_end_is_told_in_the_next_moment_and_not_only_at_the_end(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    told: list[list[int]] = []
    events: list[Event] = [finished(0), StateChanged(1, CALLS[1], CallState.EXECUTING), finished(1)]
    watching(journal, events, lambda _: told.append(written(journal)), pause_after=0)
    journal.close()
    assert told == [[0], [0], [0, 1]]


@pytest.mark.parametrize("state", [CallState.VALIDATING, CallState.AWAITING_APPROVAL])
def test_an_end_is_told_before_another_call_is_checked_or_asked_about(tmp_path: Path, state: CallState) -> None:
    """The question itself does not go through the recorder, and hooks are called without it."""
    journal = begun(tmp_path)
    told: list[Event] = []

    async def main() -> None:
        watch = CallRecorder(journal.record, told.append)  # pyright: ignore[reportArgumentType] -- call events only
        watch(finished(0))
        watch(StateChanged(1, CALLS[1], state))
        assert told == [finished(0), StateChanged(1, CALLS[1], state)]
        assert written(journal) == [0]

    asyncio.run(main())
    journal.close()


def test_an_error_of_the_sink_is_kept_and_the_journal_is_written(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    error = ValueError("deaf")
    heard: list[Event] = []

    def emit(event: Event) -> None:
        heard.append(event)
        raise error

    watch = watching(journal, [finished(0), finished(1), finished(2)], emit)
    assert written(journal) == [0, 1, 2]
    journal.close()
    assert watch.sink_error is error
    assert heard == [finished(0), finished(1), finished(2)]


def test_the_end_of_a_call_comes_before_the_next_question(tmp_path: Path) -> None:
    told: list[str] = []

    @tool(confirm=True)
    def launch() -> None:
        """Launches."""

    @hook("BeforeTool")
    async def check(_: object) -> None:
        told.append("hook")

    def approve(_: ApprovalRequest) -> bool:
        told.append("approver")
        return True

    def watch(event: AgentEvent) -> None:
        if isinstance(event, QuestionAsked | CallFinished):
            told.append(type(event).__name__)

    async def main() -> None:
        script = calling("launch").replace("[[answer.call]]", '[[answer.call]]\nname = "launch"\n[[answer.call]]', 1)
        settings: Any = {"tools": [launch], "hooks": [check], "approver": approve, "on_event": watch}
        async with AgentEnv(tmp_path).agent(script, **settings) as agent:
            await agent.ask("hello")

    asyncio.run(main())
    assert told == ["hook", "QuestionAsked", "approver", "CallFinished"] * 2
