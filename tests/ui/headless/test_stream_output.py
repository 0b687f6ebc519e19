"""One JSON object in a line for every event, with the field names of the documents."""

import json
from typing import Any

import pytest

from support.sample_events import (
    ALL_EVENTS,
    CALL,
    DENIED,
    ENDED,
    FAILED,
    SHELL,
    STARTED,
    RecordedOutput,
    call_finished,
    render_events,
)
from tejat.core.agent.events import AgentEvent, Prompted, TextStreamed
from tejat.core.frozen import replace
from tejat.core.messages.history import user_message
from tejat.core.messages.types import FileData, FunctionResponse, Text
from tejat.core.tools.base import ToolResult
from tejat.core.tools.todos import Todo, TodoList
from tejat.ui.headless.stream_output import StreamOutput

WHEN = "2023-11-14T22:13:20.123Z"


def lines(*events: AgentEvent, **how: bool) -> list[Any]:
    return [json.loads(line) for line in render_events(StreamOutput, *events, **how).stdout.splitlines()]


def line(kind: str, /, **fields: object) -> dict[str, object]:
    return {"type": kind, "timestamp": WHEN, **fields}


def model(total: int, prompt: int, output: int, cached: int) -> dict[str, int]:
    return {
        "total_tokens": total,
        "input_tokens": prompt,
        "output_tokens": output,
        "cached": cached,
        "input": prompt - cached,
    }


RESULT = line(
    "result",
    status="success",
    stats={
        **model(49, 33, 13, 12),
        "duration_ms": 1234,
        "tool_calls": 4,
        "models": {"gemini-test": model(23, 13, 7, 4), "gemini-test-002": model(26, 20, 6, 8)},
    },
    plan={"path": "/home/u/plans/plan.md", "text": "# Plan\n", "approved": True},
    permission_denials=[
        {
            "tool_name": "run_shell_command",
            "tool_id": "call-3",
            "parameters": {"command": "make"},
            "reason": f"{DENIED} Hint.",
        }
    ],
    cost_usd=0.012346,
)


def warning(message: str, severity: str = "warning") -> dict[str, object]:
    return line("error", severity=severity, message=message)


def delta(text: str) -> dict[str, object]:
    return line("message", role="assistant", content=text, delta=True)


def test_a_whole_run() -> None:
    assert lines(*ALL_EVENTS) == [
        line("init", session_id="id-1", model="gemini-test"),
        warning("Repaired the session history: Removed an empty message.; Assigned a call its own id."),
        line("message", role="user", content="see @a.txt"),
        delta("I \x1b[31m"),
        line(
            "retry",
            kind="rate_limited",
            reason="The service is busy.",
            attempt=1,
            max_attempts=5,
            wait_seconds=2.346,
            purpose="conversation",
        ),
        delta("I \x1b[31mlook"),
        delta("\x1b[0m."),
        line("tool_use", tool_name="read_file", tool_id="call-1", parameters={"path": "a.txt"}),
        line("tool_use", tool_name="replace", tool_id="call-2", parameters={"file_path": "a.txt"}),
        line(
            "tool_result",
            tool_id="call-1",
            status="success",
            output="Read lines 1-2",
            content="one\ntwo\n[image/png, 3 bytes]",
        ),
        line("tool_result", tool_id="call-2", status="success", content="ok"),
        line("tool_use", tool_name=SHELL.name, tool_id="call-3", parameters=SHELL.args),
        line(
            "tool_result",
            tool_id="call-3",
            status="error",
            output=f"{DENIED} Hint.",
            error={"type": "policy_violation", "message": DENIED},
            content=DENIED,
        ),
        line(
            "tool_result",
            tool_id="call-1",
            status="error",
            output="File not found.",
            error={"type": "file_not_found", "message": "no such file: a.txt"},
            content="no such file: a.txt",
        ),
        warning("Switched from gemini-test to gemini-small: It is busy."),
        warning("Compressed the conversation from 1000 to 100 tokens."),
        warning("Could not compress the conversation: No summary."),
        warning("The model is repeating itself: The same again. It has been warned."),
        warning("The disk is nearly full."),
        warning("The disk is full.", "error"),
        line(
            "agent_start",
            agent_id="reader#1",
            agent_name="reader",
            tool_id="call-1",
            prompt="Find the parser.",
            model="gemini-test",
        ),
        line("message", agent_id="reader#1", role="assistant", content="Inside.", delta=True),
        line(
            "agent_end",
            agent_id="reader#1",
            status="success",
            reason="GOAL",
            turns=1,
            tool_calls=0,
            tokens=8,
            cost_usd=0.001,
            duration_ms=500,
            files_changed=0,
        ),
        delta("Done.\n"),
        delta("Really."),
        RESULT,
    ]


