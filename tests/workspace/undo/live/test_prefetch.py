"""The first command in a large tree finds its work done, and undo restores what was there before the command."""

import asyncio
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from support.wait import wait_until_async
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.workspace.undo.live.prefetch import LARGE_TREE, Prefetch, may_be_large

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")

FILES = 4000


class Project:
    """A large tree, its undo log, and the shell of an agent."""

    def __init__(self, base: Path, files: int = FILES) -> None:
        self.root = base / "project"
        self.state = base / "state"
        for number in range(files):
            path = self.root / f"d{number // 100}" / f"f{number}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(number))
        self.log = self.open_log()

    def open_log(self) -> UndoRecorder:
        return UndoRecorder(str(self.state), [str(self.root)])

    async def shell(self, command: str) -> None:
        async def run() -> ToolResult:
            await asyncio.to_thread(subprocess.run, ["bash", "-c", command], cwd=self.root, check=True)
            return ToolResult("")

        call = FunctionCall("run_shell_command", {"command": command})
        await self.log.record(call, Kind.EXECUTE, [], run, whole_tree=True)

    async def write(self, name: str, text: str) -> None:
        async def run() -> ToolResult:
            (self.root / name).write_text(text)
            return ToolResult("")

        call = FunctionCall("write_file", {"file_path": name})
        await self.log.record(call, Kind.EDIT, [str(self.root / name)], run, whole_tree=False)

    def undo(self) -> None:
        result = self.log.restore(self.log.entries()[0].id)
        assert (result.refused, result.left_out) == ((), ())

    def stored_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.state.rglob("pack-*"))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.log.close()


def test_a_command_after_it(project: Project) -> None:
    async def main() -> None:
        project.log.prefetch()
        await wait_until_async(lambda: project.stored_bytes() > FILES * 44)
        before = project.stored_bytes()
        await project.shell("rm -r d0; echo changed > d1/f100; echo > new")
        assert project.stored_bytes() - before < 1000

    asyncio.run(main())
    project.undo()
    assert len(os.listdir(project.root / "d0")) == 100
    assert (project.root / "d1" / "f100").read_text() == "100"
    assert not (project.root / "new").exists()


def test_a_command_that_arrives_meanwhile(project: Project) -> None:
    async def main() -> None:
        project.log.prefetch()
        await project.shell("rm -r *")

    asyncio.run(main())
    project.undo()
    assert sorted(path.read_text() for path in project.root.rglob("f*")) == sorted(map(str, range(FILES)))


def test_an_edit_that_arrives_meanwhile_does_not_wait_for_it(project: Project) -> None:
    async def main() -> None:
        project.log.prefetch()
        await project.write("d0/f0", "edited")
        await project.shell("echo changed > d0/f0")

    asyncio.run(main())
    project.undo()
    assert (project.root / "d0" / "f0").read_text() == "edited"
    project.log.restore(project.log.entries()[-1].id)
    assert (project.root / "d0" / "f0").read_text() == "0"


@pytest.mark.parametrize("is_stored", [False, True])
def test_files_that_change_meanwhile(project: Project, *, is_stored: bool) -> None:
    """Undo restores the version that was there before the command, however often it changed before."""
    names = ["d0/f0", f"d{FILES // 200}/f{FILES // 2}", f"d{FILES // 100 - 1}/f{FILES - 1}"]
    if is_stored:
        asyncio.run(project.shell("true"))
        project.log.close()
        project.log = project.open_log()
    versions, is_over = dict.fromkeys(names, ""), threading.Event()

    def change() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            for name in names:
                versions[name] = f"version {number:06}"
                (project.root / name).write_text(versions[name])
            shutil.rmtree(project.root / "moving", ignore_errors=True)
            (project.root / "moving" / "inner").mkdir(parents=True)
            (project.root / "moving" / "inner" / "file").write_text(str(number))
            versions["moving/inner/file"] = str(number)

    async def main() -> None:
        changing = threading.Thread(target=change)
        changing.start()
        project.log.prefetch()
        await asyncio.sleep(0.2)
        is_over.set()
        changing.join()
        await project.shell(f"for each in {' '.join(names)}; do echo by the command > $each; done; rm -r moving")

    asyncio.run(main())
    project.undo()
    assert {name: (project.root / name).read_text() for name in versions} == versions


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.05])
def test_closed_meanwhile(project: Project, delay: float) -> None:
    descriptors, threads = count_open(), threading.active_count()
    log = project.open_log()
    log.prefetch()
    time.sleep(delay)
    started = time.perf_counter()
    log.close()
    assert time.perf_counter() - started < 1
    assert (count_leaked(descriptors), threading.active_count()) == (0, threads)
    asyncio.run(project.shell("rm -r d0"))
    project.undo()
    assert len(os.listdir(project.root / "d0")) == 100


