"""Notices while the user waits for the result, in every output format."""

import pytest

from support.sample_events import ALL_EVENTS, DENIED, EDIT, RecordedOutput, call_finished, diff, function_response
from tejat.core.agent.events import AgentEvent, Compressed, CompressionStatus, LoopDetected
from tejat.core.errors import ErrorType
from tejat.core.tools.base import ToolError, ToolResult
from tejat.ui.headless.output import describe_event, notice_line


def test_of_a_whole_run() -> None:
    assert [heard for event in ALL_EVENTS if (heard := describe_event(event)) is not None] == [
        "Repaired the session history: Removed an empty message.; Assigned a call its own id.",
        "This folder is not trusted.",
        "The service is busy. Retrying in 2 s (attempt 2 of 5).",
        "Waiting for the model (about 3,900 tokens sent, 15 s so far)...",
        f"Error executing tool run_shell_command: {DENIED} Hint.",
        "Error executing tool read_file: File not found.",
        "Switched from gemini-test to gemini-small: It is busy.",
        "Compressing the conversation to free up context...",
        "Compressed the conversation from 1000 to 100 tokens.",
        "Could not compress the conversation: No summary.",
        "The model is repeating itself: The same again. It has been warned.",
        "The disk is nearly full.",
        "The disk is full.",
    ]


@pytest.mark.parametrize(
    ("event", "heard"),
    [
        (LoopDetected("Again.", ends_run=True), "The model is repeating itself: Again."),
        (
            Compressed(5, 9, CompressionStatus.INFLATED, "Too long."),
            "Could not compress the conversation: Too long.",
        ),
        (
            call_finished(EDIT, ToolResult("x", "", ToolError("no place", ErrorType.EDIT_NO_CHANGE))),
            "Error executing tool replace: no place",
        ),
        (
            call_finished(
                EDIT,
                ToolResult("x", diff(), ToolError("not allowed", ErrorType.CANCELLED)),
                function_response(EDIT, ""),
            ),
            "Error executing tool replace: not allowed",
        ),
    ],
)
def test_of_one_event(event: AgentEvent, heard: str) -> None:
    assert describe_event(event) == heard


@pytest.mark.parametrize(
    ("text", "shown"),
    [("  plain \n", "plain"), ("\x1b[2Jgone\r", "<U+001B>[2Jgone"), ("half \udcff", "half <U+DCFF>")],
)
def test_no_line_can_command_the_terminal(text: str, shown: str) -> None:
    assert notice_line(text) == shown


def test_durations_are_told_or_are_nothing() -> None:
    written = RecordedOutput()
    assert [written.streams().milliseconds(seconds) for seconds in (0.0, 0.0004, 1.2345)] == [0, 0, 1234]
    assert written.streams(reports_durations=False).milliseconds(1.5) == 0
