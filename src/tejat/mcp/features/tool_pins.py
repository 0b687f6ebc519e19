"""Digests of approved tool declarations, to detect tools that change."""

import json
import os

from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.errors import TejatError
from tejat.core.i18n import lazy
from tejat.core.messages.json_fields import JsonFields
from tejat.core.text.digest import sha256
from tejat.mcp.names import registered_name
from tejat.mcp.types import ServerTool
from tejat.workspace.files.private_files import write_private_file

MAX_PINS = 5_000
"""The oldest approvals are dropped first."""

_VERSION = 1
_LOCK_SECONDS = 1.0


class ToolPins:
    """Digests by tool name, in the file at `path`, which is read on first use.

    Methods never raise. If the file is unreliable or cannot be written, every tool counts as changed until it is
    approved in this session, and `problem` says why. A foreign file is never overwritten.
    """

    def __init__(self, path: str) -> None:
        self.problem: str | None = None
        self._path = path
        self._stored: dict[str, str] | None = None
        self._approved: dict[str, str] = {}

    def has_changed(self, server: str, tool: str, digest: str) -> bool:
        """Return whether the declaration differs from the approved one. False if none was approved."""
        key = registered_name(server, tool)
        if key in self._approved:
            return self._approved[key] != digest
        if self._stored is None:
            self._stored = self._read()
        return self.problem is not None or self._stored.get(key, digest) != digest

    def record_approval(self, server: str, tool: str, digest: str) -> None:
        """Record the approval of the current declaration. May block for a moment."""
        key = registered_name(server, tool)
        if self._approved.get(key) == digest:
            return
        self._approved[key] = digest
        if self._stored is None:
            self._stored = self._read()
        if self.problem is None and self._stored.get(key) != digest:
            self._write(key, digest)

    def _read(self) -> dict[str, str]:
        try:
            return _parse_pins(read_config_file(self._path, writers=AllowedWriters.TRUSTED))
        except (TejatError, ValueError, RecursionError) as error:
            self.problem = lazy(
                "Could not check which MCP tools changed: {path}: {why} Every call needs approval until you fix "
                "or remove the file.",
                path=self._path,
                why=error,
            )
            return {}

    def _write(self, key: str, digest: str) -> None:
        """Update the file, which others may have changed meanwhile."""
        try:
            directory = make_private_directory(os.path.dirname(self._path))
            with file_lock(os.path.join(directory, f"{os.path.basename(self._path)}.lock"), timeout=_LOCK_SECONDS):
                kept = _parse_pins(read_config_file(self._path, writers=AllowedWriters.TRUSTED))
                kept.pop(key, None)
                kept[key] = digest
                self._stored = dict(list(kept.items())[-MAX_PINS:])
                write_private_file(
                    self._path, json.dumps({"version": _VERSION, "tools": self._stored}, indent=1) + "\n"
                )
        except (TejatError, OSError, ValueError, RecursionError) as error:
            self.problem = lazy(
                "Could not save which MCP tools were allowed: {path}: {why}", path=self._path, why=error
            )


def tool_digest(tool: ServerTool) -> str:
    """Return a digest of the whole declaration. Raises ValueError if it is nested too deeply."""
    marks = tool.annotations
    declared = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input": tool.input_schema,
        "output": tool.output_schema,
        "annotations": [marks.title, marks.read_only, marks.destructive, marks.idempotent, marks.open_world],
    }
    try:
        return sha256(json.dumps(declared, sort_keys=True).encode("ascii")).hexdigest()
    except RecursionError:
        raise ValueError(lazy("nested too deeply")) from None


def _parse_pins(text: str | None) -> dict[str, str]:
    """Raises ValueError for a foreign file."""
    if text is None:
        return {}
    try:
        stored: object = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(lazy("Not valid JSON.")) from None
    store = JsonFields(stored)
    tools = store.object("tools")
    pins = {key: digest for key, digest in tools.items() if isinstance(digest, str)}
    if store.integer("version") != _VERSION or len(pins) != len(tools):
        raise ValueError(lazy("Written by another program."))
    return pins
