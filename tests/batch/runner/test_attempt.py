"""An attempt when the machine is in the way: a full disk, and processes that do not end."""

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from support.batch_jobs import JobCase, saying, shell, with_limits, writing
from support.process_marks import living_pids
from tejat.batch.job import TaskJob, job_to_json
from tejat.batch.result import TaskFailure, TaskStatus
from tejat.batch.runner import attempt

ON_A_SMALL_DISK = """
import asyncio, json, os, subprocess, sys
from tejat.batch.job import job_from_json
from tejat.batch.result import result_to_json
from tejat.batch.runner.job_runner import JobRunner

job, size = job_from_json(json.loads(sys.argv[1])), sys.argv[2]
os.makedirs(job.directory)
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", job.directory], check=True)

async def main():
    async with JobRunner() as runner:
        return await runner.run(job, lambda *_: None)

print(json.dumps(result_to_json(asyncio.run(main()))))
"""


def run_on_small_disk(job: TaskJob, size: str) -> dict[str, Any]:
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    done = subprocess.run(
        [unshare, "-rm", sys.executable, "-c", ON_A_SMALL_DISK, json.dumps(job_to_json(job)), size],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class TestFullDisk:
    @pytest.mark.parametrize("size", ["32k", "300k", "600k"])
    def test_whoever_fills_it_first(self, case: JobCase, size: str) -> None:
        job = case.job(writing("b.txt", "x" * 400_000), writing("c.txt", "x" * 400_000), saying())
        result = run_on_small_disk(job, size)
        assert (result["status"], result["failure"]) == ("error", "disk_full"), result

    def test_a_command_that_fills_it(self, case: JobCase) -> None:
        job = case.job(shell("head -c 100M /dev/zero > big; true"), saying("x" * 100_000))
        result = run_on_small_disk(job, "4m")
        assert (result["status"], result["failure"]) == ("error", "disk_full"), result

    def test_a_large_enough_one(self, case: JobCase) -> None:
        result = run_on_small_disk(case.job(writing("b.txt", "two\n"), saying()), "16m")
        assert result["status"] == "passed", result


class TestBackstop:
    """A run or a check that does not keep its own limit is stopped from outside."""

    def test_of_a_run(self, case: JobCase, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(attempt, "_GRACE_SECONDS", -1000.0)
        job = with_limits(case.job(shell(f"sleep {mark}"), saying()), seconds=1001.0)
        result = case.run(job)
        assert (result.status, result.failure, result.exit_code) == (TaskStatus.FAILED, TaskFailure.LIMIT, 53)
        assert living_pids(mark) == []
        assert case.exists("transcript.md")

    def test_of_a_check(self, case: JobCase, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(attempt, "_GRACE_SECONDS", -1000.0)
        job = case.job(writing("b.txt", "two\n"), saying(), check=f"sleep {mark}", check_seconds=1001.0)
        result = case.run(job)
        assert (result.status, result.failure) == (TaskStatus.FAILED, TaskFailure.CHECK_TIMED_OUT)
        assert living_pids(mark) == []
