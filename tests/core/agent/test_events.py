"""The last event of a run as a value that can be checked and raised."""

import pickle

import pytest

from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.errors import RunFailed


def test_a_finished_run_is_returned() -> None:
    ended = RunEnded(EndReason.FINISHED, text="Done.", message="The model stopped early: no reason given.")
    assert ended.raise_for_failure() is ended


@pytest.mark.parametrize("reason", [reason for reason in EndReason if reason is not EndReason.FINISHED])
def test_any_other_end_is_raised(reason: EndReason) -> None:
    ended = RunEnded(reason, message="Why it ended.")
    with pytest.raises(RunFailed) as caught:
        ended.raise_for_failure()
    error = caught.value
    assert (error.ended, error.reason, error.message) == (ended, reason, "Why it ended.")
    assert str(error) == f"Why it ended. ({reason.value})"


def test_an_end_without_a_message_is_named_by_its_reason() -> None:
    assert str(RunFailed(RunEnded(EndReason.LOOP))) == "The run ended early (loop)."


def test_the_error_can_be_pickled() -> None:
    error = RunFailed(RunEnded(EndReason.LOOP, message="Why."))
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.ended, str(copy)) == (error.ended, str(error))
