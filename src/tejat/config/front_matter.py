"""Markdown files with YAML front matter: the definitions of skills and agents."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tejat.config.yaml_values import UnsupportedYaml, YamlError, parse_yaml
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import hidden_characters, strip_hidden

MAX_FILE_BYTES = 512 * 1024
MAX_BYTES = 64 * 1024
"""The limit for the front matter alone."""

YamlParser: TypeAlias = Callable[..., JsonValue]
"""A function like `parse_yaml`."""
_FIRST_LINE = 2
_MARKER = re.compile(r"---[ \t]*\n")
_END = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_SHOWN_FIELDS = ("name", "description", "display_name")
_KEY = r"""["']?([A-Za-z_][\w.-]*)["']?[ \t]*:(?:[ \t]+(.*))?"""
_BLOCK_MARKER = r"[|>][-+0-9]*"


class FrontMatterError(ValueError):
    """A file whose front matter cannot be used. The message is one line without the name of the file."""


class FrontMatter(Frozen):
    """The fields and the body of a file.

    With `is_fallback` the YAML was invalid, and `fields` has only `name` and `description`, read line by line;
    `unread` are the other keys. `notes` tell the user what was changed or lost, without the name of the file.
    """

    fields: Mapping[str, JsonValue]
    body: str
    is_fallback: bool = False
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def text(self, key: str) -> str | None:
        """A field as text, None if it is missing or no scalar. Numbers and booleans are written as in JSON."""
        match self.fields.get(key):
            case str() as text:
                return text
            case bool() as switch:
                return "true" if switch else "false"
            case int() | float() as number:
                return str(number)
            case _:
                return None


def parse_front_matter(text: str, *, parse: YamlParser = parse_yaml) -> FrontMatter:
    """Parse the text of a file, with LF or CRLF line ends and with or without a byte order mark.

    Hidden characters are removed from names, descriptions and the body. `parse` may be a cache of `parse_yaml`.
    Raises FrontMatterError.
    """
    header, body = _split(text)
    try:
        fields = parse(header, first_line=_FIRST_LINE) or dict[str, JsonValue]()
    except UnsupportedYaml as error:
        raise FrontMatterError(lazy("unsupported front matter: {why}", why=error)) from None
    except YamlError as error:
        return _parse_lines(header, body, error)
    if not isinstance(fields, Mapping):
        raise FrontMatterError(lazy("the front matter does not consist of lines like 'name: value'"))
    return _clean(fields, body)


def front_matter_list(text: str) -> tuple[Mapping[str, JsonValue], ...]:
    """The maps in front matter that is a list, empty if it is none. Raises FrontMatterError."""
    header, _body = _split(text)
    if not header.lstrip().startswith("- "):
        return ()
    try:
        items = parse_yaml(header, first_line=_FIRST_LINE)
    except YamlError as error:
        raise FrontMatterError(lazy("invalid front matter: {why}", why=error)) from None
    maps = [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    if not isinstance(items, list) or len(maps) < len(items):
        raise FrontMatterError(lazy("the front matter is not a list of maps"))
    return tuple(maps)


def _split(text: str) -> tuple[str, str]:
    """The front matter and the body of a file. Raises FrontMatterError."""
    if _is_longer(text, MAX_FILE_BYTES):
        raise FrontMatterError(lazy("larger than {size} KB", size=MAX_FILE_BYTES // 1024))
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    start = _MARKER.match(text)
    if start is None:
        raise FrontMatterError(lazy("no front matter: the first line must be ---"))
    end = _END.search(text, start.end())
    if end is None:
        raise FrontMatterError(lazy("the front matter has no closing line ---"))
    header = text[start.end() : end.start()]
    if _is_longer(header, MAX_BYTES):
        raise FrontMatterError(lazy("the front matter is larger than {size} KB", size=MAX_BYTES // 1024))
    return header, text[end.end() :].strip()


def _is_longer(text: str, limit: int) -> bool:
    return len(text) > limit or len(text.encode("utf-8", "surrogatepass")) > limit


def _clean(fields: Mapping[str, JsonValue], body: str, *notes: str) -> FrontMatter:
    """Remove hidden characters from what users and models read, and report them."""
    cleaned = dict(fields)
    notices = list(notes)
    for key in _SHOWN_FIELDS:
        text = cleaned.get(key)
        if isinstance(text, str):
            cleaned[key] = strip_hidden(text).strip()
            _report_hidden(key, text, notices)
    _report_hidden("body", body, notices)
    return FrontMatter(cleaned, strip_hidden(body), notes=tuple(notices))


def _report_hidden(place: str, text: str, notices: list[str]) -> None:
    if listed := hidden_characters(text):
        notices.append(
            lazy("the {place} contains hidden characters ({listed}), which are removed", place=place, listed=listed)
        )


def _parse_lines(header: str, body: str, error: ValueError) -> FrontMatter:
    """Read name and description from front matter that is not valid YAML, as Gemini CLI does for skills.

    Raises FrontMatterError if it has neither, or one of them twice.
    """
    found: dict[str, list[str]] = {}
    unread: list[str] = []
    current: list[str] | None = None
    for line in header.splitlines():
        if current is not None and line[:1] in (" ", "\t"):
            current.append(line.strip())
            continue
        current = None
        key = re.fullmatch(_KEY, line)
        if key is None:
            continue
        name, first = key.group(1), (key.group(2) or "").strip()
        if name not in ("name", "description"):
            unread.append(name)
            continue
        if name in found:
            raise FrontMatterError(lazy("unsupported front matter: the key '{key}' is defined twice", key=name))
        found[name] = [first]
        current = found[name] if name == "description" else None
    if not found:
        raise FrontMatterError(lazy("invalid front matter: {why}", why=error))
    note = lazy("invalid front matter: {why}. Only name and description are used", why=error)
    parsed = _clean({key: _join(lines) for key, lines in found.items()}, body, note)
    return FrontMatter(parsed.fields, parsed.body, is_fallback=True, unread=tuple(unread), notes=parsed.notes)


def _join(lines: list[str]) -> str:
    """The lines of a value as one text, without quotes around it or the sign of a block."""
    if re.fullmatch(_BLOCK_MARKER, lines[0]):
        lines = lines[1:]
    text = " ".join(filter(None, lines))
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    return text
