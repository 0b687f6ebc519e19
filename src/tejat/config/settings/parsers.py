"""Parsers of settings with structured values."""

import re
from typing import TYPE_CHECKING

from tejat.config.settings.file import ReplacedValue, SettingKey, SettingsError, SettingValue
from tejat.config.settings.types import (
    DEFAULT_RETENTION,
    DEFAULT_SETTINGS,
    TELEMETRY_WORDS,
    SessionRetention,
    TokenPrice,
)
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy, map_lazy
from tejat.core.text.argv import parse_argv

if TYPE_CHECKING:
    from tejat.core.messages.types import JsonObject, JsonValue
    from tejat.core.ui.theme_colours import ThemeColours

COMMAND_EXPECTED = lazy("a command line or a list of arguments")


def parse_approval_mode(found: SettingValue) -> ApprovalMode:
    """The mode of new sessions. YOLO can only be asked for on the command line, so that it counts as `default`."""
    if found.node.value == ApprovalMode.YOLO.value:
        raise ReplacedValue(found.error(lazy("default, auto_edit or plan")), ApprovalMode.DEFAULT)
    names = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.PLAN)
    return ApprovalMode(found.choice(tuple(mode.value for mode in names)))


def parse_variable_names(found: SettingValue) -> tuple[str, ...]:
    for entry in found.entries():
        if not (entry.string().isascii() and entry.string().isidentifier()):
            raise entry.error(lazy("a list of environment variable names"))
    return found.strings()


def parse_command(found: SettingValue) -> tuple[str, ...]:
    """A command, written as a line or as a list of arguments."""
    resolve, written = found.file.resolve, found.node.value
    if isinstance(written, str):
        given: str | list[str] = resolve(written)
    elif isinstance(written, list):
        given = []
        for node in written:
            if not isinstance(node.value, str):
                raise found.error(COMMAND_EXPECTED, node)
            given.append(resolve(node.value))
    else:
        raise found.error(COMMAND_EXPECTED)
    try:
        return parse_argv(given, label=lazy("line {line}: {name}", line=found.node.line, name=found.name))
    except UsageError as error:
        raise SettingsError(map_lazy(str(error), lambda text: text.removesuffix(".")), path=found.file.path) from None


def parse_context_file_names(found: SettingValue) -> tuple[str, ...]:
    """Names of context files; the usual ones for an empty list."""
    return parse_file_names(found) or DEFAULT_SETTINGS.context_file_names.value


def parse_file_names(found: SettingValue) -> tuple[str, ...]:
    """File names to look for in a directory. None may lead out of it."""
    entries = found.entries_or_one()
    for entry in entries:
        name = entry.string()
        if name.startswith("/") or not name.isprintable() or {".", "..", ""} & set(name.split("/")):
            raise entry.error(lazy("a file name or a list of file names"))
    return tuple(entry.string() for entry in entries)


def parse_negated_boolean(found: SettingValue) -> bool:
    """A setting that disables what our field enables."""
    return not found.boolean()


def parse_attempts(found: SettingValue) -> int:
    """The number of attempts for a request; more than 10 count as 10, as in Gemini CLI."""
    return min(found.count(), 10)


def parse_telemetry(found: SettingValue) -> "JsonObject":
    """The telemetry settings; `true` or `false` alone is the member `enabled`. A wrong destination ends the run."""
    if not isinstance(found.node.value, dict):
        return {"enabled": found.boolean()}
    given = found.members()
    values: dict[str, JsonValue] = {name: given[name].boolean() for name in _TELEMETRY_SWITCHES if name in given}
    values |= {name: given[name].string() for name in ("otlpEndpoint", "outfile") if name in given}
    for name, words in TELEMETRY_WORDS.items():
        if name in given:
            try:
                values[name] = given[name].choice(words)
            except SettingsError as error:
                raise SettingsError(error.problem, path=error.path, value=error.value, ends_runs=True) from None
    return values


_TELEMETRY_SWITCHES = ("enabled", "traces", "logPrompts", "useCollector", "useCliAuth")


def parse_hook_entry(found: SettingValue) -> "JsonValue":
    """An entry in a list of `hooks` or `hooksConfig`. References in hooks are for a shell to expand."""
    match found.name.rpartition(".")[2]:
        case "enabled" | "notifications":
            return found.boolean()
        case "disabled":
            return found.string()
        case _:
            return found.raw_json()


def parse_import_format(found: SettingValue) -> str:
    return found.choice(("tree", "flat"))


def parse_price(found: SettingValue) -> TokenPrice:
    given = found.members()
    if not {"input", "output"} <= set(given):
        raise found.error(lazy("an object with input and output, in dollars per million tokens"))
    paid = given["input"].number()
    cached = given["cached"].number() if "cached" in given else paid
    written = given["cacheWrite"].number() if "cacheWrite" in given else paid
    return TokenPrice(paid, cached, given["output"].number(), written)


