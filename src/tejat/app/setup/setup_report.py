"""The report of `tejat doctor --setup` and `/about setup`: what was carried over from Gemini CLI, and what was not."""

from collections.abc import Iterator, Sequence

from tejat.app.model_source import DEFAULT_MODEL
from tejat.app.run_config import RunConfig
from tejat.app.setup.doctor import configuration_checks
from tejat.app.setup.effective_settings import EffectiveSettings
from tejat.app.setup.security_checks import security_checks
from tejat.app.setup.settings_checks import inspect_findings
from tejat.app.setup.setup_files import FileUse, SetupFile, environment_files, find_setup_files
from tejat.app.setup.variables import ineffective_variables
from tejat.config.paths import AppPaths
from tejat.config.settings.inspection import SettingFinding, SettingStatus
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_OK
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy, lazy_plural, translate
from tejat.core.messages.types import JsonObject
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone

_MAX_ROWS = 200
_STATUS_TITLES = {
    SettingStatus.OBEYED: lazy("Settings in effect"),
    SettingStatus.MAPPED: lazy("Settings that work differently"),
    SettingStatus.NO_EFFECT: lazy("Settings without effect"),
    SettingStatus.RETIRED: lazy("Settings removed from Gemini CLI"),
    SettingStatus.WRONG: lazy("Settings with a wrong value"),
    SettingStatus.UNKNOWN: lazy("Unknown settings"),
}
_FILE_TITLES = {
    FileUse.USED: lazy("Files in use"),
    FileUse.PARTLY: lazy("Files partly in use"),
    FileUse.NOT_USED: lazy("Files not in use"),
}


class SetupReport(Frozen):
    """A set-up of Gemini CLI as it is used here. `faults` are errors that would end a run with `exit_code`."""

    paths: AppPaths
    faults: tuple[str, ...]
    settings: tuple[SettingFinding, ...]
    files: tuple[SetupFile, ...]
    variables: tuple[tuple[str, str], ...]
    exit_code: int = EXIT_OK

    def to_json(self) -> JsonObject:
        """The report for programs, in English."""
        return {
            "faults": list(map(str, self.faults)),
            "counts": {status.value: len(self._with_status(status)) for status in SettingStatus},
            "settings": list(self._findings_json()),
            "files": [
                {"what": str(file.what), "path": file.path, "use": file.use.value, "detail": str(file.detail)}
                for file in self.files
            ],
            "variables": [{"name": name, "reason": str(reason)} for name, reason in self.variables],
        }

    def _findings_json(self) -> Iterator[JsonObject]:
        suggested = set(map(id, self._with_status(SettingStatus.UNKNOWN)[:_MAX_ROWS]))  # the search takes a while
        return (_finding_json(finding, has_suggestion=id(finding) in suggested) for finding in self.settings)

    def to_report(self) -> Report:
        """The report for a person: counts, then each key and file under its heading."""
        return Report(lazy("Your Gemini CLI setup in Tejat"), tuple(self._blocks()))

    def _blocks(self) -> Iterator[ReportBlock]:
        yield ReportTable(tuple(self._counts()))
        if self.faults:
            yield Paragraph(lazy("Errors that end a run"), Tone.STRONG)
            yield ReportTable(tuple((fault,) for fault in self.faults))
        for status, title in _STATUS_TITLES.items():
            found = self._with_status(status)
            if found:
                yield Paragraph(_heading(title, len(found)), Tone.STRONG)
                yield ReportTable(tuple(self._row(finding) for finding in found[:_MAX_ROWS]))
                if len(found) > _MAX_ROWS:
                    yield Paragraph(lazy("{count} more", count=len(found) - _MAX_ROWS), Tone.QUIET)
        for use, title in _FILE_TITLES.items():
            files = [file for file in self.files if file.use is use]
            if files:
                yield Paragraph(_heading(title, len(files)), Tone.STRONG)
                yield ReportTable(tuple((file.what, self.paths.abbreviate(file.path), file.detail) for file in files))
        if self.variables:
            yield Paragraph(_heading(lazy("Variables without effect"), len(self.variables)), Tone.STRONG)
            yield ReportTable(self.variables)

    def _counts(self) -> Iterator[tuple[str, str]]:
        if not self.settings and not self.files:
            yield lazy("Nothing found"), lazy("no settings or other files of Gemini CLI")
        for status, title in _STATUS_TITLES.items():
            found = len(self._with_status(status))
            if found or status is SettingStatus.OBEYED:
                yield title, str(found)
        for use, title in _FILE_TITLES.items():
            if found := sum(file.use is use for file in self.files):
                yield title, str(found)

    def _row(self, finding: SettingFinding) -> tuple[str, str, str]:
        return finding.key, _text(finding), self.paths.abbreviate(finding.source)

    def _with_status(self, status: SettingStatus) -> Sequence[SettingFinding]:
        return [finding for finding in self.settings if finding.status is status]


def setup_report(run_config: RunConfig, faults: Sequence[ConfigurationError] = ()) -> SetupReport:
    """Inspect the set-up of this run. Raises nothing."""
    in_settings = (translate(fault).splitlines()[0] for fault in faults)
    failed = [check for check in _fatal_checks(run_config) if check.exit_code]
    codes = [EXIT_CONFIGURATION] * len(faults) + [check.exit_code for check in failed]
    findings = inspect_findings(run_config, faults)
    return SetupReport(
        run_config.paths,
        (*in_settings, *(join_lazy(": ", (check.group, check.detail)) for check in failed)),
        tuple(EffectiveSettings(run_config).mark_overridden(findings)),
        (*environment_files(run_config), *find_setup_files(run_config)),
        tuple(ineffective_variables(run_config.environment)),
        exit_code=EXIT_CONFIGURATION if EXIT_CONFIGURATION in codes else next(iter(codes), EXIT_OK),
    )


def _fatal_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    """The checks besides those of settings files that say whether a run would end at once."""
    environment = run_config.environment
    yield from configuration_checks(run_config, process_environment=environment, default_model=DEFAULT_MODEL)
    yield from security_checks(run_config)


def _text(finding: SettingFinding) -> str:
    """What the heading does not say about a key."""
    if finding.status is SettingStatus.OBEYED:
        text = _value(finding)
    elif (suggestion := finding.suggestion) is not None:
        text = lazy("did you mean {nearest}?", nearest=suggestion)
    else:
        text = finding.reason
    if finding.present_name is None or finding.is_overridden:
        return text
    return lazy("{text} (old name of {present})", text=text, present=finding.present_name)


def _heading(title: str, count: int) -> str:
    return join_lazy("", (title, f" ({count})"))


def _value(finding: SettingFinding) -> str:
    """A value as it is in the file; what is in lists and objects is only counted, because it may be secret."""
    match finding.value.node.value:
        case bool(value):
            return "true" if value else "false"
        case list(items):
            return lazy_plural("{count} entry", "{count} entries", len(items))
        case dict(members):
            return ", ".join(members)
        case str(text):
            return lazy("(not shown)") if finding.value.may_be_secret else text
        case value:
            return str(value)


def _finding_json(finding: SettingFinding, *, has_suggestion: bool) -> JsonObject:
    path, _, line = finding.source.rpartition(":")
    found: dict[str, str | int] = {"key": finding.key, "file": path, "line": int(line), "status": finding.status.value}
    if finding.present_name is not None:
        found["present_name"] = finding.present_name
    if has_suggestion and (suggestion := finding.suggestion) is not None:
        found["suggestion"] = suggestion
    if finding.reason and finding.status is not SettingStatus.OBEYED:
        found["reason"] = str(finding.reason)
    return found
