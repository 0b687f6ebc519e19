"""Rendering of search patterns for each matcher: RE2, ripgrep, PCRE, Python's `re` and POSIX grep."""

from collections.abc import Callable, Iterator
from enum import Enum, auto

from tejat.workspace.search.character_class import (
    NO_CHARACTER,
    WORD,
    CharacterClass,
    Ranges,
    escape,
    fold_ranges,
    format_ranges,
)
from tejat.workspace.search.pattern import GROUP_OPENERS, PatternToken, SearchPattern, TokenKind

_LAST_ASCII = 0x7F
# Larger counts are left open for grep, whose automata they would blow up.
_HIGHEST_GREP_COUNT = 4


class LinearMode(Enum):
    """Treatment of the parts that a linear matcher cannot evaluate."""

    EXACT = auto()
    """There are none."""
    RELAXED = auto()
    """Leave them out: everything the pattern matches is matched, and perhaps more."""
    SYNTAX = auto()
    """Treat them as plain groups, to check their contents."""


def to_re2(pattern: SearchPattern, mode: LinearMode) -> str:
    r"""Render for RE2, whose `\b` is correct for ASCII text only."""
    words = {TokenKind.BOUNDARY: r"\b", TokenKind.NON_BOUNDARY: r"\B"}
    if mode is LinearMode.RELAXED:
        words = dict.fromkeys(words, "(?:)")
    tokens = pattern.tokens if mode is LinearMode.SYNTAX else _without_lookarounds(pattern.tokens)

    def spell(token: PatternToken) -> str:
        match token.kind:
            case TokenKind.BACK_REFERENCE:
                return "(?:.*)"
            case TokenKind.CLASS:
                return _require_class(token).re2
            case TokenKind.BOUNDARY | TokenKind.NON_BOUNDARY:
                return words[token.kind]
            case _:
                return _linear_syntax(token)

    return "(?m)" + _with_case_flags(pattern.ignores_case, tokens, spell)


def to_ripgrep(pattern: SearchPattern) -> str:
    """Render for ripgrep's own matcher, which supports Unicode."""

    def spell(token: PatternToken) -> str:
        match token.kind:
            case TokenKind.CLASS:
                return _require_class(token).ripgrep
            case TokenKind.BOUNDARY:
                return r"\b"
            case TokenKind.NON_BOUNDARY:
                return r"\B"
            case _:
                return _linear_syntax(token)

    return _with_case_flags(pattern.ignores_case, pattern.tokens, spell)


def to_pcre(pattern: SearchPattern) -> str:
    r"""Render for PCRE2 in ripgrep, which gets each line with the "\r" at its end.

    The option `--crlf` would drop it, but makes PCRE2 see no line start in an empty line.
    """

    def spell(token: PatternToken) -> str:
        match token.kind:
            case TokenKind.CLASS:
                return _require_class(token).pcre
            case TokenKind.ANY:
                return r"[^\r\n]"
            case TokenKind.LINE_START:
                return r"(?:^|(?<=\r)(?!$))"
            case TokenKind.LINE_END:
                return r"(?:(?<!\r)$|(?=\r))"
            case TokenKind.BOUNDARY | TokenKind.NON_BOUNDARY:
                return _boundary(token.kind, WORD.re2, WORD.re2)
            case _:
                return _backtracking_syntax(token)

    return _with_case_flags(pattern.ignores_case, pattern.tokens, spell)


def to_python(pattern: SearchPattern) -> str:
    """Render for Python's `re` without flags, applied to single lines.

    One case is inexact: a case-insensitive back-reference compares with `str.lower`, for which ſ is not s.
    """
    word = _python_class(WORD.ranges) if pattern.has_word_boundaries else ""

    def spell(token: PatternToken) -> str:
        match token.kind:
            case TokenKind.CLASS:
                return _python_class(_require_class(token).ranges)
            case TokenKind.LITERAL if token.ignores_case:
                return _python_class(fold_ranges(token.text))
            case TokenKind.ANY:
                # Bytes that are not UTF-8 arrive as lone surrogates and are not characters.
                return "[^\r\n\ud800-\udfff]"
            case TokenKind.NEVER:
                return "(?!)"
            case TokenKind.LINE_START:
                return r"\A"
            case TokenKind.LINE_END:
                return r"\Z"
            case TokenKind.BOUNDARY | TokenKind.NON_BOUNDARY:
                # As in ripgrep, an invalid byte is not part of a word, nor next to a position outside of words.
                return _boundary(token.kind, word, f"{word[:-1]}\ud800-\udfff]")
            case TokenKind.BACK_REFERENCE if token.ignores_case:
                return f"(?i:(?:\\{token.text}))"
            case _:
                return _backtracking_syntax(token)

    return "".join(map(spell, pattern.tokens))


