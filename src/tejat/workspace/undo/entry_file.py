"""The undo entries on disk: append-only JSON lines."""

import json
import os
import re
import stat
from collections.abc import Set
from typing import TypeAlias, cast

from tejat.core.frozen import replace
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.undo import ForeignChange, PathChange, PathKind, PathProblem, PathState, UndoEntry
from tejat.workspace.files.regular_file import read_bytes
from tejat.workspace.undo.private_directory import PrivateDirectory, append_bytes

_NAME = "entries.jsonl"
_MAX_TIME = 1e11  # in the year 5138
_MAX_ID = (1 << 32) - 1
_BEGINNING = 64  # more than the id and the time, with which a line begins
_ID = re.compile(rb'\{"id":"([0-9a-f]+)"')

_Json: TypeAlias = "str | int | float | list[_Json] | dict[str, _Json] | None"


class EntryFile:
    """Each line is read once: the cost of adding an entry does not depend on those already there.

    Methods that modify the file require the directory's lock. All raise OSError.
    """

    def __init__(self, directory: PrivateDirectory) -> None:
        self._directory = directory
        self._forget()

    def read(self) -> list[UndoEntry]:
        """Return all entries, oldest first. Partial or invalid lines are skipped."""
        try:
            with self._directory.open(_NAME, os.O_RDONLY) as descriptor:
                size = self._catch_up(descriptor)
                if self._decoded < self._end:
                    lines = read_bytes(descriptor, self._decoded, self._end - self._decoded).split(b"\n")
                    self._entries += [entry for line in lines if (entry := _decode_entry(line))]
                    self._decoded = self._end
                    self._marked = None
                torn = _decode_entry(read_bytes(descriptor, self._end, size - self._end)) if size > self._end else None
        except FileNotFoundError:
            return []
        if torn is not None:
            return _mark_undone([*self._entries, torn])
        if self._marked is None:
            self._marked = _mark_undone(self._entries)
        return self._marked.copy()

    def ids(self) -> Set[str]:
        """Return the ids of all entries without reading the entries themselves again. Do not change the set."""
        try:
            with self._directory.open(_NAME, os.O_RDONLY) as descriptor:
                self._catch_up(descriptor)
        except FileNotFoundError:
            self._forget()
        return self._ids

    def append(self, entry: UndoEntry) -> None:
        """Append an entry durably, or not at all."""
        with self._directory.open(_NAME, os.O_RDWR | os.O_CREAT) as descriptor:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            append_bytes(descriptor, b"\n" * torn + _encode_entry(entry))
            try:
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        if size == 0:
            self._directory.flush()

    def drop_oldest(self, count: int) -> None:
        """Remove the oldest entries; the others keep their lines."""
        content = self._directory.read(_NAME)
        start = 0
        while count > 0 and start < len(content):
            end = content.find(b"\n", start) + 1 or len(content)
            count -= _decode_entry(content[start : end - 1]) is not None
            start = end
        with self._directory.replace_file(_NAME) as descriptor:
            append_bytes(descriptor, content[start:])
        self._forget()

    def _forget(self) -> None:
        self._file = (0, 0)
        self._end = 0
        """Where the complete lines end that have been seen."""
        self._last_line = (0, b"")
        """Where the last of them begins, and how."""
        self._ids: set[str] = set()
        self._decoded = 0
        self._entries: list[UndoEntry] = []
        self._marked: list[UndoEntry] | None = None

    def _catch_up(self, descriptor: int) -> int:
        """Look at the lines that were added since the last time; return the size of the file."""
        status = os.fstat(descriptor)
        file, size = (status.st_dev, status.st_ino), status.st_size
        start, beginning = self._last_line
        # A line may have been taken back after it was seen, and the number of a replaced file may be used again.
        if file != self._file or size < self._end or os.pread(descriptor, len(beginning), start) != beginning:
            self._forget()
            self._file = file
        if size > self._end:
            added = read_bytes(descriptor, self._end, size - self._end)
            start = 0
            while end := added.find(b"\n", start) + 1:
                beginning = added[start : min(end, start + _BEGINNING)]
                self._last_line = self._end + start, beginning
                if match := _ID.match(beginning):
                    self._ids.add(match[1].decode("ascii"))
                start = end
            self._end += start
        return size


def entry_digests(entry: UndoEntry) -> set[bytes]:
    """Return the digests of the contents that an entry needs."""
    nodes = (node for change in entry.changes for node in (change.before, change.after))
    return {node.digest for node in nodes if node is not None and node.digest is not None}


