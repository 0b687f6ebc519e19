"""Every way in which a run can end has its exit code and its name."""

import pytest

from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.model import FailureKind
from tejat.ui.shared.exit_status import error_name_for, exit_code_for

REASONS = {
    "finished": 0,
    "bad_prompt": 42,
    "not_trusted": 55,
    "not_allowed": 3,
    "interrupted": 130,
    "turn_limit": 53,
    "token_limit": 53,
    "cost_limit": 53,
    "time_limit": 53,
    "loop": 67,
    "truncated": 53,
    "blocked": 64,
    "empty": 65,
    "malformed_call": 66,
    "context_full": 53,
    "model_failed": 1,
    "tool_stopped": 54,
    "unanswered": 3,
    "failed": 1,
}

FAILURES = {
    "no_key": 41,
    "authentication": 41,
    "bad_request": 1,
    "context_full": 53,
    "over_budget": 53,
    "rate_limited": 60,
    "unavailable": 61,
    "network": 62,
    "timed_out": 63,
    "stream_cut": 62,
    "blocked": 64,
    "empty": 65,
    "malformed_call": 66,
    "protocol": 1,
    "script": 1,
}


def test_every_reason_has_its_code() -> None:
    assert {reason.value: exit_code_for(RunEnded(reason)) for reason in EndReason} == REASONS


def test_every_failure_of_a_model_has_its_code_whatever_the_reason_is_called() -> None:
    for reason in EndReason:
        found = {kind.value: exit_code_for(RunEnded(reason, failure=kind)) for kind in FailureKind}
        assert found == FAILURES


def test_only_a_run_that_finished_is_a_success() -> None:
    assert [reason for reason in EndReason if exit_code_for(RunEnded(reason)) == 0] == [EndReason.FINISHED]


@pytest.mark.parametrize("reason", EndReason)
def test_the_name_of_an_error_is_the_failure_or_else_the_reason(reason: EndReason) -> None:
    name = None if reason is EndReason.FINISHED else reason.value
    assert error_name_for(RunEnded(reason)) == name
    assert error_name_for(RunEnded(reason, failure=FailureKind.NETWORK)) == "network"
