"""Conversations of a project that the user saved by name, each in a private file."""

import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import quote, unquote

from tejat.config.paths import project_key
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.history import Message
from tejat.core.messages.message_json import message_to_json
from tejat.core.messages.types import JsonObject
from tejat.engine.sessions.journal import Clock, JournalMask
from tejat.engine.sessions.journal_format import RecordKind
from tejat.engine.sessions.journal_reader import LoadedSession, read_journal
from tejat.workspace.files.private_files import make_private_directory, write_private_file
from tejat.workspace.files.regular_file import regular_file_opener

_PREFIX = "checkpoint-"
_SUFFIX = ".jsonl"
_MAX_NAME_BYTES = 200
"""File systems accept no name that is much longer."""


class SavedChat(Frozen):
    """A saved conversation. `saved_at` is in seconds since 1970."""

    tag: str
    saved_at: float


class SavedChats:
    """The saved conversations below `directory`, created on demand. All but `list_chats` raise UsageError, OSError.

    `secrets` are masked.
    """

    def __init__(self, directory: str, root: str, *, secrets: Sequence[str] = (), now: Clock = time.time) -> None:
        self._root = os.path.realpath(root)
        self._directory = os.path.join(directory, project_key(root))
        self._mask = JournalMask(secrets)
        self._now = now

    def save(self, tag: str, messages: Sequence[Message], *, preamble_length: int, session_id: str, model: str) -> None:
        """Save a conversation, replacing one of the same name."""
        at = round(self._now(), 3)
        encoded = [message_to_json(message) for message in messages]
        records: tuple[JsonObject, ...] = (
            {"kind": RecordKind.SESSION, "at": at, "session": session_id, "root": self._root, "model": model},
            {"kind": RecordKind.OPENING, "at": at, "messages": encoded[:preamble_length]},
            {"kind": RecordKind.COMPRESSED, "at": at, "messages": encoded},
        )
        try:
            lines = b"".join(map(self._mask.encode, records))
        except ValueError as error:
            raise UsageError(_("Could not save this conversation: {why}.", why=error)) from None
        path = self._path(tag)
        make_private_directory(self._directory)
        write_private_file(path, lines, follow_symlinks=False)

    def load(self, tag: str) -> LoadedSession | None:
        """Load the conversation of this name, None if there is none."""
        try:
            descriptor = regular_file_opener(self._path(tag), os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            return read_journal(descriptor, session_id="")
        finally:
            os.close(descriptor)

    def exists(self, tag: str) -> bool:
        return os.path.lexists(self._path(tag))

    def delete(self, tag: str) -> bool:
        """Delete a conversation. False if there was none."""
        try:
            os.unlink(self._path(tag))
        except FileNotFoundError:
            return False
        return True

    def list_chats(self) -> list[SavedChat]:
        """List all conversations of the project, newest last. Raises nothing."""
        checkpoints: list[SavedChat] = []
        with suppress(OSError), os.scandir(self._directory) as entries:
            for entry in entries:
                if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                    with suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            tag = unquote(entry.name[len(_PREFIX) : -len(_SUFFIX)], errors="replace")
                            checkpoints.append(SavedChat(tag, status.st_mtime))
        return sorted(checkpoints, key=lambda each: (each.saved_at, each.tag))

    def _path(self, tag: str) -> str:
        name = f"{_PREFIX}{quote(tag, safe='', errors='surrogatepass')}{_SUFFIX}"
        if len(name) > _MAX_NAME_BYTES:
            raise UsageError(_("This name is too long. Choose a shorter one."))
        return os.path.join(self._directory, name)
