"""Completion of file names in a large tree."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator

from bench.measurement import Measurement
from tejat.workspace.context import Workspace
from tejat.workspace.paths.file_index import FileIndex

_FIRST = 100.0
_NEXT = 30.0
_ROUNDS = 5
_WORDS = ("user", "http", "core", "view", "model", "test", "index", "page", "Login", "button", "parse", "Render")
_TYPED = ("r", "re", "ren", "rend", "render_b", "rndrbtn", "part3/", "part3/sub7/m", "nosuchname")


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "completion")
    _make_tree(root, directories=5000, files=20)
    # A program of its own each time, because the first key finds nothing warmed up but the imports.
    rounds = [_measure(root) for _ in range(_ROUNDS)]
    first = min(times[0] for times in rounds)
    slowest = min(max(times[1:]) for times in rounds)
    yield Measurement(
        "@ in a tree of 100,000 files: first results", first, _FIRST, "ms", f"the best of {_ROUNDS} fresh programs"
    )
    yield Measurement(
        "@ in a tree of 100,000 files: the slowest of the next keys", slowest, _NEXT, "ms", f"{len(_TYPED)} keys"
    )


def _measure(root: str) -> list[float]:
    """Return the milliseconds until the first results, and for each further key after indexing."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.suites.completion", root], check=True, capture_output=True, text=True
    )
    return [float(line) for line in done.stdout.split()]


async def _type(root: str) -> None:
    loop = asyncio.get_running_loop()
    with Workspace([root]) as workspace:
        names = FileIndex(workspace)
        begun = loop.time()
        if not await names.find(_TYPED[0]):
            raise SystemExit("nothing was found")
        print((loop.time() - begun) * 1000)
        while not names.is_complete:  # noqa: ASYNC110 -- nobody tells
            await asyncio.sleep(0.01)
        for typed in _TYPED:
            begun = loop.time()
            await names.find(typed)
            print((loop.time() - begun) * 1000)
        await names.close()


def _make_tree(root: str, *, directories: int, files: int) -> None:
    """Create a git repository whose file names are made of words."""
    for number in range(directories):
        directory = os.path.join(root, f"part{number % 25}", f"sub{number // 25}")
        os.makedirs(directory)
        for index in range(files):
            first, second = _WORDS[(number + index) % len(_WORDS)], _WORDS[number * (index + 1) % len(_WORDS)]
            with open(os.path.join(directory, f"{first}_{second}{index}.py"), "x"):
                pass
    with open(os.path.join(root, ".gitignore"), "x", encoding="ascii") as file:
        file.write("*.log\n*.pyc\nbuild/\n/dist\n.venv/\n")
    subprocess.run(["git", "init", "--quiet", root], check=True)


if __name__ == "__main__":
    asyncio.run(_type(sys.argv[1]))
