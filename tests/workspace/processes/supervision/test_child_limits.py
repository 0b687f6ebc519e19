"""What a command may use up."""

import itertools
import subprocess
import sys

import pytest

CODE = """
import os, resource
from tejat.workspace.processes.supervision.child_limits import ChildLimits
{before}
limits = ChildLimits()
sizes = []
for _ in range({times}):
    sizes.append(limits.apply())
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == (sizes[-1], sizes[-1])
{after}
"""


def run(*, before: str = "", times: int = 1, after: str) -> str:
    """In a process of its own: limits cannot be taken back."""
    code = CODE.format(before=before, times=times, after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_every_command_has_another_largest_file_and_none_is_small() -> None:
    facts = run(
        times=5000, after="print(len(set(sizes)), sizes == sorted(sizes, reverse=True), min(sizes) >= 64 << 30)"
    )
    assert facts == "5000 True True"


def test_they_differ_between_sessions_and_cannot_be_guessed() -> None:
    first, second = (run(times=3, after="print(*sizes)").split() for _ in range(2))
    assert set(first).isdisjoint(second)
    steps = [int(before) - int(after) for before, after in itertools.pairwise(first)]
    assert steps != [1, 1]


@pytest.mark.parametrize("inherited", [0, 1, 1000, 1 << 20, 1 << 30, 70 << 30])
def test_a_lower_limit_that_was_inherited_is_kept_to(inherited: int) -> None:
    before = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({inherited}, {inherited}))"
    facts = run(before=before, times=2000, after=f"print(max(sizes) <= {inherited}, min(sizes) * 4 >= {inherited} - 8)")
    assert facts == "True True"


def test_no_core_files_and_a_bounded_number_of_processes() -> None:
    before = "hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]"
    after = (
        "print(resource.getrlimit(resource.RLIMIT_CORE)[0],"
        " resource.getrlimit(resource.RLIMIT_NPROC) == (16384 if hard == -1 or hard > 16384 else hard, hard))"
    )
    assert run(before=before, after=after) == "0 True"


@pytest.mark.skipif(sys.platform != "linux", reason="writes to /proc")
def test_a_command_is_killed_before_its_supervisor_when_memory_runs_out() -> None:
    score = "int(open('/proc/self/oom_score_adj').read())"
    facts = run(before=f"own = {score}", after=f"given = {score}; limits.restore(); print(given, {score} == own)")
    assert facts == "500 True"