def test_a_process_ends_meanwhile(project: Project) -> None:
    code = (
        "import sys; from tejat.engine.calls.undo_recorder import UndoRecorder\n"
        "UndoRecorder(sys.argv[1], [sys.argv[2]]).prefetch()"
    )
    command = [sys.executable, "-c", code, str(project.state), str(project.root)]
    subprocess.run(command, check=True, timeout=20, capture_output=True)
    asyncio.run(project.shell("rm -r d0"))
    project.undo()
    assert len(os.listdir(project.root / "d0")) == 100


def test_a_small_tree_is_left_alone(tmp_path: Path) -> None:
    small = Project(tmp_path, files=50)
    small.log.prefetch()
    asyncio.run(small.shell("true"))
    small.log.close()
    other = Project(tmp_path / "other", files=50)
    other.log.prefetch()
    time.sleep(0.2)
    other.log.close()
    assert not other.state.exists()


def test_without_room_small_files_come_first(tmp_path: Path) -> None:
    project = Project(tmp_path, files=LARGE_TREE + 500)
    for number in range(20):
        (project.root / "d0" / f"large{number}").write_bytes(bytes(50_000) + bytes([number]))
    project.log.close()
    project.log = UndoRecorder(str(project.state), [str(project.root)], limit=900_000)

    async def main() -> None:
        project.log.prefetch()
        await project.shell("rm d*/f*")

    asyncio.run(main())
    project.undo()
    assert len(list(project.root.glob("d*/f*"))) == LARGE_TREE + 500
    project.log.close()


def test_the_event_loop_goes_on(project: Project) -> None:
    async def main() -> list[float]:
        gaps: list[float] = []
        project.log.prefetch()
        for _ in range(100):
            started = time.perf_counter()
            await asyncio.sleep(0)
            gaps.append(time.perf_counter() - started)
            await asyncio.sleep(0.001)
        return gaps

    gaps = sorted(asyncio.run(main()))
    assert gaps[len(gaps) // 2] < 0.01


def test_it_pauses_until_somebody_waits() -> None:
    started: Future[None] = Future()
    counts = [0]

    def work(pace: Callable[[], None]) -> None:
        started.set_result(None)
        for _ in range(200):
            time.sleep(0.003)
            before = time.perf_counter()
            pace()
            counts[0] += time.perf_counter() - before > 0.0005

    async def main(wait: Awaitable[None]) -> None:
        await asyncio.sleep(0.05)
        paused = counts[0]
        assert paused > 0
        await wait
        assert counts[0] - paused < 100

    prefetch = Prefetch(work)
    started.result(5)
    asyncio.run(main(prefetch.finish()))
    prefetch.close()


def test_errors_are_left_to_the_call_that_needs_the_result() -> None:
    def work(_pace: Callable[[], None]) -> None:
        raise OSError(28, "No space left on device")

    prefetch = Prefetch(work)
    asyncio.run(prefetch.finish())
    prefetch.close()


def test_what_may_be_large(tmp_path: Path) -> None:
    for number in range(LARGE_TREE // 2):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}" / "f").touch()
    assert not may_be_large(str(tmp_path))
    (tmp_path / "one more").touch()
    assert may_be_large(str(tmp_path))
    assert not may_be_large(str(tmp_path / "missing"))


def test_an_unexpected_error_does_not_refuse_the_command() -> None:
    def fail(_: Callable[[], None]) -> None:
        raise RuntimeError("broken")

    async def main() -> None:
        prefetch = Prefetch(fail)
        await prefetch.finish()
        prefetch.close()

    asyncio.run(main())
