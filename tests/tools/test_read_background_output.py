"""`read_background_output`: the end of a log, or on from an offset, with the offset for the next time."""

import asyncio

import pytest

from job_checks import ended, start
from tejat.core.errors import ErrorType
from tejat.core.tool import Kind, ToolResult, validate_and_execute
from tejat.tools.read_background_output import ReadBackgroundOutputTool
from tejat.workspace.jobs import Jobs
from tool_checks import failure, rejection


def call(jobs: Jobs, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(ReadBackgroundOutputTool(jobs), params))


def test_what_it_is(jobs: Jobs) -> None:
    tool = ReadBackgroundOutputTool(jobs)
    assert (tool.name, tool.kind, tool.bounds_output) == ("read_background_output", Kind.READ, True)
    assert tool.get_description({"pid": 7}) == "Reading the output of process 7"


def test_the_last_lines(jobs: Jobs) -> None:
    job = ended(jobs, "seq 200; exit 3")
    text = "".join(f"{number}\n" for number in range(101, 201))
    assert call(jobs, pid=job.pid) == ToolResult(
        f"[Process {job.pid}: exited with code 3. Bytes 292 to 692 of 692; use offset 692 to read on.]\n{text}", text
    )
    assert call(jobs, pid=job.pid, lines=1).return_display == "200\n"


def test_reading_on(jobs: Jobs) -> None:
    job = ended(jobs, "seq 5")
    assert call(jobs, pid=job.pid, offset=2, lines=2) == ToolResult(
        f"[Process {job.pid}: exited with code 0. Bytes 2 to 6 of 10; use offset 6 to read on.]\n2\n3\n", "2\n3\n"
    )
    assert call(jobs, pid=job.pid, offset=10) == ToolResult(
        f"[Process {job.pid}: exited with code 0. Bytes 10 to 10 of 10; use offset 10 to read on.]\n(no output)", ""
    )


def test_waiting_first(jobs: Jobs) -> None:
    job = start(jobs, "sleep .3; echo late; sleep 60")
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
def test_what_makes_no_sense(jobs: Jobs, params: dict[str, object], reason: str) -> None:
    assert call(jobs, **params) == rejection(reason)


def test_h23_only_jobs_of_ours(jobs: Jobs) -> None:
    assert call(jobs, pid=1) == failure(
        "There is no background process 1.",
        ErrorType.SHELL_EXECUTE_ERROR,
    )
