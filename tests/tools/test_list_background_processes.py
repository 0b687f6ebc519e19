"""`list_background_processes`: every job in a line, with what became of it."""

import asyncio
from datetime import datetime
from pathlib import Path

from support.jobs import run_job, start_job
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.tools.list_background_processes import ListBackgroundProcessesTool
from tejat.workspace.jobs.store import Job, JobStore


def call(jobs: JobStore) -> ToolResult:
    return asyncio.run(validate_and_execute(ListBackgroundProcessesTool(jobs), {}))


def began(job: Job) -> str:
    return datetime.fromtimestamp(job.started).astimezone().isoformat(sep=" ", timespec="seconds")


def test_what_it_is(jobs: JobStore) -> None:
    tool = ListBackgroundProcessesTool(jobs)
    assert (tool.name, tool.kind, tool.get_description({})) == (
        "list_background_processes",
        Kind.READ,
        "Listing the background processes",
    )


def test_none(jobs: JobStore) -> None:
    assert call(jobs) == ToolResult("There are no background processes.", "0 background process(es), 0 running.")


def test_all_of_them(jobs: JobStore, tmp_path: Path) -> None:
    failed = run_job(jobs, "echo hi\nexit 3")
    killed = run_job(jobs, "kill -9 $$ # \x1b[31m")
    lost = run_job(jobs, "true")
    Path(lost.log).with_suffix(".state").unlink()
    running = start_job(jobs, "sleep 60")
    (tmp_path / "jobs" / "broken.json").write_text("{")
    assert call(jobs) == ToolResult(
        f"PID {failed.pid}: exited with code 3, started {began(failed)}, 3 B of output, in /where: echo hi exit 3\n"
        f"PID {killed.pid}: killed by SIGKILL, started {began(killed)}, 0 B of output, in /where: "
        "kill -9 $$ # <U+001B>[31m\n"
        f"PID {lost.pid}: ended, nobody knows how, started {began(lost)}, 0 B of output, in /where: true\n"
        f"PID {running.pid}: running, started {began(running)}, 0 B of output, in /where: sleep 60\n"
        f"This record cannot be read: {tmp_path}/jobs/broken.json",
        "4 background process(es), 1 running.",
    )