def _mark_undone(entries: list[UndoEntry]) -> list[UndoEntry]:
    """Set `undone_by`: an entry is undone while the latest entry that undid it is not undone itself.

    The entries of a sub-agent's run are undone with the run, but not those that came later.
    """
    undone: dict[str, str] = {}
    marked: list[UndoEntry] = []
    for entry in reversed(entries):
        undone_by = undone.get(entry.id) or (undone.get(entry.unit_id) if entry.unit else None)
        marked.append(entry if undone_by is None else replace(entry, undone_by=undone_by))
        if entry.undoes is not None and undone_by is None:
            undone.setdefault(entry.undoes, entry.id)
    return marked[::-1]


def _encode_entry(entry: UndoEntry) -> bytes:
    stored = {
        "id": entry.id,
        "time": entry.time,
        "tool": entry.tool,
        "what": entry.summary,
        "changes": [
            [change.root, change.path, _encode_node(change.before), _encode_node(change.after)]
            for change in entry.changes
        ],
        "skipped": [[remark.path, remark.reason] for remark in entry.skipped],
        "undoes": entry.undoes,
        "session": entry.session,
        "call": entry.call,
        "started": entry.started,
        "named": entry.named,
        "foreign": [[change.path, change.reason, change.is_proven] for change in entry.foreign],
        "unit": entry.unit,
    }
    # ASCII preserves lone surrogates, which stand for undecodable bytes in names.
    return json.dumps(stored, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def _encode_node(node: PathState | None) -> _Json:
    match node:
        case None:
            return None
        case PathState(kind=PathKind.LINK):
            return ["link", node.target]
        case PathState(kind=PathKind.DIRECTORY):
            return ["directory", node.permissions, *node.owner]
        case PathState():
            digest = None if node.digest is None else node.digest.hex()
            identity = None if node.identity is None else node.identity.hex()
            return ["file", node.permissions, *node.owner, node.size, digest, identity]


def _decode_entry(line: bytes) -> UndoEntry | None:
    if not line:
        return None
    try:
        stored = cast("dict[str, _Json]", load_json(line))
        return UndoEntry(
            id=_as_str(stored["id"]),
            time=_as_time(stored["time"]),
            tool=_as_str(stored["tool"]),
            summary=_as_str(stored["what"]),
            changes=tuple(_decode_change(change) for change in _as_list(stored["changes"])),
            skipped=tuple(PathProblem(*map(_as_str, _as_list(remark))) for remark in _as_list(stored["skipped"])),
            undoes=None if stored["undoes"] is None else _as_str(stored["undoes"]),
            session=_as_str(stored.get("session", "")),
            call=_as_str(stored.get("call", "")),
            started=None if (started := stored.get("started")) is None else _as_time(started),
            named=tuple(map(_as_str, _as_list(stored.get("named", [])))),
            foreign=tuple(map(_decode_foreign, _as_list(stored.get("foreign", [])))),
            unit=_as_str(stored.get("unit", "")),
        )
    except (InvalidJson, KeyError, TypeError, ValueError):
        return None


def _decode_change(stored: _Json) -> PathChange:
    root, path, before, after = _as_list(stored)
    root, path = _as_str(root), _as_str(path)
    if not {"", ".", ".."}.isdisjoint(path.split("/")) or not root.startswith("/") or "\0" in root + path:
        raise ValueError(path)
    return PathChange(root, path, before=_decode_node(before), after=_decode_node(after))


def _decode_foreign(stored: _Json) -> ForeignChange:
    match stored:
        case [str(path), str(reason), bool(is_proven)]:
            return ForeignChange(path, reason, is_proven)
        case _:
            raise ValueError(stored)


def _decode_node(stored: _Json) -> PathState | None:
    match stored:
        case None:
            return None
        case ["link", str(target)]:
            return PathState(PathKind.LINK, target=target)
        case ["directory", int(mode), int(user), int(group)]:
            return PathState(PathKind.DIRECTORY, permissions=_as_mode(mode), owner=_as_owner(user, group))
        case ["file", int(mode), int(user), int(group), int(size), str() | None as digest, str() | None as identity]:
            return PathState(
                PathKind.FILE,
                permissions=_as_mode(mode),
                size=size,
                digest=None if digest is None else bytes.fromhex(digest),
                identity=None if identity is None else bytes.fromhex(identity),
                owner=_as_owner(user, group),
            )
        case _:
            raise ValueError(stored)


def _as_str(value: _Json) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(value)


def _as_time(value: _Json) -> float:
    if isinstance(value, int | float) and 0 <= value < _MAX_TIME:
        return value
    raise TypeError(value)


def _as_mode(value: int) -> int:
    if value != stat.S_IMODE(value):
        raise ValueError(value)
    return value


def _as_owner(user: int, group: int) -> tuple[int, int]:
    if not (0 <= user <= _MAX_ID and 0 <= group <= _MAX_ID):
        raise ValueError(user, group)
    return user, group


def _as_list(value: _Json) -> "list[_Json]":
    if isinstance(value, list):
        return value
    raise TypeError(value)