def parse_background_completion(found: SettingValue) -> str:
    return found.choice(("silent", "notify", "inject"))


def parse_inline_thinking(found: SettingValue) -> str:
    return found.choice(("off", "full"))


def parse_notification_method(found: SettingValue) -> str:
    # Imported late: few files have it.
    from tejat.core.ui.status import NotificationMethod

    return found.choice(tuple(NotificationMethod))


def parse_fuzzy_search(found: SettingValue) -> bool:
    """Return whether it is enabled. The old name has the opposite meaning."""
    return found.boolean() != found.name.endswith(".disableFuzzySearch")


def parse_status_items(found: SettingValue) -> tuple[str, ...]:
    # Imported late: few files have it.
    from tejat.core.ui.status import StatusItem

    for entry in found.entries():
        entry.choice(tuple(StatusItem))
    return found.strings()


def parse_output_format(found: SettingValue) -> str:
    return found.choice(("text", "json"))


def parse_output_limit(found: SettingValue) -> int | None:
    """Characters of a tool result, None for no limit. The former name is a switch."""
    if found.name != "tools.enableToolOutputTruncation":
        return found.limit()
    return DEFAULT_SETTINGS.output_characters.value if found.boolean() else None


def parse_session_retention(found: SettingValue) -> SessionRetention:
    """How long sessions are kept: a number of days, 0 for ever, or an object as in Gemini CLI."""
    if not isinstance(found.node.value, dict):
        return SessionRetention(max_days=found.number() or None, min_days=0)
    given, default = found.members(), DEFAULT_RETENTION
    if "enabled" in given and not given["enabled"].boolean():
        return SessionRetention(max_days=None)
    retention = SessionRetention(
        max_days=_parse_age(given["maxAge"]) if "maxAge" in given else default.max_days,
        max_count=given["maxCount"].count() if "maxCount" in given else None,
        min_days=_parse_age(given["minRetention"]) if "minRetention" in given else default.min_days,
    )
    if retention.max_days is not None and retention.max_days < retention.min_days:
        error = (given.get("maxAge") or given["minRetention"]).error(
            lazy("at least minRetention ({days:g} days)", days=retention.min_days)
        )
        raise ReplacedValue(error, SessionRetention(max_days=None))
    return retention


def parse_custom_theme(found: SettingValue) -> "ThemeColours":
    """The colours of a custom theme."""
    from tejat.config.settings.themes.custom_theme import read_custom_theme

    return read_custom_theme(found)


FORMER_AGENT_SETTINGS = {
    "experimental.codebaseInvestigatorSettings": "codebase_investigator",
    "experimental.cliHelpAgentSettings": "cli_help",
    "experimental.introspectionAgentSettings": "cli_help",
}
"""Settings of single agents before there was `agents.overrides`, and the names of the agents."""


def parse_agent_overrides(found: SettingValue) -> "dict[str, JsonObject]":
    """Parse `agents.overrides`, or all of its predecessors in the same file, as objects by the name of the agent.

    References in them are left alone: those in the entries of servers are expanded when the servers start.
    """
    if found.name not in FORMER_AGENT_SETTINGS:
        return {name: _raw_object(member) for name, member in found.members().items()}
    overrides: dict[str, JsonObject] = {}
    # The first name has precedence: two of them mean the same agent.
    for name, agent in reversed(FORMER_AGENT_SETTINGS.items()):
        former = found.file.find(SettingKey(name))
        if former is not None:
            overrides[agent] = _present_agent_settings(_raw_object(former))
    return overrides


def _raw_object(found: SettingValue) -> "JsonObject":
    return {name: member.raw_json() for name, member in found.members().items()}


def _present_agent_settings(former: "JsonObject") -> "JsonObject":
    """The settings of a single agent as they are written in `agents.overrides`."""
    present: dict[str, JsonValue] = {"enabled": former["enabled"]} if "enabled" in former else {}
    names = {"maxTurns": "maxNumTurns", "maxTimeMinutes": "maxTimeMinutes"}
    if limits := {name: former[each] for name, each in names.items() if each in former}:
        present["runConfig"] = limits
    if "model" in former:
        present["modelConfig"] = {"model": former["model"]}
    return present


def _parse_age(found: SettingValue) -> float:
    age = re.fullmatch(_AGE, found.string())
    if age is None:
        raise found.error(lazy("a number followed by h, d, w or m"))
    return int(age[1]) * _DAYS[age[2]]


_AGE = r"([1-9][0-9]{0,5})([hdwm])"
_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}
