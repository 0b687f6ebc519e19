r"""Parser for search patterns, which are then rendered for each matcher.

Matchers differ in what `\w`, `\b`, `[[]`, `{` or a case-insensitive `k` mean. So no pattern is passed on as written: it
is parsed into tokens with a fixed meaning, and each matcher gets an equivalent of its own.

The dialect is RE2's with Unicode: `\d \w \s \b` support all scripts, a `{` that begins no count is a plain character,
so is a `[` inside a class, and nothing ever matches a line ending. Look-around, back-references and atomic groups are
supported too; they set `needs_backtracking`, because no linear matcher can run them.
"""

import re
from collections.abc import Sequence

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.search.character_class import PERL_CLASSES, CharacterClass, ClassItem

MAX_PATTERN_BYTES = 10_000
"""In UTF-8. The time of every matcher grows with the product of pattern and line."""


class TokenKind(StrEnum):
    LITERAL = "literal"
    CLASS = "class"
    ANY = "any"
    NEVER = "never"
    LINE_START = "line_start"
    LINE_END = "line_end"
    BOUNDARY = "boundary"
    NON_BOUNDARY = "non_boundary"
    GROUP = "group"
    CAPTURE = "capture"
    ATOMIC = "atomic"
    LOOKAROUND = "lookaround"
    CLOSE = "close"
    OR = "or"
    REPEAT = "repeat"
    BACK_REFERENCE = "back_reference"


GROUP_OPENERS = frozenset({TokenKind.GROUP, TokenKind.CAPTURE, TokenKind.ATOMIC, TokenKind.LOOKAROUND})


class PatternToken(Frozen):
    """One token. `text` is the character, the count, the opening of a look-around or the group number."""

    kind: TokenKind
    text: str = ""
    ignores_case: bool = False
    character_class: CharacterClass | None = None


class SearchPattern(Frozen):
    """A parsed pattern."""

    source: str
    tokens: tuple[PatternToken, ...]
    ignores_case: bool
    """The default; tokens may differ."""
    needs_backtracking: bool
    has_word_boundaries: bool
    r"""Whether it contains `\b` or `\B`."""
    has_non_boundaries: bool
    r"""Whether it contains `\B`."""


def parse_pattern(source: str, *, fixed_strings: bool, case_sensitive: bool) -> SearchPattern:
    """Parse a pattern. Raises ToolFailure(INVALID_TOOL_PARAMS) that says what is wrong."""
    folds = not case_sensitive
    try:
        size = len(source.encode())
    except UnicodeEncodeError as error:
        raise invalid_pattern(source, "it holds a lone surrogate, which no text can contain") from error
    if size > MAX_PATTERN_BYTES:
        raise invalid_pattern(source, f"longer than {MAX_PATTERN_BYTES} bytes")
    tokens = [_literal(each, folds) for each in source] if fixed_strings else _PatternParser(source, folds).parse()
    kinds = {token.kind for token in tokens}
    return SearchPattern(
        source,
        tuple(tokens),
        folds,
        needs_backtracking=not kinds.isdisjoint({TokenKind.LOOKAROUND, TokenKind.ATOMIC, TokenKind.BACK_REFERENCE})
        or any(token.kind is TokenKind.REPEAT and token.text.endswith("+") and len(token.text) > 1 for token in tokens),
        has_word_boundaries=not kinds.isdisjoint({TokenKind.BOUNDARY, TokenKind.NON_BOUNDARY}),
        has_non_boundaries=TokenKind.NON_BOUNDARY in kinds,
    )


def invalid_pattern(source: str, reason: str) -> ToolFailure:
    """Create the failure for an invalid pattern."""
    shown = source if len(source) <= _MAX_SHOWN_LENGTH else source[:_MAX_SHOWN_LENGTH] + "..."
    return ToolFailure(
        lazy("Invalid regular expression pattern provided: {pattern}. Error: {reason}", pattern=shown, reason=reason),
        ErrorType.INVALID_TOOL_PARAMS,
    )


