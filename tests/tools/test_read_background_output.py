"""`read_background_output`: the end of a log, or on from an offset, with the offset for the next time."""

import asyncio

import pytest

from support.jobs import run_job, start_job
from support.tool_results import failed_result, invalid_params_result
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.tools.read_background_output import ReadBackgroundOutputTool
from tejat.workspace.jobs.store import JobStore


def call(jobs: JobStore, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(ReadBackgroundOutputTool(jobs), params))


def test_what_it_is(jobs: JobStore) -> None:
    tool = ReadBackgroundOutputTool(jobs)
    assert (tool.name, tool.kind, tool.limits_own_output) == ("read_background_output", Kind.READ, True)
    assert tool.get_description({"pid": 7}) == "Reading the output of process 7"


def test_the_last_lines(jobs: JobStore) -> None:
    job = run_job(jobs, "seq 200; exit 3")
    text = "".join(f"{number}\n" for number in range(101, 201))
    assert call(jobs, pid=job.pid) == ToolResult(
        f"[Process {job.pid}: exited with code 3. Bytes 292 to 692 of 692; use offset 692 to read on.]\n{text}", text
    )
    assert call(jobs, pid=job.pid, lines=1).return_display == "200\n"


def test_reading_on(jobs: JobStore) -> None:
    job = run_job(jobs, "seq 5")
    assert call(jobs, pid=job.pid, offset=2, lines=2) == ToolResult(
        f"[Process {job.pid}: exited with code 0. Bytes 2 to 6 of 10; use offset 6 to read on.]\n2\n3\n", "2\n3\n"
    )
    assert call(jobs, pid=job.pid, offset=10) == ToolResult(
        f"[Process {job.pid}: exited with code 0. Bytes 10 to 10 of 10; use offset 10 to read on.]\n(no output)", ""
    )


def test_waiting_first(jobs: JobStore) -> None:
    job = start_job(jobs, "sleep .3; echo late; sleep 60")
    assert call(jobs, pid=job.pid, delay_ms=1500) == ToolResult(
        f"[Process {job.pid}: running. Bytes 0 to 5 of 5; use offset 5 to read on.]\nlate\n", "late\n"
    )


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({}, "params must have required property 'pid'"),
        ({"pid": 0}, "params/pid must be >= 1"),
        ({"pid": 7, "lines": 0}, "params/lines must be >= 1"),
        ({"pid": 7, "offset": -1}, "params/offset must be >= 0"),
        ({"pid": 7, "delay_ms": 60_001}, "params/delay_ms must be <= 60000"),
    ],
)
def test_what_makes_no_sense(jobs: JobStore, params: dict[str, object], reason: str) -> None:
    assert call(jobs, **params) == invalid_params_result(reason)


def test_only_jobs_of_ours(jobs: JobStore) -> None:
    assert call(jobs, pid=1) == failed_result(
        "No background process 1.",
        ErrorType.SHELL_EXECUTE_ERROR,
    )
