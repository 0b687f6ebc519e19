"""What of a run is printed, and what is drawn while it goes on."""

import re
from collections.abc import Iterable
from typing import Any

import pytest
from rich.console import RenderableType

from support.sample_events import ALL_EVENTS, CALL, EDIT, ENDED, RETRYING, SHELL, call_finished, diff
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    Noticed,
    Retrying,
    RunEnded,
    Severity,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import FailureKind, ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.core.ui.report import text_report as sheet_of
from tejat.ui.terminal.render.rich_output import render_ansi, render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme
from tejat.ui.terminal.views.transcript import Transcript

PLAIN = Theme()

MCP = FunctionCall("github__clone", {"url": "x"})


class FakeScreen:
    """Keeps everything: what was printed as text without colours, and what is live."""

    def __init__(self, *, width: int = 80, height: int = 24, theme: Theme = PLAIN) -> None:
        self.width, self.height, self.theme = width, height, theme
        self.printed = ""
        self.hints: list[str] = []
        self._live: RenderableType | None = None
        self.now = 100.0

    def print(self, *renderables: RenderableType) -> None:
        for renderable in renderables:
            self.printed += plain(render_ansi(renderable, self.theme, width=self.width))

    def set_live(self, renderable: RenderableType | None, /) -> None:
        self._live = renderable

    def show_hint(self, text: str) -> None:
        self.hints.append(text)

    @property
    def rows(self) -> list[str]:
        """The live rows."""
        if self._live is None:
            return []
        rows = render_rows(self._live, self.theme, width=self.width)
        return ["".join(cell.text for cell in row).rstrip() for row in rows]

    @property
    def drawn(self) -> list[str]:
        """The live rows without the blank one above them."""
        return self.rows[1:] if self.rows[:1] == [""] else self.rows


def plain(text: str) -> str:
    """Without the codes for bold and dim, which are there without colours too."""
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def show_events(*events: AgentEvent, prompt: str = "do it", **how: object) -> FakeScreen:
    screen, transcript = opened(**how)
    transcript.begin_run(prompt)
    for event in events:
        transcript.handle_event(event)
    return screen


def opened(**how: object) -> tuple[FakeScreen, Transcript]:
    screen = FakeScreen(**how)  # pyright: ignore[reportArgumentType]
    return screen, Transcript(screen, folder="/w", clock=lambda: screen.now)


def printed(*events: AgentEvent, **how: Any) -> str:
    return show_events(*events, **how).printed.removeprefix("> do it\n\n")


def lines(count: int, word: str = "line") -> str:
    return "\n".join(f"{word} {number}" for number in range(1, count + 1))


def running(index: int, call: FunctionCall, state: CallState = CallState.EXECUTING) -> StateChanged:
    return StateChanged(index, call, state)


class TestPrompt:
    def test_is_shown_with_its_mark(self) -> None:
        assert show_events(prompt="one\n  two").printed == "> one\n    two\n"

    def test_a_long_one_is_folded_and_can_be_opened(self) -> None:
        screen, transcript = opened()
        transcript.begin_run(lines(30))
        expected = lines(8).replace("\n", "\n  ")
        assert screen.printed == f"> {expected}\n  … 22 more lines (Ctrl-O to show)\n"
        transcript.expand_last()
        assert screen.printed.endswith("line 29\n    line 30\n")

    def test_hostile_words_are_shown(self) -> None:
        assert show_events(prompt="a\x1b[2Jb\u202e").printed == "> a<U+001B>[2Jb<U+202E>\n"


