"""The engine of this machine."""

import asyncio
import os
from pathlib import Path

from support.batch_jobs import JobCase, saying, writing
from tejat.batch.engines.contract import EngineOptions
from tejat.batch.engines.local import open_engine, usable_cores
from tejat.batch.engines.registry import find_engine
from tejat.batch.result import TaskResult, TaskStatus


async def count_jobs(jobs: int | None) -> int:
    async with open_engine(EngineOptions("/out", jobs=jobs)) as engine:
        return engine.jobs


def test_a_job_for_each_core() -> None:
    assert usable_cores() == len(os.sched_getaffinity(0))
    assert asyncio.run(count_jobs(None)) == usable_cores()


def test_as_many_jobs_as_wanted() -> None:
    assert asyncio.run(count_jobs(7)) == 7


def test_it_runs_jobs(tmp_path: Path) -> None:
    case = JobCase(tmp_path)
    job = case.job(writing("b.txt", "two\n"), saying())

    async def main() -> TaskResult:
        async with find_engine("local")(EngineOptions(case.directory.path)) as engine:
            return await engine.run(job, case.report)

    assert asyncio.run(main()).status is TaskStatus.PASSED
