"""Patterns of ignore files, parsed and matched byte for byte as git does."""

import re
from collections.abc import Callable

from tejat.core.frozen import Frozen
from tejat.workspace.paths.glob.wildcard_regex import Wildcard, WildcardToken, wildcard_regex

# Beyond these the rest of an ignore file does not count: it may have been written to keep us busy.
MAX_BYTES = 1024 * 1024
MAX_PATTERNS = 20_000

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SLASH = ord("/")
_STAR = ord("*")
_BACKSLASH = ord("\\")


class IgnoreRule(Frozen):
    """One line of an ignore file."""

    file: str
    line: int
    """Counted from 1; 0 for a built-in rule."""
    text: str
    """As git reports it: without trailing spaces."""
    negated: bool


class IgnorePattern(Frozen, eq=False):
    """A compiled rule."""

    rule: IgnoreRule
    directory_only: bool
    matches_name: bool
    """Matched against the base name at any depth; otherwise against the path from the ignore file's directory."""
    matches: Callable[[bytes], object]
    expression: bytes
    """The regular expression behind `matches`, anchored at the end."""
    literal: bytes | None
    """The only name or path that it matches, if there is just one."""
    suffix: bytes | None
    """The suffix of every matching name, if that is the whole condition."""
    prefix: bytes
    """The prefix of every matching name or path."""
    depth: int | None
    """The number of slashes in every matching path, None if it varies."""


def parse_ignore_file(content: bytes, *, file: str) -> tuple[list[IgnorePattern], bool]:
    """Return the patterns in file order, and whether some were left out because of the limits.

    Lines that can never match are left out.
    """
    cut = len(content) > MAX_BYTES
    if cut:
        content = content[: content.rfind(b"\n", 0, MAX_BYTES) + 1]
    patterns: list[IgnorePattern] = []
    for number, line in enumerate(content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), start=1):
        if not line or line.startswith(b"#"):
            continue
        text = _strip_trailing_spaces(line.removesuffix(b"\r").partition(b"\0")[0])
        pattern = _parse_line(text, file, number)
        if pattern is None:
            continue
        if len(patterns) == MAX_PATTERNS:
            return patterns, True
        patterns.append(pattern)
    return patterns, cut


def _strip_trailing_spaces(line: bytes) -> bytes:
    stripped = line.rstrip(b" ")
    backslashes = len(stripped) - len(stripped.rstrip(b"\\"))
    if backslashes % 2 and len(stripped) < len(line):
        return line[: len(stripped) + 1]
    return stripped


def _parse_line(text: bytes, file: str, number: int) -> IgnorePattern | None:
    negated = text.startswith(b"!")
    body = text[1:] if negated else text
    directory_only = body.endswith(b"/")
    body = body.removesuffix(b"/")
    on_name = b"/" not in body
    body = body.removeprefix(b"/")
    tokens = _tokenize(body)
    if not body or tokens is None:
        return None
    if tokens[0] is Wildcard.DIRECTORIES and not any(token in _CROSSING for token in tokens[1:]):
        on_name = True
        tokens = tokens[1:]
    prefix, wild = _split_literal(tokens)
    suffix = None
    if on_name and not prefix and wild and wild[0] is Wildcard.WITHIN_NAME:
        tail, others = _split_literal(wild[1:])
        suffix = None if others else tail
    expression = wildcard_regex([_token_regex(token) for token in tokens]).encode("latin-1")
    return IgnorePattern(
        rule=IgnoreRule(file, number, text.decode("utf-8", "surrogateescape"), negated),
        directory_only=directory_only,
        matches_name=on_name,
        matches=re.compile(expression, re.DOTALL).match if wild else prefix.__eq__,
        expression=expression,
        literal=None if wild else prefix,
        suffix=suffix,
        prefix=prefix,
        depth=None if Wildcard.ANY in wild or Wildcard.DIRECTORIES in wild else tokens.count(_SLASH),
    )


_Token = int | bytes | Wildcard
"""One plain byte, or the regular expression of one byte, or something wild."""

_CROSSING: tuple[_Token, ...] = (_SLASH, Wildcard.ANY, Wildcard.DIRECTORIES)


