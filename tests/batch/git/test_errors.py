"""Problems with repositories keep their kind, also on the way between processes."""

import errno
import pickle

import pytest

from tejat.batch.git.errors import RepositoryProblem, disk_full, system_problem
from tejat.batch.result import TaskFailure


def test_they_can_be_sent() -> None:
    for problem in (RepositoryProblem("a"), disk_full()):
        copy = pickle.loads(pickle.dumps(problem))
        assert (copy.message, copy.failure, str(copy)) == (problem.message, problem.failure, problem.message)


@pytest.mark.parametrize(
    ("number", "failure"),
    [
        (errno.ENOSPC, TaskFailure.DISK_FULL),
        (errno.EDQUOT, TaskFailure.DISK_FULL),
        (errno.EFBIG, TaskFailure.DISK_FULL),
        (errno.EACCES, TaskFailure.INTERNAL),
    ],
)
def test_errors_of_the_system(number: int, failure: TaskFailure) -> None:
    assert system_problem(OSError(number, "reason", "/path")).failure is failure
    assert "/path" in system_problem(OSError(errno.EACCES, "reason", "/path")).message
