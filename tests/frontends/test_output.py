"""What a person hears while they wait for the result, in every kind of output."""

import pytest

from sample_events import A_RUN, DENIED, EDIT, Written, answering, diff, finished
from tejat.core.agent_events import AgentEvent, Compressed, CompressionStatus, LoopDetected
from tejat.core.errors import ErrorType
from tejat.core.tool import ToolError, ToolResult
from tejat.frontends.output import aside, one_line


def test_of_a_whole_run() -> None:
    assert [heard for event in A_RUN if (heard := aside(event)) is not None] == [
        "the session was put in order: Left out an empty message.; Gave a call an id of its own.",
        "This folder is not trusted.",
        "The service is busy. (attempt 1 of 5; next try in 2 s)",
        f"Error executing tool run_shell_command: {DENIED} Hint.",
        "Error executing tool read_file: File not found.",
        "changed the model from gemini-test to gemini-small: It is busy.",
        "summarised the conversation: 1000 tokens became 100",
        "could not summarise the conversation: No summary.",
        "the model seems to go in circles: The same again. It was told so.",
        "The disk is nearly full.",
        "The disk is full.",
    ]


@pytest.mark.parametrize(
    ("event", "heard"),
    [
        (LoopDetected("Again.", ends_run=True), "the model seems to go in circles: Again."),
        (
            Compressed(5, 9, CompressionStatus.INFLATED, "Too long."),
            "could not summarise the conversation: Too long.",
        ),
        (
            finished(EDIT, ToolResult("x", "", ToolError("no place", ErrorType.EDIT_NO_CHANGE))),
            "Error executing tool replace: no place",
        ),
        (
            finished(EDIT, ToolResult("x", diff(), ToolError("not allowed", ErrorType.CANCELLED)), answering(EDIT, "")),
            "Error executing tool replace: not allowed",
        ),
    ],
)
def test_of_one_event(event: AgentEvent, heard: str) -> None:
    assert aside(event) == heard


@pytest.mark.parametrize(
    ("text", "shown"),
    [("  plain \n", "plain"), ("\x1b[2Jgone\r", "<U+001B>[2Jgone"), ("half \udcff", "half <U+DCFF>")],
)
def test_no_line_can_command_the_terminal(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_durations_are_told_or_are_nothing() -> None:
    written = Written()
    assert [written.streams().milliseconds(seconds) for seconds in (0.0, 0.0004, 1.2345)] == [0, 0, 1234]
    assert written.streams(tells_durations=False).milliseconds(1.5) == 0
