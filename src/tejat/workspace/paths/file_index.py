"""Index of the workspace's file names for completion."""

import asyncio
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tejat.core.frozen import Frozen
from tejat.core.sanitize import sanitize_text
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import RootDirectory
from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.fuzzy_match import PathBlock, PathRanking
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES, stream_files
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

_MAX_FILES = 1_000_000
_BLOCK = 4_000
"""Paths sorted at once: more would block the rest of the program."""
_INITIAL_WAIT_SECONDS = 0.03
"""How long a typing user waits for a small tree to be read, and then for the first names of a large one."""
_SEARCH_SECONDS = 0.04
"""How long one search takes at most. The rest is searched when it is asked again."""
_DRAW_SECONDS = 0.03
"""How long a build pauses after a search, so that its results are drawn without delay."""
_MAX_PAUSE_SECONDS = 0.2
"""How long a build pauses at most for a search."""
_FRESH_SECONDS = 3.0
_FRESH_BUILD_FACTOR = 20
"""A tree that took long to read is read again only after this many times as long."""


class FileIndex:
    """Reads the trees in the background, on first use and again when the index is stale.

    Ignored files are left out according to the workspace's settings, as are names that cannot be shown or typed. If not
    `is_fuzzy`, only paths that contain the typed text are found.
    """

    def __init__(self, workspace: Workspace, *, is_fuzzy: bool = True) -> None:
        self._workspace = workspace
        self._is_fuzzy = is_fuzzy
        self._index: _IndexBuild | None = None
        self._pending_index: _IndexBuild | None = None
        self._query: _Query | None = None
        self._build_task: asyncio.Task[None] | None = None

    @property
    def is_complete(self) -> bool:
        """False during the first build, and after a search that took too long: the next one may find more."""
        return self._index is not None and (self._query is None or self._query.is_done)

    def start(self) -> None:
        """Start a build unless the index is fresh."""
        if self._build_task is None and (self._index is None or self._index.is_stale):
            self._pending_index = _IndexBuild(self._workspace)
            self._build_task = asyncio.create_task(self._build(self._pending_index))

    async def find(self, typed: str, *, limit: int = 50) -> Sequence[str]:
        """Find paths that match the typed text, best first; directories end with a slash.

        Paths in the first root are relative, others absolute. Hidden ones match if a part of the typed text begins with
        a dot. During a build, only the paths known so far are searched. A search ends soon, even if not everything was
        searched; the next one for the same text continues it.
        """
        self.start()
        index = self._index or self._pending_index
        if index is None:
            return ()
        if not index.is_done.is_set():
            # Only the first key waits: the next ones come while the list is on the screen.
            await _wait_for(index.is_done, _INITIAL_WAIT_SECONDS - index.age)
            await _wait_for(index.has_results, 2 * _INITIAL_WAIT_SECONDS - index.age)
        query = self._query
        if query is None or not query.is_for(index, typed, limit):
            query = self._query = _Query(index, typed, limit, is_fuzzy=self._is_fuzzy)
        return await run_blocking(query.run)

    async def close(self) -> None:
        """Stop the build."""
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
    """The names in all roots. One thread builds, others may search meanwhile."""

    def __init__(self, workspace: Workspace) -> None:
        self.has_results = asyncio.Event()
        self.is_done = asyncio.Event()
        self.may_build = threading.Event()
        """Cleared while somebody waits for a search: two busy threads would hinder each other."""
        self.may_build.set()
        self.blocks: list[_IndexBlock] = []
        """In the order in which they were found; only added to."""
        self.root_prefixes = tuple(f"{root.path.rstrip('/')}/" for root in workspace.roots.directories)
        self._loop = asyncio.get_running_loop()
        self._workspace = workspace
        self._began = self._ended = self._resume_at = time.monotonic()

    @property
    def age(self) -> float:
        """Seconds since the build began."""
        return time.monotonic() - self._began

    @property
    def is_stale(self) -> bool:
        took = self._ended - self._began
        return time.monotonic() - self._ended > max(_FRESH_SECONDS, _FRESH_BUILD_FACTOR * took)

    def build(self, stop: StopToken) -> None:
        """Read every tree as far as possible."""
        roots = self._workspace.roots
        left = _MAX_FILES
        for root, prefix in zip(roots.directories, self.root_prefixes, strict=True):
            tree = _Tree(prefix, is_first=root is roots.first)
            with suppress(OSError):
                for paths in _list_unignored(root, self._workspace.ignore_rules(root), stop):
                    self.blocks += tree.index(paths[:left])
                    self._set_event(self.has_results)
                    self._wait_for_searches()
                    left -= len(paths)
                    if left <= 0:
                        break
        self._ended = time.monotonic()
        self._set_event(self.has_results)
        self._set_event(self.is_done)

    def end_search(self) -> None:
        """Let the build continue after the results have been drawn."""
        self._resume_at = time.monotonic() + _DRAW_SECONDS
        self.may_build.set()

    def _wait_for_searches(self) -> None:
        self.may_build.wait(_MAX_PAUSE_SECONDS)
        pause = self._resume_at - time.monotonic()
        if pause > 0:
            time.sleep(pause)

    def _set_event(self, event: asyncio.Event) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(event.set)


