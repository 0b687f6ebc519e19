"""Settings as the user sees and types them: names, formatted values, sources, parsing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import cast

from tejat.app.commands.base import CommandContext
from tejat.config.env_expansion import env_resolver
from tejat.config.jsonc import parse_jsonc
from tejat.config.paths import SourceTier
from tejat.config.settings.destination import settings_path_for
from tejat.config.settings.editor import set_member
from tejat.config.settings.file import SettingsError, SettingsFile
from tejat.config.settings.parsers import parse_negated_boolean
from tejat.config.settings.schema import SETTINGS
from tejat.config.settings.schema.spec import SettingSpec
from tejat.config.settings.types import SessionRetention, Setting, Settings
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, join_lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue

IMMEDIATE_SETTINGS = frozenset(
    {
        *("ui.theme", "ui.customThemes", "ui.useBackgroundColor", "ui.showLineNumbers", "ui.animations"),
        *("general.vimMode", "general.preferredEditor"),
    }
)
"""Settings that need no new session."""
_SENSITIVE = frozenset({"model.baseUrl", "web.searchUrl"})


class SettingView(Frozen):
    """A setting as text. `value` and `source` are empty if it is not set and has no default."""

    name: str
    value: str
    source: str
    is_switch: bool


def find_setting(name: str) -> SettingSpec:
    """Find a setting by its present or a former name, ignoring case. Raises UsageError."""
    folded = name.casefold()
    for row in SETTINGS:
        if folded in (each.casefold() for each in row.key.names):
            return row
    raise UsageError(_("Unknown setting {name}. /settings list shows all settings.", name=name))


def setting_views(settings: Settings) -> Iterator[SettingView]:
    for row in sorted(SETTINGS, key=lambda row: row.key.names[0]):
        yield setting_view(settings, row)


def setting_view(settings: Settings, row: SettingSpec) -> SettingView:
    name, configured = row.key.names[0], getattr(settings, row.field)
    if isinstance(configured, Setting):
        given = cast("Setting[object]", configured)
        plain = not given.value if row.read is parse_negated_boolean else given.value
        words = _("(not shown)") if name in _SENSITIVE else format_value(plain)
        return SettingView(name, words, given.source, isinstance(plain, bool))
    if isinstance(configured, Mapping):
        return SettingView(name, ", ".join(map(str, cast("Mapping[str, object]", configured))), "", is_switch=False)
    entries = cast("tuple[Setting[object], ...]", configured or ())
    sources = join_lazy(", ", dict.fromkeys(entry.source for entry in entries))
    return SettingView(name, ", ".join(format_value(entry.value) for entry in entries), sources, is_switch=False)


def format_value(given: object) -> str:
    match given:
        case bool():
            return "true" if given else "false"
        case None:
            return _("none")
        case float():
            return f"{given:g}"
        case SessionRetention(max_days=days, max_count=count):
            kept = _("none") if days is None else f"{days:g}d"
            return kept if count is None else f"{kept}, {count}"
        case tuple() | list():
            return ", ".join(map(format_value, cast("Sequence[object]", given)))
        case Mapping():
            return ", ".join(map(str, cast("Mapping[str, object]", given)))
        case _:
            return str(given)


def parse_value(context: CommandContext, row: SettingSpec, typed: str) -> JsonValue:
    """Parse typed text as JSON, a string, or a comma-separated list. Raises UsageError with the reason."""
    name = row.key.names[0]
    if isinstance(getattr(Settings(), row.field), Mapping):
        path = settings_path_for(context.run_config.paths, name, {})
        raise UsageError(_("{name} has several entries. Edit it in {path}.", name=name, path=path))
    problem = ""
    for given in _interpretations(typed):
        try:
            _validate(context, row, given)
        except SettingsError as error:
            problem = problem or re.sub(r"\Aline \d+: ", "", error.problem)
        else:
            return given
    raise UsageError(_("Nothing was changed: {problem}.", problem=problem))


def _interpretations(typed: str) -> list[JsonValue]:
    found: list[JsonValue] = []
    with suppress(InvalidJson):
        found.append(cast("JsonValue", load_json(typed)))
    return [*found, typed, [word.strip() for word in typed.split(",")]]


def _validate(context: CommandContext, row: SettingSpec, given: JsonValue) -> None:
    """Check the value as if it were in a file. Raises SettingsError."""
    name = row.key.names[0]
    path = settings_path_for(context.run_config.paths, name, given)
    members = parse_jsonc(set_member("{}", name.split("."), given)).value
    assert isinstance(members, dict)
    resolve = env_resolver(context.run_config.environment, SourceTier.USER)
    found = SettingsFile(path, SourceTier.USER, members, resolve).find(row.key)
    if found is None:
        raise SettingsError(f"{name} must not be {dump_json(given)}", path=path)
    row.read(found)
