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
    def drawn(self) -> list[str]:
        if self._live is None:
            return []
        rows = render_rows(self._live, self.theme, width=self.width)
        return ["".join(cell.text for cell in row).rstrip() for row in rows]


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
        assert screen.printed == f"> {expected}\n  … 22 more lines (Ctrl-O shows them)\n"
        transcript.expand_last()
        assert screen.printed.endswith("line 29\n  line 30\n")

    def test_hostile_words_are_shown(self) -> None:
        assert show_events(prompt="a\x1b[2Jb\u202e").printed == "> a<U+001B>[2Jb<U+202E>\n"


class TestAnswer:
    def test_is_printed_block_by_block(self) -> None:
        screen = show_events(TextStreamed("# Title\n\nFirst *words*.\n\nSec"))
        assert "First words." in screen.printed
        assert "Sec" not in screen.printed
        assert screen.drawn[-2].strip() == "Sec"
        assert screen.drawn[-1] == "● Answering · 0 s · Esc stops it"

    def test_is_whole_at_its_end(self) -> None:
        answer = ModelResponse(model_message("One.\n\nTwo."))
        screen = show_events(TextStreamed("One.\n\nTw"), TextStreamed("o."), Answered(answer, 1.0))
        assert screen.printed == "> do it\n\nOne.\n\nTwo.\n"
        assert screen.drawn == ["● Working · 0 s · Esc stops it"]

    def test_thoughts_are_only_seen_while_they_last(self) -> None:
        screen = show_events(ThoughtStreamed("**Reading** the fi"), ThoughtStreamed("les.\n\n**Finding** the fault"))
        screen.now += 12.4
        assert screen.drawn == ["● Thinking: Finding · 12 s · Esc stops it"]
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
        assert screen.printed == "> do it\n\n• **Reading** the files.<U+001B>[2J\n\nDone.\n\n• fast-001\n"

    def test_a_thought_without_a_heading(self) -> None:
        assert show_events(ThoughtStreamed("I should look.\nThen")).drawn == [
            "● Thinking: I should look. · 0 s · Esc stops it"
        ]

    def test_one_that_is_stopped_is_kept_and_marked(self) -> None:
        ended = RunEnded(EndReason.INTERRUPTED, message="Operation cancelled.")
        screen = show_events(TextStreamed("Half of"), ended)
        assert screen.printed == (
            "> do it\n\nHalf of\n\n■ Stopped: Operation cancelled. The answer above is cut short.\n"
        )
        assert screen.drawn == []


class TestRetrying:
    def test_counts_down(self) -> None:
        screen = show_events(RETRYING)
        assert screen.drawn == ["▲ Attempt 1 of 5 failed: The service is busy.", "  Next try in 2 s"]
        screen.now += 2.3
        assert screen.drawn == ["▲ Attempt 1 of 5 failed: The service is busy.", "  Trying again"]
        assert screen.printed == "> do it\n"

    def test_what_was_not_printed_is_gone(self) -> None:
        screen = show_events(TextStreamed("Void"), RETRYING, TextStreamed("Counts"), ENDED)
        assert screen.printed == "> do it\n\nCounts\n"

    def test_what_was_printed_is_marked(self) -> None:
        screen = show_events(TextStreamed("Void.\n\nVo"), RETRYING, TextStreamed("Counts."), ENDED)
        assert screen.printed == (
            "> do it\n\nVoid.\n\n▲ warning: this attempt failed: its words above do not count.\n\nCounts.\n"
        )

    def test_a_question_on_the_side_voids_nothing(self) -> None:
        aside = Retrying(FailureKind.NETWORK, "No way.", 1, 3, 1.0, "summary")
        assert show_events(TextStreamed("Counts."), aside, ENDED).printed == "> do it\n\nCounts.\n"


