"""A run in plain lines."""

import asyncio
import io
import re
from collections.abc import Sequence

import pytest

from support.sample_events import ALL_EVENTS, CALL, DENIED, EDIT, ENDED, RETRYING, SHELL, call_finished, diff
from tejat.core.agent.events import AgentEvent, EndReason, Noticed, RunEnded, TextStreamed
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall
from tejat.core.model import Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.ui.plain.output import DEFAULT_INTERVALS, PlainOutput, ProgressIntervals
from tejat.ui.plain.style import Style

QUICK = ProgressIntervals(0.01, 0.02)


class Written:
    """Everything in the order in which it came."""

    def __init__(self, pace: ProgressIntervals = DEFAULT_INTERVALS) -> None:
        self.text = ""
        self.rings = 0
        self.heard = asyncio.Event()
        style = Style(io.StringIO())
        self.output = PlainOutput(self._add, self._add_line, style, ring_bell=self._ring, folder="/w", intervals=pace)

    def _add(self, text: str) -> None:
        self.text += text

    def _add_line(self, line: str) -> None:
        self.text += f"{line}\n"
        self.heard.set()

    def _ring(self) -> None:
        self.rings += 1


def print_events(*events: AgentEvent) -> str:
    written = Written()

    async def run() -> None:
        written.output.begin()
        for event in events:
            written.output.handle_event(event)
        written.output.end()

    asyncio.run(run())
    return written.text


def numbered(numbers: Sequence[int]) -> str:
    return "\n".join(map(str, numbers))


def test_a_whole_run() -> None:
    assert print_events(*ALL_EVENTS) == (
        "Warning: Repaired the session history: Removed an empty message.; Assigned a call its own id.\n"
        "Note: This folder is not trusted.\n"
        "I <U+001B>[31m\n"
        "The service is busy. Retrying in 2 s (attempt 2 of 5).\n"
        "This attempt failed. Ignore the text above.\n"
        "I <U+001B>[31mlook<U+001B>[0m.\n"
        "Read a.txt\n"
        "Edited a.txt +3 -1\n[-a]\n[+b]\n"
        f"Run make (denied)\n{DENIED} Hint.\n"
        "Read a.txt (failed)\nFile not found.\n"
        "Note: A side request (summary) failed: Blocked.\n"
        "Warning: Switched from gemini-test to gemini-small: It is busy.\n"
        "Note: Compressing the conversation to free up context...\n"
        "Note: Compressed the conversation from 1000 to 100 tokens.\n"
        "Warning: Could not compress the conversation: No summary.\n"
        "Warning: The model is repeating itself: The same again. It has been warned.\n"
        "Warning: The disk is nearly full.\n"
        "Error: The disk is full.\n"
        "Agent reader#1 started: Find the parser.\n"
        "Agent ended: ok reader, 0 calls, 8 tokens, $0.001, 0.5 s\n"
        "Done.\nReally.\n"
    )


def test_a_command_of_several_lines() -> None:
    call = FunctionCall("run_shell_command", {"command": "cat <<E\none\nE"})
    assert print_events(call_finished(call, ToolResult("x", "one"))) == (
        "Ran cat <<E (and 2 more lines)\ncat <<E\none\nE\none\n"
    )


def test_an_incomplete_answer() -> None:
    ended = RunEnded(EndReason.INTERRUPTED, message="Operation cancelled.")
    assert print_events(TextStreamed("Half"), ended) == "Half\nStopped. The answer is incomplete.\n"


def test_lines_begin_at_their_beginning() -> None:
    assert print_events(TextStreamed("Half"), Noticed("Careful.")) == "Half\nWarning: Careful.\n"


def test_nothing_that_was_not_said_is_void() -> None:
    assert print_events(RETRYING, TextStreamed("Yes."), ENDED) == (
        "The service is busy. Retrying in 2 s (attempt 2 of 5).\nYes.\n"
    )


class TestLongResults:
    def test_are_shown_in_part_and_can_be_opened_one_after_the_other(self) -> None:
        written = Written()
        for start in (0, 1000):
            text = numbered(range(start, start + 50))
            written.output.handle_event(call_finished(SHELL, ToolResult("x", text, exit_code=0)))
        mark = "[10 more lines; enter + to show all]"
        shown = f"{numbered(range(20))}\n{mark}\n{numbered(range(30, 50))}\n"
        assert written.text.startswith(f"Ran make\n{shown}")
        for start in (1000, 0):
            written.text = ""
            written.output.expand_last()
            assert written.text == f"{numbered(range(start, start + 50))}\n"
        written.text = ""
        written.output.expand_last()
        assert written.text == "Nothing to expand.\n"

    def test_endless_lines_are_cut(self) -> None:
        written = Written()
        written.output.print_block("x" * 5000)
        assert written.text == f"{'x' * 2000} [...]\n"

    def test_endless_results_too(self) -> None:
        written = Written()
        written.output.print_block(numbered(range(3000)))
        written.text = ""
        written.output.expand_last()
        assert written.text.endswith("\n1999\n[1,000 more lines are not shown]\n")