class _IndexBlock(Frozen):
    """Paths in one root, either hidden or not."""

    paths: PathBlock
    root_prefix: str
    is_hidden: bool


class _Query:
    """One typed text, searched for bit by bit."""

    def __init__(self, index: _IndexBuild, typed: str, limit: int, *, is_fuzzy: bool) -> None:
        self.is_done = False
        self._index = index
        self._key = (typed, limit)
        roots = index.root_prefixes
        if typed.startswith("/"):
            roots = tuple(prefix for prefix in roots if typed.startswith(prefix))
            typed = typed.removeprefix(roots[0]) if roots else typed
        typed = typed.removeprefix("./")
        self._roots = frozenset(roots)
        self._shows_hidden = f"/{typed}".find("/.") >= 0
        self._ranking = PathRanking(typed, limit=limit, is_fuzzy=is_fuzzy)
        self._blocks: list[PathBlock] = []
        self._looked_at = 0
        self._lock = threading.Lock()

    def is_for(self, index: _IndexBuild, typed: str, limit: int) -> bool:
        return index is self._index and self._key == (typed, limit)

    def run(self, stop: StopToken) -> Sequence[str]:
        """Search for a limited time and return the best matches so far. What `stop` raises propagates."""
        end = time.monotonic() + _SEARCH_SECONDS

        def is_due() -> bool:
            stop()
            return time.monotonic() > end

        with self._lock:
            self._index.may_build.clear()
            try:
                self._add_new_blocks()
                self.is_done = self._ranking.search(self._blocks, is_due)
            finally:
                self._index.end_search()
            return self._ranking.best()

    def _add_new_blocks(self) -> None:
        new = self._index.blocks[self._looked_at :]
        self._looked_at += len(new)
        self._blocks += [
            block.paths
            for block in new
            if block.root_prefix in self._roots and (self._shows_hidden or not block.is_hidden)
        ]


class _Tree:
    """The directories of one root that are known so far."""

    def __init__(self, root_prefix: str, *, is_first: bool) -> None:
        self._root_prefix = root_prefix
        self._prefix = "" if is_first else root_prefix
        self._directories: set[bytes] = set()

    def index(self, paths: Sequence[bytes]) -> list[_IndexBlock]:
        """Return blocks of these files and of their directories, as far as these are new."""
        new: set[bytes] = set()
        for directory in {path.rpartition(b"/")[0] for path in paths}:
            above = directory
            while above and above not in self._directories and above not in new:
                new.add(above)
                above = above.rpartition(b"/")[0]
        self._directories |= new
        files = self._index(paths, are_directories=False)
        return files + self._index([directory + b"/" for directory in new], are_directories=True)

    def _index(self, paths: Sequence[bytes], *, are_directories: bool) -> list[_IndexBlock]:
        hidden = [path for path in paths if path.startswith(b".") or b"/." in path]
        unseen = frozenset(hidden)
        shown = [path for path in paths if path not in unseen] if unseen else paths
        return [
            _IndexBlock(
                PathBlock(members, prefix=self._prefix, are_directories=are_directories), self._root_prefix, is_hidden
            )
            for members, is_hidden in ((shown, False), (hidden, True))
            if members
        ]


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    if seconds <= 0:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _list_unignored(root: RootDirectory, rules: IgnoreRules, stop: StopToken) -> Iterator[list[bytes]]:
    """Yield the files of a root in blocks, without ignored and undisplayable names."""
    waiting: list[bytes] = []
    size = 1  # show the first names at once
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
