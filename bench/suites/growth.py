"""How cost grows with the size of trees and files: nothing worse than linear.

Trees have 10,000 and 100,000 files and, with TEJAT_BENCH_LARGE=1, 1,000,000; files have 1 and 100 MB, and then 1 GB.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from bench.measurement import Measurement, growth, ratio, seconds
from bench.suites.terminal import PROMPT, TerminalUser, at_terminal
from bench.support import agents
from bench.support.tool_process import TEJAT, ToolProcess
from bench.support.word_tree import make_flat_directory, make_word_tree
from tejat import Toolset, open_tools
from tejat.core.tools.base import validate_and_execute

MIB = 2**20
_IS_LARGE = os.environ.get("TEJAT_BENCH_LARGE") == "1"
_TREES = (10_000, 100_000, 1_000_000) if _IS_LARGE else (10_000, 100_000)
_FILES = (MIB, 100 * MIB, 1024 * MIB) if _IS_LARGE else (MIB, 100 * MIB)
_MAX_MEMORY = 100
_MAX_DRAW = 150
_LIST_CHARACTERS = 105_000
"""The limit of a list for the model, with its heading and notes."""
_READ_CHARACTERS = 1_100_000
_ROUNDS = 3
_LINE = "the quick brown fox jumps over the lazy dog and runs away from it all \n"
# Each letter leads to other names than the one before, so that the list is drawn anew.
_KEYS = ((b"u", b"ser_"), (b"m", b"odel_"), (b"v", b"iew_"), (b"l", b"ogin_"))
_BACKSPACE = b"\x7f"


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "growth")
    yield from _trees(root)
    yield from _flat_directories(root)
    yield from _slices(root)
    yield from _write(root)
    shutil.rmtree(root)


def _trees(root: str) -> Iterator[Measurement]:
    calls: dict[str, dict[str, object]] = {
        "list_directory": {},
        "glob": {"pattern": "**/*.py"},
        "search_file_content": {"pattern": "nothing"},
        "read_many_files": {"paths": ["**/*.py"]},
    }
    times: dict[str, dict[int, float]] = {name: {} for name in calls}
    for files in _TREES:
        tree = os.path.join(root, f"tree{files}")
        make_word_tree(tree, files)
        for name, arguments in calls.items():
            given = {"path": tree} if name == "list_directory" else arguments
            with ToolProcess(root) as idle, ToolProcess(tree) as server:
                times[name][files] = _best_seconds(server, name, given)
                if files == _TREES[-1]:
                    yield from _bounds(f"{name} in {files:,} files", server, idle.memory(), name, given)
        if files == _TREES[-1]:
            yield from _completion(root, tree, files)
        shutil.rmtree(tree)
    yield from (growth(f"{name} in a tree", measured) for name, measured in times.items())


def _best_seconds(server: ToolProcess, name: str, arguments: Mapping[str, object]) -> float:
    return min(seconds(lambda: server.call(name, **arguments)) for _ in range(_ROUNDS))


def _bounds(
    title: str, server: ToolProcess, idle: int, name: str, arguments: Mapping[str, object]
) -> Iterator[Measurement]:
    content = server.call(name, **arguments)["llmContent"]
    size = len(content) if isinstance(content, str) else sum(map(len, content))
    limit = _READ_CHARACTERS if name == "read_many_files" else _LIST_CHARACTERS
    yield Measurement(f"{title}: the answer", size, limit, "", "characters")
    grown = (server.peak_memory() - idle) / MIB
    yield Measurement(f"{title}: memory over idle", grown, _MAX_MEMORY, "MB", f"idle {idle / MIB:.0f} MB")


def _completion(root: str, tree: str, files: int) -> Iterator[Measurement]:
    """At a terminal, from the key to the names on the screen, while the tree is still being read."""
    os.makedirs(os.path.join(root, "home"), exist_ok=True)
    environment = agents.environment(root, "http://127.0.0.1:9")
    rounds: list[list[float]] = []
    for _ in range(_ROUNDS):
        with at_terminal([TEJAT], tree, environment) as person:
            person.wait_for(PROMPT)
            person.look(0.3)
            rounds.append([_seconds_until_drawn(person, b"@", b"part")])
            for key, text in _KEYS:
                rounds[-1].append(_seconds_until_drawn(person, key, text))
                person.type(_BACKSPACE)
                person.look(0.3)
    title = f"@ at a terminal in {files:,} files"
    first = min(times[0] for times in rounds) * 1000
    yield Measurement(f"{title}: first names", first, _MAX_DRAW, "ms", f"the best of {_ROUNDS}")
    slowest = min(max(times[1:]) for times in rounds) * 1000
    yield Measurement(f"{title}: the slowest of the next keys", slowest, _MAX_DRAW, "ms", f"{len(_KEYS)} keys")


def _seconds_until_drawn(person: TerminalUser, key: bytes, text: bytes) -> float:
    drawn = len(person.shown)
    start = time.perf_counter()
    person.type(key)
    person.wait_for(text, start=drawn)
    spent = time.perf_counter() - start
    person.look(0.3)
    return spent


def _flat_directories(root: str) -> Iterator[Measurement]:
    times: dict[int, float] = {}
    for files in _TREES:
        directory = os.path.join(root, f"flat{files}")
        make_flat_directory(directory, files)
        with ToolProcess(root) as server:
            idle = server.memory()
            arguments = {"path": directory}
            times[files] = _best_seconds(server, "list_directory", arguments)
            if files == _TREES[-1]:
                title = f"list_directory of {files:,} entries"
                yield from _bounds(title, server, idle, "list_directory", arguments)
        shutil.rmtree(directory)
    yield growth("list_directory of a flat directory", times)


def _slices(root: str) -> Iterator[Measurement]:
    times: dict[int, float] = {}
    path = os.path.join(root, "long.txt")
    for size in _FILES:
        lines = _write_lines(path, size)
        with ToolProcess(root) as server:
            read = partial(server.call, "read_file", path=path, offset=lines - 100, limit=50)
            times[size] = min(seconds(read) for _ in range(5))
            if size == _FILES[-1]:
                yield ratio(
                    f"read_file of 50 lines near the end of {size // MIB:,} MB, over cat",
                    2.0,
                    read,
                    lambda: subprocess.run(["cat", path], check=True, stdout=subprocess.DEVNULL),
                    rounds=7,
                )
        os.unlink(path)
    yield growth("read_file near the end of a file", times)


def _write_lines(path: str, size: int) -> int:
    """Write a file of about this size and return its number of lines."""
    parts = 16
    lines = size // len(_LINE) // parts
    with open(path, "w", encoding="ascii") as file:
        for _ in range(parts):
            file.write(_LINE * lines)
    return parts * lines


def _write(root: str) -> Iterator[Measurement]:
    """In process, so that nothing but the tool is measured."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.path.join(root, "home")}
    content = _LINE * (100 * MIB // len(_LINE))
    changed = content.replace("fox", "cat")
    with open_tools([root], None, mode="yolo", sandbox="off", environment=environment) as tools:
        path = os.path.join(root, "written.txt")
        for name, texts in (("a new file", (content,)), ("every line changed", (content, changed))):
            yield ratio(
                f"write_file of 100 MB, {name}, over a plain write, fsync and rename",
                2.0,
                _writer(tools, path, texts),
                lambda: _write_plainly(f"{path}.plain", content),
                rounds=7,
            )


def _writer(tools: Toolset, path: str, texts: tuple[str, ...]) -> Callable[[], None]:
    turns = iter(range(sys.maxsize))

    def write() -> None:
        if len(texts) == 1 and os.path.exists(path):
            os.unlink(path)
        arguments = {"file_path": path, "content": texts[next(turns) % len(texts)]}
        result = asyncio.run(validate_and_execute(tools.registry["write_file"], arguments))
        assert result.error is None, result.error
        assert len(json.dumps(str(result.return_display))) < MIB

    return write


def _write_plainly(path: str, content: str) -> None:
    with open(f"{path}.new", "wb") as file:
        file.write(content.encode())
        file.flush()
        os.fsync(file.fileno())
    os.rename(f"{path}.new", path)
