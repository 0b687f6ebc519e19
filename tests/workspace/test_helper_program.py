"""Programs are found and started safely, and never outlive their block."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from tejat.workspace.helper_program import HelperProcess, find_program, find_ripgrep, helper_environment, run_helper


class Stopped(Exception):
    """What a caller raises to be let go."""


def never() -> None:
    """Asks nobody to stop."""


def output_of(child: HelperProcess) -> bytes:
    blocks: list[bytes] = []
    while block := child.read(never):
        blocks.append(block)
    return b"".join(blocks)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Whoever inherited it may not have reaped it yet.
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(autouse=True)
def forget_paths() -> Iterator[None]:
    find_ripgrep.cache_clear()
    find_program.cache_clear()
    yield
    find_ripgrep.cache_clear()
    find_program.cache_clear()


@pytest.fixture
def directory_fd(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


class TestFinding:
    def test_the_installed_one_comes_first(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        program(tmp_path / "rg", "exit 3")
        monkeypatch.setenv("PATH", str(tmp_path))
        found = find_ripgrep()
        assert found is not None
        assert found == os.path.join(os.path.dirname(sys.executable), "rg")
        assert subprocess.run([found, "--version"], capture_output=True, check=True).stdout.startswith(b"ripgrep")

    def test_else_the_first_on_the_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "one" / "rg").mkdir(parents=True)
        (tmp_path / "two").mkdir()
        (tmp_path / "two" / "rg").write_text("not a program")
        wanted = program(tmp_path / "three" / "rg", "exit 0")
        program(tmp_path / "four" / "rg", "exit 0")
        monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
        monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "scripts"))
        monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / name) for name in ("one", "two", "three", "four")))
        assert find_ripgrep() == str(wanted)

    def test_relative_entries_of_the_path_never_count(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        program(tmp_path / "tool", "exit 0")
        program(tmp_path / "bin" / "tool", "exit 0")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", os.pathsep.join(("", ".", "bin", "./bin")))
        assert find_program("tool") is None
        assert helper_environment()["PATH"] == ""

    def test_nothing_to_be_found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", "")
        monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
        monkeypatch.setenv("PATH", str(tmp_path))
        assert find_ripgrep() is None


class TestRunning:
    def test_output_and_exit_code(self, directory_fd: int) -> None:
        with run_helper(
            ["/bin/sh", "-c", "echo out; echo one >&2; echo two >&2; exit 7"], directory_fd=directory_fd
        ) as child:
            assert output_of(child) == b"out\n"
            assert child.exit_code(never) == 7
            assert (child.stderr, child.error_lines) == (b"one\ntwo\n", 2)

    def test_a_signal_is_a_negative_exit_code(self, directory_fd: int) -> None:
        with run_helper(["/bin/sh", "-c", "kill -TERM $$"], directory_fd=directory_fd) as child:
            assert child.exit_code(never) == -signal.SIGTERM

    def test_it_works_in_the_directory_that_was_opened(self, tmp_path: Path) -> None:
        opened, other = tmp_path / "opened", tmp_path / "other"
        opened.mkdir()
        other.mkdir()
        (opened / "right").touch()
        (other / "wrong").touch()
        descriptor = os.open(opened, os.O_RDONLY | os.O_DIRECTORY)
        opened.rename(tmp_path / "moved")
        opened.symlink_to(other)
        try:
            with run_helper(["/bin/ls"], directory_fd=descriptor) as child:
                assert output_of(child) == b"right\n"
        finally:
            os.close(descriptor)

    def test_standard_input_is_empty_unless_given(self, directory_fd: int) -> None:
        with run_helper(["/bin/cat"], directory_fd=directory_fd) as child:
            assert output_of(child) == b""
        text = b"line\n" * 300_000
        with run_helper(["/bin/cat"], directory_fd=directory_fd, stdin=text) as child:
            assert output_of(child) == text

    def test_the_environment_is_small_and_safe(self, directory_fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in (
            "RIPGREP_CONFIG_PATH",
            "GIT_DIR",
            "GIT_EXTERNAL_DIFF",
            "GIT_CONFIG_GLOBAL",
            "LD_PRELOAD",
            "SECRET",
        ):
            monkeypatch.setenv(name, "value")
        monkeypatch.setenv("HOME", "/home/of/mine")
        with run_helper(["/usr/bin/env", "-0"], directory_fd=directory_fd) as child:
            seen = dict(entry.split("=", 1) for entry in output_of(child).decode().split("\0")[:-1])
        assert seen == dict(helper_environment())
        assert seen["HOME"] == "/home/of/mine"
        assert seen["LC_ALL"] == "C.UTF-8"
        settings = {
            seen[f"GIT_CONFIG_KEY_{index}"]: seen[f"GIT_CONFIG_VALUE_{index}"]
            for index in range(int(seen["GIT_CONFIG_COUNT"]))
        }
        assert settings["core.fsmonitor"] == "false"
        assert settings["core.hooksPath"] == "/dev/null"
        assert not {"RIPGREP_CONFIG_PATH", "GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_GLOBAL", "SECRET"} & set(seen)

    def test_complaints_are_kept_up_to_a_bound_and_never_block(self, directory_fd: int) -> None:
        script = "i=0; while [ $i -lt 20000 ]; do echo complaint >&2; i=$((i+1)); done; echo done"
        with run_helper(["/bin/sh", "-c", script], directory_fd=directory_fd) as child:
            assert output_of(child) == b"done\n"
            assert child.exit_code(never) == 0
            assert child.error_lines == 20_000
            assert child.stderr == (b"complaint\n" * 20_000)[: 64 * 1024]

    def test_what_stop_raises_goes_through_and_the_whole_group_dies(self, directory_fd: int) -> None:
        pids: list[int] = []

        def stop() -> None:
            if pids:
                raise Stopped

        started = time.monotonic()
        with (  # noqa: PT012 - what is raised while the child is silent is the point
            pytest.raises(Stopped),
            run_helper(["/bin/sh", "-c", "sleep 60 & echo $$ $!; wait"], directory_fd=directory_fd) as child,
        ):
            pids += [int(word) for word in child.read(stop).split()]
            child.read(stop)
        assert len(pids) == 2
        assert time.monotonic() - started < 10
        deadline = time.monotonic() + 60
        while any(map(is_alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not any(map(is_alive, pids))

    def test_leaving_early_ends_a_child_that_still_writes(self, directory_fd: int) -> None:
        with run_helper(["/bin/sh", "-c", "echo $$; exec yes"], directory_fd=directory_fd) as child:
            pid = int(child.read(never).split()[0])
        assert not is_alive(pid)

    def test_what_is_left_behind_by_a_child_that_ended_dies_too(self, directory_fd: int) -> None:
        with run_helper(["/bin/sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], directory_fd=directory_fd) as child:
            pid = int(output_of(child))
            assert child.exit_code(never) == 0
            assert is_alive(pid)
        deadline = time.monotonic() + 60
        while is_alive(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not is_alive(pid)

    def test_a_program_that_cannot_be_started(self, directory_fd: int, tmp_path: Path) -> None:
        before = count_open()
        with (
            pytest.raises(FileNotFoundError),
            run_helper([str(tmp_path / "none")], directory_fd=directory_fd, stdin=b"x"),
        ):
            pass
        assert count_leaked(before) == 0
