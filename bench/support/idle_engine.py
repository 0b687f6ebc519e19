"""An engine whose tasks do nothing, and `python -m bench.support.idle_engine`: tejat with that engine."""

import sys
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from typing import cast

from tejat.batch.engines.contract import EngineOptions, ReportActivity
from tejat.batch.engines.registry import ENGINES
from tejat.batch.job import TaskJob
from tejat.batch.result import TaskResult, TaskStatus

NAME = "idle"


class IdleEngine:
    """Passes every task at once."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.queue = 0

    async def run(self, job: TaskJob, report: ReportActivity) -> TaskResult:
        """See `Engine`."""
        return TaskResult(job.task.id, TaskStatus.PASSED, repo=job.task.repo, commit=job.commit)


@asynccontextmanager
async def open_engine(options: EngineOptions) -> AsyncGenerator[IdleEngine]:
    """Open the engine."""
    yield IdleEngine(options.jobs or 1)


if __name__ == "__main__":
    cast("MutableMapping[str, str]", ENGINES)[NAME] = "bench.support.idle_engine"
    from tejat.cli.main import program

    sys.exit(program())
