"""Parser for glob patterns without braces: one segment per directory level."""

import re
from enum import Enum

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.paths.glob.wildcard_regex import Wildcard

_MAX_GROUPS = 50
_GROUP_WITH_SLASH = re.compile(r"(?<!\\)[@?*+!]\([^()\\/]*/[^()\\]*\)")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class ExtglobKind(Enum):
    """How often one of the alternatives has to match. The value is the character before the parenthesis."""

    EXACTLY_ONE = "@"
    OPTIONAL = "?"
    ANY_NUMBER = "*"
    AT_LEAST_ONE = "+"
    NEGATED = "!"


class Extglob(Frozen, eq=False):
    """Alternatives in parentheses. Compared by identity: each has its own place in the pattern."""

    kind: ExtglobKind
    alternatives: "tuple[GlobSegment, ...]"


GlobNode = str | Wildcard | Extglob
"""The regular expression of one character, `*`, or an extended glob."""
GlobSegment = tuple[GlobNode, ...]
"""The nodes between two slashes; `(Wildcard.DIRECTORIES,)` is `**`."""
GlobSegments = tuple[GlobSegment, ...]

ANY_DIRECTORIES: GlobSegment = (Wildcard.DIRECTORIES,)
_KINDS = {kind.value: kind for kind in ExtglobKind}


def parse_glob(text: str, pattern: str) -> GlobSegments:
    """Parse a pattern without braces into segments. `pattern` is the caller's text, for errors.

    Raises ToolFailure as `compile_glob` does.
    """
    text = _ESCAPED.sub(lambda match: "/" if match[1] == "/" else match[0], text)
    if text.startswith("/"):
        raise pattern_outside(pattern)
    if _GROUP_WITH_SLASH.search(text):
        message = lazy("A group such as @(a|b) cannot contain a slash. Use braces: {a/b,c}.")
        raise ToolFailure(message, ErrorType.INVALID_TOOL_PARAMS)
    parts: list[GlobSegment] = []
    names = text.split("/")
    for index, name in enumerate(names):
        if name == "..":
            raise pattern_outside(pattern)
        if name == "." or (name == "" and index < len(names) - 1):
            continue
        if len(name) < 2 or name.strip("*"):
            parts.append(_SegmentParser(name).parse())
        elif not parts or parts[-1] != ANY_DIRECTORIES:
            # Consecutive ones mean the same as one.
            parts.append(ANY_DIRECTORIES)
    return tuple(parts)


class _SegmentParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._groups = 0

    def parse(self) -> GlobSegment:
        return self._parse_sequence(0, "")[0]

    def _parse_sequence(self, position: int, enders: str) -> tuple[GlobSegment, int]:
        """Parse nodes up to one of the enders, or the end of the text; return them and the position."""
        text = self._text
        nodes: list[GlobNode] = []
        while position < len(text) and text[position] not in enders:
            character = text[position]
            if character in _KINDS and text[position + 1 : position + 2] == "(":
                group = self._parse_group(position)
                if group is not None:
                    node, position = group
                    nodes.append(node)
                    continue
            if character == "*":
                nodes.append(Wildcard.WITHIN_NAME)
            elif character == "?":
                nodes.append("[^/]")
            elif character == "[" and (bracket := _parse_bracket(text, position + 1)) is not None:
                node, position = bracket
                nodes.append(node)
                continue
            elif character == "\\" and position + 1 < len(text):
                position += 1
                nodes.append(re.escape(text[position]))
            else:
                nodes.append(re.escape(character))
            position += 1
        return tuple(nodes), position

    def _parse_group(self, start: int) -> tuple[Extglob, int] | None:
        """Parse the group at `start`; None if its parenthesis is not closed."""
        self._groups += 1
        if self._groups > _MAX_GROUPS:
            raise pattern_too_large()
        alternatives: list[GlobSegment] = []
        position = start + 1
        while position < len(self._text) and self._text[position] != ")":
            alternative, position = self._parse_sequence(position + 1, "|)")
            alternatives.append(alternative)
        if position >= len(self._text):
            return None
        return Extglob(_KINDS[self._text[start]], tuple(alternatives)), position + 1


_CLASSES = {
    "alnum": "^\\W_",
    "alpha": "^\\W\\d_",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "\\d",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9A-Fa-f",
}


def _parse_bracket(text: str, position: int) -> tuple[str, int] | None:
    """Return the regular expression of a bracket whose content begins at `position`, and the position after it.

    None if it is not closed: then it is literal.
    """
    negated = text[position : position + 1] in ("!", "^")
    position += negated
    members: list[str] = []
    first = position
    while position < len(text) and (text[position] != "]" or position == first):
        if text.startswith("[:", position) and (end := text.find(":]", position + 2)) > 0:
            named = _CLASSES.get(text[position + 2 : end])
            if named is not None:
                members.append(f"[{named}]")
                position = end + 2
                continue
        low, position = _read_member(text, position)
        high = low
        if text[position : position + 1] == "-" and text[position + 1 : position + 2] not in ("", "]"):
            high, position = _read_member(text, position + 1)
        if low <= high:
            members.append(f"[{re.escape(low)}-{re.escape(high)}]")
    if position >= len(text):
        return None
    union = "|".join(members) or "(?!)"
    return (f"(?!/|{union})." if negated else f"(?!/)(?:{union})"), position + 1


def _read_member(text: str, position: int) -> tuple[str, int]:
    position += text[position] == "\\" and position + 1 < len(text)
    return text[position], position + 1


def pattern_too_large() -> ToolFailure:
    """The failure for a pattern that would take too long."""
    return ToolFailure(lazy("The glob pattern is too large or too complex."), ErrorType.INVALID_TOOL_PARAMS)


def pattern_outside(pattern: str) -> ToolFailure:
    """The failure for a pattern that matches outside the searched directory."""
    message = lazy(
        'Path not in workspace: the glob pattern "{pattern}" leaves the searched directory.', pattern=pattern
    )
    return ToolFailure(message, ErrorType.PATH_NOT_IN_WORKSPACE, display=lazy("Path not in workspace."))
