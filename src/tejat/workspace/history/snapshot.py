"""A state of a tree with the contents that belong to it, kept as far as there is room."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import groupby

from tejat.core.value import field, replace, value
from tejat.workspace.beneath import Root
from tejat.workspace.history.digests import KnownDigests, now
from tejat.workspace.history.plain_directory import plain_directory
from tejat.workspace.history.private_directory import read_from
from tejat.workspace.history.store import digest_of
from tejat.workspace.history.tree_state import KEY_SIZE, TreeState, key_of, size_in

_BATCH_BYTES = 16 << 20
_BATCH_FILES = 4000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TRIES = 3


@value
class Snapshot:
    """`files` has for each file its key, followed by the digest of its content if that is kept.

    For those without, `unkept` says why in words.
    """

    root: str
    state: TreeState
    files: dict[str, bytes]
    unkept: dict[str, str] = field(default_factory=dict[str, str])


@value
class Budget:
    """`make_room` is asked for a number of bytes and says how many may be added. `keep` takes contents by digest.

    With `is_kept` files are read to see whether their contents are kept already, before room is asked for.
    """

    file_limit: int
    make_room: Callable[[int], int]
    keep: Callable[[Mapping[bytes, bytes]], None]
    stop: Callable[[], None]
    is_kept: Callable[[bytes], bool] | None = None


def take_snapshot(root: Root, state: TreeState, known: KnownDigests, budget: Budget) -> Snapshot:
    """Read what is not known yet and have it kept. Raises OSError of the keeping, and what `budget.stop` raises.

    A file that can't be read, or is written to all the while, is none of these: it is `unkept`.
    """
    files, fresh = known.values_of(state.files)
    snapshot = Snapshot(root.real_path, state, files)
    if not fresh:
        return snapshot
    if budget.is_kept is not None:
        recognising = _Reading(root, snapshot, known, replace(budget, keep=_keep_nothing), budget.is_kept)
        recognising.read(path for path in fresh if size_in(state.files[path]) <= budget.file_limit)
        fresh = [path for path in fresh if len(snapshot.files[path]) == KEY_SIZE]
        snapshot.unkept.clear()
    wanted = list(_affordable(fresh, snapshot, budget)) if fresh else []
    _Reading(root, snapshot, known, budget).read(wanted)
    return snapshot


def _affordable(fresh: list[str], snapshot: Snapshot, budget: Budget) -> Iterator[str]:
    """Those that fit, small ones first where not all do: they are the ones that people write."""
    sizes = {path: size_in(snapshot.state.files[path]) for path in fresh}
    fitting = [path for path in fresh if sizes[path] <= budget.file_limit]
    for path in fresh:
        if sizes[path] > budget.file_limit:
            snapshot.unkept[path] = f"too large to be kept ({in_words(sizes[path])})"
    needed = sum(sizes[path] for path in fitting)
    room = budget.make_room(needed)
    if room >= needed:
        yield from fitting
        return
    for path in sorted(fitting, key=sizes.__getitem__):
        room -= sizes[path]
        if room >= 0:
            yield path
        else:
            snapshot.unkept[path] = f"the room for undo is used up ({in_words(sizes[path])})"


class _Reading:
    """Reads files directory by directory and hands them on in batches."""

    def __init__(
        self,
        root: Root,
        snapshot: Snapshot,
        known: KnownDigests,
        budget: Budget,
        wants: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._root = root
        self._snapshot = snapshot
        self._known = known
        self._budget = budget
        self._wants = wants
        self._batch: dict[bytes, bytes] = {}
        self._learnt: list[tuple[str, bytes, bytes, int]] = []
        self._bytes = 0

    def read(self, paths: Iterable[str]) -> None:
        for directory, group in groupby(sorted(paths, key=os.path.dirname), key=os.path.dirname):
            self._budget.stop()
            inside = list(group)
            with ExitStack() as stack:
                try:
                    opened = stack.enter_context(plain_directory(self._root.fd, directory))
                except OSError as error:
                    self._snapshot.unkept.update(dict.fromkeys(inside, f"could not be read ({error.strerror})"))
                    continue
                for path in inside:
                    self._read_file(opened, path)
        self._hand_on()

    def _read_file(self, directory: int, path: str) -> None:
        for _ in range(_TRIES):
            started = now()
            try:
                key, content = _content_and_key(directory, os.path.basename(path), self._budget.file_limit)
            except OSError as error:
                self._snapshot.unkept[path] = f"could not be read ({error.strerror})"
                return
            if key is not None:
                break
        else:
            self._snapshot.unkept[path] = "was being written to"
            return
        digest = digest_of(content)
        if self._wants is not None and not self._wants(digest):
            return
        self._batch[digest] = content
        self._snapshot.state.files[path] = key
        self._learnt.append((path, key, digest, started))
        self._bytes += len(content)
        if self._bytes >= _BATCH_BYTES or len(self._learnt) >= _BATCH_FILES:
            self._hand_on()

    def _hand_on(self) -> None:
        """Known is only what is kept."""
        if not self._learnt:
            return
        self._budget.stop()
        self._budget.keep(self._batch)
        for path, key, digest, started in self._learnt:
            self._snapshot.files[path] = self._known.learn(path, key, digest, read_at=started)
        self._batch = {}
        self._learnt = []
        self._bytes = 0


def _content_and_key(directory: int, name: str, limit: int) -> tuple[bytes | None, bytes]:
    """The content of a file and its key, None when it changed meanwhile. Raises OSError."""
    descriptor = os.open(name, _OPEN, dir_fd=directory)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(None, "is no file any more")
        if before.st_size > limit:
            raise OSError(None, "has grown too large")
        content = read_from(descriptor, 0, before.st_size + 1)
        key = key_of(before)
        same = len(content) == before.st_size and key == key_of(os.fstat(descriptor))
        return (key if same else None), content
    finally:
        os.close(descriptor)


def _keep_nothing(_: Mapping[bytes, bytes]) -> None:
    return


def look_at(root: Root, paths: Iterable[str]) -> TreeState:
    """The state of just these paths, links not followed. What can't be seen is as if it were not there."""
    state = TreeState()
    for path in paths:
        with suppress(OSError), plain_directory(root.fd, os.path.dirname(path)) as directory:
            _add(state, path, directory)
    return state


def _add(state: TreeState, path: str, directory: int) -> None:
    name = os.path.basename(path)
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    match stat.S_IFMT(status.st_mode):
        case stat.S_IFREG:
            state.files[path] = key_of(status)
        case stat.S_IFDIR:
            state.directories[path] = (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid)
        case stat.S_IFLNK:
            state.links[path] = os.readlink(name, dir_fd=directory)
        case other:
            state.others[path] = other


def in_words(size: int) -> str:
    """A number of bytes as people say it."""
    if size < _THOUSAND:
        return f"{size} bytes"
    if size < _THOUSAND**2:
        return f"{size / _THOUSAND:.1f} kB"
    if size < _THOUSAND**3:
        return f"{size / _THOUSAND**2:.1f} MB"
    return f"{size / _THOUSAND**3:.1f} GB"


_THOUSAND = 1000
