"""The contract of an engine."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from tejat.batch.events import TaskPhase
from tejat.batch.job import TaskJob
from tejat.batch.result import TaskResult
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen

ReportActivity: TypeAlias = Callable[[TaskPhase, str, int], None]
"""Called with the phase, one line about what the task does, and the tokens so far."""


class EngineOptions(Frozen):
    """Options of an engine. `jobs` is how many tasks run at once, None for the engine's own choice.

    `directory` is the directory of the batch. `address` is that of a cluster, empty for a local one. With
    `is_shared` all nodes see `directory` under the same path. `resources` are what a task needs of a node, such as
    `{"CPU": 1}`. `passed_variables` are names of environment variables that other machines get.
    """

    directory: str
    jobs: int | None = None
    address: str = ""
    is_shared: bool = False
    resources: Mapping[str, float] | None = None
    passed_variables: tuple[str, ...] = ()


class JobLost(Exception):
    """The process or node that ran a job is gone. The job can run again. The message says what happened."""


class EngineUnavailable(UsageError):
    """The engine cannot start, or is gone: a missing package, or a cluster that does not answer."""


class Engine(Protocol):
    """Runs jobs. Used by one event loop."""

    jobs: int
    """How many jobs may run at once."""
    queue: int
    """How many jobs more it takes and starts itself when others end: 0, unless a job takes long to reach its place."""

    async def run(self, job: TaskJob, report: ReportActivity) -> TaskResult:
        """Run a job to its end; its files are in the folder of the task then.

        Cancelling the call stops everything that the job started, wherever it runs, and keeps what it left. Raises
        JobLost if the job can run again, EngineUnavailable if no job can.
        """
        ...


OpenEngine: TypeAlias = Callable[[EngineOptions], AbstractAsyncContextManager[Engine]]
"""The function `open_engine` of an engine's module. Raises EngineUnavailable."""
