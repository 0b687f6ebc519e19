"""The entries of the undo journal on disk: a line of JSON each, only ever appended."""

import json
import os
from collections.abc import Sequence
from typing import TypeAlias, cast

from tejat.core.json_text import NotJson, load_json
from tejat.core.undo import Change, Entry, Node, NodeKind, Remark
from tejat.core.value import replace
from tejat.workspace.history.private_directory import PrivateDirectory, append, read_from

_NAME = "entries.jsonl"

_Stored: TypeAlias = "str | int | float | list[_Stored] | dict[str, _Stored] | None"


class EntryFile:
    """What changes the file must be called while the directory's lock is held. Everything raises OSError."""

    def __init__(self, directory: PrivateDirectory) -> None:
        self._directory = directory
        self._seen = (0, 0, 0)
        self._entries: list[Entry] = []

    def read(self) -> list[Entry]:
        """All entries, oldest first. A line that a crash cut short, or that makes no sense, is none."""
        try:
            descriptor = self._directory.open(_NAME, os.O_RDONLY)
        except FileNotFoundError:
            return []
        try:
            status = os.fstat(descriptor)
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
            if seen != self._seen:
                lines = read_from(descriptor, 0, status.st_size).split(b"\n")
                self._entries = _with_undone([entry for line in lines if (entry := _read_line(line)) is not None])
                self._seen = seen
        finally:
            os.close(descriptor)
        return self._entries.copy()

    def append(self, entry: Entry) -> None:
        """Add an entry so that it survives a power cut."""
        descriptor = self._directory.open(_NAME, os.O_RDWR | os.O_CREAT)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            append(descriptor, b"\n" * torn + _line(entry))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if size == 0:
            self._directory.flush()

    def replace_all(self, entries: Sequence[Entry]) -> None:
        with self._directory.replacing(_NAME) as descriptor:
            append(descriptor, b"".join(map(_line, entries)))


def digests_in(entry: Entry) -> set[bytes]:
    """The contents that an entry needs."""
    nodes = (node for change in entry.changes for node in (change.before, change.after))
    return {node.digest for node in nodes if node is not None and node.digest is not None}


def _with_undone(entries: list[Entry]) -> list[Entry]:
    """An entry is undone while the newest that put it back is not undone itself."""
    undone: dict[str, str] = {}
    for entry in reversed(entries):
        if entry.undoes is not None and entry.id not in undone:
            undone.setdefault(entry.undoes, entry.id)
    return [replace(entry, undone_by=undone[entry.id]) if entry.id in undone else entry for entry in entries]


def _line(entry: Entry) -> bytes:
    stored = {
        "id": entry.id,
        "time": entry.time,
        "tool": entry.tool,
        "what": entry.what,
        "changes": [
            [change.root, change.path, _store(change.before), _store(change.after)] for change in entry.changes
        ],
        "skipped": [[remark.path, remark.why] for remark in entry.skipped],
        "undoes": entry.undoes,
        "session": entry.session,
        "call": entry.call,
    }
    # ASCII keeps half characters, which stand for bytes in names that are no text.
    return json.dumps(stored, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def _store(node: Node | None) -> _Stored:
    match node:
        case None:
            return None
        case Node(kind=NodeKind.LINK):
            return ["link", node.target]
        case Node(kind=NodeKind.DIRECTORY):
            return ["directory", node.permissions, *node.owner]
        case Node():
            digest = None if node.digest is None else node.digest.hex()
            identity = None if node.identity is None else node.identity.hex()
            return ["file", node.permissions, *node.owner, node.size, digest, identity]


def _read_line(line: bytes) -> Entry | None:
    if not line:
        return None
    try:
        stored = cast("dict[str, _Stored]", load_json(line))
        return Entry(
            id=_text(stored["id"]),
            time=_number(stored["time"]),
            tool=_text(stored["tool"]),
            what=_text(stored["what"]),
            changes=tuple(_read_change(change) for change in _list(stored["changes"])),
            skipped=tuple(Remark(*map(_text, _list(remark))) for remark in _list(stored["skipped"])),
            undoes=None if stored["undoes"] is None else _text(stored["undoes"]),
            session=_text(stored.get("session", "")),
            call=_text(stored.get("call", "")),
        )
    except (NotJson, KeyError, TypeError, ValueError):
        return None


def _read_change(stored: _Stored) -> Change:
    root, path, before, after = _list(stored)
    return Change(_text(root), _plain_path(_text(path)), before=_read_node(before), after=_read_node(after))


def _plain_path(path: str) -> str:
    if not path or not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise ValueError(path)
    return path


def _read_node(stored: _Stored) -> Node | None:
    match stored:
        case None:
            return None
        case ["link", str(target)]:
            return Node(NodeKind.LINK, target=target)
        case ["directory", int(mode), int(user), int(group)]:
            return Node(NodeKind.DIRECTORY, permissions=mode, owner=(user, group))
        case ["file", int(mode), int(user), int(group), int(size), str() | None as digest, str() | None as identity]:
            return Node(
                NodeKind.FILE,
                permissions=mode,
                size=size,
                digest=None if digest is None else bytes.fromhex(digest),
                identity=None if identity is None else bytes.fromhex(identity),
                owner=(user, group),
            )
        case _:
            raise ValueError(stored)


def _text(value: _Stored) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(value)


def _number(value: _Stored) -> float:
    if isinstance(value, int | float):
        return value
    raise TypeError(value)


def _list(value: _Stored) -> "list[_Stored]":
    if isinstance(value, list):
        return value
    raise TypeError(value)
