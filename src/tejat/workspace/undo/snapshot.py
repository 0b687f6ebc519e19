"""Snapshots of a tree with its contents, stored within a budget."""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from hashlib import sha256

from tejat.core.frozen import Frozen, field, replace
from tejat.workspace.files.openat import RootDirectory, open_directory_nofollow
from tejat.workspace.files.regular_file import read_bytes
from tejat.workspace.undo.digest_cache import DigestCache
from tejat.workspace.undo.open_directories import OpenDirectories
from tejat.workspace.undo.tree_state import FILE_KEY_SIZE, TreeState, file_key_size, pack_file_key

_BATCH_BYTES = 16 << 20
_BATCH_FILES = 4000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAX_TRIES = 3


class Snapshot(Frozen):
    """`files` maps each file to its key, followed by the digest of its content if it is stored.

    `skip_reasons` says for the others why not.
    """

    root: str
    state: TreeState
    files: dict[str, bytes]
    skip_reasons: dict[str, str] = field(default_factory=dict[str, str])


class SnapshotBudget(Frozen):
    """`reserve` takes the number of bytes wanted and returns how many may be added. `store` takes contents by digest.

    With `is_stored`, files are read to see whether their contents are stored already, before space is reserved.
    """

    file_limit: int
    reserve: Callable[[int], int]
    store: Callable[[Mapping[bytes, bytes]], None]
    stop: Callable[[], None]
    is_stored: Callable[[bytes], bool] | None = None


def take_snapshot(root: RootDirectory, state: TreeState, known: DigestCache, budget: SnapshotBudget) -> Snapshot:
    """Read and store unknown contents. Raises OSError of the store, and whatever `budget.stop` raises.

    Files that cannot be read, or change all the while, are in `skip_reasons`.
    """
    files, fresh = known.lookup(state.files)
    snapshot = Snapshot(root.real_path, state, files)
    if not fresh:
        return snapshot
    if budget.is_stored is not None:
        recognising = _ContentReader(root, snapshot, known, replace(budget, store=_store_nothing), budget.is_stored)
        recognising.read(path for path in fresh if file_key_size(state.files[path]) <= budget.file_limit)
        fresh = [path for path in fresh if len(snapshot.files[path]) == FILE_KEY_SIZE]
        snapshot.skip_reasons.clear()
    if fresh:
        _ContentReader(root, snapshot, known, budget).read(list(_select_within_budget(fresh, snapshot, budget)))
    return snapshot


def _select_within_budget(fresh: list[str], snapshot: Snapshot, budget: SnapshotBudget) -> Iterator[str]:
    """Yield the files that fit, small ones first if not all do: those are the ones that people write."""
    sizes = {path: file_key_size(snapshot.state.files[path]) for path in fresh}
    fitting = [path for path in fresh if sizes[path] <= budget.file_limit]
    for path in fresh:
        if sizes[path] > budget.file_limit:
            snapshot.skip_reasons[path] = f"too large to be kept ({format_size(sizes[path])})"
    needed = sum(sizes[path] for path in fitting)
    room = budget.reserve(needed)
    if room >= needed:
        yield from fitting
        return
    for path in sorted(fitting, key=sizes.__getitem__):
        room -= sizes[path]
        if room >= 0:
            yield path
        else:
            snapshot.skip_reasons[path] = f"the room for undo is used up ({format_size(sizes[path])})"


