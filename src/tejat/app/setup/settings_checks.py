"""Checks of settings files for `tejat doctor`: each key that is not simply obeyed, with file and line."""

from collections.abc import Iterator, Sequence

from tejat.app.run_config import RunConfig
from tejat.app.setup.effective_settings import EffectiveSettings
from tejat.app.setup.fixes import fault_fix, source_fix
from tejat.app.setup.misplaced_settings import misplaced_settings_checks
from tejat.app.setup.unknown_names import SANDBOX_KEY, mark_unusable, unknown_tools
from tejat.app.setup.variables import ineffective_variables
from tejat.config.settings.file import SettingsError
from tejat.config.settings.inspection import STRICT_STATUSES, SettingFinding, SettingStatus, inspect_settings
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError
from tejat.core.exit_codes import EXIT_CONFIGURATION
from tejat.core.i18n import join_lazy, lazy, translate

_MAX_LINES = 200
_SEVERE = (SettingStatus.UNKNOWN, SettingStatus.WRONG)


def settings_checks(
    run_config: RunConfig, faults: Sequence[ConfigurationError] = (), *, is_strict: bool = False
) -> Iterator[DoctorCheck]:
    """Check the settings files that count.

    `faults` are the errors that would end a run; if it `is_strict`, every problem is one.
    """
    group = lazy("settings")
    for fault in faults:
        detail, fix = _first_line(fault), fault_fix(fault)
        yield DoctorCheck(group, lazy("error"), passed=False, detail=detail, exit_code=EXIT_CONFIGURATION, fix=fix)
    strict_code = EXIT_CONFIGURATION if is_strict else 0
    findings = [finding for finding in inspect_findings(run_config) if _is_notable(finding)]
    findings.sort(key=lambda finding: (finding.status not in _SEVERE, finding.path))
    for finding in findings[:_MAX_LINES]:
        is_right = finding.status not in (STRICT_STATUSES if is_strict else _SEVERE)
        detail = describe_finding(finding)
        code, fix = (0, "") if is_right else (strict_code, source_fix(finding.source))
        yield DoctorCheck(group, _label(finding), is_right, detail, exit_code=code, fix=fix)
    if len(findings) > _MAX_LINES:
        more = lazy("{count} more", count=len(findings) - _MAX_LINES)
        yield DoctorCheck(group, lazy("more"), passed=False, detail=more, fix="tejat doctor --setup")
    yield from misplaced_settings_checks(run_config.paths, run_config.environment)
    if is_strict:
        for detail in unknown_tools(run_config):
            fix = source_fix(str(detail))
            yield DoctorCheck(group, lazy("unknown tool"), passed=False, detail=detail, exit_code=strict_code, fix=fix)
    for name, reason in ineffective_variables(run_config.environment):
        detail = lazy("read, has no effect: {why}", why=reason)
        yield DoctorCheck(lazy("variables"), name, passed=True, detail=detail)


def inspect_findings(run_config: RunConfig, faults: Sequence[ConfigurationError] = ()) -> list[SettingFinding]:
    """What becomes of each key in the settings files that count. Those among the `faults` have a wrong value."""
    wrong = [fault.value for fault in faults if isinstance(fault, SettingsError) and fault.value is not None]
    findings = inspect_settings(run_config.settings_files, (*run_config.settings.problems, *wrong))
    return list(mark_unusable(run_config, EffectiveSettings(run_config).mark_ineffective(findings)))


def describe_finding(finding: SettingFinding) -> str:
    """One line about a key, with file and line."""
    return join_lazy(" ", (finding.source, _explain(finding)))


def _explain(finding: SettingFinding) -> str:
    match finding.status:
        case SettingStatus.UNKNOWN:
            nearest = finding.suggestion
            if nearest is None:
                return lazy("{key}: unknown setting", key=finding.key)
            return lazy("{key}: unknown setting. Did you mean {nearest}?", key=finding.key, nearest=nearest)
        case SettingStatus.WRONG:
            if (finding.present_name or finding.key) == SANDBOX_KEY:
                return finding.reason
            return lazy("{problem}; the default applies", problem=finding.reason)
        case SettingStatus.RETIRED:
            return lazy("{key}: removed from Gemini CLI. {reason}", key=finding.key, reason=finding.reason)
        case SettingStatus.NO_EFFECT | SettingStatus.MAPPED | SettingStatus.OBEYED:
            return _explain_known(finding)


def _explain_known(finding: SettingFinding) -> str:
    has_effect = finding.status is not SettingStatus.NO_EFFECT
    if finding.present_name is None:
        if has_effect:
            return lazy("{key}: {reason}", key=finding.key, reason=finding.reason)
        return lazy("{key}: read, has no effect: {reason}", key=finding.key, reason=finding.reason)
    present = finding.present_name
    if finding.is_overridden:
        return lazy("{key}: old name of {present}, which takes precedence", key=finding.key, present=present)
    if has_effect:
        return lazy("{key}: old name of {present}", key=finding.key, present=present)
    return lazy(
        "{key}: old name of {present}, has no effect: {reason}",
        key=finding.key,
        present=present,
        reason=finding.reason,
    )


def _is_notable(finding: SettingFinding) -> bool:
    is_plain = finding.status in (SettingStatus.OBEYED, SettingStatus.MAPPED)
    return not is_plain or finding.present_name is not None


def _label(finding: SettingFinding) -> str:
    match finding.status:
        case SettingStatus.UNKNOWN:
            return lazy("unknown")
        case SettingStatus.WRONG:
            return lazy("wrong value")
        case SettingStatus.RETIRED:
            return lazy("retired")
        case SettingStatus.NO_EFFECT:
            return lazy("old name") if finding.is_overridden else lazy("no effect")
        case SettingStatus.MAPPED | SettingStatus.OBEYED:
            return lazy("old name")


def _first_line(error: ConfigurationError) -> str:
    return translate(error).splitlines()[0]
