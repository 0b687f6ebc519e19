"""Parsed values of files, kept in a private file until a file changes."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from tejat.config.files.directory import make_private_directory
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue
from tejat.workspace.files.private_files import write_private_file

MAX_ENTRIES = 3000


class ParseCache:
    """JSON values by the path and the identity of a file. `version` is that of the parser.

    Unless it `keeps_unused`, `save` drops the values that were not asked for: those of files that are gone.
    Raises nothing: without a usable file everything is parsed again.
    """

    def __init__(self, path: str, *, version: str, keeps_unused: bool = True) -> None:
        self._path = path
        self._keeps_unused = keeps_unused
        self._version = version
        self._entries: dict[str, JsonValue] = {}
        self._used: dict[str, JsonValue] = {}
        self._has_changed = False
        content: JsonValue = None
        with suppress(ConfigurationError, InvalidJson):
            content = cast("JsonValue", load_json(read_config_file(path, writers=AllowedWriters.TRUSTED) or "null"))
        if isinstance(content, Mapping) and content.get("version") == version:
            entries = content.get("files")
            self._entries = dict(entries) if isinstance(entries, Mapping) else {}

    def get(self, path: str, identity: str) -> JsonValue:
        """The value of a file, None if it is not known or the file has changed."""
        entry = self._entries.get(path)
        if isinstance(entry, dict) and entry.get("identity") == identity:
            self._used[path] = entry
            return entry.get("value")
        return None

    def put(self, path: str, identity: str, value: JsonValue) -> None:
        self._used[path] = self._entries[path] = {"identity": identity, "value": value}
        self._has_changed = True

    def save(self) -> None:
        """Write the values if any is new or dropped. Those not used for the longest time go beyond a limit."""
        unused = [(path, entry) for path, entry in self._entries.items() if path not in self._used]
        if not self._has_changed and (self._keeps_unused or not unused):
            return
        kept = unused if self._keeps_unused else []
        entries = dict([*kept, *self._used.items()][-MAX_ENTRIES:])
        with suppress(OSError, UsageError):
            make_private_directory(os.path.dirname(self._path))
            write_private_file(self._path, dump_json({"version": self._version, "files": entries}))
        self._has_changed = False


def file_identity(status: os.stat_result) -> str:
    """What changes with the content of a file. No process of the user can set the ctime back."""
    return f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
