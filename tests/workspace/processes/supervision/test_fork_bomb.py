"""The supervisor has to notice a storm of processes while it can still do something about it."""

import sys

import pytest

from tejat.workspace.processes.supervision.fork_bomb import ForkBombDetector

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the number of tasks is not told elsewhere")


def test_a_machine_at_rest_is_not_too_full() -> None:
    assert not ForkBombDetector().is_triggered


def test_more_than_the_most_is_too_many() -> None:
    assert ForkBombDetector(max_tasks=1).is_triggered
    assert not ForkBombDetector(max_tasks=10_000_000).is_triggered


def test_where_no_limit_is_known_nothing_is_too_many() -> None:
    assert not ForkBombDetector(max_tasks=0).is_triggered