class _ContentReader:
    """Reads files directory by directory and stores them in batches."""

    def __init__(
        self,
        root: RootDirectory,
        snapshot: Snapshot,
        known: DigestCache,
        budget: SnapshotBudget,
        wants: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._root = root
        self._snapshot = snapshot
        self._known = known
        self._budget = budget
        self._is_wanted = wants
        self._batch: dict[bytes, bytes] = {}
        self._batch_files: list[tuple[str, bytes, bytes, int]] = []
        self._bytes = 0

    def read(self, paths: Iterable[str]) -> None:
        groups = _by_directory(paths)
        for directory in sorted(groups):
            self._budget.stop()
            inside = groups[directory]
            with ExitStack() as stack:
                try:
                    opened = stack.enter_context(open_directory_nofollow(self._root.fd, directory))
                except OSError as error:
                    why = f"could not be read ({error.strerror})"
                    self._snapshot.skip_reasons.update((path, why) for path, _ in inside)
                    continue
                for path, name in inside:
                    self._read_file(opened, path, name)
        self._flush_batch()

    def _read_file(self, directory: int, path: str, name: str) -> None:
        for _ in range(_MAX_TRIES):
            started = time.time_ns()
            try:
                key, content = _read_content_and_key(directory, name, self._budget.file_limit)
            except OSError as error:
                self._snapshot.skip_reasons[path] = f"could not be read ({error.strerror})"
                return
            if key is not None:
                break
        else:
            self._snapshot.skip_reasons[path] = "was being written to"
            return
        digest = sha256(content).digest()
        if self._is_wanted is not None and not self._is_wanted(digest):
            return
        self._batch[digest] = content
        self._snapshot.state.files[path] = key
        self._batch_files.append((path, key, digest, started))
        self._bytes += len(content)
        if self._bytes >= _BATCH_BYTES or len(self._batch_files) >= _BATCH_FILES:
            self._flush_batch()

    def _flush_batch(self) -> None:
        """Store the batch; only stored contents enter the cache."""
        if not self._batch_files:
            return
        self._budget.stop()
        self._budget.store(self._batch)
        for path, key, digest, started in self._batch_files:
            self._snapshot.files[path] = self._known.add(path, key, digest, read_at=started)
        self._batch = {}
        self._batch_files = []
        self._bytes = 0


def _read_content_and_key(directory: int, name: str, limit: int) -> tuple[bytes | None, bytes]:
    """Return the content of a file and its key, None if it changed meanwhile. Raises OSError."""
    # Every file of a project passes here once: no context manager, and one read for a small file.
    descriptor = os.open(name, _OPEN, dir_fd=directory)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(None, "is no file any more")
        size = before.st_size
        if size > limit:
            raise OSError(None, "has grown too large")
        content = os.read(descriptor, size + 1)
        if len(content) < size:
            content += read_bytes(descriptor, len(content), size + 1 - len(content))
        key = pack_file_key(before)
        same = len(content) == size and key == pack_file_key(os.fstat(descriptor))
        return (key if same else None), content
    finally:
        os.close(descriptor)


def _store_nothing(_: Mapping[bytes, bytes]) -> None:
    return


def scan_paths(root: RootDirectory, paths: Iterable[str]) -> TreeState:
    """Return the state of these paths, without following links. Inaccessible ones count as missing."""
    state = TreeState()
    groups = _by_directory(paths)
    with OpenDirectories(root.fd) as opened:
        for parent in sorted(groups):
            with suppress(OSError):
                directory = opened.get(parent)
                for path, name in groups[parent]:
                    try:
                        _add_path(state, path, directory, name)
                    except OSError:
                        continue
    return state


def _by_directory(paths: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the paths in each directory, with their names."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for path in paths:
        directory, _, name = path.rpartition("/")
        groups.setdefault(directory, []).append((path, name))
    return groups


def _add_path(state: TreeState, path: str, directory: int, name: str) -> None:
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    match stat.S_IFMT(status.st_mode):
        case stat.S_IFREG:
            state.files[path] = pack_file_key(status)
        case stat.S_IFDIR:
            state.directories[path] = (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid)
        case stat.S_IFLNK:
            state.links[path] = os.readlink(name, dir_fd=directory)
        case other:
            state.special_files[path] = other


def format_size(size: int) -> str:
    """Format a number of bytes for display."""
    if size < 1000:
        return f"{size} bytes"
    if size < 1000**2:
        return f"{size / 1000:.1f} kB"
    return f"{size / 1000**2:.1f} MB" if size < 1000**3 else f"{size / 1000**3:.1f} GB"
