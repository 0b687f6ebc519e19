"""Patterns are read into tokens of fixed meaning, or refused with a reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.search.pattern import (
    MAX_PATTERN_BYTES,
    PatternToken,
    SearchPattern,
    TokenKind,
    invalid_pattern,
    parse_pattern,
)


def read(source: str, *, fixed_strings: bool = False, case_sensitive: bool = True) -> SearchPattern:
    return parse_pattern(source, fixed_strings=fixed_strings, case_sensitive=case_sensitive)


def literals(text: str, *, folds: bool = False) -> tuple[PatternToken, ...]:
    return tuple(PatternToken(TokenKind.LITERAL, character, folds) for character in text)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("func() {"[6:], " {"),
        ("a{", "a{"),
        ("a{,2}", "a{,2}"),
        ("a{x}", "a{x}"),
        (r"\<a\>", "<a>"),
        (r"\x41\u00e9\x{65e5}\u{41}\U00000042", "Aé日AB"),
        (r"\t\.\/\-", "\t./-"),
        ("]}", "]}"),
        (r"\0", "\0"),
    ],
)
def test_what_stands_for_itself(source: str, text: str) -> None:
    assert read(source) == SearchPattern(source, literals(text), False, False, False, False)


def test_fixed_strings_have_no_syntax() -> None:
    source = r"(\b[a{2}+"
    assert read(source, fixed_strings=True, case_sensitive=False) == SearchPattern(
        source, literals(source, folds=True), True, False, False, False
    )


@pytest.mark.parametrize("source", ["\n", "\r", r"\n", r"\r", "[\r\n]", r"[\n]"])
def test_line_endings_never_match(source: str) -> None:
    assert read(source).tokens == (PatternToken(TokenKind.NEVER),)


def test_all_but_line_endings_is_any_character() -> None:
    assert read(r"[^\r\n]").tokens == (PatternToken(TokenKind.ANY),)


def test_flags_hold_until_their_group_ends() -> None:
    tokens = read("a(b(?i)c)d(?i:e)f(?-i)g").tokens
    folding = {token.text: token.ignores_case for token in tokens if token.kind is TokenKind.LITERAL}
    assert folding == {"a": False, "b": False, "c": True, "d": False, "e": True, "f": False, "g": False}


def test_anchors_and_groups() -> None:
    assert [token.kind for token in read(r"^\A(a|(?:b))\z$\Z").tokens] == [
        TokenKind.LINE_START,
        TokenKind.LINE_START,
        TokenKind.CAPTURE,
        TokenKind.LITERAL,
        TokenKind.OR,
        TokenKind.GROUP,
        TokenKind.LITERAL,
        TokenKind.CLOSE,
        TokenKind.CLOSE,
        TokenKind.LINE_END,
        TokenKind.LINE_END,
        TokenKind.LINE_END,
    ]


@pytest.mark.parametrize(
    "source",
    ["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", r"(?P<n>a)(?P=n)", r"(?<n>a)\k<n>", "(?>a)", "a++", "a{2}+"],
)
def test_what_only_backtracking_can_match(source: str) -> None:
    assert read(source).needs_backtracking


@pytest.mark.parametrize("source", ["(a)", "(?P<n>a)", "a+?", "a{2}", "a?", "(?i)a", "a+"])
def test_what_needs_no_backtracking(source: str) -> None:
    assert not read(source).needs_backtracking


def test_boundaries_are_noted() -> None:
    assert [(read(source).has_word_boundaries, read(source).has_non_boundaries) for source in ("a", r"\b", r"\B")] == [
        (False, False),
        (True, False),
        (True, True),
    ]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("(a", "missing )"),
        ("a)", "unexpected )"),
        ("[a", "missing ]"),
        ("[z-a]", "invalid character class range"),
        (r"[a-\d]", "invalid character class range"),
        ("*a", "missing argument"),
        ("(*a)", "missing argument"),
        ("a|+", "missing argument"),
        ("a**", "bad repetition operator: **"),
        (r"\y", r"invalid escape sequence: \y"),
        (r"\xzz", r"invalid escape sequence: \x"),
        (r"\ud800", "invalid escape sequence"),
        (r"\x{110000}", "invalid escape sequence"),
        ("a\\", "trailing \\"),
        ("(?<n", "invalid group syntax"),
        ("(?x)a", "invalid group syntax"),
        ("(?)a", "invalid group syntax"),
        ("(?#a)", "invalid group syntax"),
        ("(?-u:a)", "no text"),
        (r"(a)\2", "there is no group 2"),
        (r"\k<n>", "unknown group name: n"),
        ("(?<n>a)(?<n>b)", "duplicate capture group name: n"),
        ("(" * 201 + ")" * 201, "nested"),
        ("\ud800", "lone surrogate"),
        ("é" * (MAX_PATTERN_BYTES // 2 + 1), "longer than"),
    ],
)
def test_what_is_refused(source: str, reason: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        read(source)
    assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
    assert reason in caught.value.message


def test_the_failure_names_pattern_and_reason() -> None:
    assert invalid_pattern("(", "oops").message == "Invalid regular expression pattern provided: (. Error: oops"
    assert len(invalid_pattern("(" * 5000, "oops").message) < 1200


@settings(max_examples=400, deadline=None)
@given(source=st.text(alphabet=r"ab01()[]{}<>?*+|^$.,\\-:=!#&imPkxpwWdsSbBnr é", max_size=24))
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        reason = None if read(source).source == source else "another pattern was read"
    except ToolFailure as failure:
        reason = None if failure.error_type is ErrorType.INVALID_TOOL_PARAMS else failure.error_type
    assert reason is None
    assert "".join(token.text for token in read(source, fixed_strings=True).tokens) == source.translate(
        {10: "", 13: ""}
    )
