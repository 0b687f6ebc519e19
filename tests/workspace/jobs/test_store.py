"""Background jobs: found again by another process, never mistaken for one another, stopped to the last descendant."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.jobs.log import LogChunk
from tejat.workspace.jobs.store import RETENTION_SECONDS, Job, JobList, JobState, JobStore
from tejat.workspace.processes.process_tree import process_start_time
from tejat.workspace.processes.spawn import ProcessSpec


def start(jobs: JobStore, command: str, when_over: Callable[[], None] = lambda: None) -> Job:
    descriptor = os.open("/", os.O_RDONLY)
    try:
        spec = ProcessSpec(("/bin/bash", "-c", command), descriptor, {"PATH": "/usr/bin:/bin"})
        return jobs.start(spec, command=command, directory="/where", on_exit=when_over)
    finally:
        os.close(descriptor)


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[JobStore]:
    jobs = JobStore(str(tmp_path / "jobs"))
    yield jobs
    for job in jobs.list_jobs().jobs:
        jobs.stop(job.pid)


def until(condition: Callable[[], object], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(condition())


def ended(jobs: JobStore, pid: int) -> Job:
    assert until(lambda: jobs.get(pid).state is JobState.EXITED)
    return jobs.get(pid)


def record_of(job: Job) -> Path:
    return Path(job.log).with_suffix(".json")


def change(job: Job, **changes: object) -> None:
    record = record_of(job)
    record.write_text(json.dumps(json.loads(record.read_text()) | changes))


def no_such_job(pid: int) -> str:
    return f"No background process {pid}."


class TestLife:
    def test_running_and_then_over(self, jobs: JobStore) -> None:
        before = time.time()
        command = "echo up; read -t 60 < <(sleep 60); exit 3"
        job = start(jobs, command)
        assert before <= job.started <= time.time()
        running = (JobState.RUNNING, None, None, job.log_size)
        assert job == Job(job.pid, command, "/where", job.started, job.log, *running)
        assert until(lambda: jobs.get(job.pid).log_size == 3)
        assert jobs.read_log(job.pid, offset=0) == LogChunk("up\n", 0, 3, 3)

    @pytest.mark.parametrize(
        ("command", "code", "number"), [("exit 0", 0, None), ("exit 3", 3, None), ("kill -9 $$", None, 9)]
    )
    def test_how_it_ended(self, jobs: JobStore, command: str, code: int | None, number: int | None) -> None:
        job = ended(jobs, start(jobs, command).pid)
        assert (job.exit_code, job.signal) == (code, number)

    def test_it_goes_on_while_a_descendant_does(self, jobs: JobStore) -> None:
        job = start(jobs, "setsid sleep 60 & exit 3")
        time.sleep(0.3)
        assert jobs.get(job.pid).state is JobState.RUNNING
        stopped = jobs.stop(job.pid)
        assert (stopped.state, stopped.exit_code) == (JobState.EXITED, 3)

    def test_what_is_to_be_done_in_the_end_is_done_once(self, jobs: JobStore) -> None:
        seen: list[str] = []
        job = start(jobs, "sleep 60", lambda: seen.append("over"))
        jobs.list_jobs()
        assert seen == []
        jobs.stop(job.pid)
        jobs.list_jobs()
        assert seen == ["over"]

    def test_what_cannot_be_started_leaves_nothing(self, jobs: JobStore, tmp_path: Path) -> None:
        descriptor = os.open("/", os.O_RDONLY)
        with pytest.raises(FileNotFoundError):
            jobs.start(
                ProcessSpec(("/no/such/program",), descriptor, {}), command="x", directory="/", on_exit=lambda: None
            )
        os.close(descriptor)
        assert os.listdir(tmp_path / "jobs") == []

    def test_one_that_cannot_be_written_down_is_ended(self, jobs: JobStore, tmp_path: Path) -> None:
        mark = f"{4000 + os.getpid()}.{time.monotonic_ns() % 10**6}"
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))  # enough for the end of a job, not for its record
        try:
            with pytest.raises(OSError, match="File too large"):
                start(jobs, f"sleep {mark}; : {'x' * 1000}")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert os.listdir(tmp_path / "jobs") == []
        assert not any(mark in arguments for arguments in every_command_line())

    def test_everything_is_private(self, jobs: JobStore, tmp_path: Path) -> None:
        before = os.umask(0)
        try:
            job = ended(jobs, start(jobs, "echo secret").pid)
        finally:
            os.umask(before)
        directory = tmp_path / "jobs"
        assert directory.stat().st_mode & 0o777 == 0o700
        modes = {path.suffix: path.stat().st_mode & 0o777 for path in directory.iterdir()}
        assert modes == {".log": 0o600, ".json": 0o600, ".state": 0o600}
        assert Path(job.log).read_text() == "secret\n"


OTHER_PROCESS = """
import os, sys
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.processes.spawn import ProcessSpec
jobs = JobStore(sys.argv[1])
spec = ProcessSpec(("/bin/bash", "-c", sys.argv[2]), os.open("/", os.O_RDONLY), {"PATH": "/usr/bin:/bin"})
print(jobs.start(spec, command=sys.argv[2], directory="/where", on_exit=print).pid)
"""


RECORD: dict[str, object] = {
    **dict.fromkeys(("pid", "pid_started", "supervisor_pid", "supervisor_started", "started"), 1),
    **dict.fromkeys(("boot", "command", "directory"), ""),
}


class TestFoundAgain:
    def test_by_another_process(self, jobs: JobStore, tmp_path: Path) -> None:
        command = "echo one; while [ ! -e GO ]; do sleep .02; done; echo two; sleep 60".replace(
            "GO", str(tmp_path / "go")
        )
        done = subprocess.run(
            [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "jobs"), command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        pid = int(done.stdout)
        (job,) = jobs.list_jobs().jobs
        assert (job.pid, job.command, job.state) == (pid, command, JobState.RUNNING)
        assert until(lambda: jobs.get(pid).log_size == 4)
        first = jobs.read_log(pid, offset=0)
        (tmp_path / "go").touch()
        assert until(lambda: jobs.get(pid).log_size == 8)
        assert (first.text, jobs.read_log(pid, offset=first.next_offset).text) == ("one\n", "two\n")
        began = time.monotonic()
        stopped = JobStore(str(tmp_path / "jobs")).stop(pid)
        assert time.monotonic() - began < 15
        assert (stopped.state, stopped.signal) == (JobState.EXITED, signal.SIGTERM)
        assert process_start_time(pid) is None

    def test_a_pid_that_has_come_around_is_not_the_job(self, jobs: JobStore) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        own = os.getpid()
        change(job, pid=own, supervisor_pid=own)
        stopped = jobs.stop(own)  # would otherwise be the end of this test
        assert (stopped.pid, stopped.state) == (own, JobState.EXITED)

    def test_nor_is_one_of_another_boot(self, jobs: JobStore) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        own = os.getpid()
        began = process_start_time(own)
        change(job, pid=own, pid_started=began, supervisor_pid=own, supervisor_started=began, boot="another")
        assert jobs.stop(own).state is JobState.EXITED

    def test_of_two_with_one_pid_the_later_is_meant(self, jobs: JobStore) -> None:
        first = ended(jobs, start(jobs, "echo first").pid)
        second = ended(jobs, start(jobs, "echo second").pid)
        change(first, pid=second.pid)
        assert jobs.read_log(second.pid).text == "second\n"

    @pytest.mark.parametrize(
        "text",
        [
            *("", "{", "[]", "null", "{}", "\udcff", "9" * 5000),
            '{"pid": "1"}',
            json.dumps(RECORD | {"pid": True}),
            json.dumps(RECORD | {"pid": 0}),
            json.dumps(RECORD | {"supervisor_pid": -1}),
            json.dumps(RECORD | {"pid_started": 2**64}),
            json.dumps(RECORD | {"command": 3}),
            json.dumps(RECORD | {"started": "now"}),
            json.dumps({name: value for name, value in RECORD.items() if name != "boot"}),
        ],
    )
    def test_records_that_cannot_be_read_are_named(self, jobs: JobStore, tmp_path: Path, text: str) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        broken = tmp_path / "jobs" / "broken.json"
        broken.write_text(text, errors="surrogateescape")
        assert jobs.list_jobs() == JobList((job,), (str(broken),))

    def test_links_and_pipes_are_no_records(self, jobs: JobStore, tmp_path: Path) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        (tmp_path / "jobs" / "a.json").symlink_to(record_of(job))
        (tmp_path / "jobs" / "b.json").mkdir()
        names = [str(tmp_path / "jobs" / name) for name in ("a.json", "b.json")]
        assert jobs.list_jobs() == JobList((job,), tuple(names))

    def test_no_directory_no_jobs(self, tmp_path: Path) -> None:
        assert JobStore(str(tmp_path / "missing")).list_jobs() == JobList(())
        assert not (tmp_path / "missing").exists()


class TestRead:
    def test_the_log(self, jobs: JobStore) -> None:
        job = ended(jobs, start(jobs, "printf '1\\n2\\n3\\n'").pid)
        assert jobs.read_log(job.pid, lines=2) == LogChunk("2\n3\n", 2, 6, 6)
        assert jobs.read_log(job.pid, offset=2, lines=1) == LogChunk("2\n", 2, 4, 6)

    def test_an_empty_log(self, jobs: JobStore) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        assert jobs.read_log(job.pid) == LogChunk("", 0, 0, 0)

    def test_a_missing_log(self, jobs: JobStore) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        Path(job.log).unlink()
        with pytest.raises(ToolFailure, match=f"^The output of process {job.pid} no longer exists.$") as failure:
            jobs.read_log(job.pid)
        assert failure.value.error_type is ErrorType.SHELL_EXECUTE_ERROR

    def test_a_link_is_refused(self, jobs: JobStore, tmp_path: Path) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        Path(job.log).unlink()
        (tmp_path / "secret").write_text("secret")
        Path(job.log).symlink_to(tmp_path / "secret")
        with pytest.raises(
            ToolFailure, match=r"Could not read the output of process \d+: Too many levels of symbolic links"
        ):
            jobs.read_log(job.pid)

    def test_a_pipe_is_refused_at_once(self, jobs: JobStore) -> None:
        job = ended(jobs, start(jobs, "true").pid)
        Path(job.log).unlink()
        os.mkfifo(job.log)
        with pytest.raises(ToolFailure, match=r"Could not read the output of process \d+: Not a regular file"):
            jobs.read_log(job.pid)

    @pytest.mark.parametrize("pid", [1, 2**40])
    def test_what_is_no_job(self, jobs: JobStore, pid: int) -> None:
        start(jobs, "true")
        for ask in (jobs.get, jobs.read_log, jobs.stop):
            with pytest.raises(ToolFailure) as failure:
                ask(pid)
            assert failure.value.message == no_such_job(pid)


class TestStop:
    def test_the_whole_tree(self, jobs: JobStore) -> None:
        line = "trap '' TERM HUP INT; sleep 60 & setsid sleep 61 & (setsid bash -c 'setsid sleep 62 &'); echo up; wait"
        job = start(jobs, line)
        assert until(lambda: jobs.get(job.pid).log_size)
        supervisor = json.loads(record_of(job).read_text())["supervisor_pid"]
        below = descendants(supervisor)
        assert len(below) >= 4
        began = time.monotonic()
        assert jobs.stop(job.pid).state is JobState.EXITED
        assert time.monotonic() - began < 15
        assert [pid for pid in below if process_start_time(pid) is not None] == []

    def test_one_that_has_ended(self, jobs: JobStore) -> None:
        job = ended(jobs, start(jobs, "exit 3").pid)
        assert jobs.stop(job.pid) == job

    def test_one_whose_keeper_was_killed(self, jobs: JobStore) -> None:
        job = start(jobs, "sleep 60 & sleep 61; true")
        supervisor = json.loads(record_of(job).read_text())["supervisor_pid"]
        assert until(lambda: len(descendants(supervisor)) == 3)
        below = descendants(supervisor)
        os.kill(supervisor, signal.SIGKILL)
        assert until(lambda: process_start_time(supervisor) is None)
        assert jobs.get(job.pid).state is JobState.RUNNING
        stopped = jobs.stop(job.pid)
        assert (stopped.state, stopped.exit_code, stopped.signal) == (JobState.EXITED, None, None)
        assert [pid for pid in below if process_start_time(pid) is not None] == []


class TestRemoval:
    def test_after_a_week_they_are_gone_unless_they_run(self, jobs: JobStore, tmp_path: Path) -> None:
        old = ended(jobs, start(jobs, "true").pid)
        young = ended(jobs, start(jobs, "true").pid)
        running = start(jobs, "sleep 60")
        stray = tmp_path / "jobs" / "stray.log"
        stray.touch()
        long_ago = time.time() - RETENTION_SECONDS - 60
        for job in (old, running):
            for path in (tmp_path / "jobs").glob(f"{Path(job.log).stem}.*"):
                os.utime(path, (long_ago, long_ago))
        os.utime(stray, (long_ago, long_ago))
        jobs.prune()
        assert [job.pid for job in jobs.list_jobs().jobs] == [young.pid, running.pid]
        left = {path.stem for path in (tmp_path / "jobs").iterdir()}
        assert left == {Path(young.log).stem, Path(running.log).stem}


def descendants(pid: int) -> list[int]:
    """The living processes below this one."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z":
            parents[int(name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {pid})


def every_command_line() -> list[str]:
    lines: list[str] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            lines.append(Path(f"/proc/{name}/cmdline").read_bytes().decode(errors="replace"))
    return lines


def test_what_runs_elsewhere_is_stopped_by_a_command(jobs: JobStore, tmp_path: Path) -> None:
    descriptor = os.open("/", os.O_RDONLY)
    try:
        spec = ProcessSpec(("/bin/sleep", "60"), descriptor, {"PATH": "/usr/bin:/bin"})
        stop_command = ("/bin/sh", "-c", 'echo stopped > "$1"', "sh", str(tmp_path / "stopped"))
        job = jobs.start(spec, command="x", directory="/", on_exit=lambda: None, stop_command=stop_command)
    finally:
        os.close(descriptor)
    JobStore(str(tmp_path / "jobs")).stop(job.pid)  # as another process does
    assert (tmp_path / "stopped").read_text() == "stopped\n"
