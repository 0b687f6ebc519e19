"""Settings without effect in a file: a project cannot set them so, or something else takes precedence."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import cast

from tejat.app.diagnostics.telemetry import telemetry_options
from tejat.app.run_config import RunConfig
from tejat.config.paths import SourceTier
from tejat.config.settings.inspection import SettingFinding, SettingStatus
from tejat.config.settings.known_keys import load_known_keys
from tejat.config.settings.merge import last_wins
from tejat.config.settings.schema import SETTINGS
from tejat.config.settings.types import DEFAULT_SOURCE, Setting
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy

_MODEL_TABLES = frozenset(
    f"modelConfigs.{name}"
    for name in ("modelDefinitions", "modelIdResolutions", "classifierIdResolutions", "modelChains")
)


class EffectiveSettings:
    """The settings of a run, for what becomes of a key in one of its files."""

    def __init__(self, run_config: RunConfig) -> None:
        self._run_config = run_config

    def mark_ineffective(self, findings: Sequence[SettingFinding]) -> Iterator[SettingFinding]:
        """The findings, in which keys have no effect that a project cannot set so, or that need another setting."""
        return (self._with_reason(finding, self._missing_right(finding)) for finding in findings)

    def mark_overridden(self, findings: Sequence[SettingFinding]) -> Iterator[SettingFinding]:
        """The findings, in which keys have no effect that another file or a variable overrides."""
        return (self._with_reason(finding, self._override(finding)) for finding in findings)

    @staticmethod
    def _with_reason(finding: SettingFinding, reason: str | None) -> SettingFinding:
        if reason is None:
            return finding
        return replace(finding, status=SettingStatus.NO_EFFECT, reason=reason)

    def _missing_right(self, finding: SettingFinding) -> str | None:
        key = finding.present_name or finding.key
        if finding.status is not SettingStatus.OBEYED:
            return None
        if key in _MODEL_TABLES and not self._run_config.settings.dynamic_model_configuration.value:
            return lazy("It needs {switch}.", switch="experimental.dynamicModelConfiguration")
        if finding.value.file.tier is not SourceTier.WORKSPACE:
            return None
        if key == "tools.allowed":
            return lazy("A project cannot allow calls.")
        known, value = load_known_keys().find(key), self._value(key)
        is_simple = not isinstance(finding.value.node.value, dict)
        if known is not None and known.project == "tighten" and is_simple and not self._is_from(value, finding):
            return lazy("A project can only make it stricter.")
        return None

    def _override(self, finding: SettingFinding) -> str | None:
        key = finding.present_name or finding.key
        if finding.status is not SettingStatus.OBEYED:
            return None
        if key == "telemetry":
            export = self._telemetry_export
            if export is not None and export.source == finding.source:
                return lazy("Nothing is sent; `outfile` writes events to a local file.")
        value = self._value(key)
        is_replaced = key in _REPLACED_KEYS and value is not None and value.source != DEFAULT_SOURCE
        if value is None or not is_replaced or self._is_from(value, finding):
            return None
        return lazy("{source} takes precedence.", source=value.source)

    def _value(self, key: str) -> Setting[object] | None:
        """The value that counts, None if it has parts from several places."""
        field = _FIELDS.get(key)
        value: object = None if field is None else getattr(self._run_config.settings, field)
        return cast("Setting[object]", value) if isinstance(value, Setting) else None

    @staticmethod
    def _is_from(value: Setting[object] | None, finding: SettingFinding) -> bool:
        return value is not None and value.source == finding.source

    @cached_property
    def _telemetry_export(self) -> Setting[str] | None:
        """What asks for events to be sent, if no file is written instead."""
        config = self._run_config
        try:
            options = telemetry_options(config.settings, config.environment, config.roots[0])
        except ConfigurationError:
            return None  # reported by another check
        return options.export if options.outfile is None else None


_FIELDS = {row.key.names[0]: row.field for row in SETTINGS}
_REPLACED_KEYS = frozenset(row.key.names[0] for row in SETTINGS if row.merge is last_wins)
"""Keys of which the last file wins."""
