"""Tests of the words for the states of sessions."""

import pytest

from tejat.core.agent.events import EndReason
from tejat.ui.shared.labels.session_state import end_label, waiting_label


@pytest.mark.parametrize("reason", list(EndReason))
def test_every_end_has_a_label(reason: EndReason) -> None:
    assert end_label(reason.value)
    assert "_" not in end_label(reason.value)


def test_ends_that_are_unknown() -> None:
    assert end_label("") == "broken off"
    assert end_label("of a later version") == "of a later version"


def test_how_long_a_session_waits() -> None:
    assert waiting_label(1000.0, 1000.0 + 300) == "waiting, asked 5 minutes ago"
