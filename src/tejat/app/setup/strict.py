"""Strict settings: a run ends if a setting is unknown, retired or wrong, or a list names an unknown tool."""

from tejat.app.run_config import RunConfig
from tejat.app.setup.settings_checks import describe_finding, inspect_findings
from tejat.app.setup.unknown_names import unknown_tools
from tejat.config.settings.inspection import STRICT_STATUSES
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import join_lazy, lazy, lazy_plural


def check_settings(run_config: RunConfig) -> None:
    """Raise ConfigurationError with all problems in the settings, each with file and line."""
    problems = [
        *(describe_finding(finding) for finding in inspect_findings(run_config) if finding.status in STRICT_STATUSES),
        *unknown_tools(run_config),
    ]
    if problems:
        count = len(problems)
        title = lazy_plural("{count} problem in the settings:", "{count} problems in the settings:", count)
        hint = lazy("Fix the settings, or run without strict settings.")
        raise ConfigurationError(join_lazy("\n", (title, *(join_lazy("", ("  ", each)) for each in problems), hint)))
