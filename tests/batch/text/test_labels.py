"""Words for states and reasons: every state has one."""

from support.batch_results import errored, failed, passed
from tejat.batch.events import TaskPhase
from tejat.batch.result import TaskFailure, TaskStatus
from tejat.batch.text import labels


def test_every_state_reason_and_phase_has_a_word() -> None:
    assert len({labels.status_label(each) for each in TaskStatus}) == len(TaskStatus)
    assert len({labels.failure_label(each) for each in TaskFailure}) == len(TaskFailure)
    assert len({labels.phase_label(each) for each in TaskPhase}) == len(TaskPhase)
    assert set(labels.STATUS_TONES) == set(TaskStatus)


def test_reasons() -> None:
    assert labels.reason_line(failed(message="The check failed.")) == "check failed (exit 1)"
    assert labels.reason_detail(failed(message="The check failed.")) == ""
    assert labels.reason_label(errored()) == "repository not usable"
    assert labels.reason_line(errored()) == "No such repository: /src/x."
    assert labels.reason_line(errored(message="")) == "repository not usable"


def test_counts() -> None:
    counts = {TaskStatus.ERROR: 1, TaskStatus.PASSED: 1200, TaskStatus.FAILED: 0}
    assert list(labels.count_labels(counts).values()) == ["1,200 passed", "1 error"]


def test_figures() -> None:
    assert labels.time_label(0) == "0 s"
    assert labels.cost_label(None) == "?"
    assert labels.lines_label(1200, 0) == "+1,200 -0"
    assert labels.lines_label(0, 0) == ""
    assert labels.is_cost_unknown(passed(cost=None))
    assert not labels.is_cost_unknown(errored())
