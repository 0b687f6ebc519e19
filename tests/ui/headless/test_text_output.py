"""Plain text: the model's words on one side, everything else on the other."""

from support.sample_events import (
    ALL_EVENTS,
    ENDED,
    FAILED,
    FIRST_ANSWER,
    RETRYING,
    STARTED,
    RecordedOutput,
    render_events,
)
from tejat.core.agent.events import Answered, EndReason, LoopDetected, RunEnded, TextStreamed
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelResponse
from tejat.ui.headless.output import describe_event, notice_line
from tejat.ui.headless.text_output import TextOutput

HEARD = [notice_line(heard) for event in ALL_EVENTS if (heard := describe_event(event))]


class TestElsewhere:
    def test_words_come_when_an_answer_is_whole_and_without_codes(self) -> None:
        written = render_events(TextOutput, *ALL_EVENTS)
        assert (written.stdout, written.stderr) == ("I look.\nDone.\nReally.\n", HEARD)

    def test_nothing_of_an_answer_that_was_never_whole(self) -> None:
        assert render_events(TextOutput, STARTED, TextStreamed("Half"), FAILED).stdout == ""

    def test_no_blank_line_for_an_answer_of_calls_alone(self) -> None:
        silent = Answered(ModelResponse(model_message(FunctionCall("glob", {}, "1"))), 0.1)
        assert render_events(TextOutput, silent, FIRST_ANSWER, silent, ENDED).stdout == "I look.\n"

    def test_a_line_that_is_complete_gets_no_second_end(self) -> None:
        assert (
            render_events(TextOutput, Answered(ModelResponse(model_message("One.\n")), 0.1), ENDED).stdout == "One.\n"
        )

    def test_an_answer_does_not_overwrite_itself(self) -> None:
        answer = "Run it like this:\rone two three\rX\r\n\x1b[31mab\x08c\x1b[2D\x07\x85\x9b1m\td"
        written = render_events(TextOutput, Answered(ModelResponse(model_message(answer)), 0.1), ENDED)
        assert written.stdout == "Run it like this:\none two three\nX\nabc\td\n"

    def test_why_it_ended_is_said_on_the_side(self) -> None:
        assert render_events(TextOutput, FAILED) == RecordedOutput("", ["The service is down."])
        assert render_events(TextOutput, RunEnded(EndReason.FAILED)) == RecordedOutput("", ["The run ended: failed."])
        assert render_events(TextOutput, ENDED) == RecordedOutput("", [])
        early = replace(ENDED, message="The model stopped \x1b[2Jearly.")
        assert render_events(TextOutput, early).stderr == ["The model stopped <U+001B>[2Jearly."]


class TestAtATerminal:
    def test_words_come_as_they_are_streamed_with_every_code_shown(self) -> None:
        written = render_events(TextOutput, *ALL_EVENTS, is_terminal=True)
        shown = "I <U+001B>[31m\nI <U+001B>[31mlook<U+001B>[0m.\nDone.\nReally.\n"
        assert (written.stdout, written.stderr) == (shown, HEARD)

    def test_what_comes_after_a_void_attempt_begins_a_line(self) -> None:
        events = [TextStreamed("Half"), RETRYING, TextStreamed("All.")]
        assert render_events(TextOutput, *events, is_terminal=True).stdout == "Half\nAll."
        aside_of_a_tool = replace(RETRYING, purpose="summary")
        assert render_events(TextOutput, TextStreamed("Half"), aside_of_a_tool, is_terminal=True).stdout == "Half"
        assert render_events(TextOutput, RETRYING, TextStreamed("All."), is_terminal=True).stdout == "All."

    def test_what_comes_after_an_answer_that_was_cut_off_begins_a_line(self) -> None:
        events = [TextStreamed("again again"), LoopDetected("x", ends_run=False), TextStreamed("Sorry.")]
        assert render_events(TextOutput, *events, is_terminal=True).stdout == "again again\nSorry."

    def test_the_end_of_a_run_ends_the_line(self) -> None:
        assert render_events(TextOutput, TextStreamed("Half"), FAILED, is_terminal=True).stdout == "Half\n"


def test_what_could_not_be_begun_is_said_on_the_side() -> None:
    written = RecordedOutput()
    TextOutput(written.streams()).fail("No key\x07.", name="authentication", code=41)
    assert written == RecordedOutput("", ["No key<U+0007>."])
