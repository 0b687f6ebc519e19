"""Tool calls in the transcript: while they run, and when they are finished."""

from support.sample_events import EDIT, ENDED, SHELL, call_finished, diff
from support.terminal.transcript import (
    MCP,
    READ,
    SEARCHED,
    lines,
    open_transcript,
    printed,
    running,
    show_events,
)
from tejat.core.agent.events import (
    Noticed,
    TextStreamed,
)
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallState, OutputUpdated
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme


class TestCallsThatRun:
    def test_each_has_its_row_with_the_last_lines_of_its_output(self) -> None:
        shell = FunctionCall("run_shell_command", {"command": "make", "directory": "/w/sub"})
        screen = show_events(running(0, MCP), running(1, shell), running(2, EDIT, CallState.SCHEDULED), height=60)
        assert screen.drawn == [
            '● Calling github/clone url="x" (0 s, Esc to stop)',
            "● Running make (in sub, 0 s)",
            "○ Edit a.txt (waiting)",
        ]

    def test_an_open_question_needs_no_row(self) -> None:
        screen = show_events(running(0, EDIT, CallState.AWAITING_APPROVAL), running(1, SHELL, CallState.SCHEDULED))
        assert screen.drawn == []

    def test_live_rows_are_set_apart_as_printed_ones_are(self) -> None:
        screen = show_events(TextStreamed("One.\n\nTwo"), height=30)
        assert screen.rows == ["", "Two", "", "● Answering (0 s, Esc to stop)"]
        assert show_events(running(0, SHELL)).rows == ["", "● Running make (0 s, Esc to stop)"]
        assert show_events(running(0, SHELL), height=10).rows == ["● Running make (0 s, Esc to stop)"]

    def test_output_is_bounded_and_safe(self) -> None:
        output = OutputUpdated(0, SHELL, lines(2000) + "\n\x1b[2Jlast " + "x" * 500)
        screen = show_events(running(0, SHELL), output)
        screen.now += 65
        assert screen.drawn[0] == "● Running make (1 min 5 s, Esc to stop)"
        assert screen.drawn[1:5] == [f"  │ line {number}" for number in range(1997, 2001)]
        assert screen.drawn[5].startswith("  │ <U+001B>[2Jlast xxx")
        assert screen.drawn[5].endswith("…")
        assert len(screen.drawn) == 6

    def test_progress_of_a_server(self) -> None:
        screen = show_events(running(0, MCP), OutputUpdated(0, MCP, "[3/10] cloning"))
        assert screen.drawn == ['● Calling github/clone url="x" (0 s, Esc to stop)', "  │ [3/10] cloning"]

    def test_a_small_screen_is_not_filled(self) -> None:
        calls = [running(index, FunctionCall(f"tool_{index}", {})) for index in range(20)]
        screen = show_events(*calls, height=12)
        assert screen.drawn == [
            "● Calling tool_0 (0 s, Esc to stop)",
            "● Calling tool_1 (0 s)",
            "● Calling tool_2 (0 s)",
            "… and 17 more calls",
        ]
        assert len(show_events(running(0, SHELL), OutputUpdated(0, SHELL, lines(9)), height=8).drawn) == 2

    def test_they_leave_one_by_one(self) -> None:
        screen, transcript = open_transcript()
        transcript.begin_run("do it")
        for event in (running(0, MCP), running(1, SHELL), call_finished(MCP, ToolResult("x", "Cloned."))):
            transcript.handle_event(event)
        assert screen.drawn == ["● Running make (0 s, Esc to stop)"]
        transcript.end()
        assert screen.drawn == []


