"""Notes at start about settings that are unknown or have wrong values."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import cast

from tejat.app.run_config import RunConfig
from tejat.config.files.directory import make_private_directory
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.settings.inspection import SettingFinding, SettingStatus, inspect_settings, needs_inspection
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.i18n import _, ngettext
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue
from tejat.workspace.files.private_files import write_private_file

_MAX_NAMES = 3
_MAX_FILES = 200


def settings_notes(run_config: RunConfig) -> tuple[str, ...]:
    """A line for wrong values, and one for unknown keys if they are new since they were last reported. Raises nothing.

    The caller shows them: the unknown keys count as reported.
    """
    settings, files = run_config.settings, run_config.settings_files
    findings = inspect_settings(files, settings.problems) if needs_inspection(files) else []
    wrong = sum(finding.status is SettingStatus.WRONG for finding in findings) if findings else len(settings.problems)
    notes: list[str] = []
    if wrong:
        notes.append(
            ngettext(
                "{count} setting has a value that cannot be used. Run `tejat doctor` for details.",
                "{count} settings have values that cannot be used. Run `tejat doctor` for details.",
                wrong,
            )
        )
    unknown = [finding for finding in findings if finding.status is SettingStatus.UNKNOWN]
    if unknown and _report_new(run_config.paths.reported_settings, unknown):
        names = ", ".join(finding.key for finding in unknown[:_MAX_NAMES])
        if len(unknown) > _MAX_NAMES:
            names = _("{names} and {count} more", names=names, count=len(unknown) - _MAX_NAMES)
        notes.append(
            ngettext(
                "{count} setting is unknown ({names}). Run `tejat doctor` for details.",
                "{count} settings are unknown ({names}). Run `tejat doctor` for details.",
                len(unknown),
                names=names,
            )
        )
    return tuple(notes)


def _report_new(path: str, unknown: Iterable[SettingFinding]) -> bool:
    """Whether a file has other unknown keys than were reported last; remembers those it has now."""
    keys: dict[str, set[str]] = {}
    for finding in unknown:
        keys.setdefault(finding.path, set()).add(finding.key)
    digests = {file: sha256("\n".join(sorted(names)).encode()).hexdigest()[:16] for file, names in keys.items()}
    reported = _read_reported(path)
    if all(reported.get(file) == digest for file, digest in digests.items()):
        return False
    kept = [(file, digest) for file, digest in reported.items() if file not in digests]
    with suppress(OSError, UsageError):  # then it is reported again
        make_private_directory(os.path.dirname(path))
        write_private_file(path, dump_json(dict([*kept, *digests.items()][-_MAX_FILES:])))
    return True


def _read_reported(path: str) -> Mapping[str, JsonValue]:
    with suppress(ConfigurationError, InvalidJson):
        content = load_json(read_config_file(path, writers=AllowedWriters.TRUSTED) or "{}")
        if isinstance(content, dict):
            return cast("dict[str, JsonValue]", content)
    return {}
