"""The Python library: import, first call, and many calls in one process."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

from bench.measurement import Measurement, difference, seconds
from tejat import Toolset, open_tools

_CALLS = 1000
_GROUP = 50
_STARTS = 30

# They print the time at which the call returned: ending the interpreter takes a tenth of the whole.
_FIRST_CALL = """
import asyncio, time
from tejat import open_tools

async def main():
    async with open_tools() as tools:
        assert (await tools.call("read_file", path="small.txt")).error is None
        print(time.monotonic())

asyncio.run(main())
"""
_FIRST_SYNC_CALL = """
import time
from tejat import SyncTools

with SyncTools() as tools:
    assert tools.call("read_file", path="small.txt").error is None
    print(time.monotonic())
"""


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "library")
    os.mkdir(root)
    with open(os.path.join(root, "small.txt"), "w", encoding="utf-8") as file:
        file.write("one\ntwo\nthree\n")
    environment = {**os.environ, "HOME": os.path.join(scratch, "home")}
    os.makedirs(environment["HOME"], exist_ok=True)
    run = partial(_run, root, environment)
    yield difference(
        "`import tejat` over the bare interpreter",
        5,
        lambda: run("import tejat"),
        lambda: run("pass"),
        rounds=_STARTS,
    )
    yield _first_call("first call, from the start of the interpreter", run, _FIRST_CALL)
    yield _first_call("the same through `SyncTools`", run, _FIRST_SYNC_CALL)
    with open_tools(root, sandbox="off", environment=environment) as tools:
        yield asyncio.run(_calls(tools, os.path.join(root, "small.txt")))


def _run(root: str, environment: dict[str, str], program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, cwd=root, env=environment, stdout=subprocess.PIPE, text=True).stdout


def _first_call(name: str, run: Callable[[str], str], program: str) -> Measurement:
    run(program)
    times = list[float]()
    for _ in range(_STARTS):
        start = time.monotonic()
        times.append((float(run(program)) - start) * 1000)
    return Measurement(name, min(times), 120, "ms", f"median {statistics.median(times):.0f} ms")


async def _calls(tools: Toolset, path: str) -> Measurement:
    """Compare calls of `read_file` with plain reads of the same file, alternately."""
    ours, plain = list[float](), list[float]()
    for _ in range(_CALLS // _GROUP):
        start = time.perf_counter()
        for _ in range(_GROUP):
            await tools.call("read_file", path=path)
        ours.append((time.perf_counter() - start) / _GROUP * 1e6)
        plain.append(seconds(lambda: [_read(path) for _ in range(_GROUP)]) / _GROUP * 1e6)
    detail = f"{min(ours):.0f} us against {min(plain):.0f} us"
    return Measurement(
        f"{_CALLS} calls of `read_file`, each over a plain read", min(ours) - min(plain), 150, "us", detail
    )


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
