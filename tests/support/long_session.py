"""A long session for measurements: prompts, streamed answers with code, calls with output and diffs, and sub-agents."""

from collections.abc import Iterator

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    Prompted,
    RunEnded,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelResponse, Usage
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.tools.display import DiffStat, FileDiff

_WORDS = "The function returns what is left of the price, and **not** the `discount` itself. "


def long_session(events: int) -> list[AgentEvent]:
    """About this many events: turns of 100, each with different text, code, output and diffs."""
    found: list[AgentEvent] = []
    turn = 0
    while len(found) < events:
        found += _turn(turn)
        turn += 1
    return found[:events]


def _turn(turn: int) -> Iterator[AgentEvent]:
    yield Prompted(user_message(f"Prompt {turn}"), f"Prompt {turn}: look at @src/file_{turn}.py")
    for step in range(5):
        yield ThoughtStreamed(f"**Step {step}**\n\nI look at turn {turn}. ")
    for step in range(50):
        yield TextStreamed(f"{_WORDS}{turn}.{step}\n\n" if step % 10 == 9 else _WORDS)
    yield TextStreamed(f"\n\n```python\ndef f_{turn}(price: int) -> int:\n    return price - {turn}  # left\n```\n")
    calls = [*_calls(turn)]
    yield Answered(ModelResponse(model_message("text", *calls), usage=Usage(100, 0, 20)), 1.0)
    for index, call in enumerate(calls):
        yield from _call_events(index, call, turn)
    yield AgentStarted(f"reader-{turn}", "reader", f"agent-{turn}", "Find the parser.", "scripted")
    for index, call in enumerate(calls[:2]):
        for event in _call_events(index, call, turn):
            yield AgentActivity(f"reader-{turn}", "reader", event)
    yield AgentEnded(f"reader-{turn}", "reader", SubagentEnd.GOAL, turns=1, calls=2, seconds=3.0)
    yield TextStreamed(f"Done with {turn}.")
    yield Answered(ModelResponse(model_message("Done."), usage=Usage(100, 0, 20)), 1.0)
    yield RunEnded(EndReason.FINISHED, seconds=10.0)


def _calls(turn: int) -> Iterator[FunctionCall]:
    yield FunctionCall("read_file", {"file_path": f"/w/src/file_{turn}.py"}, f"read-{turn}")
    yield FunctionCall("run_shell_command", {"command": f"make test-{turn}"}, f"shell-{turn}")
    yield FunctionCall("replace", {"file_path": f"/w/src/file_{turn}.py"}, f"edit-{turn}")
    yield FunctionCall("server__search", {"query": f"what is {turn}?", "limit": 10}, f"mcp-{turn}")


def _call_events(index: int, call: FunctionCall, turn: int) -> Iterator[AgentEvent]:
    for state in (CallState.VALIDATING, CallState.SCHEDULED, CallState.EXECUTING):
        yield StateChanged(index, call, state)
    if call.name == "run_shell_command":
        yield OutputUpdated(index, call, "one\ntwo\n")
    yield CallFinished(index, call, CallState.SUCCESS, _result(call, turn), (), 1.5)


def _result(call: FunctionCall, turn: int) -> ToolResult:
    match call.name:
        case "replace":
            patch = (
                f"Index: file_{turn}.py\n{'=' * 67}\n--- file_{turn}.py\tOriginal\n+++ file_{turn}.py\tWritten\n"
                f"@@ -1,3 +1,3 @@\n def f_{turn}(price: int) -> int:\n-    return price * {turn} // 100\n"
                f"+    return price - price * {turn} // 100\n \n"
            )
            diff = FileDiff(f"file_{turn}.py", f"/w/src/file_{turn}.py", patch, False, diff_stat=DiffStat(1, 1, 9, 9))
            return ToolResult("ok", diff)
        case "run_shell_command":
            output = "\n".join(f"test {turn}.{number} ... ok" for number in range(60))
            return ToolResult(output, output, exit_code=0)
        case "read_file":
            return ToolResult("\n".join(f"line {number} of {turn}" for number in range(100)), "")
        case _:
            return ToolResult('{"found": 1}', '{"found": 1}')
