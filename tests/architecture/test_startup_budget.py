"""What starting costs, in counts that are the same on every machine: nothing may creep in."""

import os
import sys

import pytest

from support.startup_counts import BUDGET, COUNTED, StartupCounts, read_budget, write_budget

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the counts are of Linux")

_TRIES = 5


@pytest.mark.skipif(not os.environ.get("TEJAT_WRITE_SNAPSHOTS"), reason="writes the budget anew")
def test_write_the_budget() -> None:
    write_budget({name: count() for name, count in COUNTED.items()})
    assert BUDGET.exists()


@pytest.mark.parametrize("name", COUNTED)
def test_a_run_stays_within_its_budget(name: str) -> None:
    """After a deliberate change: `TEJAT_WRITE_SNAPSHOTS=1 scripts/test -n0 -k write_the_budget`.

    While a busy machine keeps it waiting for the model, a run begins what others leave for later: then it counts again.
    """
    over = ["not counted"]
    for _ in range(_TRIES):
        if over:
            over = COUNTED[name]().over_budget(read_budget()[name])
    assert over == []


def test_no_process_is_started_and_no_version_is_written() -> None:
    budget = read_budget()
    assert [counts.processes for counts in budget.values()] == [0, 0, 0]
    assert budget["tejat --version"].fsyncs == 0


def counts(*, modules: int = 0, files: int = 0, fsyncs: int = 0) -> StartupCounts:
    names = [f"tejat.m{number}" for number in range(modules)]
    return StartupCounts(names, [], [f"f{number}" for number in range(files)], 0, 0, 0, 0, fsyncs)


def test_growth_is_reported_with_the_new_names() -> None:
    budget = counts(modules=10, files=1)
    assert counts(modules=12, files=1).over_budget(budget) == []
    assert counts(modules=13, files=4).over_budget(budget) == [
        "own_modules: 13, budget 10. New: tejat.m10, tejat.m11, tejat.m12",
        "files: 4, budget 1. New: f1, f2, f3",
    ]


def test_what_is_none_stays_none() -> None:
    assert counts(fsyncs=1).over_budget(counts()) == ["fsyncs: 1, budget 0"]


def test_the_fullest_part_is_the_share() -> None:
    assert counts(modules=6).share_of(counts(modules=10)) == 0.5
