"""Transformations that add or remove one level of escaping."""

import re
from collections.abc import Callable, Sequence

from tejat.tools.edit.repair.string_literals import breaks_inside_literal, has_broken_literal

TextTransform = Callable[[str], str]

_PLAIN = {"n": "\n", "t": "\t", "r": "\r"}
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos|nbsp)|#(\d{1,6})|#[xX]([0-9a-fA-F]{1,5}));")
_CODE = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
"""A character by its code; two surrogates for those beyond 0xFFFF."""
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "nbsp": "\N{NO-BREAK SPACE}"}


def _unescaper(pattern: str) -> TextTransform:
    """Create a function that undoes the escapes matching the pattern."""
    escape = re.compile(rf"\\({pattern})")

    def plain(found: re.Match[str]) -> str:
        sign = found[1]
        if len(sign) == 1:
            return _PLAIN.get(sign, sign)
        units = [int(unit, 16) for unit in sign[1:].split("\\u")]
        if len(units) == 2:
            return chr(0x10000 + ((units[0] - 0xD800) << 10) + units[1] - 0xDC00)
        # A lone surrogate is no character.
        return found[0] if 0xD800 <= units[0] <= 0xDFFF else chr(units[0])

    return lambda text: escape.sub(plain, text)


UNESCAPES: tuple[TextTransform, ...] = (
    _unescaper(rf"""[ntr"'`\\/]|{_CODE}"""),
    _unescaper('"'),
    _unescaper("'"),
    _unescaper(r"""["'`]"""),
    _unescaper(r"""["'`\\]"""),
    _unescaper(r"\\"),
    _unescaper(r"[ntr]"),
    _unescaper(_CODE),
)
"""Ways to undo one level of escaping, for all escapes or for some kinds."""


def unescape_like(old: str, new: str, undo: TextTransform) -> str:
    """Unescape the new text in the same way as the old one.

    Escaped line breaks and tabs stay if they belong to the code: the old text has real line breaks and no such escapes,
    or unescaping would break a string literal.
    """
    if _CONTROL_ESCAPE.search(new) is None or undo(r"\n") == r"\n":
        return undo(new)
    is_of_the_code = "\n" in old.strip("\n") and _CONTROL_ESCAPE.search(old.replace(r"\\", "")) is None
    if not is_of_the_code and has_broken_literal(undo(old)):
        return undo(new)
    parts = re.split(r"(\\\\|\\[nrt])", new)
    line = parts[0].rpartition("\n")[2]
    for index in range(1, len(parts), 2):
        escape = parts[index]
        if escape != r"\\" and (is_of_the_code or _is_in_literal(parts, index, line, undo)):
            parts[index] = _HELD_ESCAPES[escape[1]]
        line = "" if parts[index] == r"\n" else line + parts[index]
        line = (line + parts[index + 1]).rpartition("\n")[2]
    undone = undo("".join(parts))
    return undone.translate({ord(held): f"\\{letter}" for letter, held in _HELD_ESCAPES.items()})


def _is_in_literal(parts: Sequence[str], index: int, line: str, undo: TextTransform) -> bool:
    """Check whether an escape is inside a string literal; `line` precedes it on its line."""
    before = undo(line).rpartition("\n")[2]
    if parts[index] == r"\t":
        # A tab breaks no line: the text before it shows whether it is inside a literal.
        return breaks_inside_literal(before, before)
    end = index + 1
    while end < len(parts) and parts[end] != r"\n" and "\n" not in parts[end]:
        end += 1
    return breaks_inside_literal(before, undo("".join(parts[index + 1 : end + 1])).partition("\n")[0])


_CONTROL_ESCAPE = re.compile(r"\\[nrt]")
_HELD_ESCAPES = {"n": "\ufdd0", "r": "\ufdd1", "t": "\ufdd2"}
"""Noncharacters that replace the escapes to keep."""


def has_same_escaping(old: str, new: str) -> bool:
    """Check that the new text has nothing bare that is always escaped in the old one; else it was escaped with care."""
    pairs = ((escaped, bare) for escaped, bare in _ESCAPED_AND_BARE if bare.search(new))
    return not any(escaped.search(old) and not bare.search(old) for escaped, bare in pairs)


_ESCAPED_AND_BARE = (
    (re.compile(r"(?<!\\)\\n"), re.compile("\n")),
    (re.compile(r"(?<!\\)\\t"), re.compile("\t")),
    (re.compile(r'\\"'), re.compile(r'(?<!\\)"')),
    (re.compile(r"\\'"), re.compile(r"(?<!\\)'")),
)


def _escaper(*signs: str) -> TextTransform:
    """Create a function that escapes these characters, one kind after the other."""

    def escape(text: str) -> str:
        for sign in signs:
            text = text.replace(sign, _ESCAPED_BREAKS.get(sign, f"\\{sign}"))
        return text

    return escape


_ESCAPED_BREAKS = {"\n": "\\n", "\t": "\\t"}


def _escape_inner_tabs(text: str) -> str:
    return re.sub(r"(?<=\S)([ \t]*)\t", lambda found: found[1].replace("\t", r"\t") + r"\t", text)


def _escape_non_ascii(text: str) -> str:
    if text.isascii():
        return text
    return "".join(sign if sign.isascii() or ord(sign) > 0xFFFF else f"\\u{ord(sign):04x}" for sign in text)


ESCAPES: tuple[TextTransform, ...] = (
    _escaper('"'),
    _escaper("'"),
    _escaper("\\"),
    _escaper("\\", '"'),
    _escaper("\\", "'"),
    _escape_inner_tabs,
    _escape_non_ascii,
    _escaper("\n", "\t"),
    _escaper("\\", '"', "\n", "\t"),
)
"""Ways to add a level of escaping."""


def unescape_entities(text: str) -> str:
    """Replace HTML entities by their characters."""

    def plain(found: re.Match[str]) -> str:
        name, decimal, hexadecimal = found.groups()
        if name:
            return _NAMED[name]
        code = int(decimal) if decimal else int(hexadecimal, 16)
        return chr(code) if code < 0xD800 or 0xDFFF < code <= 0x10FFFF else found[0]

    return _ENTITY.sub(plain, text)


def has_entities(text: str) -> bool:
    return "&" in text and _ENTITY.search(text) is not None


def uses_only_entities(*texts: str) -> bool:
    """Check that no character occurs both bare and as an entity."""
    entities = {found[0] for text in texts for found in _ENTITY.finditer(text)}
    rest = "".join(_ENTITY.sub("", text) for text in texts)
    return bool(entities) and not any(unescape_entities(entity) in rest for entity in entities)


def _entity_escaper(*signs: str) -> TextTransform:
    names = {"<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}

    def respell(text: str) -> str:
        for sign in signs:
            # Ampersands first, except those of existing entities.
            text = _LONE_AMPERSAND.sub("&amp;", text) if sign == "&" else text.replace(sign, names[sign])
        return text

    return respell


_LONE_AMPERSAND = re.compile(r"&(?!(?:\w{2,8}|#\w{1,6});)")

ENTITY_ESCAPES: tuple[TextTransform, ...] = (
    _entity_escaper("&"),
    _entity_escaper("<"),
    _entity_escaper(">"),
    _entity_escaper('"'),
    _entity_escaper("'"),
    _entity_escaper("&", "<", ">"),
    _entity_escaper("&", "<", ">", '"'),
    _entity_escaper("&", "<", ">", '"', "'"),
)
"""Ways to write characters as entities, one kind or all usual ones."""