def _split_literal(tokens: list[_Token]) -> tuple[bytes, list[_Token]]:
    plain: list[int] = []
    for token in tokens:
        if not isinstance(token, int):
            break
        plain.append(token)
    return bytes(plain), tokens[len(plain) :]


def _token_regex(token: _Token) -> WildcardToken:
    # Latin 1 stands for the bytes themselves.
    if isinstance(token, int):
        return re.escape(chr(token))
    return token.decode("latin-1") if isinstance(token, bytes) else token


def _tokenize(pattern: bytes) -> list[_Token] | None:
    """Split into tokens; None if the pattern can never match: a trailing backslash or an unclosed bracket."""
    tokens: list[_Token] = []
    position = 0
    while position < len(pattern):
        byte = pattern[position]
        if byte == _STAR:
            start = position
            while pattern[position : position + 1] == b"*":
                position += 1
            wild = _wildcard(pattern, start, position)
            position += wild is Wildcard.DIRECTORIES
            tokens.append(wild)
        elif byte == ord("["):
            bracket = _parse_bracket(pattern, position + 1)
            if bracket is None:
                return None
            expression, position = bracket
            tokens.append(expression)
        elif byte == ord("?"):
            tokens.append(b"[^/]")
            position += 1
        else:
            position += byte == _BACKSLASH
            if position == len(pattern):
                return None
            tokens.append(pattern[position])
            position += 1
    return tokens


def _wildcard(pattern: bytes, start: int, end: int) -> Wildcard:
    if end - start == 1 or (start > 0 and pattern[start - 1] != _SLASH):
        return Wildcard.WITHIN_NAME
    if pattern[end : end + 1] == b"/":
        return Wildcard.DIRECTORIES
    if end == len(pattern) or pattern[end : end + 2] == b"\\/":
        return Wildcard.ANY
    return Wildcard.WITHIN_NAME


def _parse_bracket(pattern: bytes, position: int) -> tuple[bytes, int] | None:
    """Return the regular expression of a bracket whose content begins at `position`, and the position after it."""
    negated = pattern[position : position + 1] in (b"!", b"^")
    position += negated
    members: set[int] = set()
    previous: int | None = None
    first = True
    while first or pattern[position : position + 1] != b"]":
        first = False
        if position >= len(pattern):
            return None
        byte = pattern[position]
        if byte == ord("[") and pattern[position + 1 : position + 2] == b":":
            end = pattern.find(b"]", position + 2)
            if end < 0:
                return None
            if end > position + 2 and pattern[end - 1] == ord(":"):
                named = _CLASSES.get(pattern[position + 2 : end - 1])
                if named is None:
                    return None
                members |= named
                previous = None
                position = end + 1
                continue
        elif byte == ord("-") and previous is not None and pattern[position + 1 : position + 2] not in (b"", b"]"):
            position += 1 + (pattern[position + 1] == _BACKSLASH)
            if position == len(pattern):
                return None
            members.update(range(previous, pattern[position] + 1))
            previous = None
            position += 1
            continue
        elif byte == _BACKSLASH:
            position += 1
            if position == len(pattern):
                return None
            byte = pattern[position]
        members.add(byte)
        previous = byte
        position += 1
    members = (set(range(1, 256)) - members if negated else members) - {_SLASH}
    if not members:
        return b"[^\\x00-\\xff]", position + 1
    return b"[%b]" % b"".join(b"\\x%02x" % member for member in sorted(members)), position + 1


_GIT_SPACE = frozenset(b" \t\n\r")
_DIGIT = frozenset(range(ord("0"), ord("9") + 1))
_LOWER = frozenset(range(ord("a"), ord("z") + 1))
_UPPER = frozenset(range(ord("A"), ord("Z") + 1))
_PRINT = frozenset(range(0x20, 0x7F))
_CLASSES = {
    b"alnum": _DIGIT | _LOWER | _UPPER,
    b"alpha": _LOWER | _UPPER,
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset(range(0x20)) | {0x7F},
    b"digit": _DIGIT,
    b"graph": _PRINT - _GIT_SPACE,
    b"lower": _LOWER,
    b"print": _PRINT,
    b"punct": _PRINT - _GIT_SPACE - _DIGIT - _LOWER - _UPPER,
    b"space": _GIT_SPACE,
    b"upper": _UPPER,
    b"xdigit": _DIGIT | frozenset(b"abcdefABCDEF"),
}
