"""Words for what changes how a run goes on."""

import pytest

from tejat.core.agent.events import (
    AgentEvent,
    AwaitingModel,
    Compressed,
    CompressionStarted,
    CompressionStatus,
    EndReason,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    RequestFailed,
    Retrying,
    RunEnded,
    Severity,
    TextStreamed,
)
from tejat.core.model import FailureKind
from tejat.ui.shared.notices import (
    notice_for_event,
    retry_message,
    run_end_message,
    screen_notice,
    severity_label,
    side_request_notice,
    waiting_message,
)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (ModelChanged("a", "b", "It is busy."), "Switched from a to b: It is busy."),
        (HistoryRepaired(("One.", "Two.")), "Repaired the session history: One.; Two."),
        (Compressed(9, 3, CompressionStatus.COMPRESSED), "Compressed the conversation from 9 to 3 tokens."),
        (Compressed(9, 9, CompressionStatus.FAILED, "No."), "Could not compress the conversation: No."),
        (LoopDetected("Again.", ends_run=True), "The model is repeating itself: Again."),
        (LoopDetected("Again.", ends_run=False), "The model is repeating itself: Again. It has been warned."),
    ],
)
def test_warnings(event: AgentEvent, message: str) -> None:
    assert notice_for_event(event) == Noticed(message, Severity.WARNING)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Compressed(9, 3, CompressionStatus.COMPRESSED), "Compressed the conversation from 9 to 3 tokens."),
        (CompressionStarted(), "Compressing the conversation to free up context..."),
        (Compressed(9, 9, CompressionStatus.NOT_NEEDED, by_user=True), "Nothing to compress yet."),
    ],
)
def test_notes(event: AgentEvent, message: str) -> None:
    assert screen_notice(event) == Noticed(message, Severity.NOTE)


def test_what_is_not_told() -> None:
    assert notice_for_event(TextStreamed("x")) is None
    assert notice_for_event(Compressed(9, 9, CompressionStatus.NOT_NEEDED)) is None
    assert side_request_notice(RequestFailed(FailureKind.BLOCKED, "No.", 1.0)) is None


def test_a_question_on_the_side() -> None:
    told = side_request_notice(RequestFailed(FailureKind.BLOCKED, "No.", 1.0, "summary"))
    assert told == Noticed("A side request (summary) failed: No.", Severity.NOTE)


@pytest.mark.parametrize("severity", Severity)
def test_severities_have_words(severity: Severity) -> None:
    assert severity_label(severity) == severity.value.capitalize()


@pytest.mark.parametrize("reason", EndReason)
def test_every_end_but_a_good_one_is_told(reason: EndReason) -> None:
    assert bool(run_end_message(RunEnded(reason))) == (reason is not EndReason.FINISHED)
    assert run_end_message(RunEnded(reason, message="It was so.")).endswith("It was so.")


def test_nothing_is_said_twice() -> None:
    assert run_end_message(RunEnded(EndReason.INTERRUPTED, message="Operation cancelled.")) == "Stopped."
    assert run_end_message(RunEnded(EndReason.INTERRUPTED, message="Stopped by hand.")) == "Stopped by hand."
    assert run_end_message(RunEnded(EndReason.INTERRUPTED)) == "Stopped."


@pytest.mark.parametrize(
    ("reason", "wait", "message"),
    [
        ("Busy.", 2.3, "Busy. Retrying in 2 s (attempt 2 of 5)"),
        ("Busy", 0.2, "Busy. Retrying (attempt 2 of 5)"),
        ("Busy\x1b!\nMore", -1, "Busy<U+001B>! (and 1 more line). Retrying (attempt 2 of 5)"),
    ],
)
def test_retries(reason: str, wait: float, message: str) -> None:
    assert retry_message(Retrying(FailureKind.NETWORK, reason, 1, 5, 9.0), wait=wait) == message


def test_a_silent_model_is_reported_with_the_size_of_the_request() -> None:
    assert waiting_message(AwaitingModel(15.2, 3900)) == (
        "Waiting for the model (about 3,900 tokens sent, 15 s so far)..."
    )
