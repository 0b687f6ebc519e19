"""Rendering of search patterns for each matcher: RE2, ripgrep, PCRE, Python's `re` and POSIX grep."""

from collections.abc import Callable, Iterator

from tejat.core.text.str_enum import StrEnum
from tejat.workspace.search.character_class import (
    NO_CHARACTER,
    WORD,
    Ranges,
    escape,
    fold_ranges,
    format_ranges,
)
from tejat.workspace.search.pattern import GROUP_OPENERS, PatternToken, SearchPattern, TokenKind

_LAST_ASCII = 0x7F
# Larger counts are left open for grep, whose automata they would blow up.
_HIGHEST_GREP_COUNT = 4


class LinearMode(StrEnum):
    """Treatment of the parts that a linear matcher cannot evaluate."""

    EXACT = "exact"
    """There are none."""
    RELAXED = "relaxed"
    """Leave them out: everything the pattern matches is matched, and perhaps more."""
    SYNTAX = "syntax"
    """Treat them as plain groups, to check their contents."""


def to_re2(pattern: SearchPattern, mode: LinearMode) -> str:
    r"""Render for RE2, whose `\b` is correct for ASCII text only."""
    boundaries = dict.fromkeys(_BOUNDARIES, "(?:)") if mode is LinearMode.RELAXED else _BOUNDARIES
    fixed = {**boundaries, TokenKind.BACK_REFERENCE: "(?:.*)"}
    tokens = pattern.tokens if mode is LinearMode.SYNTAX else _without_lookarounds(pattern.tokens)

    def spell(token: PatternToken) -> str:
        if token.character_class is not None:
            return token.character_class.re2
        return fixed.get(token.kind) or _linear_syntax(token)

    return "(?m)" + _with_case_flags(pattern.ignores_case, tokens, spell)


def to_ripgrep(pattern: SearchPattern) -> str:
    """Render for ripgrep's own matcher, which supports Unicode."""

    def spell(token: PatternToken) -> str:
        if token.character_class is not None:
            return token.character_class.ripgrep
        return _BOUNDARIES.get(token.kind) or _linear_syntax(token)

    return _with_case_flags(pattern.ignores_case, pattern.tokens, spell)


def to_pcre(pattern: SearchPattern) -> str:
    r"""Render for PCRE2 in ripgrep, which gets each line with the "\r" at its end.

    The option `--crlf` would drop it, but makes PCRE2 see no line start in an empty line.
    """
    fixed = {
        TokenKind.ANY: r"[^\r\n]",
        TokenKind.LINE_START: r"(?:^|(?<=\r)(?!$))",
        TokenKind.LINE_END: r"(?:(?<!\r)$|(?=\r))",
        **_spell_boundaries(WORD.re2, WORD.re2),
    }

    def spell(token: PatternToken) -> str:
        if token.character_class is not None:
            return token.character_class.pcre
        return fixed.get(token.kind) or _backtracking_syntax(token)

    return _with_case_flags(pattern.ignores_case, pattern.tokens, spell)


def to_python(pattern: SearchPattern) -> str:
    """Render for Python's `re` without flags, applied to single lines.

    One case is inexact: a case-insensitive back-reference compares with `str.lower`, for which ſ is not s.
    """
    # Bytes that are not UTF-8 arrive as lone surrogates and are not characters.
    fixed = {TokenKind.ANY: "[^\r\n\ud800-\udfff]", TokenKind.NEVER: "(?!)"}
    fixed |= {TokenKind.LINE_START: r"\A", TokenKind.LINE_END: r"\Z"}
    if pattern.has_word_boundaries:
        word = _python_class(WORD.ranges)
        # As in ripgrep, an invalid byte is not part of a word, nor next to a position outside of words.
        fixed |= _spell_boundaries(word, f"{word[:-1]}\ud800-\udfff]")

    def spell(token: PatternToken) -> str:
        if token.character_class is not None:
            return _python_class(token.character_class.ranges)
        if token.kind is TokenKind.LITERAL and token.ignores_case:
            return _python_class(fold_ranges(token.text))
        if token.kind is TokenKind.BACK_REFERENCE and token.ignores_case:
            return f"(?i:(?:\\{token.text}))"
        return fixed.get(token.kind) or _backtracking_syntax(token)

    return "".join(map(spell, pattern.tokens))


