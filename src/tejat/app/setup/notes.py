"""Notes at start about settings that are unknown or have wrong values."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.config.settings.schema.names import has_other_names
from tejat.core.i18n import _, ngettext
from tejat.core.text.digest import sha256

if TYPE_CHECKING:
    from tejat.config.settings.inspection import SettingFinding

_MAX_NAMES = 3


def settings_notes(run_config: RunConfig) -> tuple[str, ...]:
    """A line for wrong values, and one for unknown keys if they are new since they were last reported. Raises nothing.

    The caller shows them: the unknown keys count as reported.
    """
    settings, files = run_config.settings, run_config.settings_files
    wrong = len(settings.problems)
    unknown: list[SettingFinding] = []
    if has_other_names(files):
        from tejat.config.settings.inspection import SettingStatus, inspect_settings

        findings = inspect_settings(files, settings.problems)
        wrong = sum(finding.status is SettingStatus.WRONG for finding in findings)
        unknown = [finding for finding in findings if finding.status is SettingStatus.UNKNOWN]
    notes: list[str] = []
    if wrong:
        notes.append(
            ngettext(
                "{count} setting has a value that cannot be used. Run `tejat doctor` for details.",
                "{count} settings have values that cannot be used. Run `tejat doctor` for details.",
                wrong,
            )
        )
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


def _report_new(path: str, unknown: "Iterable[SettingFinding]") -> bool:
    """Whether a file has other unknown keys than were reported last; remembers those it has now."""
    from tejat.config.files.reported import report_once

    keys: dict[str, set[str]] = {}
    for finding in unknown:
        keys.setdefault(finding.path, set()).add(finding.key)
    digests = {file: sha256("\n".join(sorted(names)).encode()).hexdigest()[:16] for file, names in keys.items()}
    return report_once(path, digests)