_MAX_SHOWN_LENGTH = 1000
_MAX_GROUP_DEPTH = 200
_COUNT = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_GROUP_NUMBER = re.compile(r"[1-9][0-9]{0,2}")
_FLAGS = re.compile(r"\(\?([imsu]*)(?:-([imsu]*))?([:)])")
_NAMED = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_NAME_REFERENCE = re.compile(r"\(\?P=([A-Za-z_]\w*)\)|\\k<([A-Za-z_]\w*)>|\\k\{([A-Za-z_]\w*)\}", re.ASCII)
_CODE_POINT = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]{1,8})\})")
_PROPERTY = re.compile(r"\\([pP])(?:([A-Z])|\{(\^?)([A-Za-z_]{1,40})\})")
_POSIX = re.compile(r"\[:\^?[a-z]{1,10}:\]")
_CONTROL_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_ANCHOR_ESCAPES = {
    "A": TokenKind.LINE_START,
    "z": TokenKind.LINE_END,
    "Z": TokenKind.LINE_END,
    "b": TokenKind.BOUNDARY,
    "B": TokenKind.NON_BOUNDARY,
}
_SIMPLE = {"^": TokenKind.LINE_START, "$": TokenKind.LINE_END, "|": TokenKind.OR, ".": TokenKind.ANY}
_LOOKAROUNDS = ("(?=", "(?!", "(?<=", "(?<!")


def _literal(character: str, folds: bool) -> PatternToken:
    # Searched text contains neither: it is split into lines first.
    if character in "\r\n":
        return PatternToken(TokenKind.NEVER)
    return PatternToken(TokenKind.LITERAL, character, folds)


