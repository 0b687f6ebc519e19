"""Plain text: the model's words on one side, everything else on the other."""

from sample_events import A_RUN, ENDED, FAILED, RETRYING, STARTED, WORDS, Written, told
from tejat.core.agent_events import Answered, EndReason, LoopDetected, RunEnded, TextStreamed
from tejat.core.history import model_message
from tejat.core.model import Answer
from tejat.core.types import FunctionCall
from tejat.core.value import replace
from tejat.frontends.output import aside, one_line
from tejat.frontends.text_output import TextOutput

HEARD = [one_line(heard) for event in A_RUN if (heard := aside(event))]


class TestElsewhere:
    def test_words_come_when_an_answer_is_whole_and_without_codes(self) -> None:
        written = told(TextOutput, *A_RUN)
        assert (written.result, written.aside) == ("I look.\nDone.\nReally.\n", HEARD)

    def test_nothing_of_an_answer_that_was_never_whole(self) -> None:
        assert told(TextOutput, STARTED, TextStreamed("Half"), FAILED).result == ""

    def test_no_blank_line_for_an_answer_of_calls_alone(self) -> None:
        silent = Answered(Answer(model_message(FunctionCall("glob", {}, "1"))), 0.1)
        assert told(TextOutput, silent, WORDS, silent, ENDED).result == "I look.\n"

    def test_a_line_that_is_complete_gets_no_second_end(self) -> None:
        assert told(TextOutput, Answered(Answer(model_message("One.\n")), 0.1), ENDED).result == "One.\n"

    def test_why_it_ended_is_said_on_the_side(self) -> None:
        assert told(TextOutput, FAILED) == Written("", ["The service is down."])
        assert told(TextOutput, RunEnded(EndReason.FAILED)) == Written("", ["The run ended: failed."])
        assert told(TextOutput, ENDED) == Written("", [])
        early = replace(ENDED, message="The model stopped \x1b[2Jearly.")
        assert told(TextOutput, early).aside == ["The model stopped <U+001B>[2Jearly."]


class TestAtATerminal:
    def test_words_come_as_they_are_streamed_with_every_code_shown(self) -> None:
        written = told(TextOutput, *A_RUN, is_terminal=True)
        shown = "I <U+001B>[31m\nI <U+001B>[31mlook<U+001B>[0m.\nDone.\nReally.\n"
        assert (written.result, written.aside) == (shown, HEARD)

    def test_what_comes_after_a_void_attempt_begins_a_line(self) -> None:
        events = [TextStreamed("Half"), RETRYING, TextStreamed("All.")]
        assert told(TextOutput, *events, is_terminal=True).result == "Half\nAll."
        aside_of_a_tool = replace(RETRYING, purpose="summary")
        assert told(TextOutput, TextStreamed("Half"), aside_of_a_tool, is_terminal=True).result == "Half"
        assert told(TextOutput, RETRYING, TextStreamed("All."), is_terminal=True).result == "All."

    def test_what_comes_after_an_answer_that_was_cut_off_begins_a_line(self) -> None:
        events = [TextStreamed("again again"), LoopDetected("x", ends_run=False), TextStreamed("Sorry.")]
        assert told(TextOutput, *events, is_terminal=True).result == "again again\nSorry."

    def test_the_end_of_a_run_ends_the_line(self) -> None:
        assert told(TextOutput, TextStreamed("Half"), FAILED, is_terminal=True).result == "Half\n"


def test_what_could_not_be_begun_is_said_on_the_side() -> None:
    written = Written()
    TextOutput(written.streams()).fail("No key\x07.", name="authentication", code=41)
    assert written == Written("", ["No key<U+0007>."])