class TestWhatGoesOn:
    @staticmethod
    async def run_for(written: Written, most: int) -> None:
        """Until so many lines were written."""
        async with asyncio.timeout(60):
            while written.text.count("\n") < most:
                written.heard.clear()
                await written.heard.wait()

    def test_a_call_that_takes_long(self) -> None:
        written = Written(QUICK)

        async def run() -> None:
            written.output.begin()
            written.output.handle_event(StateChanged(0, SHELL, CallState.EXECUTING))
            written.output.handle_event(OutputUpdated(0, SHELL, "one\ntwo\x1b[2J\n"))
            await self.run_for(written, 2)
            written.output.end()

        asyncio.run(run())
        assert written.text.splitlines()[:2] == [
            "Running make",
            "Running make: 0 s so far. Last line: two<U+001B>[2J",
        ]
        assert written.rings == 1

    def test_a_model_that_thinks_long(self) -> None:
        written = Written(QUICK)

        async def run() -> None:
            written.output.begin()
            await self.run_for(written, 1)
            written.output.end()
            before = written.text
            await asyncio.sleep(0.1)
            assert written.text == before

        asyncio.run(run())
        assert written.text.splitlines()[0] == "Still working: 0 s so far"

    def test_nothing_is_said_into_a_question(self) -> None:
        written = Written(QUICK)

        async def run() -> None:
            written.output.begin()
            written.output.handle_event(StateChanged(0, SHELL, CallState.EXECUTING))
            with written.output.hold():
                await asyncio.sleep(0.1)
                written.output.handle_event(Noticed("Later."))
                assert written.text == ""
            assert written.text == "Warning: Later.\n"
            written.output.end()

        asyncio.run(run())


def test_the_session_in_figures() -> None:
    written = Written()
    assert written.output.session_summary() == ""
    for _ in range(2):
        written.output.handle_event(call_finished(CALL, ToolResult("x", "y")))
    written.output.handle_event(RunEnded(EndReason.FINISHED, usage=Usage(1000, 500, 100), cost=0.5))
    figures = r"This session: 1 prompt, 2 tool calls, 1,100 tokens, 45 % cached, \$0\.50, (under )?[0-9.]+ s\."
    assert re.fullmatch(figures, written.output.session_summary())


HOSTILE = "a\x1b]0;x\x07\u202e\r\x9bb"


@pytest.mark.parametrize(
    "event",
    [
        TextStreamed(HOSTILE),
        Noticed(HOSTILE),
        RunEnded(EndReason.FAILED, message=HOSTILE),
        call_finished(FunctionCall(HOSTILE, {HOSTILE: HOSTILE}), ToolResult("x", f"{HOSTILE}\n{HOSTILE}")),
        call_finished(EDIT, ToolResult("x", diff(), ToolError(HOSTILE, ErrorType.UNKNOWN))),
        call_finished(SHELL, ToolResult("x", HOSTILE, ToolError(HOSTILE, ErrorType.UNKNOWN))),
    ],
)
def test_hostile_text(event: AgentEvent) -> None:
    shown = print_events(event)
    assert shown.replace("\n", "").isprintable()
    assert "<U+001B>" in shown


def test_a_sub_agent_in_lines() -> None:
    invoke = FunctionCall("invoke_agent", {"agent_name": "reviewer", "prompt": "Review."}, "c1")
    ended = AgentEnded(
        "reviewer#1", "reviewer", SubagentEnd.GOAL, turns=1, calls=1, usage=Usage(prompt=1000), cost=0.02, seconds=48.0
    )
    events: list[AgentEvent] = [
        AgentStarted("reviewer#1", "reviewer", "c1", "Review the change.\nAll of it.", "fast"),
        AgentActivity("reviewer#1", "reviewer", call_finished(CALL, ToolResult("text"))),
        AgentActivity("reviewer#1", "reviewer", Noticed("The disk is full.")),
        ended,
        call_finished(invoke, ToolResult("Subagent 'reviewer' finished.", "Done.")),
    ]
    assert print_events(*events) == (
        "Agent reviewer#1 started: Review the change.\n"
        "reviewer#1: Read a.txt\n"
        "reviewer#1: Warning: The disk is full.\n"
        "Agent ended: ok reviewer, 1 call, 1,000 tokens, $0.02, 48 s\n"
    )


def test_a_sub_agent_that_failed_says_why() -> None:
    ended = AgentEnded("reviewer#1", "reviewer", SubagentEnd.TIMEOUT, seconds=600.0, error="Agent timed out.")
    assert print_events(ended) == ("Agent ended: TIMEOUT reviewer, 0 calls, 0 tokens, 10 min\nAgent timed out.\n")
