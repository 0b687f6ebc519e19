"""The probe believes what it sees: sandboxes that work, that do nothing, that lie, that cannot start."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.landlock import abi_version
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox
from tejat.workspace.sandbox.probe import probe
from tejat.workspace.sandbox.selection import _bubblewrap_programs
from tejat.workspace.sandbox.types import EnforcementAxis, Sandbox, SandboxedCommand, SandboxPolicy, SandboxReport


class Prefix:
    """Puts words before a command, and that is all."""

    name = "prefix"
    is_container = False

    def __init__(self, *words: str) -> None:
        self.words = words
        self.cleaned = 0

    def wrap(self, arguments: Sequence[str], policy: SandboxPolicy, *, directory: str) -> SandboxedCommand:
        assert os.path.isdir(directory)
        return SandboxedCommand((*self.words, *arguments), clean_up=self._clean_up)

    def sweep(self) -> None:
        pass

    def _clean_up(self) -> None:
        self.cleaned += 1


def enforced(report: SandboxReport) -> tuple[bool, ...]:
    axes = (
        *(report.files, report.attributes, report.network),
        *(report.processes, report.control_files, report.secrets),
    )
    return tuple(axis.enforced for axis in axes)


def deep(tmp_path: Path) -> str:
    """A state directory whose path is too long for a socket."""
    state = tmp_path / ("long" * 20) / ("long" * 20)
    state.mkdir(parents=True)
    return str(state)


def test_bubblewrap(tmp_path: Path) -> None:
    program = next(_bubblewrap_programs(()), None)
    if program is None:
        pytest.skip("SANDBOX MISSING: bubblewrap is not installed")
    state = deep(tmp_path)
    assert enforced(probe(BubblewrapSandbox(program, state=state), state=state)) == (True,) * 6
    assert os.listdir(state) == ["ghosts"]


def test_landlock(tmp_path: Path) -> None:
    if abi_version() < 6:
        pytest.skip("SANDBOX MISSING: this kernel has no Landlock, or one that knows nothing of signals")
    state = deep(tmp_path)
    report = probe(LandlockSandbox(), state=state)
    assert report.sandbox == "landlock"
    assert enforced(report) == (True, False, True, True, False, True)
    assert report.attributes.detail == (
        "a command can change permissions of a file outside, change timestamps of a file outside"
    )
    assert report.control_files.detail == (
        "a command can change a control file, move a control file, create a control file"
    )
    assert report.processes.detail.endswith("; other processes are visible, but protected")
    assert os.listdir(state) == []


def test_no_restriction_at_all(tmp_path: Path) -> None:
    sandbox = Prefix()
    report = probe(sandbox, state=deep(tmp_path))
    assert report == SandboxReport(
        sandbox="prefix",
        files=EnforcementAxis(
            enforced=False,
            detail="a command can create a file outside, change a file outside, truncate a file outside, "
            "delete a file outside",
        ),
        attributes=EnforcementAxis(
            enforced=False,
            detail="a command can change permissions of a file outside, change timestamps of a file outside, "
            "set an attribute of a file outside",
        ),
        network=EnforcementAxis(
            enforced=False,
            detail="a command can open a TCP connection, connect to a Unix socket, connect to an abstract socket",
        ),
        processes=EnforcementAxis(
            enforced=False, detail="a command can inspect a process, signal a process, share memory with a process"
        ),
        control_files=EnforcementAxis(
            enforced=False, detail="a command can change a control file, move a control file, create a control file"
        ),
        secrets=EnforcementAxis(enforced=False, detail="a command can read a secret"),
    )
    assert sandbox.cleaned == 1


def test_nothing_is_left_of_a_probe_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tejat.workspace.sandbox.probe._SECONDS", 0.5)
    mark = f"9{int.from_bytes(os.urandom(5))}.5"
    report = probe(Prefix("/bin/bash", "-c", f"setsid sleep {mark} & sleep {mark}; true"), state=str(tmp_path))
    assert enforced(report) == (False,) * 6
    assert report.files.detail.endswith("timed out after 0.5 seconds")
    assert [name for name in filter(str.isdigit, os.listdir("/proc")) if mark in arguments_of(name)] == []
    assert os.listdir(tmp_path) == []


def arguments_of(process: str) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("sandbox", "why"),
    [
        (Prefix("/none/at/all"), "No such file or directory: '/none/at/all'"),
        (Prefix("/bin/false"), "exit code 1"),
        (Prefix("/bin/echo"), "exit code 0"),
        (Prefix("/bin/sh", "-c", "echo no namespaces here >&2; exit 1"), "no namespaces here"),
    ],
)
def test_where_nothing_runs_nothing_is_enforced(tmp_path: Path, sandbox: Sandbox, why: str) -> None:
    report = probe(sandbox, state=str(tmp_path))
    assert enforced(report) == (False,) * 6
    assert report.files.detail.startswith("commands do not run in it: ")
    assert report.files.detail.endswith(why)
    assert os.listdir(tmp_path) == []