class TestCallsThatRun:
    def test_each_has_its_row_with_the_last_lines_of_its_output(self) -> None:
        shell = FunctionCall("run_shell_command", {"command": "make"})
        screen = show_events(
            running(0, CALL), running(1, shell), running(2, EDIT, CallState.AWAITING_APPROVAL), height=60
        )
        paper_rows = screen.drawn
        assert paper_rows == [
            "● read_file a.txt · 0 s",
            "● run_shell_command make · 0 s",
            "○ replace a.txt · waits for your answer",
        ]

    def test_output_is_bounded_and_safe(self) -> None:
        output = OutputUpdated(0, SHELL, lines(2000) + "\n\x1b[2Jlast " + "x" * 500)
        screen = show_events(running(0, SHELL), output)
        screen.now += 65
        assert screen.drawn[0] == "● run_shell_command make · 1 min 5 s"
        assert screen.drawn[1:5] == [f"  │ line {number}" for number in range(1997, 2001)]
        assert screen.drawn[5].startswith("  │ <U+001B>[2Jlast xxx")
        assert screen.drawn[5].endswith("…")
        assert len(screen.drawn) == 6

    def test_progress_of_a_server(self) -> None:
        call = FunctionCall("github__clone", {"url": "x"})
        screen = show_events(running(0, call), OutputUpdated(0, call, "[3/10] cloning"))
        assert screen.drawn == ['● github/clone {"url": "x"} · 0 s', "  │ [3/10] cloning"]

    def test_a_small_screen_is_not_filled(self) -> None:
        calls = [running(index, FunctionCall(f"tool_{index}", {})) for index in range(20)]
        screen = show_events(*calls, height=12)
        assert screen.drawn == ["● tool_0 · 0 s", "● tool_1 · 0 s", "● tool_2 · 0 s", "… and 17 more calls"]
        assert len(show_events(running(0, SHELL), OutputUpdated(0, SHELL, lines(9)), height=8).drawn) == 2

    def test_they_leave_one_by_one(self) -> None:
        screen, transcript = opened()
        transcript.begin_run("do it")
        for event in (running(0, CALL), running(1, SHELL), call_finished(CALL, ToolResult("x", "Read it."))):
            transcript.handle_event(event)
        assert screen.drawn == ["● run_shell_command make · 0 s"]
        transcript.end()
        assert screen.drawn == []


