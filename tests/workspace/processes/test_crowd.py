"""The keeper has to notice a storm of processes while it can still do something about it."""

import sys

import pytest

from tejat.workspace.processes.crowd import Crowd

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the number of tasks is not told elsewhere")


def test_a_machine_at_rest_is_not_too_full() -> None:
    assert not Crowd().is_too_large


def test_more_than_the_most_is_too_many() -> None:
    assert Crowd(most=1).is_too_large
    assert not Crowd(most=10_000_000).is_too_large


def test_where_no_limit_is_known_nothing_is_too_many() -> None:
    assert not Crowd(most=0).is_too_large
