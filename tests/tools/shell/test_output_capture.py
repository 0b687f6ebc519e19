"""The two streams of a command: every descriptor is closed, whatever happens."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.tools.shell.output_capture import OutputCapture
from tejat.tools.shell.result import CommandRun
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.processes.output_collector import TimeLimits, collect_output
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.spawn import ProcessSpec
from tejat.workspace.processes.supervisor_client import ProcessSupervisor


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[ShellContext]:
    shell = ShellContext(ProcessSupervisor(), JobStore(str(tmp_path / "jobs")), {}, str(tmp_path / "outputs"))
    yield shell
    shell.close()


def open_descriptors() -> set[str]:
    return set(os.listdir("/dev/fd"))


async def run(shell: ShellContext, command: str, *, let_go: bool = False) -> CommandRun:
    directory = os.open("/", os.O_RDONLY)
    try:
        launch = ProcessSpec(("/bin/bash", "-c", command), directory, {"PATH": "/usr/bin:/bin"})
        with OutputCapture(shell) as capture:
            running = await capture.start(launch)
            await collect_output(
                running, capture.stdout, capture.stderr, out=capture.out, err=capture.err, limits=TimeLimits(None, None)
            )
            if let_go:
                capture.detach()
            return capture.with_output(CommandRun(command, None))
    finally:
        os.close(directory)


def test_what_was_printed_on_which_stream(shell: ShellContext) -> None:
    command_run = asyncio.run(run(shell, "echo out; echo err >&2"))
    assert command_run == CommandRun("echo out; echo err >&2", None, "out\n", "err\n", command_run.pid)
    assert command_run.pid


def test_each_stream_has_a_file_of_its_own(shell: ShellContext) -> None:
    command_run = asyncio.run(run(shell, "seq 20000; seq 30000 >&2"))
    sizes = {
        os.path.splitext(name)[1]: os.stat(os.path.join(shell.outputs, name)).st_size
        for name in os.listdir(shell.outputs)
    }
    assert sizes == {".stdout": 108_894, ".stderr": 168_894}
    for text, ending in ((command_run.stdout, "stdout"), (command_run.stderr, "stderr")):
        assert text.partition("\n")[0].endswith(f".{ending}")


def test_descriptors_are_closed(shell: ShellContext) -> None:
    async def main() -> None:
        await run(shell, "true")
        before = open_descriptors()
        await run(shell, "seq 20000")
        assert open_descriptors() == before
        with OutputCapture(shell) as capture, pytest.raises(NotADirectoryError):
            await capture.start(ProcessSpec(("/bin/true",), capture.stdout, {}))
        assert open_descriptors() == before
        with OutputCapture(shell):
            pass
        assert open_descriptors() == before
        await run(shell, "true", let_go=True)
        async with asyncio.timeout(60):
            while open_descriptors() != before:  # noqa: ASYNC110 -- the loop itself closes them
                await asyncio.sleep(0.01)

    asyncio.run(main())
