"""Remembers what a server's tool declared when a call of it was last allowed, so that a tool cannot change unseen."""

import json
import os
from hashlib import sha256

from tejat.config.lock import locked
from tejat.config.own_file import Writers, read_own_file
from tejat.config.places import private_directory
from tejat.config.write_own_file import write_own_file
from tejat.core.errors import TejatError
from tejat.core.json_fields import Fields
from tejat.core.words import phrase
from tejat.mcp.names import registered_name
from tejat.mcp.values import ServerTool

MOST_PINS = 5_000
"""What was allowed longest ago is forgotten first."""

_VERSION = 1
_PATIENCE = 1.0


class Pins:
    """The digests of declarations by the tools' names, in the file at `path`, which is read when it is first needed.

    Nothing here raises. Where the file cannot be relied on, or cannot be written, every tool counts as changed until it
    is allowed in this session, and `problem` says what is wrong. A file that is not ours is never written over.
    """

    def __init__(self, path: str) -> None:
        self.problem: str | None = None
        self._path = path
        self._kept: dict[str, str] | None = None
        self._allowed: dict[str, str] = {}

    def has_changed(self, server: str, tool: str, digest: str) -> bool:
        """Whether the tool is another one than the one allowed last. One that was never allowed has not changed."""
        key = registered_name(server, tool)
        if key in self._allowed:
            return self._allowed[key] != digest
        if self._kept is None:
            self._kept = self._read()
        return self.problem is not None or self._kept.get(key, digest) != digest

    def allow(self, server: str, tool: str, digest: str) -> None:
        """A call of the tool, as it is now, was allowed. Blocks for a moment where that is not known yet."""
        key = registered_name(server, tool)
        if self._allowed.get(key) == digest:
            return
        self._allowed[key] = digest
        if self._kept is None:
            self._kept = self._read()
        if self.problem is None and self._kept.get(key) != digest:
            self._write(key, digest)

    def _read(self) -> dict[str, str]:
        try:
            return _pins_in(read_own_file(self._path, writers=Writers.TRUSTED))
        except (TejatError, ValueError, RecursionError) as error:
            self.problem = phrase(
                "Cannot tell which tools of MCP servers have changed: {path}: {why} You are asked about each of them "
                "until it is mended or removed.",
                path=self._path,
                why=error,
            )
            return {}

    def _write(self, key: str, digest: str) -> None:
        """Others may have written meanwhile, so it is read again."""
        try:
            directory = private_directory(os.path.dirname(self._path))
            with locked(os.path.join(directory, f"{os.path.basename(self._path)}.lock"), patience=_PATIENCE):
                kept = _pins_in(read_own_file(self._path, writers=Writers.TRUSTED))
                kept.pop(key, None)
                kept[key] = digest
                self._kept = dict(list(kept.items())[-MOST_PINS:])
                write_own_file(self._path, json.dumps({"version": _VERSION, "tools": self._kept}, indent=1) + "\n")
        except (TejatError, OSError, ValueError, RecursionError) as error:
            self.problem = phrase(
                "Cannot remember which tools of MCP servers were allowed: {path}: {why}", path=self._path, why=error
            )


def digest_of(tool: ServerTool) -> str:
    """What a tool declares of itself, all of it, as a hash. Raises ValueError if it is nested too deeply."""
    annotations = tool.annotations
    declared = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input": tool.input_schema,
        "output": tool.output_schema,
        "annotations": [
            annotations.title,
            annotations.read_only,
            annotations.destructive,
            annotations.idempotent,
            annotations.open_world,
        ],
    }
    try:
        return sha256(json.dumps(declared, sort_keys=True).encode("ascii")).hexdigest()
    except RecursionError:
        raise ValueError(phrase("it is nested too deeply")) from None


def _pins_in(text: str | None) -> dict[str, str]:
    """Raises ValueError for a text that is not ours."""
    if text is None:
        return {}
    try:
        stored: object = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(phrase("It is not JSON.")) from None
    store = Fields(stored)
    tools = store.object("tools")
    pins = {key: digest for key, digest in tools.items() if isinstance(digest, str)}
    if store.whole_number("version") != _VERSION or len(pins) != len(tools):
        raise ValueError(phrase("It was written by somebody else."))
    return pins
