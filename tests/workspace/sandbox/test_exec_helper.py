"""The program that every fenced command starts as."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.workspace.sandbox.exec_helper import RESTRICTION_FAILED, START_ERROR
from tejat.workspace.sandbox.landlock import abi_version

SOURCE = Path(__file__).parents[3] / "src"
START = """
import sys
sys.path.insert(0, sys.argv[1])
from tejat.workspace.sandbox.exec_helper import main
main(sys.argv[2:])
"""
SOCKETS = """
import socket
for family in (socket.AF_INET, socket.AF_UNIX):
    try:
        socket.socket(family).close()
    except OSError as error:
        print(error.errno)
"""

needs_landlock = pytest.mark.skipif(not abi_version(), reason="SANDBOX MISSING: this kernel has no Landlock")


def run(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.path.realpath(sys.executable), "-I", "-S", "-X", "utf8", "-c", START, str(SOURCE), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        env=environment,
        check=False,
    )


@pytest.mark.parametrize(
    "words", [[], ["alone"], ["alone", "network=off"], ["alone", "--"], ["nonsense", "--", "/bin/true"]]
)
def test_what_is_not_understood_is_not_run(words: list[str]) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (RESTRICTION_FAILED, "")
    assert done.stderr.startswith("tejat: the command could not be locked in: ")


@needs_landlock
@pytest.mark.parametrize("mode", ["alone", "in-namespaces"])
class TestBoth:
    def test_the_environment_is_passed_on_as_it_is(self, mode: str) -> None:
        """Even where Python itself would add the name of a locale."""
        done = run(mode, "--", "/usr/bin/env", environment={"ODD": "a=b\udcff", "EMPTY": ""})
        assert sorted(done.stdout.splitlines()) == ["EMPTY=", "ODD=a=b\udcff"]

    def test_the_temporary_directory(self, mode: str, tmp_path: Path) -> None:
        done = run(mode, f"temporary={tmp_path}", "--", "/usr/bin/env", environment={"TMPDIR": "/elsewhere"})
        assert done.stdout == f"TMPDIR={tmp_path}\n"

    def test_signals_that_python_ignores_work_again(self, mode: str) -> None:
        done = run(mode, "--", "/bin/grep", "SigIgn", "/proc/self/status")
        ignored = int(done.stdout.removeprefix("SigIgn:"), 16)
        assert [number for number in (signal.SIGPIPE, signal.SIGXFSZ) if ignored & 1 << (number - 1)] == []

    def test_a_program_that_cannot_be_run(self, mode: str, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("x")
        done = run(mode, "--", str(tmp_path / "f"))
        assert (done.returncode, done.stderr) == (126, f"{START_ERROR}[Errno 13] Permission denied: '{tmp_path}/f'\n")
        assert run(mode, "--", str(tmp_path / "none")).returncode == 127


@needs_landlock
def test_sockets_with_and_without_the_network() -> None:
    python = os.path.realpath(sys.executable)
    answers = [
        run(mode, f"network={network}", "--", python, "-I", "-c", SOCKETS).stdout.split()
        for mode, network in (("alone", "off"), ("alone", "on"), ("in-namespaces", "off"), ("in-namespaces", "on"))
    ]
    assert answers == [["13", "13"], ["13"], ["13"], ["13"]]


@needs_landlock
def test_reading_all_but_what_is_hidden(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    for name in ("a/secret", "a/open", "b"):
        (top / name).mkdir(parents=True)
        (top / name / "f").write_text(name)
    (top / "a" / "f").write_text("a")
    files = [str(top / name / "f") for name in ("a/secret", "a/open", "a", "b")]
    done = run("alone", f"hidden={top}/a/secret", f"hidden={top}/none/at/all", "--", "/bin/cat", *files)
    assert done.stdout == "a/openab"
    assert done.stderr == f"/bin/cat: {files[0]}: Permission denied\n"


def test_next_to_nothing_is_loaded() -> None:
    text = (
        "import sys; sys.path.insert(0, sys.argv[1]); import tejat.workspace.sandbox.exec_helper; print(*sys.modules)"
    )
    done = subprocess.run(
        [os.path.realpath(sys.executable), "-I", "-S", "-c", text, str(SOURCE)],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    slow = {"typing", "enum", "re", "collections", "ctypes", "dataclasses", "functools", "signal", "subprocess"}
    assert loaded & slow == set()
    assert {name for name in loaded if name.startswith("tejat.")} == {
        "tejat.workspace",
        "tejat.workspace.sandbox.libc",
        "tejat.workspace.sandbox.landlock",
        "tejat.workspace.sandbox",
        "tejat.workspace.sandbox.exec_helper",
        "tejat.workspace.sandbox.seccomp",
    }