def test_a_note_is_said_on_the_side_and_nothing_else_is() -> None:
    assert render_events(StreamOutput, *ALL_EVENTS).stderr == [
        "This folder is not trusted.",
        "Waiting for the model (about 3,900 tokens sent, 15 s so far)...",
        "Compressing the conversation to free up context...",
    ]


def test_each_object_is_one_line_whatever_is_in_it() -> None:
    controls = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]))
    result = render_events(StreamOutput, TextStreamed(controls)).stdout
    assert (len(result.splitlines()), result[-2:]) == (1, "}\n")
    assert not set(controls) & set(result.removesuffix("\n"))
    assert ": " not in result
    assert json.loads(result)["content"] == controls


def test_a_run_that_failed() -> None:
    written = render_events(StreamOutput, STARTED, FAILED)
    assert json.loads(written.stdout.splitlines()[-1]) == line(
        "result",
        status="error",
        error={"type": "unavailable", "message": "The service is down.", "code": 61},
        stats={**model(0, 0, 0, 0), "duration_ms": 2000, "tool_calls": 0, "models": {}},
        permission_denials=[],
    )
    assert written.stderr == ["The service is down."]


def test_a_run_that_ended_well_may_have_something_to_say() -> None:
    said = lines(STARTED, replace(ENDED, message="The model stopped early: (OTHER)."))
    assert said[1] == warning("The model stopped early: (OTHER).")
    assert (said[2]["type"], said[2]["status"], len(said)) == ("result", "success", 3)


def test_a_prompt_that_nobody_wrote_as_words_is_shown_as_the_model_gets_it() -> None:
    (shown,) = lines(Prompted(user_message("one", "two"), ""))
    assert shown["content"] == "onetwo"


@pytest.mark.parametrize(
    ("part", "content"),
    [
        (Text("beside"), "beside"),
        (FileData("application/pdf", "gs://a/b"), "[application/pdf: gs://a/b]"),
        (FunctionResponse("glob", {"output": "a", "count": 3, "error": "b"}, "1"), "a\nb"),
    ],
)
def test_what_the_model_got(part: Text | FileData | FunctionResponse, content: str) -> None:
    announced, shown = lines(call_finished(CALL, ToolResult("x", "y"), part))
    assert announced == line("tool_use", tool_name=CALL.name, tool_id=CALL.id, parameters=CALL.args)
    assert shown["content"] == content


def test_without_durations_it_is_the_same_every_time() -> None:
    one = lines(*ALL_EVENTS, reports_durations=False)
    assert one == lines(*ALL_EVENTS[:-1], replace(ENDED, seconds=77.0), reports_durations=False)
    assert one[-1]["stats"]["duration_ms"] == 0


def test_what_could_not_be_begun_is_a_result_too() -> None:
    written = RecordedOutput()
    StreamOutput(written.streams()).fail("No API key.", name="authentication", code=41)
    assert json.loads(written.stdout) == line(
        "result",
        status="error",
        error={"type": "authentication", "message": "No API key.", "code": 41},
        permission_denials=[],
    )
    assert written.stderr == ["No API key."]


def test_todos_are_fields_of_the_result() -> None:
    finished = call_finished(CALL, ToolResult("written", TodoList((Todo("Test it"),))))
    (result,) = (each for each in lines(finished) if each["type"] == "tool_result")
    assert result["todos"] == [{"description": "Test it", "status": "pending"}]
    assert "output" not in result
