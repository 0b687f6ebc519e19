"""`/shells`."""

import os
import re
import time
from collections.abc import Generator

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.prompter import FakePrompter
from tejat.workspace.files.regular_file import open_fd
from tejat.workspace.jobs.store import Job, JobState, JobStore
from tejat.workspace.processes.spawn import ProcessSpec

USAGE = "Usage: /shells [list | tail PID [LINES] | stop PID]"


@pytest.fixture
def store(env: CommandEnv) -> Generator[JobStore]:
    jobs = JobStore(str(env.home / ".local" / "state" / "tejat" / "jobs"))
    yield jobs
    for job in jobs.list_jobs().jobs:
        if job.state is JobState.RUNNING:
            jobs.stop(job.pid)


def start(env: CommandEnv, store: JobStore, line: str, directory: str | None = None) -> Job:
    where = directory or str(env.project)
    with open_fd(where, os.O_RDONLY) as descriptor:
        spec = ProcessSpec(("/bin/sh", "-c", line), descriptor, env.environment)
        return store.start(spec, command=line, directory=where, on_exit=lambda: None)


def wait_for_output(store: JobStore, pid: int) -> None:
    deadline = time.monotonic() + 30
    while not store.read_log(pid).text and time.monotonic() < deadline:
        time.sleep(0.01)


def test_none(env: CommandEnv) -> None:
    assert env.output_of("/shells") == env.output_of("/bashes list") == "No background processes in this project."


def test_list(env: CommandEnv, store: JobStore) -> None:
    running = start(env, store, "sleep 60")
    start(env, store, "sleep 61", str(env.home))
    lines = env.output_of("/shells").splitlines()
    assert lines[:2] == ["Background processes", "PID  State  Started  Command"]
    assert re.fullmatch(rf"{running.pid}  running  .*  sleep 60", lines[2])
    assert lines[3:] == [
        "1 process is running.",
        "/shells tail PID shows its output, /shells stop PID stops it.",
        "1 process runs in another project. See `tejat jobs`.",
    ]


def test_tail(env: CommandEnv, store: JobStore) -> None:
    job = start(env, store, "seq 30; exec sleep 60")
    wait_for_output(store, job.pid)
    lines = env.output_of(f"/shells tail {job.pid} 2").splitlines()
    assert lines == [f"{job.pid} (running): seq 30; exec sleep 60", "29", "30", f"Full output: {job.log}"]


def test_stop_asks(env: CommandEnv, store: JobStore) -> None:
    job = start(env, store, "sleep 60")

    async def work(runner: CommandRunner) -> list[str]:
        return [await runner.output_of(f"/shells stop {job.pid}") for _ in range(3)]

    no, yes, again = env.run_with(work, prompter=FakePrompter(choices=[0, 1]))
    assert no == "Nothing was stopped."
    assert yes in (f"Stopped {job.pid} (SIGTERM).", f"Stopped {job.pid} (SIGKILL).")
    assert again.startswith(f"Process {job.pid} has already ended: ")
    assert store.get(job.pid).state is JobState.EXITED


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("/shells stop", USAGE),
        ("/shells drop 1", USAGE),
        ("/shells stop all", f"all is not a process id. /shells lists them.\n{USAGE}"),
        ("/shells tail 4194303", "No background process 4194303."),
        ("/shells stop 4194303", "No background process 4194303."),
    ],
)
def test_what_cannot_be_meant(env: CommandEnv, line: str, text: str) -> None:
    assert env.output_of(line) == text
