"""Checks of `tejat doctor` about extensions."""

from collections.abc import Iterator

from tejat.app.run_config import RunConfig
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.i18n import lazy


def extension_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    """The extensions in use, what they miss, and those that are left out."""
    for extension in run_config.extensions:
        detail = extension.version
        if extension.missing_settings:
            missing = ", ".join(extension.missing_settings)
            detail = lazy("{version}, missing settings: {names}", version=extension.version, names=missing)
        yield DoctorCheck(lazy("extensions"), extension.name, passed=True, detail=detail)
    for warning in run_config.extension_effects.warnings:
        yield DoctorCheck(
            lazy("extensions"), lazy("left out"), passed=False, detail=warning, fix="tejat extensions list"
        )