class TestAnswer:
    def test_is_printed_block_by_block(self) -> None:
        screen = show_events(TextStreamed("# Title\n\nFirst *words*.\n\nSec"))
        assert "First words." in screen.printed
        assert "Sec" not in screen.printed
        assert screen.drawn[-3:-1] == ["Sec", ""]
        assert screen.drawn[-1] == "● Answering (0 s, Esc to stop)"

    def test_is_whole_at_its_end(self) -> None:
        answer = ModelResponse(model_message("One.\n\nTwo."))
        screen = show_events(TextStreamed("One.\n\nTw"), TextStreamed("o."), Answered(answer, 1.0))
        assert screen.printed == "> do it\n\nOne.\n\nTwo.\n"
        assert screen.drawn == ["● Working (0 s, Esc to stop)"]

    def test_thoughts_are_only_seen_while_they_last(self) -> None:
        screen = show_events(ThoughtStreamed("**Reading** the fi"), ThoughtStreamed("les.\n\n**Finding** the fault"))
        screen.now += 12.4
        assert screen.drawn == ["● Thinking: Finding (12 s, Esc to stop)"]
        assert screen.printed == "> do it\n"

    def test_thoughts_and_the_model_are_printed_if_that_is_wanted(self) -> None:
        screen, transcript = opened()
        transcript.shows_thoughts = transcript.shows_model = True
        transcript.begin_run("do it")
        answer = ModelResponse(model_message("Done."), model="fast-001")
        for event in (
            ThoughtStreamed("**Void**"),
            RETRYING,
            ThoughtStreamed("**Reading** the fi"),
            ThoughtStreamed("les.\x1b[2J\n"),
            TextStreamed("Do"),
            TextStreamed("ne."),
            Answered(answer, 1.0),
        ):
            transcript.handle_event(event)
        assert screen.printed == "> do it\n\n• Reading the files.<U+001B>[2J\n\nDone.\n\n• fast-001\n"

    def test_a_thought_without_a_heading(self) -> None:
        assert show_events(ThoughtStreamed("I should look.\nThen")).drawn == [
            "● Thinking: I should look. (0 s, Esc to stop)"
        ]

    def test_one_that_is_stopped_is_kept_and_marked(self) -> None:
        ended = RunEnded(EndReason.INTERRUPTED, message="Operation cancelled.")
        screen = show_events(TextStreamed("Half of"), ended)
        assert screen.printed == "> do it\n\nHalf of\n\n■ Stopped. The answer above is incomplete.\n"
        assert screen.drawn == []


class TestRetrying:
    def test_counts_down(self) -> None:
        screen = show_events(RETRYING)
        assert screen.drawn == ["▲ The service is busy. Retrying in 2 s (attempt 2 of 5)"]
        screen.now += 2.3
        assert screen.drawn == ["▲ The service is busy. Retrying (attempt 2 of 5)"]
        assert screen.printed == "> do it\n"

    def test_what_was_not_printed_is_gone(self) -> None:
        screen = show_events(TextStreamed("Void"), RETRYING, TextStreamed("Counts"), ENDED)
        assert screen.printed == "> do it\n\nCounts\n"

    def test_what_was_printed_is_marked(self) -> None:
        screen = show_events(TextStreamed("Void.\n\nVo"), RETRYING, TextStreamed("Counts."), ENDED)
        assert screen.printed == (
            "> do it\n\nVoid.\n\n▲ Warning: This attempt failed. Ignore the text above.\n\nCounts.\n"
        )

    def test_a_question_on_the_side_voids_nothing(self) -> None:
        aside = Retrying(FailureKind.NETWORK, "No way.", 1, 3, 1.0, "summary")
        assert show_events(TextStreamed("Counts."), aside, ENDED).printed == "> do it\n\nCounts.\n"


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
        screen, transcript = opened()
        transcript.begin_run("do it")
        for event in (running(0, MCP), running(1, SHELL), call_finished(MCP, ToolResult("x", "Cloned."))):
            transcript.handle_event(event)
        assert screen.drawn == ["● Running make (0 s, Esc to stop)"]
        transcript.end()
        assert screen.drawn == []


READ = call_finished(CALL, ToolResult("one", ""))
SEARCH = FunctionCall("search_file_content", {"pattern": "x", "path": "/w/src"})
SEARCHED = call_finished(SEARCH, ToolResult("...", "Found 3 match(es)"))
EXPLORED = '✓ Explored\n  └ Read a.txt\n    Searched "x" in src (3 matches)\n'


