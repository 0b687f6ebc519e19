"""`stop_background_process`: asks, ends exactly the job that was shown, and tells how it ended."""

import asyncio
import json
from pathlib import Path

from support.jobs import run_job, start_job
from support.tool_results import failed_result
from tejat.core.approval.confirmation import InfoConfirmation
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolContext, ToolResult, validate_and_execute
from tejat.tools.stop_background_process import StopBackgroundProcessTool
from tejat.workspace.jobs.store import JobState, JobStore


def call(jobs: JobStore, pid: int, context: ToolContext | None = None) -> ToolResult:
    return asyncio.run(validate_and_execute(StopBackgroundProcessTool(jobs), {"pid": pid}, context))


def test_what_it_is(jobs: JobStore) -> None:
    tool = StopBackgroundProcessTool(jobs)
    assert (tool.name, tool.kind, tool.is_read_only) == ("stop_background_process", Kind.EXECUTE, False)
    assert tool.get_description({"pid": 7}) == "Stopping process 7"


def test_what_was_shown_is_stopped(jobs: JobStore) -> None:
    job = start_job(jobs, "sleep 60")
    shown = asyncio.run(StopBackgroundProcessTool(jobs).should_confirm_execute({"pid": job.pid}))
    assert isinstance(shown, InfoConfirmation)
    prompt = f"Stop process {job.pid} and everything that it started?\nIt runs: sleep 60\nIn: /where"
    assert shown == InfoConfirmation("Confirm Stop", prompt, digest=shown.digest)
    told = f"Process {job.pid} was stopped with everything that it had started: killed by SIGTERM."
    assert call(jobs, job.pid, ToolContext(approved=shown)) == ToolResult(told, told)
    assert jobs.get(job.pid).state is JobState.EXITED


def test_one_that_has_ended_needs_no_answer(jobs: JobStore) -> None:
    job = run_job(jobs, "exit 3")
    assert asyncio.run(StopBackgroundProcessTool(jobs).should_confirm_execute({"pid": job.pid})) is None
    told = f"Process {job.pid} has ended already: exited with code 3."
    assert call(jobs, job.pid) == ToolResult(told, told)


def test_another_with_the_same_pid_is_not_what_was_shown(jobs: JobStore) -> None:
    shown_job, other = start_job(jobs, "sleep 60"), start_job(jobs, "sleep 61")
    shown = asyncio.run(StopBackgroundProcessTool(jobs).should_confirm_execute({"pid": shown_job.pid}))
    jobs.stop(shown_job.pid)
    record = Path(shown_job.log).with_suffix(".json")
    record.write_text(json.dumps(json.loads(record.read_text()) | {"pid": other.pid, "started": 1}))
    refused = "The process differs from the one shown, so nothing was done."
    assert call(jobs, other.pid, ToolContext(approved=shown)) == failed_result(refused, ErrorType.STALE_FILE)
    assert jobs.get(other.pid).state is JobState.RUNNING


def test_what_is_no_job_of_ours(jobs: JobStore) -> None:
    assert call(jobs, 1) == failed_result(
        "No background process 1.",
        ErrorType.SHELL_EXECUTE_ERROR,
    )
