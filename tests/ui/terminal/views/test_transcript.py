"""The transcript: printed blocks and the live area."""

from collections.abc import Iterable

import pytest

from support.sample_events import ALL_EVENTS, ENDED, RETRYING, SHELL, call_finished, diff
from support.terminal.transcript import (
    PLAIN,
    lines,
    open_transcript,
    printed,
    show_events,
)
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
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme


class TestPrompt:
    def test_is_shown_with_its_mark(self) -> None:
        assert show_events(prompt="one\n  two").printed == "> one\n    two\n"

    def test_a_long_one_is_folded_and_can_be_open_transcript(self) -> None:
        screen, transcript = open_transcript()
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
        screen, transcript = open_transcript()
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
        assert screen.drawn == ["▲ The service is busy. Retrying in 2 s (attempt 2 of 5). Esc to stop"]
        screen.now += 2.3
        assert screen.drawn == ["▲ The service is busy. Retrying (attempt 2 of 5). Esc to stop"]
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


class TestOpening:
    def test_the_last_and_then_the_one_before(self) -> None:
        screen, transcript = open_transcript()
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
        screen, transcript = open_transcript()
        transcript.handle_event(call_finished(SHELL, ToolResult("x", lines(5000))))
        before = len(screen.printed)
        transcript.expand_last()
        shown = screen.printed[before:].splitlines()
        assert shown[2001] == "    line 2000"
        assert " ".join(shown[2002:]).startswith("    … 3,000 more lines are not shown.")


class TestShellMode:
    def test_a_command_of_the_person(self) -> None:
        screen, transcript = open_transcript()
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
        screen, transcript = open_transcript()
        transcript.begin_run("do it")
        transcript.handle_event(Answered(ModelResponse(model_message("Hi."), usage=Usage(1000, 500, 200)), 1.0))
        screen.now += 65
        transcript.handle_event(RunEnded(EndReason.FINISHED, cost=0.02))
        assert screen.printed.endswith("\n1 min 5 s · 1,200 tokens, 42 % cached · $0.02\n")

    @pytest.mark.parametrize("reason", [reason for reason in EndReason if reason is not EndReason.FINISHED])
    def test_every_bad_end_is_told(self, reason: EndReason) -> None:
        assert "It was so." in printed(RunEnded(reason, message="It was so."))

    def test_sheets_stand_apart(self) -> None:
        screen, transcript = open_transcript()
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
    screen, transcript = open_transcript()
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