class TestExploration:
    def test_stays_live_until_something_else_comes(self) -> None:
        screen, transcript = opened()
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
    def test_is_printed_before_anything_else(self, event: AgentEvent) -> None:
        assert printed(READ, SEARCHED, event).startswith(EXPLORED)

    def test_is_printed_when_the_run_is_torn_down(self) -> None:
        screen, transcript = opened()
        transcript.begin_run("do it")
        transcript.handle_event(READ)
        transcript.handle_event(SEARCHED)
        transcript.end()
        assert screen.printed == f"> do it\n\n{EXPLORED}"
        assert screen.drawn == []

    def test_goes_on_in_following_steps(self) -> None:
        answer = Answered(ModelResponse(model_message(CALL)), 1.0)
        assert printed(READ, answer, TextStreamed("\n"), SEARCHED, ENDED) == EXPLORED

    def test_a_single_call_needs_no_heading(self) -> None:
        assert show_events(running(0, CALL)).drawn == ["● Reading a.txt (0 s, Esc to stop)"]
        assert show_events(READ).drawn[0] == "✓ Read a.txt"
        assert printed(READ, ENDED) == "✓ Read a.txt\n"

    def test_files_share_a_line(self) -> None:
        other = call_finished(FunctionCall("read_file", {"path": "b.txt", "offset": 10}), ToolResult("two", ""))
        assert printed(READ, other, SEARCHED, READ, ENDED) == (
            '✓ Explored\n  └ Read a.txt, b.txt (from line 11)\n    Searched "x" in src (3 matches)\n    Read a.txt\n'
        )

    def test_failures_have_their_sign_and_reason(self) -> None:
        gone = call_finished(
            CALL, ToolResult("no", "File not found.", ToolError("no", ErrorType.FILE_NOT_FOUND)), seconds=0.0
        )
        assert printed(READ, gone, READ, ENDED) == (
            "✓ Explored\n  └ Read a.txt\n  ✗ Read a.txt (failed): File not found.\n    Read a.txt\n"
        )
        assert printed(gone, gone, ENDED).startswith("✗ Explored\n")
        assert printed(gone, ENDED) == "✗ Read a.txt (failed)\n  └ File not found.\n"

    def test_many_do_not_fill_the_screen(self) -> None:
        screen, transcript = opened(height=12)
        transcript.begin_run("do it")
        for _ in range(30):
            transcript.handle_event(SEARCHED)
        assert len(screen.drawn) <= 7
        assert screen.drawn[1] == "    … 28 more"

    def test_a_long_one_is_folded_except_for_failures(self) -> None:
        gone = call_finished(
            CALL, ToolResult("no", "File not found.", ToolError("no", ErrorType.FILE_NOT_FOUND)), seconds=0.0
        )
        screen, transcript = opened()
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

    def test_with_whole_results_nothing_is_grouped_or_folded(self) -> None:
        screen, transcript = opened()
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
        screen, transcript = opened()
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


class TestOpening:
    def test_the_last_and_then_the_one_before(self) -> None:
        screen, transcript = opened()
        transcript.begin_run("do it")
        for word in ("first", "second"):
            transcript.handle_event(call_finished(SHELL, ToolResult("x", lines(50, word))))
        before = len(screen.printed)
        transcript.expand_last()
        second = screen.printed[before:]
        transcript.expand_last()
        assert second.splitlines()[:3] == ["", "Ran make", "  └ second 1"]
        assert second.splitlines()[3:] == [f"    second {number}" for number in range(2, 51)]
        assert screen.printed.endswith("    first 50\n")
        transcript.expand_last()
        assert screen.hints == ["Nothing to expand."]

    def test_at_most_so_much(self) -> None:
        screen, transcript = opened()
        transcript.handle_event(call_finished(SHELL, ToolResult("x", lines(5000))))
        before = len(screen.printed)
        transcript.expand_last()
        shown = screen.printed[before:].splitlines()
        assert shown[2001] == "    line 2000"
        assert " ".join(shown[2002:]).startswith("    … 3,000 more lines are not shown.")


class TestShellMode:
    def test_a_command_of_the_person(self) -> None:
        screen, transcript = opened()
        transcript.begin_shell("seq 60")
        transcript.show_shell_output(lines(60, "n"))
        assert screen.drawn[-2:] == ["  │ n 60", "● Running (0 s, Esc to stop)"]
        transcript.end_shell(lines(60, "n"))
        assert screen.printed.splitlines() == [
            "! seq 60",
            "  └ n 1",
            *(f"    n {number}" for number in range(2, 21)),
            "    … 20 more lines (Ctrl-O to show)",
            *(f"    n {number}" for number in range(41, 61)),
        ]
        assert screen.drawn == []


