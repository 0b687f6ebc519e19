"""Code split into tokens with roles, for named languages only and never changing the code."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.text.languages import find_lexer

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_HIGHLIGHT_CHARS = 16_000
"""Longest text that is highlighted at once, a bound for third-party regular expressions."""
CHUNK_LINES = 24
"""Lines that are highlighted together."""
_MAX_CONTEXT_LINES = 5 * CHUNK_LINES


class CodeRole(StrEnum):
    """The role of a token. Few on purpose: names and punctuation need none."""

    COMMENT = "comment"
    KEYWORD = "keyword"
    TYPE = "type"
    STRING = "string"
    NUMBER = "number"
    NAME = "name"
    ADDED = "added"
    REMOVED = "removed"
    HUNK = "hunk"
    STRONG = "strong"
    QUIET = "quiet"


CodeLine: TypeAlias = list[tuple[str, CodeRole | None]]


def split_tokens(lines: Sequence[str], language: str, *, before: Sequence[str] = ()) -> list[CodeLine]:
    """Split lines of code into tokens. `before` are the lines above, for the lexer."""
    lexer = find_lexer(language.lower())
    text = "\n".join([*before, *lines])
    if lexer is None or len(text) > MAX_HIGHLIGHT_CHARS:
        return plain_lines(lines)
    try:
        found = list(_token_lines(lexer, text))
    except Exception:  # noqa: BLE001 -- an error in a lexer costs only the colours
        return plain_lines(lines)
    ours = found[len(before) : len(before) + len(lines)]
    if ["".join(part for part, _ in line) for line in ours] != list(lines):
        return plain_lines(lines)
    return ours


def code_context(before: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """Return the context for the lines that follow: everything so far, or the end of it if that is long."""
    every = [*before, *lines]
    if len(every) > _MAX_CONTEXT_LINES or sum(map(len, every)) > MAX_HIGHLIGHT_CHARS // 2:
        every = every[-2 * CHUNK_LINES :]
        while sum(map(len, every)) > MAX_HIGHLIGHT_CHARS // 4:
            every = every[len(every) // 2 + 1 :]
    return tuple(every)


def split_source(text: str, language: str) -> Iterator[CodeLine]:
    """Split a sanitized text of any length."""
    lines = text.removesuffix("\n").split("\n")
    before: tuple[str, ...] = ()
    for start in range(0, len(lines), CHUNK_LINES):
        piece = lines[start : start + CHUNK_LINES]
        yield from split_tokens(piece, language, before=before)
        before = code_context(before, piece)


def plain_lines(lines: Sequence[str]) -> list[CodeLine]:
    """Return lines without roles."""
    return [[(line, None)] if line else [] for line in lines]


def _token_lines(lexer: "Lexer", text: str) -> Iterator[CodeLine]:
    line: CodeLine = []
    roles: dict[tuple[str, ...], CodeRole | None] = {}
    for kind, part in lexer.get_tokens(text):
        if kind not in roles:
            roles[kind] = _role(tuple(kind))
        role = roles[kind]
        first, *others = part.split("\n")
        if line and line[-1][1] is role:
            line[-1] = (line[-1][0] + first, role)  # joiners must stay with their characters
        elif first:
            line.append((first, role))
        for other in others:
            yield line
            line = [(other, role)] if other else []
    yield line


def _role(kind: tuple[str, ...]) -> CodeRole | None:
    """Return the role of the nearest token type that has one: `Literal.String.Doc` is a `Literal.String`."""
    while kind:
        name = ".".join(kind)
        if name in _ROLES:
            return _ROLES[name]
        kind = kind[:-1]
    return None


_ROLES = {
    "Comment": CodeRole.COMMENT,
    "Comment.Preproc": CodeRole.KEYWORD,
    "Keyword": CodeRole.KEYWORD,
    "Keyword.Type": CodeRole.TYPE,
    "Operator.Word": CodeRole.KEYWORD,
    "Literal.String": CodeRole.STRING,
    "Literal.Number": CodeRole.NUMBER,
    "Keyword.Constant": CodeRole.NUMBER,
    "Name.Builtin": CodeRole.TYPE,
    "Name.Exception": CodeRole.TYPE,
    "Name.Function": CodeRole.NAME,
    "Name.Class": CodeRole.NAME,
    "Name.Decorator": CodeRole.NAME,
    "Name.Tag": CodeRole.NAME,
    "Generic.Inserted": CodeRole.ADDED,
    "Generic.Deleted": CodeRole.REMOVED,
    "Generic.Subheading": CodeRole.HUNK,
    "Generic.Heading": CodeRole.STRONG,
    "Generic.Prompt": CodeRole.QUIET,
}