class _PatternParser:
    def __init__(self, source: str, folds: bool) -> None:
        self._source = source
        self._at = 0
        self._ignores_case = folds
        self._outer_ignores_case: list[bool] = []
        self._tokens: list[PatternToken] = []
        self._groups = 0
        self._names: dict[str, int] = {}

    def parse(self) -> list[PatternToken]:
        while self._at < len(self._source):
            self._parse_next()
        if self._outer_ignores_case:
            raise self._invalid("missing ): a group is not closed")
        for token in self._tokens:
            if token.kind is TokenKind.BACK_REFERENCE and int(token.text) > self._groups:
                raise self._invalid(f"there is no group {token.text} to refer back to")
        return self._tokens

    def _parse_next(self) -> None:
        character = self._source[self._at]
        if character == "\\":
            self._parse_escape()
        elif character == "[":
            self._parse_class()
        elif character == "(":
            self._open_group()
        elif character == ")":
            self._close_group()
        elif character in "*+?" or (character == "{" and _COUNT.match(self._source, self._at)):
            self._parse_repeat()
        else:
            self._at += 1
            if character in _SIMPLE:
                self._tokens.append(PatternToken(_SIMPLE[character]))
            else:
                self._tokens.append(_literal(character, self._ignores_case))

    def _parse_escape(self) -> None:
        escape = self._source[self._at + 1 : self._at + 2]
        if escape in _ANCHOR_ESCAPES:
            self._at += 2
            self._tokens.append(PatternToken(_ANCHOR_ESCAPES[escape]))
        elif number := _GROUP_NUMBER.match(self._source, self._at + 1):
            self._at = number.end()
            self._tokens.append(PatternToken(TokenKind.BACK_REFERENCE, number[0], self._ignores_case))
        elif found := _NAME_REFERENCE.match(self._source, self._at):
            self._refer_by_name(found)
        else:
            item = self._escaped_item()
            if item.character is not None:
                self._tokens.append(_literal(item.character, self._ignores_case))
            elif item is PERL_CLASSES["W"]:
                self._append_class([PERL_CLASSES["w"]], negated=True)
            else:
                self._append_class([item], negated=False)

    def _escaped_item(self) -> ClassItem:
        """Parse an escape for a character or a set of characters, inside a class or outside."""
        source, at = self._source, self._at
        escape = source[at + 1 : at + 2]
        if escape in PERL_CLASSES:
            self._at += 2
            return PERL_CLASSES[escape]
        if found := _PROPERTY.match(source, at):
            self._at = found.end()
            negated = (found[1] == "P") != (found[3] == "^")
            return ClassItem.from_property(found[2] or found[4], negated=negated)
        if found := _CODE_POINT.match(source, at):
            self._at = found.end()
            code_point = int(found[1] or found[2] or found[3] or found[4], 16)
            if code_point > 0x10FFFF or 0xD800 <= code_point < 0xE000:
                raise self._invalid(f"invalid escape sequence: {found[0]}")
            return ClassItem.from_character(chr(code_point))
        if escape in _CONTROL_ESCAPES:
            self._at += 2
            return ClassItem.from_character(_CONTROL_ESCAPES[escape])
        if escape and escape.isascii() and not escape.isalnum():
            self._at += 2
            return ClassItem.from_character(escape)
        raise self._invalid(f"invalid escape sequence: \\{escape}" if escape else "trailing \\")

    def _parse_class(self) -> None:
        start = self._at
        self._at += 1
        negated = self._source.startswith("^", self._at)
        self._at += negated
        items: list[ClassItem] = []
        while not (self._source.startswith("]", self._at) and items):
            if self._at >= len(self._source):
                raise self._invalid(f"missing ]: {self._source[start : start + 40]}")
            items.append(self._class_item())
        self._at += 1
        self._append_class(items, negated=negated)

    def _class_item(self) -> ClassItem:
        if found := _POSIX.match(self._source, self._at):
            self._at = found.end()
            return ClassItem.from_posix(found[0])
        low = self._class_end()
        following = self._source[self._at + 1 : self._at + 2]
        if low.character is None or not self._source.startswith("-", self._at) or following in ("]", ""):
            return low
        self._at += 1
        high = self._class_end()
        if high.character is None or high.character < low.character:
            raise self._invalid("invalid character class range")
        return ClassItem.from_range(low.character, high.character)

    def _class_end(self) -> ClassItem:
        character = self._source[self._at]
        if character == "\\":
            return self._escaped_item()
        self._at += 1
        return ClassItem.from_character(character)

    def _append_class(self, items: Sequence[ClassItem], *, negated: bool) -> None:
        kept = [item for item in items if item.character not in ("\r", "\n")]
        if kept:
            members = CharacterClass(tuple(kept), negated=negated, ignores_case=self._ignores_case)
            self._tokens.append(PatternToken(TokenKind.CLASS, "", self._ignores_case, members))
        else:
            self._tokens.append(PatternToken(TokenKind.ANY if negated else TokenKind.NEVER))

    def _open_group(self) -> None:
        source, at = self._source, self._at
        if found := _NAME_REFERENCE.match(source, at):
            self._refer_by_name(found)
        elif found := _FLAGS.match(source, at):
            self._set_flags(found)
        elif found := _NAMED.match(source, at):
            if found[1] in self._names:
                raise self._invalid(f"duplicate capture group name: {found[1]}")
            self._names[found[1]] = self._groups + 1
            self._groups += 1
            self._push(PatternToken(TokenKind.CAPTURE), found.end())
        elif source.startswith("(?>", at):
            self._push(PatternToken(TokenKind.ATOMIC), at + 3)
        elif look := next((look for look in _LOOKAROUNDS if source.startswith(look, at)), None):
            self._push(PatternToken(TokenKind.LOOKAROUND, look), at + len(look))
        elif source.startswith("(?", at):
            raise self._invalid(f"invalid group syntax: {source[at : at + 4]}")
        else:
            self._groups += 1
            self._push(PatternToken(TokenKind.CAPTURE), at + 1)

    def _set_flags(self, found: re.Match[str]) -> None:
        switched_on, switched_off = found[1], found[2] or ""
        if "u" in switched_off:
            raise self._invalid("bytes that are no text cannot be searched for")
        folds = ("i" in switched_on or self._ignores_case) and "i" not in switched_off
        if found[3] == ":":
            self._push(PatternToken(TokenKind.GROUP), found.end())
        elif not switched_on and not switched_off:
            raise self._invalid(f"invalid group syntax: {found[0]}")
        self._ignores_case = folds
        self._at = found.end()

    def _push(self, token: PatternToken, at: int) -> None:
        if len(self._outer_ignores_case) == _MAX_GROUP_DEPTH:
            raise self._invalid(f"groups are nested more than {_MAX_GROUP_DEPTH} deep")
        self._outer_ignores_case.append(self._ignores_case)
        self._tokens.append(token)
        self._at = at

    def _close_group(self) -> None:
        if not self._outer_ignores_case:
            raise self._invalid("unexpected ): no group is open")
        self._ignores_case = self._outer_ignores_case.pop()
        self._tokens.append(PatternToken(TokenKind.CLOSE))
        self._at += 1

    def _refer_by_name(self, found: re.Match[str]) -> None:
        name = found[1] or found[2] or found[3]
        if name not in self._names:
            raise self._invalid(f"unknown group name: {name}")
        self._tokens.append(PatternToken(TokenKind.BACK_REFERENCE, str(self._names[name]), self._ignores_case))
        self._at = found.end()

    def _parse_repeat(self) -> None:
        count = _COUNT.match(self._source, self._at)
        text = count[0] if count else self._source[self._at]
        self._at += len(text)
        if self._source.startswith(("?", "+"), self._at):
            text += self._source[self._at]
            self._at += 1
        before = self._tokens[-1].kind if self._tokens else TokenKind.OR
        if before in GROUP_OPENERS or before is TokenKind.OR:
            raise self._invalid(f"missing argument to repetition operator: {text}")
        if before is TokenKind.REPEAT:
            raise self._invalid(f"bad repetition operator: {self._tokens[-1].text}{text}")
        self._tokens.append(PatternToken(TokenKind.REPEAT, text))

    def _invalid(self, reason: str) -> ToolFailure:
        return invalid_pattern(self._source, reason)
