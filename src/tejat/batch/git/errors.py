"""Problems with repositories."""

import errno

from tejat.batch.result import TaskFailure
from tejat.core.errors import TejatError
from tejat.core.i18n import _


class RepositoryProblem(TejatError):
    """A repository, working copy or patch that cannot be used. The message says why and what to do."""

    def __init__(self, message: str, failure: TaskFailure = TaskFailure.REPOSITORY) -> None:
        super().__init__(message)
        self.message = message
        self.failure = failure

    def __reduce__(self) -> tuple[type["RepositoryProblem"], tuple[str, TaskFailure]]:
        return RepositoryProblem, (self.message, self.failure)


def disk_full() -> RepositoryProblem:
    """The problem of a full disk."""
    return RepositoryProblem(_("The disk is full. Free some space and run the batch again."), TaskFailure.DISK_FULL)


def system_problem(error: OSError) -> RepositoryProblem:
    """The problem for an error of the system."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return disk_full()
    message = _("A file of the batch cannot be used: {error}", error=error)
    return RepositoryProblem(message, TaskFailure.INTERNAL)
