"""A third engine, in one file: the prompt of a task is a shell command, which prints the result as JSON.

Two prompts start no process. Every start is written to `starts.txt` beside the directory of the batch. Exit code
98 means that the engine is gone, 99 that the job is lost; 97 raises an error that no engine should raise.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any

from tejat.batch.directory import BatchDirectory, TaskDirectory
from tejat.batch.engines.contract import EngineOptions, EngineUnavailable, JobLost, ReportActivity
from tejat.batch.events import TaskPhase
from tejat.batch.job import TaskJob
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus

NOTHING = "nothing"
NOTE = "note"
"""Leave a file in the folder of the task."""
QUEUE = "queue"
"""The resource whose amount is the number of jobs that the engine takes besides those that run."""


class Code(IntEnum):
    """Exit codes with a meaning."""

    BROKEN = 97
    UNAVAILABLE = 98
    LOST = 99


class ShellEngine:
    """Runs `sh -c`."""

    def __init__(self, jobs: int, queue: int = 0) -> None:
        self.jobs = jobs
        self.queue = queue

    async def run(self, job: TaskJob, report: ReportActivity) -> TaskResult:
        note_start(job)
        if job.task.prompt == NOTHING:
            return TaskResult(job.task.id, TaskStatus.PASSED)
        folder = BatchDirectory(job.directory).task(job.task.id)
        write_output(folder, b"")
        if job.task.prompt == NOTE:
            return TaskResult(job.task.id, TaskStatus.PASSED)
        report(TaskPhase.RUNNING, job.task.prompt, 0)
        output, code = await run_command(job, folder.path)
        write_output(folder, output)
        match code:
            case Code.UNAVAILABLE:
                raise EngineUnavailable("the cluster is gone")
            case Code.LOST:
                raise JobLost("the node is gone")
            case Code.BROKEN:
                raise RuntimeError("broken")
            case _:
                return parse_result(job.task.id, json.loads(output or "{}"))


def write_output(folder: TaskDirectory, output: bytes) -> None:
    Path(folder.path).mkdir(parents=True, exist_ok=True)
    Path(folder.stderr).write_bytes(output)


async def run_command(job: TaskJob, folder: str) -> tuple[bytes, int]:
    limits = job.task.limits
    variables = {"ID": job.task.id, "ATTEMPT": str(job.attempt), "OUT": job.directory, "COMMIT": job.commit}
    shown = {"MAX_COST": limits.cost, "MAX_TOKENS": limits.tokens, "MAX_SECONDS": limits.seconds}
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", job.task.prompt),
        cwd=folder,
        env={**os.environ, **variables, **{name: json.dumps(value) for name, value in shown.items()}},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return output, await process.wait()


def parse_result(task_id: str, values: dict[str, Any]) -> TaskResult:
    values["status"] = TaskStatus(values.get("status", "passed"))
    values["failure"] = TaskFailure(values.get("failure", ""))
    return TaskResult(task_id, **values)


def note_start(job: TaskJob) -> None:
    path = os.path.join(os.path.dirname(job.directory), "starts.txt")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, f"{job.task.id} {job.attempt}\n".encode())
    os.close(descriptor)


@asynccontextmanager
async def open_engine(options: EngineOptions) -> AsyncGenerator[ShellEngine]:
    if options.address:
        raise EngineUnavailable(f"no cluster at {options.address}")
    yield ShellEngine(options.jobs or 2, queue=int((options.resources or {}).get(QUEUE, 0)))