def to_marked_re2(pattern: SearchPattern) -> str:
    r"""Render for RE2 on text in which word boundaries were made visible by marks.

    RE2's `\b` sees ASCII words only. So each non-ASCII word character is put between two underscores, a plain
    underscore is doubled, and each atom matches a character with its marks: then a boundary is exactly where RE2 sees
    one, in linear time, which look-around cannot do. A line feed stands for a byte that is not UTF-8.
    """
    fixed = {TokenKind.ANY: r"(?:[^_\n]|__|_[^_\n]_)", **_BOUNDARIES}
    fixed |= {TokenKind.LINE_START: r"\A", TokenKind.LINE_END: r"\z"}

    def spell(token: PatternToken) -> str:
        if token.character_class is not None:
            return _marked_class(token.character_class.ranges)
        if token.kind is TokenKind.LITERAL:
            code = ord(token.text)
            return _marked_class(fold_ranges(token.text) if token.ignores_case else ((code, code),))
        return fixed.get(token.kind) or _linear_syntax(token)

    # Anchored after whole characters: a match cannot begin between a character and its mark.
    return r"\A(?:[^_]|__|_[^_]_)*?(?:" + "".join(map(spell, pattern.tokens)) + ")"


def to_grep(pattern: SearchPattern) -> bytes:
    """Render as a POSIX extended expression on bytes that matches at least the lines that the pattern matches.

    Non-ASCII characters are not distinguished, and zero-width assertions are left out.
    """

    def spell(token: PatternToken) -> bytes:
        if token.character_class is not None:
            return _grep_set(token.character_class.ascii_members)
        if token.kind is TokenKind.LITERAL:
            return _grep_literal(token)
        if token.kind is TokenKind.REPEAT:
            return _grep_count(token.text)
        return _GREP_SYNTAX.get(token.kind, b"()")

    return b"".join(map(spell, _without_lookarounds(pattern.tokens)))


def _without_lookarounds(tokens: tuple[PatternToken, ...]) -> Iterator[PatternToken]:
    """Yield the tokens with each look-around replaced by an empty group."""
    depth = 0
    for token in tokens:
        if depth:
            depth += (token.kind in GROUP_OPENERS) - (token.kind is TokenKind.CLOSE)
            if depth:
                continue
        elif token.kind is TokenKind.LOOKAROUND:
            depth = 1
            yield PatternToken(TokenKind.GROUP)
            continue
        yield token


def _with_case_flags(
    folds: bool, tokens: Iterator[PatternToken] | tuple[PatternToken, ...], spell: Callable[[PatternToken], str]
) -> str:
    prefix, exception = ("(?i)", "(?-i:") if folds else ("", "(?i:")
    return prefix + "".join(
        f"{exception}{spell(token)})"
        if token.ignores_case != folds and token.kind in _CASE_SENSITIVE_KINDS
        else spell(token)
        for token in tokens
    )


_CASE_SENSITIVE_KINDS = frozenset({TokenKind.LITERAL, TokenKind.CLASS, TokenKind.BACK_REFERENCE})
_BOUNDARIES = {TokenKind.BOUNDARY: r"\b", TokenKind.NON_BOUNDARY: r"\B"}
_FIXED_SYNTAX = {
    TokenKind.ANY: ".",
    TokenKind.NEVER: NO_CHARACTER,
    TokenKind.LINE_START: "^",
    TokenKind.LINE_END: "$",
    TokenKind.CLOSE: ")",
    TokenKind.OR: "|",
}
_GROUP_SYNTAX = {TokenKind.CAPTURE: "(", TokenKind.ATOMIC: "(?>", TokenKind.GROUP: "(?:"}
_GREP_SYNTAX = {
    **dict.fromkeys((TokenKind.ANY, TokenKind.NEVER), b"."),
    **dict.fromkeys(GROUP_OPENERS, b"("),
    TokenKind.CLOSE: b")",
    TokenKind.OR: b"|",
    TokenKind.BACK_REFERENCE: b"(.*)",
}