class TestTheRest:
    def test_notices_have_a_word_and_a_sign(self) -> None:
        shown = printed(Noticed("One.", Severity.NOTE), Noticed("Two.\nMore."), Noticed("Three.", Severity.ERROR))
        assert shown.splitlines() == ["• One.", "▲ Warning: Two.", "  More.", "✗ Error: Three."]

    def test_the_end_tells_what_a_long_run_took(self) -> None:
        screen, transcript = opened()
        transcript.begin_run("do it")
        transcript.handle_event(Answered(ModelResponse(model_message("Hi."), usage=Usage(1000, 500, 200)), 1.0))
        screen.now += 65
        transcript.handle_event(RunEnded(EndReason.FINISHED, cost=0.02))
        assert screen.printed.endswith("\n1 min 5 s · 1,200 tokens, 42 % cached · $0.02\n")

    @pytest.mark.parametrize("reason", [reason for reason in EndReason if reason is not EndReason.FINISHED])
    def test_every_bad_end_is_told(self, reason: EndReason) -> None:
        assert "It was so." in printed(RunEnded(reason, message="It was so."))

    def test_sheets_stand_apart(self) -> None:
        screen, transcript = opened()
        transcript.show_report(sheet_of("One."))
        transcript.show_report(sheet_of("Two."))
        assert screen.printed == "One.\n\nTwo.\n"

    @pytest.mark.parametrize("width", [80, 40, 20])
    @pytest.mark.parametrize("theme", [PLAIN, Theme(glyphs=ASCII_GLYPHS)])
    def test_a_whole_run(self, width: int, theme: Theme) -> None:
        screen = show_events(*ALL_EVENTS, width=width, theme=theme)
        assert screen.drawn == []
        assert all(len(line) <= width for line in screen.printed.splitlines())
        if theme.is_ascii:
            assert screen.printed.isascii()


HOSTILE = "x\x1b]0;owned\x07\x9b2J\u202e\r\x08\x00\ud800\U000e0041y"


def hostile_events() -> Iterable[AgentEvent]:
    call = FunctionCall(f"{HOSTILE}__{HOSTILE}", {HOSTILE: HOSTILE, "command": HOSTILE}, HOSTILE)
    shell = FunctionCall("run_shell_command", {"command": HOSTILE, "directory": HOSTILE})
    error = ToolError(HOSTILE, ErrorType.EXECUTION_FAILED)
    change = replace(diff(), file_diff=f"@@ -1 +1 @@\n-{HOSTILE}\n+{HOSTILE}\n", file_name=HOSTILE, file_path=HOSTILE)
    yield ThoughtStreamed(HOSTILE)
    for each in (call, shell):
        for state in (CallState.VALIDATING, CallState.AWAITING_APPROVAL, CallState.SCHEDULED, CallState.EXECUTING):
            yield StateChanged(0, each, state)
        yield OutputUpdated(0, each, f"{HOSTILE}\n{HOSTILE}")
        for result in (ToolResult("", HOSTILE), ToolResult("", change), ToolResult("", HOSTILE, error)):
            yield call_finished(each, result)
            yield call_finished(each, ToolResult("", f"{HOSTILE}\n" * 50))
    yield Retrying(FailureKind.NETWORK, HOSTILE, 1, 2, 3.0)
    yield TextStreamed(f"{HOSTILE} **{HOSTILE}** [{HOSTILE}]({HOSTILE})\n\n```{HOSTILE}\n{HOSTILE}\n```\n")
    yield Noticed(HOSTILE, Severity.ERROR)
    yield RunEnded(EndReason.BLOCKED, message=HOSTILE)


def test_nothing_hostile_gets_through() -> None:
    screen, transcript = opened()
    transcript.begin_run(HOSTILE)
    for event in hostile_events():
        transcript.handle_event(event)
        assert all(row.isprintable() for row in screen.drawn)
    transcript.begin_shell(HOSTILE)
    transcript.show_shell_output(HOSTILE)
    assert all(row.isprintable() for row in screen.drawn)
    transcript.end_shell(HOSTILE)
    transcript.expand_last()
    assert screen.printed.replace("\n", "").isprintable()