class TestCallsThatAreOver:
    def test_one_line_each(self) -> None:
        denied = ToolError("No rule allows it.", ErrorType.POLICY_VIOLATION)
        shown = printed(
            call_finished(SHELL, ToolResult("x", "", exit_code=2), seconds=3.21),
            call_finished(SHELL, ToolResult("x", "", ToolError("It took too long.", ErrorType.TIMEOUT)), seconds=300),
            call_finished(EDIT, ToolResult("x", "", denied), seconds=0.0),
            call_finished(SHELL, ToolResult("x", "", ToolError("stopped", ErrorType.CANCELLED)), seconds=1),
            call_finished(MCP, ToolResult("x", "Cloned.")),
        )
        assert shown.splitlines() == [
            "✗ Ran make (exit 2, 3.2 s)",
            "◷ Ran make (timed out after 5 min)",
            "  └ It took too long.",
            "⊘ Edit a.txt (denied)",
            "  └ No rule allows it.",
            "■ Ran make (stopped after 1.0 s)",
            '✓ Called github/clone url="x"',
            "  └ Cloned.",
        ]

    def test_the_users_own_no_is_quiet(self) -> None:
        message = "[Operation Cancelled] Reason: User did not allow tool call. They said: Use decimals."
        no = ToolResult("no", diff(), ToolError(message, ErrorType.CANCELLED))
        screen, transcript = open_transcript()
        transcript.begin_run("do it")
        transcript.handle_event(replace(call_finished(EDIT, no, seconds=0.0), was_rejected=True))
        assert screen.printed == "> do it\n\n• Edit a.txt +3 -1 (not run: you said no)\n  └ You: Use decimals.\n"
        transcript.expand_last()
        assert "Edit a.txt +3 -1 (not run: you said no)\n" in screen.printed.partition("decimals")[2]

    def test_in_forty_columns(self) -> None:
        long = FunctionCall("run_shell_command", {"command": "make all of it and more"})
        shown = printed(
            call_finished(long, ToolResult("x", "", exit_code=2), seconds=3.21),
            call_finished(long, ToolResult("x", "", ToolError("Late.", ErrorType.TIMEOUT)), seconds=4000),
            READ,
            SEARCHED,
            ENDED,
            width=40,
        )
        assert shown.splitlines() == [
            "✗ Ran make all of it and more (exit 2,",
            "  3.2 s)",
            "◷ Ran make all of it and more (timed out",
            "  after 1 h 6 min)",
            "  Late.",
            "",
            "✓ Explored",
            "  Read a.txt",
            '  Searched "x" in src (3 matches)',
        ]

    def test_a_very_long_command_is_cut(self) -> None:
        long = FunctionCall("run_shell_command", {"command": "make " + "x " * 500})
        shown = printed(call_finished(long, ToolResult("x", "", exit_code=2))).splitlines()
        assert len(shown) <= 5
        assert "…" in shown[-1] or "…" in shown[-2]
        assert shown[-1].endswith("(exit 2)")

    def test_a_command_of_several_lines_can_be_shown(self) -> None:
        script = FunctionCall("run_shell_command", {"command": "cat <<E\none\x1b\nE\n"})
        screen, transcript = open_transcript()
        transcript.begin_run("do it")
        transcript.handle_event(call_finished(script, ToolResult("x", "one")))
        assert screen.printed.splitlines()[2:] == [
            "✓ Ran cat <<E (and 2 more lines)",
            "  └ one",
            "    (Ctrl-O to show the whole command)",
        ]
        transcript.expand_last()
        assert screen.printed.splitlines()[5:] == [
            "",
            "Ran cat <<E (and 2 more lines)",
            "    $ cat <<E",
            "      one<U+001B>",
            "      E",
            "  └ one",
        ]

    def test_without_signs(self) -> None:
        shown = printed(
            READ,
            SEARCHED,
            call_finished(SHELL, ToolResult("x", lines(20), exit_code=1)),
            Noticed("Careful."),
            theme=Theme(glyphs=ASCII_GLYPHS),
        )
        assert shown.isascii()
        assert shown.startswith("+ Explored\n  - Read a.txt\n")
        assert "x Ran make (exit 1)\n  - line 1\n" in shown

    def test_long_output_is_folded(self) -> None:
        shown = printed(call_finished(SHELL, ToolResult("x", lines(128))))
        assert shown.splitlines() == [
            "✓ Ran make",
            "  └ line 1",
            "    line 2",
            "    line 3",
            "    … 120 more lines (Ctrl-O to show)",
            "    line 124",
            "    line 125",
            "    line 126",
            "    line 127",
            "    line 128",
        ]

    def test_a_failure_shows_its_cause_and_more_of_its_end(self) -> None:
        output = "\n".join([lines(50), "a.c:3:5: error: missing ;", lines(50), "make: *** [all] Error 1"])
        shown = printed(call_finished(SHELL, ToolResult("x", output, exit_code=2))).splitlines()
        assert shown[:6] == [
            "✗ Ran make (exit 2)",
            "  └ … 50 more lines (Ctrl-O to show)",
            "    a.c:3:5: error: missing ;",
            "    line 1",
            "    line 2",
            "    line 3",
        ]
        assert shown[6] == "    … 36 more lines (Ctrl-O to show)"
        assert shown[7:] == [*(f"    line {number}" for number in range(40, 51)), "    make: *** [all] Error 1"]

    def test_rules_are_as_wide_as_there_is_room(self) -> None:
        shown = printed(call_finished(SHELL, ToolResult("x", f"{'=' * 70}\n{'-' * 20}\n{'x' * 50}")), width=40)
        assert shown.splitlines()[1:] == [f"  {'=' * 38}", f"  {'-' * 20}", f"  {'x' * 38}", f"  {'x' * 12}"]

    def test_a_call_with_details_stands_apart(self) -> None:
        done = call_finished(SHELL, ToolResult("x", "out"))
        assert printed(done, done) == "✓ Ran make\n  └ out\n\n✓ Ran make\n  └ out\n"

    def test_a_change_shows_its_lines(self) -> None:
        shown = printed(call_finished(EDIT, ToolResult("x", replace(diff(), file_diff=patch("-old\n+new\n")))))
        assert [line.rstrip() for line in shown.splitlines()] == [
            "✓ Edited a.txt +3 -1",
            "    1   x",
            "    2 - old",
            "    2 + new",
        ]

    def test_a_large_change_is_folded(self) -> None:
        added = "".join(f"+{number}\n" for number in range(100))
        change = replace(diff(), file_diff=patch(added, new=101))
        shown = printed(call_finished(EDIT, ToolResult("x", change))).splitlines()
        assert len(shown) == 22
        assert shown[-1] == "    (Ctrl-O to show all of it)"
        assert any("…" in line for line in shown[1:-1])


def patch(changes: str, *, new: int = 2) -> str:
    header = "=" * 67
    return f"Index: a\n{header}\n--- a\n+++ a\n@@ -1,2 +1,{new} @@\n x\n{changes}"
