"""Parsers of settings with structured values."""

import re
from typing import TYPE_CHECKING

from tejat.config.settings.file import SettingsError, SettingValue
from tejat.config.settings.types import Settings, TokenPrice
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy, map_lazy
from tejat.core.text.argv import parse_argv

if TYPE_CHECKING:
    from tejat.core.messages.types import JsonObject

COMMAND_EXPECTED = lazy("a command line or a list of arguments")
SANDBOX_EXPECTED = lazy("auto, required, off, true or false")
SANDBOX_MODES = {
    "auto": SandboxMode.AUTO,
    "required": SandboxMode.REQUIRED,
    "true": SandboxMode.REQUIRED,
    "1": SandboxMode.REQUIRED,
    "off": SandboxMode.OFF,
    "false": SandboxMode.OFF,
    "0": SandboxMode.OFF,
}


def parse_sandbox(found: SettingValue) -> SandboxMode:
    value = found.node.value
    mode = SANDBOX_MODES.get(value.lower() if isinstance(value, str) else str(value).lower())
    if mode is None or not isinstance(value, str | bool):
        raise found.error(SANDBOX_EXPECTED)
    return mode


def parse_variable_names(found: SettingValue) -> tuple[str, ...]:
    for entry in found.entries():
        if not (entry.string().isascii() and entry.string().isidentifier()):
            raise entry.error(lazy("a list of names of environment variables"))
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


def parse_file_names(found: SettingValue) -> tuple[str, ...]:
    """File names to look for in a directory. None may lead out of it."""
    entries = found.entries_or_one()
    for entry in entries:
        name = entry.string()
        if name.startswith("/") or not name.isprintable() or {".", "..", ""} & set(name.split("/")):
            raise entry.error(lazy("a file name or a list of file names"))
    return tuple(entry.string() for entry in entries) or Settings().context_file_names.value


def parse_negated_boolean(found: SettingValue) -> bool:
    """A setting that disables what our field enables."""
    return not found.boolean()


def parse_attempts(found: SettingValue) -> int:
    """The number of attempts for a request; more than 10 count as 10, as in Gemini CLI."""
    return min(found.count(), 10)


def parse_telemetry(found: SettingValue) -> "JsonObject":
    """The telemetry settings; `true` or `false` alone is the member `enabled`."""
    return found.json_object() if isinstance(found.node.value, dict) else {"enabled": found.boolean()}


def parse_import_format(found: SettingValue) -> str:
    return found.choice(("tree", "flat"))


def parse_price(found: SettingValue) -> TokenPrice:
    given = found.members()
    if not {"input", "output"} <= set(given):
        raise found.error(lazy("an object with input and output, dollars for a million tokens"))
    paid = given["input"].number()
    cached = given["cached"].number() if "cached" in given else paid
    return TokenPrice(paid, cached, given["output"].number())


def parse_output_format(found: SettingValue) -> str:
    return found.choice(("text", "json"))


def parse_output_limit(found: SettingValue) -> int | None:
    """Characters of a tool result, None for no limit. The former name is a switch."""
    if found.name != "tools.enableToolOutputTruncation":
        return found.limit()
    return Settings().output_characters.value if found.boolean() else None


def parse_retention_days(found: SettingValue) -> float | None:
    """Days to keep sessions, None for ever: a number, or an object with `maxAge` such as `30d`."""
    value = found.node.value
    if not isinstance(value, dict):
        return found.number() or None
    given = found.members()
    if "enabled" in given and not given["enabled"].boolean():
        return None
    if "maxAge" not in given:
        return Settings().session_days.value
    age = re.fullmatch(_AGE, given["maxAge"].string())
    if age is None:
        raise given["maxAge"].error(lazy("a number with h, d, w or m after it"))
    return int(age[1]) * _DAYS[age[2]]


_AGE = r"([1-9][0-9]{0,5})([hdwm])"
_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}
