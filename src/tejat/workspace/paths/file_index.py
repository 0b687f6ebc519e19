"""The names of all files that can be worked on, to be completed while somebody types."""

import asyncio
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tejat.core.sanitize import sanitize_text
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import RootDirectory
from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.fuzzy_match import PathBlock, rank_paths
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES, stream_files
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

_MAX_FILES = 1_000_000
_BLOCK = 4_000
"""Paths that are put in order at once: more would hold up the rest of the program."""
_INITIAL_WAIT_SECONDS = 0.03
"""How long somebody who types waits for a small tree to be read, and then for the first names of a large one."""
_FRESH_SECONDS = 3.0
_FRESH_BUILD_FACTOR = 20
"""A tree that took long to read is read again only after so many times as long."""


class FileIndex:
    """Reads the trees in the background, the first time somebody asks and again when what is known is old.

    Ignored files are left out, as the workspace's settings say. So are names that could not be shown or typed.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._index: _IndexBuild | None = None
        self._pending_index: _IndexBuild | None = None
        self._build_task: asyncio.Task[None] | None = None

    @property
    def is_complete(self) -> bool:
        """False while the trees are read for the first time: who asks again may get more."""
        return self._index is not None

    def start(self) -> None:
        """Start to read, unless what is known is new enough."""
        if self._build_task is None and (self._index is None or self._index.is_stale):
            self._pending_index = _IndexBuild(self._workspace)
            self._build_task = asyncio.create_task(self._build(self._pending_index))

    async def find(self, typed: str, *, most: int = 50) -> Sequence[str]:
        """Paths that fit what was typed so far, the best first; directories end with a slash.

        In the first root they are relative, else absolute. Hidden ones are found where a part of what was typed begins
        with a dot. While the trees are still being read, it is what is known by then.
        """
        self.start()
        index = self._index or self._pending_index
        if index is None:
            return ()
        if not index.is_done.is_set():
            await _wait_for(index.is_done, _INITIAL_WAIT_SECONDS)
            await _wait_for(index.has_results, _INITIAL_WAIT_SECONDS)
        return await run_blocking(lambda _: index.find(typed, most))

    async def close(self) -> None:
        """Stop reading."""
        if self._build_task is not None:
            self._build_task.cancel()
            await asyncio.wait((self._build_task,))

    async def _build(self, index: "_IndexBuild") -> None:
        try:
            await run_blocking(index.build)
            self._index = index
        finally:
            self._pending_index = self._build_task = None


class _IndexBuild:
    """The names in all roots. One thread reads, others may look meanwhile."""

    def __init__(self, workspace: Workspace) -> None:
        self.has_results = asyncio.Event()
        self.is_done = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._workspace = workspace
        self._began = self._ended = time.monotonic()
        self._trees: list[_Tree] = []

    @property
    def is_stale(self) -> bool:
        took = self._ended - self._began
        return time.monotonic() - self._ended > max(_FRESH_SECONDS, _FRESH_BUILD_FACTOR * took)

    def build(self, stop: StopToken) -> None:
        """Every tree, as far as it can be read."""
        roots = self._workspace.roots
        left = _MAX_FILES
        for root in roots.directories:
            tree = _Tree(root.path, is_first=root is roots.first)
            self._trees.append(tree)
            with suppress(OSError):
                for paths in _list_unignored(root, self._workspace.ignore_rules(root), stop):
                    tree.add(paths[:left])
                    self._set_event(self.has_results)
                    left -= len(paths)
                    if left <= 0:
                        break
        self._ended = time.monotonic()
        self._set_event(self.has_results)
        self._set_event(self.is_done)

    def find(self, typed: str, most: int) -> Sequence[str]:
        trees = list(self._trees)
        if typed.startswith("/"):
            trees = [tree for tree in trees if typed.startswith(tree.root_prefix)]
            typed = typed.removeprefix(trees[0].root_prefix) if trees else typed
        typed = typed.removeprefix("./")
        shows_hidden = f"/{typed}".find("/.") >= 0
        blocks = [block for tree in trees for block in (*tree.blocks, *(tree.hidden if shows_hidden else ()))]
        return rank_paths(blocks, typed, limit=most)

    def _set_event(self, event: asyncio.Event) -> None:
        with suppress(RuntimeError):  # the loop is closed, nobody waits any more
            self._loop.call_soon_threadsafe(event.set)


class _Tree:
    """The names in one root, in the order in which they were found, and those of all directories on the way."""

    def __init__(self, root: str, *, is_first: bool) -> None:
        self.root_prefix = f"{root.rstrip('/')}/"
        self.blocks: list[PathBlock] = []
        self.hidden: list[PathBlock] = []
        self._prefix = "" if is_first else self.root_prefix
        self._directories: set[bytes] = set()

    def add(self, paths: Sequence[bytes]) -> None:
        new: set[bytes] = set()
        for directory in {path.rpartition(b"/")[0] for path in paths}:
            above = directory
            while above and above not in self._directories and above not in new:
                new.add(above)
                above = above.rpartition(b"/")[0]
        self._directories |= new
        self._add_block(paths, are_directories=False)
        self._add_block([directory + b"/" for directory in new], are_directories=True)

    def _add_block(self, paths: Sequence[bytes], *, are_directories: bool) -> None:
        hidden = [path for path in paths if path.startswith(b".") or b"/." in path]
        unseen = frozenset(hidden)
        shown = [path for path in paths if path not in unseen] if unseen else paths
        for blocks, members in ((self.blocks, shown), (self.hidden, hidden)):
            if members:
                blocks.append(PathBlock(members, prefix=self._prefix, are_directories=are_directories))


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


def _list_unignored(root: RootDirectory, rules: IgnoreRules, stop: StopToken) -> Iterator[list[bytes]]:
    """The files of a root in blocks, without those that are ignored and those that nobody could name."""
    waiting: list[bytes] = []
    size = 1  # the first names are wanted at once
    for paths in stream_files(root.fd, exclude_directories=EXCLUDED_DIRECTORIES, stop=stop, ripgrep=find_ripgrep()):
        waiting += paths
        if len(waiting) >= size:
            yield _filter_displayable(rules.filter(waiting)[0])
            waiting, size = [], _BLOCK
            stop()
    yield _filter_displayable(rules.filter(waiting)[0])


def _filter_displayable(paths: list[bytes]) -> list[bytes]:
    text = b"".join(paths)
    if text.isascii() and re.search(rb"[\x00-\x1f\x7f]", text) is None:
        return paths
    return [path for path in paths if _is_displayable(path)]


def _is_displayable(path: bytes) -> bool:
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return False
    return sanitize_text(text) == text and "\t" not in text and "\n" not in text
