"""Every fault point of a save: the n-th system call fails, for each n, and what came of it is judged.

`python tests/support/save_faults.py [SAVE ...]` runs all saves on all file systems with several errors, and prints the
counts.
"""

import asyncio
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count, product
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from support.fault_injection import FILE_SYSTEMS, NthCallFails, fail, limit_file_system
from tejat.app.tools.open_tools import open_tools
from tejat.core.messages.types import FunctionCall
from tejat.core.undo import RestoreResult
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.workspace.files.private_files import write_private_file

WRITES = ("open for writing", "write", "writev", "fsync", "rename", "link", "mkdir")
CALLS = (*WRITES, "ftruncate", "unlink")
NO_UNDO = "cannot be undone"

Tree = Mapping[str, bytes | None]


@dataclass
class Counts:
    """How saves ended whose n-th call failed."""

    points: int = 0
    refused: int = 0
    succeeded: int = 0
    reported: int = 0
    calls: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, other: "Counts") -> None:
        self.points += other.points
        self.refused += other.refused
        self.succeeded += other.succeeded
        self.reported += other.reported
        for name, number in other.calls.items():
            self.calls[name] = self.calls.get(name, 0) + number


class Machine:
    """A home and a project with some files, and a journal with an entry or without."""

    def __init__(self, base: Path, *, is_used: bool) -> None:
        self.home, self.project = base / "home", base / "project"
        self.home.mkdir(mode=0o700)
        (self.project / "d").mkdir(parents=True)
        (self.project / "f").write_text("old one\n")
        (self.project / "d" / "g").write_text("old two\n")
        if is_used:
            self.call("write_file", {"file_path": "used", "content": "used"})

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def call(self, name: str, arguments: dict[str, object], inject: Callable[[], object] = object) -> str | None:
        """Run a tool without a person, and return the message of its error."""
        tools = open_tools([str(self.project)], None, mode="yolo", sandbox="off", environment=self.environment)
        with tools as session:

            async def run() -> str | None:
                inject()
                error = (await session.scheduler.run(FunctionCall(name, arguments))).error
                return None if error is None else error.message

            return asyncio.run(run())

    def journal(self) -> UndoRecorder:
        return UndoRecorder(str(self.home / ".local" / "state" / "tejat" / "undo"), [str(self.project)])

    def tree(self) -> Tree:
        return {
            str(path.relative_to(self.project)): None if path.is_dir() else path.read_bytes()
            for path in sorted(self.project.rglob("*"))
        }


TOOLS: dict[str, tuple[str, dict[str, object]]] = {
    "new file": ("write_file", {"file_path": "a/b/new", "content": "new"}),
    "overwritten file": ("write_file", {"file_path": "f", "content": "new one\n"}),
    "edited file": ("replace", {"file_path": "f", "old_string": "old one", "new_string": "new one"}),
    "command": ("run_shell_command", {"command": "echo new > f; rm d/g; echo 3 > h"}),
}
SAVES = (*TOOLS, "undo", "own file")


@dataclass(frozen=True)
class Faults:
    """The n-th call fails with this error, once, or with `lasting` from then on, as on a full disk."""

    error: int
    file_system: str = FILE_SYSTEMS[0]
    lasting: bool = False

    def inject(self, patch: pytest.MonkeyPatch, failing: int) -> NthCallFails:
        limit_file_system(patch, self.file_system)
        names = WRITES if self.lasting else CALLS
        return NthCallFails(patch, names, failing, lambda: fail(self.error), lasting=self.lasting)


def try_fault_points(save: str, base: Path, faults: Faults, *, is_used: bool) -> Counts:
    """Let each call of a save fail in turn. Raises AssertionError for a save that lies."""
    counts = Counts()
    # Always in the same place, to which the journal belongs.
    template, place = base / "template", base / "place"
    place.mkdir()
    Machine(place, is_used=is_used)
    place.rename(template)
    expected = _expected(save, template, place)
    for failing in count():
        machine = _copy(template, place)
        failed = _try_one(save, machine, expected, counts, lambda patch, at=failing: faults.inject(patch, at))
        if failed is None:
            return counts
        counts.points += 1
        counts.calls[failed] = counts.calls.get(failed, 0) + 1
    raise AssertionError


