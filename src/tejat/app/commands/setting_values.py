"""One setting as a person sees and changes it: its name, its value in words, who set it, and what it may be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import cast

from tejat.app.commands.premises import DeskParts
from tejat.config import settings_values as readers
from tejat.config.json_with_comments import read_json
from tejat.config.places import SourceTier
from tejat.config.references import resolver
from tejat.config.settings import Setting, Settings
from tejat.config.settings_edit import with_member
from tejat.config.settings_file import SettingsError, SettingsFile, read_settings_file
from tejat.config.settings_table import ROWS, TIGHTENING, Row
from tejat.core.errors import UsageError
from tejat.core.json_text import NotJson, dump_json, load_json
from tejat.core.types import JsonValue
from tejat.core.value import value
from tejat.core.words import joined, say

AT_ONCE = frozenset({"ui.theme", "ui.animations", "general.vimMode", "general.preferredEditor"})
"""Settings that need no new session."""
ALL_ROWS = (*ROWS, *TIGHTENING)
_MAY_BE_SECRET = frozenset({"model.baseUrl", "web.searchUrl"})


@value
class ShownSetting:
    """`value` and `source` are words; both are empty where nobody set it and it has no default."""

    name: str
    value: str
    source: str
    is_switch: bool


def find_row(name: str) -> Row:
    """The setting that is called so now, or was once, however it is spelled. Raises UsageError."""
    wanted = name.casefold()
    for row in ALL_ROWS:
        if wanted in (each.casefold() for each in row.key.names):
            return row
    raise UsageError(say("There is no setting {name}. /settings list shows all of them.", name=name))


def shown_settings(settings: Settings) -> Iterator[ShownSetting]:
    for row in sorted(ALL_ROWS, key=lambda row: row.key.names[0]):
        yield shown_setting(settings, row)


def shown_setting(settings: Settings, row: Row) -> ShownSetting:
    name, kept = row.key.names[0], getattr(settings, row.field)
    if isinstance(kept, Setting):
        given = cast("Setting[object]", kept)
        plain = not given.value if row.read is readers.switched_off else given.value
        words = say("(not shown)") if name in _MAY_BE_SECRET else in_words(plain)
        return ShownSetting(name, words, given.source, isinstance(plain, bool))
    if isinstance(kept, Mapping):
        return ShownSetting(name, ", ".join(map(str, cast("Mapping[str, object]", kept))), "", is_switch=False)
    entries = cast("tuple[Setting[object], ...]", kept or ())
    sources = joined(", ", dict.fromkeys(entry.source for entry in entries))
    return ShownSetting(name, ", ".join(in_words(entry.value) for entry in entries), sources, is_switch=False)


def in_words(given: object) -> str:
    match given:
        case bool():
            return "true" if given else "false"
        case None:
            return say("none")
        case float():
            return f"{given:g}"
        case tuple() | list():
            return ", ".join(map(in_words, cast("Sequence[object]", given)))
        case Mapping():
            return ", ".join(map(str, cast("Mapping[str, object]", given)))
        case _:
            return str(given)


def value_typed(parts: DeskParts, row: Row, typed: str) -> JsonValue:
    """What is meant by what was typed: JSON, a text, or words with commas. Raises UsageError that tells why not."""
    name = row.key.names[0]
    if isinstance(getattr(Settings(), row.field), Mapping):
        raise UsageError(
            say("{name} is made of several entries. Change it in {path}.", name=name, path=parts.settings_path)
        )
    problem = ""
    for given in _readings(typed):
        try:
            _check(parts, row, given)
        except SettingsError as error:
            problem = problem or re.sub(r"\Aline \d+: ", "", error.problem)
        else:
            return given
    raise UsageError(say("Nothing was changed: {problem}.", problem=problem))


def _readings(typed: str) -> list[JsonValue]:
    found: list[JsonValue] = []
    with suppress(NotJson):
        found.append(cast("JsonValue", load_json(typed)))
    return [*found, typed, [word.strip() for word in typed.split(",")]]


def _check(parts: DeskParts, row: Row, given: JsonValue) -> None:
    """Read it as if it stood in a file. Raises SettingsError."""
    text = with_member("{}", row.key.names[0].split("."), given)
    members = read_json(text).value
    assert isinstance(members, dict)
    file = SettingsFile(
        parts.settings_path, SourceTier.USER, members, resolver(parts.ground.environment, SourceTier.USER)
    )
    found = file.find(row.key)
    if found is None:
        raise SettingsError(f"{row.key.names[0]} must not be {dump_json(given)}", path=parts.settings_path)
    row.read(found)


def name_in_file(parts: DeskParts, row: Row) -> str:
    """The name under which the person's own file has the setting, else the one that it is called by now.

    Raises SettingsError and ConfigurationError.
    """
    file = read_settings_file(parts.settings_path, SourceTier.USER, parts.ground.environment)
    found = None if file is None else file.find(row.key)
    return row.key.names[0] if found is None else found.name
