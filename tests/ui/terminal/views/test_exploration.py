"""Reads, searches and listings under one line."""

import pytest

from support.sample_events import CALL, EDIT, ENDED, SHELL, call_finished
from support.terminal.transcript import (
    READ,
    SEARCH,
    SEARCHED,
    lines,
    open_transcript,
    printed,
    running,
    show_events,
)
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    Noticed,
    RunEnded,
    TextStreamed,
)
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelResponse
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallState

EXPLORED = '✓ Explored\n  └ Read a.txt\n    Searched "x" in src (3 matches)\n'


def test_stays_live_until_something_else_comes() -> None:
    screen, transcript = open_transcript()
    transcript.begin_run("do it")
    for event in (running(0, CALL), READ, running(0, SEARCH)):
        transcript.handle_event(event)
    assert screen.printed == "> do it\n"
    assert screen.drawn == [
        "● Exploring (0 s, Esc to stop)",
        "  └ Read a.txt",
        '    Searching "x" in src',
    ]
    transcript.handle_event(SEARCHED)
    assert screen.drawn == [*EXPLORED.splitlines(), "", "● Working (0 s, Esc to stop)"]
    transcript.handle_event(TextStreamed("Now"))
    assert screen.printed == f"> do it\n\n{EXPLORED}"


@pytest.mark.parametrize(
    "event",
    [
        Noticed("Careful."),
        ENDED,
        RunEnded(EndReason.INTERRUPTED),
        running(5, SHELL),
        running(5, EDIT, CallState.AWAITING_APPROVAL),
        running(5, CALL, CallState.AWAITING_APPROVAL),
        call_finished(SHELL, ToolResult("x", "")),
    ],
)
def test_is_printed_before_anything_else(event: AgentEvent) -> None:
    assert printed(READ, SEARCHED, event).startswith(EXPLORED)


def test_is_printed_when_the_run_is_torn_down() -> None:
    screen, transcript = open_transcript()
    transcript.begin_run("do it")
    transcript.handle_event(READ)
    transcript.handle_event(SEARCHED)
    transcript.end()
    assert screen.printed == f"> do it\n\n{EXPLORED}"
    assert screen.drawn == []


def test_goes_on_in_following_steps() -> None:
    answer = Answered(ModelResponse(model_message(CALL)), 1.0)
    assert printed(READ, answer, TextStreamed("\n"), SEARCHED, ENDED) == EXPLORED


def test_calls_stand_in_the_order_of_the_model() -> None:
    answer = Answered(ModelResponse(model_message(CALL)), 1.0)
    second, first = replace(SEARCHED, index=1), replace(READ, index=0)
    assert printed(second, first, answer, ENDED) == EXPLORED
    assert printed(second, answer, first, ENDED).splitlines()[1:] == [
        '  └ Searched "x" in src (3 matches)',
        "    Read a.txt",
    ]


def test_a_single_call_needs_no_heading() -> None:
    assert show_events(running(0, CALL)).drawn == ["● Reading a.txt (0 s, Esc to stop)"]
    assert show_events(READ).drawn[0] == "✓ Read a.txt"
    assert printed(READ, ENDED) == "✓ Read a.txt\n"


def test_files_share_a_line() -> None:
    other = call_finished(FunctionCall("read_file", {"path": "b.txt", "offset": 10}), ToolResult("two", ""))
    assert printed(READ, other, SEARCHED, READ, ENDED) == (
        '✓ Explored\n  └ Read a.txt, b.txt (from line 11)\n    Searched "x" in src (3 matches)\n    Read a.txt\n'
    )


def test_failures_have_their_sign_and_reason() -> None:
    gone = call_finished(
        CALL, ToolResult("no", "File not found.", ToolError("no", ErrorType.FILE_NOT_FOUND)), seconds=0.0
    )
    assert printed(READ, gone, READ, ENDED) == (
        "✓ Explored\n  └ Read a.txt\n  ✗ Read a.txt (failed): File not found.\n    Read a.txt\n"
    )
    assert printed(gone, gone, ENDED).startswith("✗ Explored\n")
    assert printed(gone, ENDED) == "✗ Read a.txt (failed)\n  └ File not found.\n"


def test_many_do_not_fill_the_screen() -> None:
    screen, transcript = open_transcript(height=12)
    transcript.begin_run("do it")
    for _ in range(30):
        transcript.handle_event(SEARCHED)
    assert len(screen.drawn) <= 7
    assert screen.drawn[1] == "    … 28 more"


def test_a_long_one_is_folded_except_for_failures() -> None:
    gone = call_finished(
        CALL, ToolResult("no", "File not found.", ToolError("no", ErrorType.FILE_NOT_FOUND)), seconds=0.0
    )
    screen, transcript = open_transcript()
    transcript.begin_run("do it")
    for event in (*[SEARCHED] * 10, gone, *[SEARCHED] * 9, ENDED):
        transcript.handle_event(event)
    assert [line for line in screen.printed.splitlines() if "Searched" not in line] == [
        "> do it",
        "",
        "✓ Explored",
        "    … 5 more (Ctrl-O to show)",
        "  ✗ Read a.txt (failed): File not found.",
        "    … 4 more (Ctrl-O to show)",
    ]
    transcript.expand_last()
    assert screen.printed.count("Searched") == 10 + 19


def test_with_whole_results_nothing_is_grouped_or_folded() -> None:
    screen, transcript = open_transcript()
    transcript.is_compact = False
    transcript.begin_run("do it")
    listing = ToolResult("\n".join(["Listing:", *lines(20).split("\n")]), "Listed 20 item(s).")
    transcript.handle_event(READ)
    transcript.handle_event(call_finished(FunctionCall("list_directory", {"path": "/w"}), listing))
    assert screen.printed.splitlines()[2:] == [
        "✓ Read a.txt",
        "  └ one",
        "",
        "✓ Listed . (20 entries)",
        "  └ Listing:",
        *(f"    line {number}" for number in range(1, 21)),
    ]