def _try_one(
    save: str, machine: Machine, expected: Tree, counts: Counts, inject: Callable[[pytest.MonkeyPatch], NthCallFails]
) -> str | None:
    """Save with a fault, judge the outcome, and return which call failed."""
    injected: list[NthCallFails] = []
    run = {"undo": _undo, "own file": _save_own_file}.get(save) or partial(_call_tool, save)
    with pytest.MonkeyPatch.context() as patch:
        judge = run(machine, lambda: injected.append(inject(patch)))
    judge(expected, counts)
    return injected[0].failed


def _copy(template: Path, place: Path) -> Machine:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(template, place, symlinks=True)
    machine = Machine.__new__(Machine)
    machine.home, machine.project = place / "home", place / "project"
    return machine


def _expected(save: str, template: Path, place: Path) -> Tree:
    """The project after a save without faults."""
    machine = _copy(template, place)
    if save in TOOLS:
        assert machine.call(*TOOLS[save]) is None
    return machine.tree()


_Judge = Callable[[Tree, Counts], None]


def _call_tool(save: str, machine: Machine, inject: Callable[[], object]) -> _Judge:
    before = machine.tree()
    message = machine.call(*TOOLS[save], inject)

    def judge(expected: Tree, counts: Counts) -> None:
        now = machine.tree()
        _check_old_or_new(now, before, expected)
        if message is None:
            assert now == expected, "a success that did nothing"
            counts.succeeded += 1
        else:
            counts.refused += 1
        if now != before and not _is_undoable(machine, before):
            assert message is not None, "a success that can't be undone"
            assert NO_UNDO in message, message
            counts.reported += 1

    return judge


def _is_undoable(machine: Machine, before: Tree) -> bool:
    journal = machine.journal()
    try:
        entries = [entry for entry in journal.entries() if entry.summary != "used"]
        return bool(entries) and journal.restore(entries[0].id).is_complete and machine.tree() == before
    finally:
        journal.close()


def _undo(machine: Machine, inject: Callable[[], object]) -> _Judge:
    before = machine.tree()
    assert machine.call(*TOOLS["command"]) is None
    changed = machine.tree()
    journal = machine.journal()
    entry = journal.entries()[0]
    inject()
    result: RestoreResult | None = None
    with suppress(OSError):
        result = journal.restore(entry.id)

    def judge(_: Tree, counts: Counts) -> None:
        journal.close()
        now = machine.tree()
        _check_old_or_new(now, changed, before)
        if result is None:
            assert now == changed, "an undo that failed and did something"
            counts.refused += 1
        elif result.is_complete:
            assert now == before, "an undo that succeeded and did nothing"
            counts.succeeded += 1
        elif result.unrecorded:
            counts.reported += 1
        else:
            assert result.refused
            counts.refused += 1
        again = machine.journal()
        assert again.restore(entry.id).is_complete, "an undo that cannot be repeated"
        again.close()
        assert machine.tree() == before

    return judge


def _save_own_file(machine: Machine, inject: Callable[[], object]) -> _Judge:
    """A file of the program, such as settings, rules and trust."""
    file = machine.home / "settings.json"
    file.write_bytes(b"old")
    error: OSError | None = None
    inject()
    try:
        write_private_file(str(file), b"new")
    except OSError as caught:
        error = caught

    def judge(_: Tree, counts: Counts) -> None:
        content = file.read_bytes()
        assert content == b"new" or (content == b"old" and error is not None)
        assert not [name for name in os.listdir(machine.home) if name.endswith(".tmp")]
        counts.succeeded += error is None
        counts.refused += error is not None

    return judge


def _check_old_or_new(now: Tree, before: Tree, after: Tree) -> None:
    for path in now.keys() | before.keys() | after.keys():
        states = {state.get(path, "missing") for state in (before, after)}
        assert now.get(path, "missing") in states, path


def main(saves: Sequence[str]) -> None:
    total = Counts()
    for save in saves:
        counts = Counts()
        settings = product((errno.EIO, errno.ENOSPC), FILE_SYSTEMS, (False, True), (False, True))
        for error, file_system, lasting, is_used in settings:
            with tempfile.TemporaryDirectory() as base:
                faults = Faults(error, file_system, lasting)
                counts.add(try_fault_points(save, Path(base), faults, is_used=is_used))
        total.add(counts)
        print(f"{save}: {counts}", flush=True)  # noqa: T201
    print(f"all: {total}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:] or SAVES)
