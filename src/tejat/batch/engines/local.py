"""The engine `local`: jobs as processes on this machine."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tejat.batch.engines.contract import EngineOptions, ReportActivity
from tejat.batch.job import TaskJob
from tejat.batch.result import TaskResult
from tejat.batch.runner.job_runner import JobRunner


class LocalEngine:
    """Runs jobs with one runner."""

    def __init__(self, runner: JobRunner, jobs: int) -> None:
        self.jobs = jobs
        self.queue = 0
        self._runner = runner

    async def run(self, job: TaskJob, report: ReportActivity) -> TaskResult:
        """See `Engine`."""
        return await self._runner.run(job, report)


@asynccontextmanager
async def open_engine(options: EngineOptions) -> AsyncGenerator[LocalEngine]:
    """Open the engine. Without a number of jobs there is one for each core that this process may use."""
    async with JobRunner() as runner:
        yield LocalEngine(runner, options.jobs or usable_cores())


def usable_cores() -> int:
    """How many cores this process may use, at least one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores)