class TestCallsThatAreOver:
    def test_one_line_each(self) -> None:
        long = FunctionCall("run_shell_command", {"command": "make " + "x" * 100})
        denied = replace(
            call_finished(EDIT, ToolResult("no", "no", ToolError("no", ErrorType.CANCELLED)), seconds=0.0),
            was_rejected=True,
        )
        shown = printed(
            call_finished(CALL, ToolResult("x", "Read lines 1-2")),
            call_finished(long, ToolResult("x", "", exit_code=2), seconds=3.21),
            call_finished(SHELL, ToolResult("x", "", ToolError("It took too long.", ErrorType.TIMEOUT)), seconds=300),
            denied,
            call_finished(SHELL, ToolResult("x", "", ToolError("stopped", ErrorType.CANCELLED)), seconds=1),
        )
        assert shown.splitlines() == [
            "✓ ok read_file a.txt · Read lines 1-2 · 0.2 s",
            "✗ failed run_shell_command make xxxxxxxxxxxxxxxxxxxxxxxxx… · exit code 2 · 3.2 s",
            "◷ timed out run_shell_command make · 5 min 0 s",
            "  It took too long.",
            "⊘ denied replace a.txt",
            "  You did not allow it.",
            "■ cancelled run_shell_command make · 1.0 s",
        ]

    def test_in_forty_columns(self) -> None:
        long = FunctionCall("run_shell_command", {"command": "make all of it"})
        shown = printed(
            call_finished(CALL, ToolResult("x", "Read lines 1-2 of a file")),
            call_finished(long, ToolResult("x", "", exit_code=2), seconds=3.21),
            call_finished(long, ToolResult("x", "", ToolError("Late.", ErrorType.TIMEOUT)), seconds=4000),
            width=40,
        )
        assert shown.splitlines() == [
            "✓ ok read_file a.txt · 0.2 s",
            "  Read lines 1-2 of a file",
            "✗ failed run_shell_command make all of …",
            "  exit code 2, 3.2 s",
            "◷ timed out run_shell_comma… · 1 h 6 min",
            "  Late.",
        ]

    def test_without_signs(self) -> None:
        shown = printed(
            call_finished(CALL, ToolResult("x", "Read it.")),
            call_finished(SHELL, ToolResult("x", lines(20), exit_code=1)),
            Noticed("Careful."),
            theme=Theme(glyphs=ASCII_GLYPHS),
        )
        assert shown.isascii()
        assert shown.startswith(
            "+ ok read_file a.txt | Read it. | 0.2 s\nx failed run_shell_command make | exit code 1"
        )

    def test_long_output_is_folded(self) -> None:
        shown = printed(call_finished(SHELL, ToolResult("x", lines(128))))
        assert shown.splitlines()[1:] == [
            "  line 1",
            "  line 2",
            "  line 3",
            "  … 120 more lines (Ctrl-O shows them)",
            "  line 124",
            "  line 125",
            "  line 126",
            "  line 127",
            "  line 128",
        ]

    def test_a_change_shows_its_hunks(self) -> None:
        patch = "Index: a\n===\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-old\n+new\n"
        shown = printed(call_finished(EDIT, ToolResult("x", replace(diff(), file_diff=patch))))
        assert shown.splitlines() == [
            "✓ ok replace a.txt +3 -1 · 0.2 s",
            "  @@ -1,2 +1,2 @@",
            "   x",
            "  -old",
            "  +new",
        ]

    def test_a_large_change_is_folded(self) -> None:
        added = "\n".join(f"+{number}" for number in range(100))
        patch = f"Index: a\n===\n--- a\n+++ a\n@@ -0,0 +1,100 @@\n{added}\n"
        shown = printed(call_finished(EDIT, ToolResult("x", replace(diff(), file_diff=patch)))).splitlines()
        assert len(shown) == 24
        assert shown[-2:] == ["  … 80 more lines", "  (Ctrl-O shows all of it)"]


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
        assert second.splitlines()[:2] == ["", "run_shell_command make"]
        assert second.splitlines()[2:] == [f"  second {number}" for number in range(1, 51)]
        assert screen.printed.endswith("  first 50\n")
        transcript.expand_last()
        assert screen.hints == ["There is nothing folded to show."]

    def test_at_most_so_much(self) -> None:
        screen, transcript = opened()
        transcript.handle_event(call_finished(SHELL, ToolResult("x", lines(5000))))
        before = len(screen.printed)
        transcript.expand_last()
        shown = screen.printed[before:].splitlines()
        assert shown[2001] == "  line 2000"
        assert " ".join(shown[2002:]).startswith("  … 3,000 more lines are not shown.")


class TestShellMode:
    def test_a_command_of_the_person(self) -> None:
        screen, transcript = opened()
        transcript.begin_shell("seq 20")
        transcript.show_shell_output(lines(20, "n"))
        assert screen.drawn[-2:] == ["  │ n 20", "● Running · 0 s · Esc stops it"]
        transcript.end_shell(lines(20, "n"))
        assert screen.printed.splitlines() == [
            "! seq 20",
            "  n 1",
            "  n 2",
            "  n 3",
            "  … 12 more lines (Ctrl-O shows them)",
            *(f"  n {number}" for number in range(16, 21)),
        ]
        assert screen.drawn == []


class TestTheRest:
    def test_notices_have_a_word_and_a_sign(self) -> None:
        shown = printed(Noticed("One.", Severity.NOTE), Noticed("Two.\nMore."), Noticed("Three.", Severity.ERROR))
        assert shown.splitlines() == ["• note: One.", "▲ warning: Two.", "  More.", "✗ error: Three."]

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