def to_marked_re2(pattern: SearchPattern) -> str:
    r"""Render for RE2 on text in which word boundaries were made visible by marks.

    RE2's `\b` sees ASCII words only. So each non-ASCII word character is put between two underscores, a plain
    underscore is doubled, and each atom matches a character with its marks: then a boundary is exactly where RE2 sees
    one, in linear time, which look-around cannot do. A line feed stands for a byte that is not UTF-8.
    """

    def spell(token: PatternToken) -> str:
        match token.kind:
            case TokenKind.LITERAL:
                ranges = fold_ranges(token.text) if token.ignores_case else ((ord(token.text), ord(token.text)),)
                return _marked_class(ranges)
            case TokenKind.CLASS:
                return _marked_class(_require_class(token).ranges)
            case TokenKind.ANY:
                return r"(?:[^_\n]|__|_[^_\n]_)"
            case TokenKind.LINE_START:
                return r"\A"
            case TokenKind.LINE_END:
                return r"\z"
            case TokenKind.BOUNDARY:
                return r"\b"
            case TokenKind.NON_BOUNDARY:
                return r"\B"
            case _:
                return _linear_syntax(token)

    # Anchored after whole characters: a match cannot begin between a character and its mark.
    return r"\A(?:[^_]|__|_[^_]_)*?(?:" + "".join(map(spell, pattern.tokens)) + ")"


def to_grep(pattern: SearchPattern) -> bytes:
    """Render as a POSIX extended expression on bytes that matches at least the lines that the pattern matches.

    Non-ASCII characters are not distinguished, and zero-width assertions are left out.
    """
    spelled: list[bytes] = []
    for token in _without_lookarounds(pattern.tokens):
        match token.kind:
            case TokenKind.LITERAL:
                spelled.append(_grep_literal(token))
            case TokenKind.CLASS:
                spelled.append(_grep_set(_require_class(token).ascii_members))
            case TokenKind.ANY | TokenKind.NEVER:
                spelled.append(b".")
            case TokenKind.BACK_REFERENCE:
                spelled.append(b"(.*)")
            case TokenKind.REPEAT:
                spelled.append(_grep_count(token.text))
            case TokenKind.OR:
                spelled.append(b"|")
            case TokenKind.CLOSE:
                spelled.append(b")")
            case kind:
                spelled.append(b"(" if kind in GROUP_OPENERS else b"()")
    return b"".join(spelled)


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
_FIXED_SYNTAX = {
    TokenKind.ANY: ".",
    TokenKind.NEVER: NO_CHARACTER,
    TokenKind.LINE_START: "^",
    TokenKind.LINE_END: "$",
    TokenKind.CLOSE: ")",
    TokenKind.OR: "|",
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
    match token.kind:
        case TokenKind.LITERAL:
            return escape(token.text)
        case TokenKind.REPEAT | TokenKind.LOOKAROUND:
            return token.text
        case TokenKind.CAPTURE:
            return "("
        case TokenKind.ATOMIC:
            return "(?>"
        case TokenKind.GROUP:
            return "(?:"
        case TokenKind.BACK_REFERENCE:
            # In a group, so that a following digit is not read as part of the number.
            return f"(?:\\{token.text})"
        case _:
            return _FIXED_SYNTAX[token.kind]


def _require_class(token: PatternToken) -> CharacterClass:
    if token.character_class is None:
        raise ValueError("only a class has characters to choose from")
    return token.character_class


def _python_class(ranges: Ranges) -> str:
    runs = (f"\\U{first:08X}" if first == last else f"\\U{first:08X}-\\U{last:08X}" for first, last in ranges)
    return f"[{''.join(runs)}]" if ranges else "(?!)"


def _boundary(kind: TokenKind, word: str, word_or_no_text: str) -> str:
    if kind is TokenKind.BOUNDARY:
        return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
    return f"(?:(?<={word})(?={word})|(?<!{word_or_no_text})(?!{word_or_no_text}))"


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
