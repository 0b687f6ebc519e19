"""Braces stand for what they stand for in a shell, up to a bound."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.paths.glob.brace_expansion import MAX_ALTERNATIVES, expand_braces


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abc", ["abc"]),
        ("a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("x{,y}", ["x", "xy"]),
        ("{a,a}", ["a"]),
        ("{,}", [""]),
        ("{a/b,c}/d", ["a/b/d", "c/d"]),
        ("{1..3}", ["1", "2", "3"]),
        ("{3..1}", ["3", "2", "1"]),
        ("{-1..1}", ["-1", "0", "1"]),
        ("{08..11}", ["08", "09", "10", "11"]),
        ("{1..10..4}", ["1", "5", "9"]),
        ("{10..1..-4}", ["10", "6", "2"]),
        ("{1..2..0}", ["1", "2"]),
        ("{a..c}", ["\\a", "\\b", "\\c"]),
        ("{Z..[}", ["{Z..[}"]),
        ("{}", ["{}"]),
        ("{a}", ["{a}"]),
        ("{a,b", ["{a,b"]),
        ("a,b}", ["a,b}"]),
        ("{{a,b}", ["{a", "{b"]),
        ("{a,{b}", ["{a,{b}"]),
        ("{{a,b}}", ["{a}", "{b}"]),
        ("\\{a,b\\}", ["\\{a,b\\}"]),
        ("{a\\,b,c}", ["a\\,b", "c"]),
        ("a\\", ["a\\"]),
    ],
)
def test_examples(pattern: str, expected: list[str]) -> None:
    assert expand_braces(pattern) == expected


@pytest.mark.parametrize("pattern", ["{a,b}" * 25, "{1..99999999}" * 4, "{1..2001}", "{" * 60 + "a,b" + "}" * 60])
def test_too_much_is_refused_at_once(pattern: str) -> None:
    started = time.process_time()
    with pytest.raises(ToolFailure) as caught:
        expand_braces(pattern)
    assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
    assert time.process_time() - started < 1


def test_long_texts_many_times_are_refused() -> None:
    with pytest.raises(ToolFailure):
        expand_braces("x" * 5000 + "{1..100}")


def test_the_most_that_is_allowed() -> None:
    assert len(expand_braces(f"{{1..{MAX_ALTERNATIVES}}}")) == MAX_ALTERNATIVES


sequences = st.recursive(
    st.text("ab", max_size=2),
    lambda inner: st.lists(st.one_of(st.text("ab", max_size=2), st.lists(inner, min_size=2, max_size=3)), max_size=3),
    max_leaves=12,
)
"""A list is a sequence of texts and of choices; a choice is a list of sequences."""


def written(sequence: object) -> str:
    if isinstance(sequence, str):
        return sequence
    assert isinstance(sequence, list)
    return "".join(
        item if isinstance(item, str) else "{" + ",".join(written(choice) for choice in item) + "}" for item in sequence
    )


def meant(sequence: object) -> list[str]:
    if isinstance(sequence, str):
        return [sequence]
    assert isinstance(sequence, list)
    found = [""]
    for item in sequence:
        endings = [item] if isinstance(item, str) else [text for choice in item for text in meant(choice)]
        found = [text + ending for text in found for ending in endings]
    return found


@settings(max_examples=200, deadline=None)
@given(sequences)
def test_well_formed_braces_mean_every_choice(sequence: object) -> None:
    expected = list(dict.fromkeys(meant(sequence)))
    if len(meant(sequence)) <= MAX_ALTERNATIVES:
        assert expand_braces(written(sequence)) == expected


@settings(max_examples=400, deadline=None)
@given(st.text("ab{},.\\1", max_size=14))
def test_any_text_gives_something(pattern: str) -> None:
    expanded = expand_braces(pattern)
    assert expanded
    if "{" not in pattern:
        assert expanded == [pattern]
