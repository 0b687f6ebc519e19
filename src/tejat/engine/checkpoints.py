"""Conversations that a person has kept under a name, of one project: a file each, that only they can read."""

import os
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import quote, unquote

from tejat.core.errors import UsageError
from tejat.core.history import Message
from tejat.core.message_json import message_to_json
from tejat.core.types import JsonObject
from tejat.core.value import value
from tejat.core.words import say
from tejat.engine.journal import LineMask
from tejat.engine.journal_reading import LoadedSession, read_journal
from tejat.engine.journal_records import Kind
from tejat.engine.session_files import project_key
from tejat.workspace.private_files import create_private_file, make_private_directory
from tejat.workspace.regular_file import without_waiting

_BEGINNING = "checkpoint-"
_ENDING = ".jsonl"
_LONGEST_NAME = 200
"""Bytes; a file system takes no name that is much longer."""


@value
class Checkpoint:
    """`changed` is when it was kept, in seconds since 1970."""

    tag: str
    changed: float


class Checkpoints:
    """Below the directory `state`, which is made when it is needed. Everything but `found` raises UsageError, OSError.

    `secrets` are never written.
    """

    def __init__(
        self, state: str, root: str, *, secrets: Sequence[str] = (), now: Callable[[], float] = time.time
    ) -> None:
        self._root = os.path.realpath(root)
        self._directory = os.path.join(state, "chats", project_key(root))
        self._mask = LineMask(secrets)
        self._now = now

    def save(self, tag: str, messages: Sequence[Message], *, opening: int, session_id: str, model: str) -> None:
        """Keep a conversation, in the place of one that had the same name."""
        at = round(self._now(), 3)
        told = [message_to_json(message) for message in messages]
        records: tuple[JsonObject, ...] = (
            {"kind": Kind.SESSION, "at": at, "session": session_id, "root": self._root, "model": model},
            {"kind": Kind.OPENING, "at": at, "messages": told[:opening]},
            {"kind": Kind.COMPRESSED, "at": at, "messages": told},
        )
        try:
            lines = b"".join(map(self._mask.line, records))
        except ValueError as error:
            raise UsageError(say("This conversation cannot be saved: {why}.", why=error)) from None
        path = self._path(tag)
        make_private_directory(self._directory)
        unfinished = f"{path}.{os.urandom(4).hex()}"
        with open(unfinished, "wb", opener=lambda path, _: create_private_file(path)) as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.replace(unfinished, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(unfinished)
            raise

    def load(self, tag: str) -> LoadedSession | None:
        """What was kept under this name, None if nothing was."""
        try:
            descriptor = without_waiting(self._path(tag), os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            return read_journal(descriptor, session_id="")
        finally:
            os.close(descriptor)

    def has(self, tag: str) -> bool:
        return os.path.lexists(self._path(tag))

    def delete(self, tag: str) -> bool:
        """Whether there was one."""
        try:
            os.unlink(self._path(tag))
        except FileNotFoundError:
            return False
        return True

    def found(self) -> list[Checkpoint]:
        """All of this project, the newest last. Raises nothing: what is missing is empty."""
        checkpoints: list[Checkpoint] = []
        with suppress(OSError), os.scandir(self._directory) as entries:
            for entry in entries:
                if entry.name.startswith(_BEGINNING) and entry.name.endswith(_ENDING):
                    with suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            tag = unquote(entry.name[len(_BEGINNING) : -len(_ENDING)], errors="replace")
                            checkpoints.append(Checkpoint(tag, status.st_mtime))
        return sorted(checkpoints, key=lambda each: (each.changed, each.tag))

    def _path(self, tag: str) -> str:
        name = f"{_BEGINNING}{quote(tag, safe='', errors='surrogatepass')}{_ENDING}"
        if len(name) > _LONGEST_NAME:
            raise UsageError(say("This name is too long. Choose a shorter one."))
        return os.path.join(self._directory, name)
