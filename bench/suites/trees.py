"""Search and list large trees."""

import os
import random
import subprocess
from collections.abc import Iterator

from bench.measurement import Measurement, ratio
from bench.support.tool_process import RIPGREP, ToolProcess

IGNORED = "*.log\n*.pyc\nbuild/\n/dist\nnode_modules\n.venv/\n*.tmp\n.cache\ncoverage/\n*.swp\n"
WORDS = [f"word{number}" for number in range(5000)]


def measure(scratch: str) -> Iterator[Measurement]:
    yield from _search(os.path.join(scratch, "search"))
    yield from _glob(os.path.join(scratch, "glob"))
    yield from _list(os.path.join(scratch, "list"))


def _search(root: str) -> Iterator[Measurement]:
    _make_tree(root, directories=2500, files=20, lines=40)
    with ToolProcess(root) as server:
        yield ratio(
            "search_file_content over 50,000 files, over rg",
            1.5,
            lambda: server.call("search_file_content", pattern="word4321"),
            lambda: subprocess.run(
                [RIPGREP, "-n", "-i", "--hidden", "word4321", "."], cwd=root, check=True, stdout=subprocess.DEVNULL
            ),
            rounds=5,
        )


def _glob(root: str) -> Iterator[Measurement]:
    _make_tree(root, directories=5000, files=20, lines=0)

    def baseline() -> None:
        listed = subprocess.run([RIPGREP, "--files", "-0"], cwd=root, check=True, capture_output=True).stdout
        for path in listed.split(b"\0"):
            if path.endswith(b".py"):
                os.stat(os.path.join(root.encode(), path))

    with ToolProcess(root) as server:
        yield ratio(
            "glob **/*.py over 100,000 files, over rg --files and a stat of each hit",
            2.0,
            lambda: server.call("glob", pattern="**/*.py"),
            baseline,
            rounds=5,
        )


def _list(root: str) -> Iterator[Measurement]:
    os.makedirs(root)
    for number in range(10_000):
        with open(os.path.join(root, f"file{number * 7919 % 10_000}.txt"), "x"):
            pass

    def baseline() -> None:
        with os.scandir(root) as entries:
            sorted((not entry.is_dir(), entry.name, entry.stat().st_size) for entry in entries)

    with ToolProcess(root) as server:
        yield ratio(
            "list_directory of 10,000 entries, over scandir, stat and sort",
            2.0,
            lambda: server.call("list_directory", path=root),
            baseline,
            rounds=10,
        )


def _make_tree(root: str, *, directories: int, files: int, lines: int) -> None:
    """Create a git repository in which three of four files are `.py` files."""
    chance = random.Random(1)
    for number in range(directories):
        directory = os.path.join(root, f"part{number % 25}", f"sub{number // 25}")
        os.makedirs(directory)
        for index in range(files):
            name = f"file{index}.{'txt' if index % 4 == 3 else 'py'}"
            with open(os.path.join(directory, name), "x", encoding="ascii") as file:
                file.writelines(" ".join(chance.choices(WORDS, k=8)) + "\n" for _ in range(lines))
    with open(os.path.join(root, ".gitignore"), "x", encoding="ascii") as file:
        file.write(IGNORED)
    subprocess.run(["git", "init", "--quiet", root], check=True)
