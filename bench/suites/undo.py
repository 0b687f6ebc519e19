"""What undo adds to calls, and what undoing costs.

With `TEJAT_BENCH_LARGE=1` a tree of a million files is measured too. It takes minutes to make.
"""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator

from bench.measurement import Measurement, difference, ratio, seconds
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.core.undo import RestoreScope
from tejat.engine.calls.undo_recorder import UndoRecorder

_FILES_PER_DIRECTORY = 50
_CREATED = 50_000
_IDLE_SECONDS = 0.01
"""Less processor time than this within half a second is none."""


def measure(scratch: str) -> Iterator[Measurement]:
    sizes = {10_000: 60.0, 100_000: 60.0}
    if os.environ.get("TEJAT_BENCH_LARGE") == "1":
        sizes[1_000_000] = 300.0
    for files, limit in sizes.items():
        yield from _command_in(os.path.join(scratch, f"undo-{files}"), files, limit)
    yield _write_after_many(os.path.join(scratch, "undo-entries"))
    yield from _after_a_large_command(os.path.join(scratch, "undo-created"))


def _command_in(place: str, files: int, limit: float) -> Iterator[Measurement]:
    with _Project(place) as project:
        _make_tree(project.root, files)
        first = seconds(lambda: project.shell("true"))
        yield Measurement(
            f"first command of a project with {files:,} files, which stores them all: each file",
            first / files * 1e6,
            200.0,
            "us",
            f"{first:.1f} s",
        )
        for name, command in (("does nothing", "true"), ("changes a file", "echo $RANDOM > d0/e0/f0.txt")):
            yield difference(
                f"command that {name} among {files:,} files, over bash alone",
                limit,
                lambda command=command: project.shell(command),
                lambda command=command: project.run(command),
                rounds=10,
            )
        assert len(project.journal.entries()) == 10
        project.reopen()
        again = seconds(lambda: project.shell("true"))
        yield Measurement(
            f"first command of a later session with {files:,} files, which scans them: each file",
            again / files * 1e6,
            20.0,
            "us",
            f"{again:.2f} s",
        )
        project.reopen()
        project.prefetch()
        bare = min(seconds(lambda: project.run("true")) for _ in range(5))
        more = seconds(lambda: project.shell("true")) - bare
        name = f"first command of a session that had time to scan {files:,} files, over bash alone"
        yield Measurement(name, more * 1000, limit, "ms", "")


def _write_after_many(place: str) -> Measurement:
    with _Project(f"{place}-none") as empty, _Project(f"{place}-many") as full:
        empty.write("first")
        for number in range(990):
            full.write(str(number))
        return ratio(
            "write_file recorded after 990 others, over after one",
            1.3,
            lambda: full.write("last"),
            lambda: empty.write("last"),
            rounds=10,
        )


def _after_a_large_command(place: str) -> Iterator[Measurement]:
    with _Project(f"{place}-none") as empty, _Project(f"{place}-many") as full:
        empty.write("first")
        full.write("first")
        script = f"{{0..{_CREATED // 500 - 1}}}"
        full.shell(f"for d in {script}; do mkdir d$d; for f in {{1..500}}; do echo $d $f > d$d/f$f; done; done")
        (entry,) = (each for each in full.journal.entries() if len(each.changes) > _CREATED)
        yield ratio(
            f"write_file recorded after a command that created {_CREATED:,} files, over after a write",
            1.3,
            lambda: full.write("last"),
            lambda: empty.write("last"),
            rounds=30,
        )
        undo, redo = RestoreScope(foreign=True), RestoreScope()
        took = seconds(lambda: full.journal.restore(entry.id, undo))
        assert not os.path.exists(f"{full.root}/d0")
        bare_writing, bare_removal = _plain_times(os.path.join(place, "plain"))
        yield _over(f"undo of {_CREATED:,} created files, over a plain removal", took, bare_removal, 8.0)
        latest = full.journal.entries()[0]
        took = seconds(lambda: full.journal.restore(latest.id, redo))
        assert len(os.listdir(f"{full.root}/d0")) == 500
        yield _over(f"undo of the removal of {_CREATED:,} files, over a plain writing", took, bare_writing, 5.0)


def _over(name: str, ours: float, plain: float, limit: float) -> Measurement:
    return Measurement(name, ours / plain, limit, "x", f"{ours:.2f} s against {plain:.2f} s")


def _plain_times(root: str) -> tuple[float, float]:
    """The seconds that writing as many files takes, and removing them, each until all is on disk."""

    def write() -> None:
        for number in range(_CREATED):
            directory, name = divmod(number, 500)
            if not name:
                os.makedirs(f"{root}/d{directory}")
            with open(f"{root}/d{directory}/f{name}", "wb") as file:
                file.write(b"%d %d\n" % (directory, name))
        os.sync()

    def remove() -> None:
        shutil.rmtree(root)
        os.sync()

    os.sync()  # what others wrote is not counted
    return seconds(write), seconds(remove)


class _Project:
    """A directory and a journal for it."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.root = os.path.join(place, "project")
        os.makedirs(self.root)
        self.journal = self._open()

    def _open(self) -> UndoRecorder:
        return UndoRecorder(os.path.join(self._place, "state"), [self.root])

    def __enter__(self) -> "_Project":
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()
        shutil.rmtree(self._place)

    def reopen(self) -> None:
        """Begin another session."""
        self.journal.close()
        self.journal = self._open()

    def prefetch(self) -> None:
        """Do what a session does while it waits for the model, until the process is idle."""
        self.journal.prefetch()
        before = -1.0
        while time.process_time() - before > _IDLE_SECONDS:
            before = time.process_time()
            time.sleep(0.5)

    def run(self, command: str) -> None:
        subprocess.run(["bash", "-c", command], cwd=self.root, check=True)

    def shell(self, command: str) -> None:
        call = FunctionCall("run_shell_command", {"command": command})
        self._record(call, Kind.EXECUTE, [], lambda: self.run(command))

    def write(self, name: str) -> None:
        def work() -> None:
            with open(os.path.join(self.root, name), "w") as file:
                file.write(os.urandom(8).hex())

        self._record(FunctionCall("write_file", {"file_path": name}), Kind.EDIT, [name], work)

    def _record(self, call: FunctionCall, kind: Kind, paths: list[str], work: Callable[[], None]) -> None:
        async def run() -> ToolResult:
            await asyncio.to_thread(work)
            return ToolResult("")

        asyncio.run(self.journal.record(call, kind, paths, run, whole_tree=not paths))


def _make_tree(root: str, files: int) -> None:
    for number in range(files // _FILES_PER_DIRECTORY):
        directory = f"{root}/d{number // 100}/e{number % 100}"
        os.makedirs(directory)
        for other in range(_FILES_PER_DIRECTORY):
            with open(f"{directory}/f{other}.txt", "x") as file:
                file.write(f"{number} {other}")
