"""Words for past sessions."""

from tejat.core.agent.events import EndReason
from tejat.core.agent.history.decisions import CallDecision
from tejat.core.agent.history.matches import MatchPlace
from tejat.core.agent.history.timeline import SpanKind
from tejat.ui.shared.labels.history import DECISION_LABELS, PLACE_LABELS, SPAN_LABELS, format_end


def test_every_value_has_a_label() -> None:
    assert set(DECISION_LABELS) == set(CallDecision)
    assert set(PLACE_LABELS) == set(MatchPlace)
    assert set(SPAN_LABELS) == set(SpanKind)


def test_the_end_of_a_run() -> None:
    assert all(format_end(reason) for reason in EndReason)
    assert format_end(EndReason.MODEL_FAILED) == "model failed"
    assert format_end("") == "?"
    assert format_end("a_newer_reason") == "a_newer_reason"
