"""Git commands: bounded output, limits, and an end that reaches every child."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from support.packages import make_repository, run_git, write_tree
from support.wait import wait_until, wait_until_async
from tejat.batch.git import commands
from tejat.batch.git.commands import GitOutput, GitProgram
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.result import TaskFailure
from tejat.workspace.helper_program import find_program


def run(*words: str, stdin: bytes | int = b"", stdout: int | None = None, directory: str = "/") -> GitOutput:
    return asyncio.run(GitProgram(dict(os.environ), directory=directory).run(*words, stdin=stdin, stdout=stdout))


def alias(tmp_path: Path, script: str, **options: float) -> GitProgram:
    """A git whose command `x` is a shell script."""
    write_tree(tmp_path, {"x.sh*": f"#!/bin/sh\n{script}\n"})
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "alias.x", "GIT_CONFIG_VALUE_0": f"!{tmp_path}/x.sh"}
    return GitProgram({**os.environ, **settings}, idle_seconds=options.get("idle_seconds"))


def test_output() -> None:
    assert run("version").text.startswith("git version")
    assert run("stripspace", stdin=b"x" * 500_000).stdout == b"x" * 500_000 + b"\n"
    failed = run("no-such-command")
    assert not failed.is_ok
    assert "no-such-command" in failed.reason


def test_files_as_input_and_output(tmp_path: Path) -> None:
    write_tree(tmp_path, {"in": "x" * 300_000})
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        done = run("stripspace", stdin=source.fileno(), stdout=target.fileno())
    assert (done.is_ok, done.stdout) == (True, b"")
    assert (tmp_path / "out").stat().st_size == 300_001


def test_output_is_bounded(tmp_path: Path) -> None:
    git = alias(
        tmp_path, f"{sys.executable} -c \"import sys; print('x' * 9_000_000); print('e' * 9_000_000, file=sys.stderr)\""
    )
    done = asyncio.run(git.run("x"))
    assert len(done.stdout) == 1024 * 1024
    assert len(done.stderr) < 200_000


def test_many_at_once(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "1"})

    async def all_of_them() -> None:
        git = GitProgram(dict(os.environ), directory=str(tmp_path / "repo"))
        found = await asyncio.gather(*(git.run("rev-parse", "HEAD") for _ in range(60)))
        assert {each.text for each in found} == {run_git(tmp_path / "repo", "rev-parse", "HEAD")}

    asyncio.run(all_of_them())


def test_reasons() -> None:
    errors = "remote: Counting objects:  33% (1/3)\rremote: done.\nhint: no\nerror: one\nfatal: two\x1b[31m\n"
    assert GitOutput(128, b"", errors).reason == "remote: done.; error: one; fatal: two<U+001B>[31m"
    assert GitOutput(3, b"", "").reason == "git ended with exit code 3"
    assert GitOutput(1, b"", "just words\n").reason == "just words"


@pytest.mark.parametrize("seconds", ["idle", "total"])
def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    script = "sleep 300 & wait"
    if seconds == "total":
        monkeypatch.setattr(commands, "MAX_SECONDS", 0.3)
    git = alias(tmp_path, script, **({"idle_seconds": 0.3} if seconds == "idle" else {}))
    with pytest.raises(RepositoryProblem, match=r"0\.3 seconds") as caught:
        asyncio.run(git.run("x"))
    assert caught.value.failure is (TaskFailure.SERVICE if seconds == "idle" else TaskFailure.INTERNAL)


def test_progress_extends_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        f"cd {tmp_path}; for i in 0 1 2 3; do echo $i >&2; touch seen$i; while [ ! -e go$i ]; do sleep 0.02; done; done"
    )

    async def steps() -> GitOutput:
        loop = asyncio.get_running_loop()
        offset, time_of = 0.0, loop.time
        monkeypatch.setattr(loop, "time", lambda: time_of() + offset)
        running = asyncio.ensure_future(alias(tmp_path, script, idle_seconds=1000.0).run("x"))
        for number in range(4):
            await wait_until_async((tmp_path / f"seen{number}").exists)
            for _ in range(5):  # what is in the pipe is read
                await asyncio.sleep(0)
            offset += 900.0
            (tmp_path / f"go{number}").touch()
        return await running

    assert asyncio.run(steps()).is_ok


@pytest.mark.parametrize("is_stubborn", [False, True])
def test_cancellation_ends_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stubborn: bool) -> None:
    monkeypatch.setattr(commands, "_STOP_SECONDS", 0.3 if is_stubborn else 30.0)
    ignore = "trap '' TERM; " if is_stubborn else ""
    script = (
        f"{ignore}sleep 3000 & echo $! $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pids; wait; wait; sleep 3000"
    )

    async def cancel() -> None:
        running = asyncio.ensure_future(alias(tmp_path, script).run("x"))
        await wait_until_async((tmp_path / "pids").exists)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        wait_until(lambda pid=pid: not is_running(pid))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_child_that_keeps_the_pipes(tmp_path: Path) -> None:
    """Such as a connection of ssh that later commands share."""
    git = alias(tmp_path, f"setsid sleep 60 & echo $! > {tmp_path}/child; echo done")
    before = time.monotonic()
    assert asyncio.run(git.run("x")).text == "done"
    assert time.monotonic() - before < 50
    os.kill(int((tmp_path / "child").read_text()), 9)


def test_a_full_disk() -> None:
    with open("/dev/full", "wb") as full, pytest.raises(RepositoryProblem) as caught:
        run("version", stdout=full.fileno())
    assert caught.value.failure is TaskFailure.DISK_FULL


def test_git_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    find_program.cache_clear()
    monkeypatch.setenv("PATH", "/nonexistent")
    try:
        with pytest.raises(RepositoryProblem, match="git is not installed"):
            run("version")
    finally:
        monkeypatch.undo()
        find_program.cache_clear()


def test_a_directory_that_is_missing() -> None:
    with pytest.raises(RepositoryProblem, match="could not be started"):
        run("version", directory="/nonexistent")
