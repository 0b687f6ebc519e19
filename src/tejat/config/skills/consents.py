"""The skills that the user allowed beyond a session, by source and content."""

import json
import os
import time
from collections.abc import Callable
from typing import cast

from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.paths import AppPaths, project_key
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.i18n import lazy
from tejat.workspace.files.private_files import write_private_file

_VERSION = 1
_LOCK_TIMEOUT = 30.0
_MAX_CONSENTS = 2000


def is_agreed(paths: AppPaths, *, source: str, digest: str, root: str) -> bool:
    """Whether the user allowed this content of the SKILL.md at `source` for good, everywhere or in this project.

    Raises ConfigurationError for an unusable file.
    """
    entry = _read(paths.skill_consents).get(os.path.realpath(source))
    if entry is None or not digest or entry.get("digest") != digest:
        return False
    projects = entry.get("projects")
    return entry.get("everywhere") is True or (isinstance(projects, list) and project_key(root) in projects)


def save_agreement(paths: AppPaths, *, source: str, digest: str, project: str | None) -> None:
    """Remember that the user allows this content, in the project with this root or, with None, everywhere.

    It takes the place of what was allowed of this source before. Raises UsageError.
    """

    def put(entries: dict[str, dict[str, object]]) -> None:
        real = os.path.realpath(source)
        before = entries.pop(real, {})
        if before.get("digest") != digest:
            before = {}
        known = cast("list[str]", before.get("projects") or [])
        projects = known if project is None else list(dict.fromkeys((*known, project_key(project))))
        everywhere = project is None or before.get("everywhere") is True
        entries[real] = {"digest": digest, "when": int(time.time()), "everywhere": everywhere, "projects": projects}

    _update(paths, put)


def remove_agreement(paths: AppPaths, source: str) -> None:
    """Forget what was allowed of a source. Raises UsageError."""
    if os.path.realpath(source) in _read(paths.skill_consents):
        _update(paths, lambda entries: cast("None", entries.pop(os.path.realpath(source), None)))


def _update(paths: AppPaths, change: Callable[[dict[str, dict[str, object]]], None]) -> None:
    path = paths.skill_consents
    make_private_directory(os.path.dirname(path))
    try:
        with file_lock(f"{path}.lock", timeout=_LOCK_TIMEOUT):
            entries = _read(path)
            change(entries)
            kept = dict(list(entries.items())[-_MAX_CONSENTS:])
            write_private_file(path, json.dumps({"version": _VERSION, "skills": kept}, indent=2) + "\n")
    except OSError as error:
        raise UsageError(lazy("Could not write {path}: {why}.", path=path, why=error.strerror)) from error


def _read(path: str) -> dict[str, dict[str, object]]:
    """Raises ConfigurationError."""
    text = read_config_file(path, writers=AllowedWriters.TRUSTED)
    if text is None:
        return {}
    try:
        content = json.loads(text)
        if content["version"] != _VERSION:
            raise ValueError(lazy("unknown version"))
        return {source: dict(entry) for source, entry in content["skills"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigurationError(
            lazy("{path} cannot be used: {why}. Remove it to be asked again.", path=path, why=error),
            path=path,
            fix=("mv", path, f"{path}.old"),
        ) from None
