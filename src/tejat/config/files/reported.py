"""Facts that the user was told once, remembered in a private file."""

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

_MAX_FACTS = 200


def report_once(path: str, facts: Mapping[str, str]) -> bool:
    """Return whether any of these facts is new or has changed since it was reported; then remember them all.

    Raises nothing: what cannot be remembered is reported again.
    """
    if is_reported(path, facts):
        return False
    reported = _read_reported(path)
    kept = [(name, fact) for name, fact in reported.items() if name not in facts]
    with suppress(OSError, UsageError):
        make_private_directory(os.path.dirname(path))
        write_private_file(path, dump_json(dict([*kept, *facts.items()][-_MAX_FACTS:])))
    return True


def is_reported(path: str, facts: Mapping[str, str]) -> bool:
    """Whether all of these facts are remembered. Raises nothing."""
    reported = _read_reported(path)
    return all(reported.get(name) == fact for name, fact in facts.items())


def report_new(path: str, facts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the facts that are new or have changed since they were reported; then remember them all.

    Raises nothing, as `report_once`.
    """
    reported = _read_reported(path)
    new = tuple(name for name, fact in facts.items() if reported.get(name) != fact)
    if new:
        report_once(path, facts)
    return new


def _read_reported(path: str) -> Mapping[str, JsonValue]:
    with suppress(ConfigurationError, InvalidJson):
        content = load_json(read_config_file(path, writers=AllowedWriters.TRUSTED) or "{}")
        if isinstance(content, dict):
            return cast("dict[str, JsonValue]", content)
    return {}