def _linear_syntax(token: PatternToken) -> str:
    """Render what RE2 and ripgrep have in common. Laziness is dropped: it cannot change whether a line matches."""
    if token.kind is TokenKind.LITERAL:
        return escape(token.text)
    if token.kind is TokenKind.REPEAT:
        return token.text if len(token.text) == 1 else token.text.rstrip("?+") or token.text[0]
    if token.kind in GROUP_OPENERS:
        return "(?:"
    return _FIXED_SYNTAX[token.kind]


def _backtracking_syntax(token: PatternToken) -> str:
    """Render what PCRE and Python have in common."""
    if token.kind is TokenKind.LITERAL:
        return escape(token.text)
    if token.kind in (TokenKind.REPEAT, TokenKind.LOOKAROUND):
        return token.text
    if token.kind is TokenKind.BACK_REFERENCE:
        # In a group, so that a following digit is not read as part of the number.
        return f"(?:\\{token.text})"
    return _GROUP_SYNTAX.get(token.kind) or _FIXED_SYNTAX[token.kind]


def _python_class(ranges: Ranges) -> str:
    runs = (f"\\U{first:08X}" if first == last else f"\\U{first:08X}-\\U{last:08X}" for first, last in ranges)
    return f"[{''.join(runs)}]" if ranges else "(?!)"


def _spell_boundaries(word: str, word_or_no_text: str) -> dict[TokenKind, str]:
    return {
        TokenKind.BOUNDARY: f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))",
        TokenKind.NON_BOUNDARY: f"(?:(?<={word})(?={word})|(?<!{word_or_no_text})(?!{word_or_no_text}))",
    }


def _marked_class(ranges: Ranges) -> str:
    ascii_ranges = tuple((first, min(last, _LAST_ASCII)) for first, last in ranges if first <= _LAST_ASCII)
    beyond = tuple((max(first, _LAST_ASCII + 1), last) for first, last in ranges if last > _LAST_ASCII)
    bare = tuple(part for run in ascii_ranges for part in _without_underscore(*run)) + beyond
    choices = [f"[{format_ranges(bare)}]"] if bare else []
    if beyond:
        choices.append(f"_[{format_ranges(beyond)}]_")
    if any(first <= ord("_") <= last for first, last in ascii_ranges):
        choices.append("__")
    return f"(?:{'|'.join(choices)})" if choices else NO_CHARACTER


def _without_underscore(first: int, last: int) -> Ranges:
    runs = ((first, min(last, ord("_") - 1)), (max(first, ord("_") + 1), last))
    return tuple((low, high) for low, high in runs if low <= high)


_BEYOND_ASCII = b"[\x80-\xff]+"
_GREP_SPECIAL = frozenset(rb"\.[]{}()*+?^$|")
# The only non-ASCII characters that fold to an ASCII letter.
_FOLDED_WITH_ASCII = {"k": "\u212a", "s": "\u017f"}


def _grep_literal(token: PatternToken) -> bytes:
    raw = token.text.encode()
    if not token.text.isascii():
        return _grep_set(b"kKsS") if token.ignores_case else b"(" + raw + b")"
    if token.ignores_case and token.text.isalpha():
        both = (token.text.lower() + token.text.upper()).encode()
        return _grep_set(both) if token.text.lower() in _FOLDED_WITH_ASCII else b"[" + both + b"]"
    if raw == b"\0":
        return b"."
    return b"\\" + raw if raw[0] in _GREP_SPECIAL else raw


def _grep_set(members: bytes) -> bytes:
    if not members:
        return b"(" + _BEYOND_ASCII + b")"
    if members == b"^":
        return rb"(\^|" + _BEYOND_ASCII + b")"
    # In this order, no character is where it would be special in a bracket expression.
    plain = bytes(code for code in members if code not in b"][^-")
    bracket = b"".join(code for code in (b"]", plain, b"[", b"^", b"-") if code == plain or code in members)
    return b"([" + bracket + b"]|" + _BEYOND_ASCII + b")"


def _grep_count(text: str) -> bytes:
    if text[0] != "{":
        return text[0].encode()
    low, comma, high = text[1 : text.index("}")].partition(",")
    least = min(int(low), _HIGHEST_GREP_COUNT)
    most = int(high or low) if high or not comma else None
    if most is None or most > _HIGHEST_GREP_COUNT:
        return b"{%d,}" % least
    return b"{%d,%d}" % (least, most)
