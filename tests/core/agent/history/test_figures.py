"""Sums of figures in which something is unknown."""

from tejat.core.agent.history.decisions import CallDecision
from tejat.core.agent.history.figures import ApprovalCounts, ModelUse, ToolUse, add_known, add_times
from tejat.core.model import Usage


def test_a_sum_with_an_unknown_cost_is_unknown() -> None:
    assert add_known([0.5, 1.0]) == 1.5
    assert add_known([0.5, None]) is None
    assert add_known([]) == 0.0
    both = ModelUse("a", 1, Usage(10), 0.5, 2.0, 1) + ModelUse("a", 1, Usage(5), None)
    assert both == ModelUse("a", 2, Usage(15), None, 2.0, 1)


def test_times_count_as_far_as_they_are_known() -> None:
    assert (add_times(None, None), add_times(1.0, None), add_times(None, 2.0), add_times(1.0, 2.0)) == (
        None,
        1.0,
        2.0,
        3.0,
    )
    both = ToolUse("glob", 1, 1, 3.0, 1) + ToolUse("glob", 2, 0)
    assert (both, both.mean_seconds) == (ToolUse("glob", 3, 1, 3.0, 1), 3.0)


def test_approvals_are_unrecorded_only_if_there_were_calls() -> None:
    assert ApprovalCounts().is_recorded
    assert not ApprovalCounts(unrecorded=2).is_recorded
    both = ApprovalCounts(asked=1, once=1, recorded=1, waited=2.0) + ApprovalCounts(rule=3, recorded=3, unrecorded=1)
    assert both == ApprovalCounts(asked=1, once=1, rule=3, waited=2.0, recorded=4, unrecorded=1)
    assert {decision for decision, _ in both.by_decision} == {*CallDecision} - {CallDecision.UNDECIDED}
