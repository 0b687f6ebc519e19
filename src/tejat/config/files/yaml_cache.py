"""Parsed YAML by content, so that files that have not changed are not parsed at every start."""

import os
from contextlib import suppress
from typing import cast

from tejat.config.files.directory import make_private_directory
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue
from tejat.core.text.digest import sha256
from tejat.workspace.files.private_files import write_private_file

MAX_ENTRIES = 2000
MAX_TEXT = 16_384
"""Longer texts are not kept."""


class YamlCache:
    """The values of YAML texts in a private file; without a path nothing is kept."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stored: dict[str, JsonValue] | None = None
        self._added: dict[str, JsonValue] = {}

    def parse(self, text: str, *, first_line: int = 1) -> JsonValue:
        """Parse a text as `parse_yaml` does, or return the stored value. Raises YamlError."""
        key = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        stored = self._read()
        if key in stored:
            return stored[key]
        # Imported late: most texts are stored.
        from tejat.config.yaml_values import parse_yaml

        value = parse_yaml(text, first_line=first_line)
        if len(text) <= MAX_TEXT:
            self._added[key] = value
        return value

    def save(self) -> None:
        """Store what was parsed. Raises nothing: what cannot be stored is parsed again."""
        if not self._added or not self._path:
            return
        kept = dict([*self._read().items(), *self._added.items()][-MAX_ENTRIES:])
        with suppress(OSError, UsageError):
            make_private_directory(os.path.dirname(self._path))
            write_private_file(self._path, dump_json(kept))

    def _read(self) -> dict[str, JsonValue]:
        if self._stored is None:
            self._stored = {}
            with suppress(ConfigurationError, InvalidJson):
                text = read_config_file(self._path, writers=AllowedWriters.TRUSTED) if self._path else None
                content = load_json(text or "{}")
                if isinstance(content, dict):
                    self._stored = cast("dict[str, JsonValue]", content)
        return self._stored
