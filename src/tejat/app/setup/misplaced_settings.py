"""Checks for `tejat doctor`: settings in Gemini CLI's file that it cannot use."""

from collections.abc import Iterator, Mapping

from tejat.app.setup.fixes import source_fix
from tejat.config.paths import AppPaths
from tejat.config.settings.relocation import find_misplaced_settings
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import lazy


def misplaced_settings_checks(paths: AppPaths, environment: Mapping[str, str]) -> Iterator[DoctorCheck]:
    """Check the file that both programs read. A file that cannot be read has no such settings."""
    try:
        found = find_misplaced_settings(paths, environment)
    except ConfigurationError:
        return
    for setting in found:
        detail = lazy(
            "{source} {key}: Gemini CLI cannot use this. `tejat doctor --fix` moves it to {path}",
            source=setting.source,
            key=setting.key,
            path=paths.abbreviate(paths.own_settings),
        )
        if setting.is_overridden:
            detail = lazy(
                "{source} {key}: Gemini CLI cannot use this, and {path} has another value. Remove one of them.",
                source=setting.source,
                key=setting.key,
                path=paths.abbreviate(paths.own_settings),
            )
        fix = source_fix(setting.source) if setting.is_overridden else "tejat doctor --fix"
        yield DoctorCheck(lazy("settings"), lazy("Gemini CLI"), passed=False, detail=detail, fix=fix)
