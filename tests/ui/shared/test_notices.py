"""Words for what changes how a run goes on."""

import pytest

from tejat.core.agent.events import (
    AgentEvent,
    Compressed,
    CompressionStarted,
    CompressionStatus,
    EndReason,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    RequestFailed,
    RunEnded,
    Severity,
    TextStreamed,
)
from tejat.core.model import FailureKind
from tejat.ui.shared.notices import notice_for_event, run_end_message, severity_label, side_request_notice


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (ModelChanged("a", "b", "It is busy."), "changed the model from a to b: It is busy."),
        (HistoryRepaired(("One.", "Two.")), "the session was put in order: One.; Two."),
        (Compressed(9, 3, CompressionStatus.COMPRESSED), "summarised the conversation: 9 tokens became 3"),
        (Compressed(9, 9, CompressionStatus.FAILED, "No."), "could not summarise the conversation: No."),
        (LoopDetected("Again.", ends_run=True), "the model seems to go in circles: Again."),
        (LoopDetected("Again.", ends_run=False), "the model seems to go in circles: Again. It was told so."),
    ],
)
def test_what_is_told(event: AgentEvent, message: str) -> None:
    assert notice_for_event(event) == Noticed(message, Severity.WARNING)


def test_what_is_told_on_the_side() -> None:
    assert notice_for_event(CompressionStarted()) == Noticed(
        "summarising the conversation to make room...", Severity.NOTE
    )
    nothing = Compressed(9, 9, CompressionStatus.NOT_NEEDED, by_user=True)
    assert notice_for_event(nothing) == Noticed("nothing to compress yet", Severity.NOTE)


def test_what_is_not_told() -> None:
    assert notice_for_event(TextStreamed("x")) is None
    assert notice_for_event(Compressed(9, 9, CompressionStatus.NOT_NEEDED)) is None
    assert side_request_notice(RequestFailed(FailureKind.BLOCKED, "No.", 1.0)) is None


def test_a_question_on_the_side() -> None:
    told = side_request_notice(RequestFailed(FailureKind.BLOCKED, "No.", 1.0, "summary"))
    assert told == Noticed("a question on the side (summary) came to nothing: No.", Severity.NOTE)


@pytest.mark.parametrize("severity", Severity)
def test_severities_have_words(severity: Severity) -> None:
    assert severity_label(severity) == severity.value


@pytest.mark.parametrize("reason", EndReason)
def test_every_end_but_a_good_one_is_told(reason: EndReason) -> None:
    assert bool(run_end_message(RunEnded(reason))) == (reason is not EndReason.FINISHED)
    assert run_end_message(RunEnded(reason, message="It was so.")).endswith("It was so.")


def test_what_the_message_says_already_is_not_said_again() -> None:
    assert (
        run_end_message(RunEnded(EndReason.INTERRUPTED, message="Operation cancelled."))
        == "Stopped: Operation cancelled."
    )
    assert run_end_message(RunEnded(EndReason.INTERRUPTED, message="Stopped by hand.")) == "Stopped by hand."
    assert run_end_message(RunEnded(EndReason.INTERRUPTED)) == "Stopped."
