"""Edits of single settings that preserve comments, order and layout."""

import os
import stat
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.jsonc import JsoncError, JsonNode, MemberSpan, parse_jsonc
from tejat.config.paths import AppPaths
from tejat.config.settings.file import SettingsError
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonValue
from tejat.workspace.files.private_files import write_private_file

_LOCK_TIMEOUT = 10.0
_DEFAULT_INDENT = "  "


def edit_settings(paths: AppPaths, path: str, change: Callable[[str], str], *, writers: AllowedWriters) -> None:
    """Apply a change to the text of a settings file, which is created if it is missing.

    `change` gets the text, `{}` for a new file. Safe for concurrent processes. Raises SettingsError for an invalid
    file, UsageError and OSError if it cannot be read or written; then it is unchanged.
    """
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o755 if writers is AllowedWriters.ANYONE else 0o700, exist_ok=True)
    with file_lock(settings_lock_path(paths, path), timeout=_LOCK_TIMEOUT):
        text = read_config_file(path, writers=writers)
        try:
            changed = change("{}\n" if text is None or not text.strip() else text)
        except JsoncError as error:
            raise SettingsError(str(error), path=path) from None
        if len(changed.encode()) > writers.max_bytes:
            message = lazy(
                "{path} would be larger than {size} MiB. Remove what you do not need.",
                path=path,
                size=writers.max_bytes // 2**20,
            )
            raise UsageError(message)
        if changed != text:
            write_private_file(path, changed, mode=_file_mode(path, writers))


def settings_lock_path(paths: AppPaths, path: str) -> str:
    """The lock of a settings file. It is not beside the file, to keep projects clean."""
    make_private_directory(paths.locks)
    return paths.lock(path)


def set_member(text: str, names: Sequence[str], given: JsonValue) -> str:
    """Set the value at a path of keys, creating missing objects.

    Raises JsoncError, and UsageError if a value on the path is not an object.
    """
    layout = _Layout(text)
    objects = layout.objects_along(names)
    missing = names[len(objects) - 1 :]
    inner = given
    for name in reversed(missing[1:]):
        inner = {name: inner}
    holder, name = objects[-1], missing[0]
    indent = layout.indent * len(objects)
    written = dump_json(inner, indent=layout.indent).replace("\n", f"\n{indent}")
    if name in holder.members:
        place = holder.members[name]
        return text[: place.value] + written + text[place.end :]
    entry = f"{dump_json(name)}: {written}"
    if not holder.members:
        outer = layout.indent * (len(objects) - 1)
        return f"{text[: holder.end - 1].rstrip()}\n{indent}{entry}\n{outer}{text[holder.end - 1 :]}"
    end = max(place.end for place in holder.members.values())
    comma = layout.comma_after(end)
    if comma is not None:
        return f"{text[: comma + 1]}\n{indent}{entry}{text[comma + 1 :]}"
    return f"{text[:end]},\n{indent}{entry}{text[end:]}"


def remove_member(text: str, names: Sequence[str]) -> str:
    """Remove the value at a path of keys, if there is one. Raises JsoncError and UsageError."""
    layout = _Layout(text)
    objects = layout.objects_along(names)
    place = objects[-1].members.get(names[-1]) if len(objects) == len(names) else None
    if place is None:
        return text
    start, end = place.key, place.end
    comma = layout.comma_after(end)
    before = None if comma is not None else layout.comma_before(place, objects[-1])
    if comma is not None:
        end = comma + 1
    while text[start - 1] in " \t":
        start -= 1
    if text[start - 1] == "\n" and text[end : end + 1] in ("\n", "\r"):
        start -= 1  # the whole line goes
    elif text[start - 1] == "\n":
        start = place.key  # what follows keeps the indentation
        while text[end : end + 1] in (" ", "\t"):
            end += 1
    # The comma before a removed last member goes too.
    kept = text[:start] if before is None else text[:before] + text[before + 1 : start]
    return kept + text[end:]


class _Object(NamedTuple):
    """An object in the text: the position after its closing brace, and the positions of its members."""

    end: int
    members: dict[str, MemberSpan]


class _Layout:
    """Positions of everything in a text. Raises JsoncError."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._members: dict[int, dict[str, MemberSpan]] = {}
        self._kept: list[dict[str, JsonNode]] = []
        self._top = parse_jsonc(text, self._record_member)

    def _record_member(self, owner: dict[str, JsonNode], key: str, place: MemberSpan) -> None:
        if id(owner) not in self._members:
            self._kept.append(owner)  # keeps its id() from being reused
        self._members.setdefault(id(owner), {})[key] = place

    def objects_along(self, names: Sequence[str]) -> list[_Object]:
        """The outermost object and those inside it along the path, as far as they exist."""
        if not isinstance(self._top.value, dict):
            raise UsageError(lazy("The settings must be an object in {}."))
        members, node = self._members.get(id(self._top.value), {}), self._top.value
        objects = [_Object(self._top_level_end(members), members)]
        for depth, name in enumerate(names[:-1], 1):
            inner = node.get(name)
            if inner is None:
                break
            if not isinstance(inner.value, dict):
                where = ".".join(names[:depth])
                raise UsageError(
                    lazy("{names} in the settings is not an object, so nothing can be added to it.", names=where)
                )
            place = members[name]
            members, node = self._members.get(id(inner.value), {}), inner.value
            objects.append(_Object(place.end, members))
        return objects

    def comma_after(self, position: int) -> int | None:
        """The next comma, after white space and comments."""
        position = self._skip_space(position)
        return position if self._text.startswith(",", position) else None

    def comma_before(self, place: MemberSpan, owner: _Object) -> int | None:
        """The comma before the last of several members."""
        earlier = [other.end for other in owner.members.values() if other.end < place.key]
        return None if not earlier else self.comma_after(max(earlier))

    def _skip_space(self, position: int) -> int:
        text = self._text
        while position < len(text):
            if text[position] in " \t\r\n":
                position += 1
            elif text.startswith("//", position):
                end = text.find("\n", position)
                position = len(text) if end < 0 else end
            elif text.startswith("/*", position):
                position = text.index("*/", position) + 2
            else:
                break
        return position

    def _top_level_end(self, members: dict[str, MemberSpan]) -> int:
        last = max((place.end for place in members.values()), default=self._skip_space(0) + 1)
        comma = self.comma_after(last)
        return self._skip_space(last if comma is None else comma + 1) + 1

    @property
    def indent(self) -> str:
        """The indentation that the file uses."""
        members = self._members.get(id(self._top.value), {})
        for place in members.values():
            before = self._text[self._text.rfind("\n", 0, place.key) + 1 : place.key]
            if before and not before.strip(" \t"):
                return before
        return _DEFAULT_INDENT


def _file_mode(path: str, writers: AllowedWriters) -> int:
    """An existing file keeps its mode; a new one is private unless it belongs to a project."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        return 0o644 if writers is AllowedWriters.ANYONE else 0o600
