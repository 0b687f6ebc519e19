"""The two streams of a command: every descriptor is closed, whatever happens."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.tools.capture import Capture
from tejat.tools.shell_result import Ran
from tejat.workspace.jobs import Jobs
from tejat.workspace.processes.collect import Limits, collect
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.launching import Launch
from tejat.workspace.processes.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(Keeper(), Jobs(str(tmp_path / "jobs")), {}, str(tmp_path / "outputs"))
    yield shell
    shell.close()


def open_descriptors() -> set[str]:
    return set(os.listdir("/dev/fd"))


async def run(shell: Shell, command: str, *, let_go: bool = False) -> Ran:
    directory = os.open("/", os.O_RDONLY)
    try:
        launch = Launch(("/bin/bash", "-c", command), directory, {"PATH": "/usr/bin:/bin"})
        with Capture(shell) as capture:
            running = await capture.start(launch)
            await collect(
                running, capture.stdout, capture.stderr, out=capture.out, err=capture.err, limits=Limits(None, None)
            )
            if let_go:
                capture.let_go()
            return capture.of(Ran(command, None))
    finally:
        os.close(directory)


def test_what_was_printed_on_which_stream(shell: Shell) -> None:
    ran = asyncio.run(run(shell, "echo out; echo err >&2"))
    assert ran == Ran("echo out; echo err >&2", None, "out\n", "err\n", ran.pid)
    assert ran.pid


def test_each_stream_has_a_file_of_its_own(shell: Shell) -> None:
    ran = asyncio.run(run(shell, "seq 20000; seq 30000 >&2"))
    sizes = {
        os.path.splitext(name)[1]: os.stat(os.path.join(shell.outputs, name)).st_size
        for name in os.listdir(shell.outputs)
    }
    assert sizes == {".stdout": 108_894, ".stderr": 168_894}
    for text, ending in ((ran.stdout, "stdout"), (ran.stderr, "stderr")):
        assert text.partition("\n")[0].endswith(f".{ending}")


def test_descriptors_are_closed(shell: Shell) -> None:
    async def main() -> None:
        await run(shell, "true")
        before = open_descriptors()
        await run(shell, "seq 20000")
        assert open_descriptors() == before
        with Capture(shell) as capture, pytest.raises(NotADirectoryError):
            await capture.start(Launch(("/bin/true",), capture.stdout, {}))
        assert open_descriptors() == before
        with Capture(shell):
            pass
        assert open_descriptors() == before
        await run(shell, "true", let_go=True)
        async with asyncio.timeout(5):
            while open_descriptors() != before:  # noqa: ASYNC110 -- the loop itself closes them
                await asyncio.sleep(0.01)

    asyncio.run(main())
