"""What is said about a pattern without compiling it is true."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.rules.pattern_literals import (
    glob_literals,
    is_surely_valid_glob,
    is_surely_valid_regex,
    regex_literals,
)
from tejat.policy.rules.patterns import InvalidPattern, matches_glob, matches_regex

_PIECES = (
    *(
        "git",
        "push",
        "a",
        "b c",
        "-rf",
        "_",
        '"',
        ":",
        "/",
        "\\.",
        "\\s",
        "\\d+",
        "\\b",
        "\\B",
        "\\\\",
        "\\(",
        "\\_",
        "\\-",
    ),
    *(
        ".",
        ".*",
        "[a-z]",
        "[^a]+",
        "[]x]",
        "[[:alpha:]]",
        "[\\]]",
        "(log|push)",
        "(?:x)?",
        "(?i)",
        "(?i:G)",
        "(",
        ")",
        "|",
    ),
    *(
        "*",
        "+",
        "?",
        "??",
        "{2}",
        "{0,1}",
        "{,2}",
        "{x",
        "^",
        "$",
        "\\x41",
        "\\Q",
        "\\E",
        "\\pL",
        "\\A",
        "\\z",
        "é",
        "\\é",
    ),
)
_patterns = st.lists(st.sampled_from(_PIECES), max_size=7).map("".join)
_texts = st.lists(
    st.sampled_from(("git", "push", "a", "b c", "-rf", "x", "log", "G", "é", "1", "\n", "A")), max_size=8
).map("".join)


def _compiles(pattern: str) -> bool:
    try:
        matches_regex(pattern, "")
    except InvalidPattern:
        return False
    return True


@settings(max_examples=2000, deadline=None)
@given(_patterns, _texts)
def test_literals_occur_in_whatever_matches(pattern: str, text: str) -> None:
    if not _compiles(pattern):
        assert not is_surely_valid_regex(pattern)
    elif matches_regex(pattern, text):
        alternatives = regex_literals(pattern)
        assert not alternatives or any(all(each in text for each in literals) for literals in alternatives)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="ab\\()[]{}*+?.^$|-:_ x0", max_size=12))
def test_what_is_surely_valid_compiles(pattern: str) -> None:
    if is_surely_valid_regex(pattern):
        assert _compiles(pattern)
        assert _compiles(f"^(?:{pattern})")
        assert _compiles(f'"command":"{pattern}')


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("git push", (("git push",),)),
        ("git (log|push) origin", (("git ", " origin"),)),
        ("rm -rf|dd if=", (("rm -rf",), ("dd if",))),
        ("abcd?e", (("abc",),)),
        ("abcd{2}efg", (("abc", "efg"),)),
        (r"a\.py\s+x", (("a.py",),)),
        ("abc|", ()),
        ("(?i)abc", ()),
        (r"\x41bcd", ()),
        ("ab", ()),
    ],
)
def test_literals_of_a_pattern(pattern: str, literals: tuple[tuple[str, ...], ...]) -> None:
    assert regex_literals(pattern) == literals


_globs = st.lists(
    st.sampled_from(("src", "secret", "/", "**", "*", "?", ".env", "a", "{a,b}", "[a-c]", "\\*", "./", "~/", "-x-")),
    max_size=6,
).map("".join)
_paths = st.lists(st.sampled_from(("src", "secret", ".env", "a", "b", "-x-", "*")), max_size=4).map("/".join)


@settings(max_examples=1000, deadline=None)
@given(_globs, _paths)
def test_literals_occur_in_every_path_that_a_glob_matches(glob: str, below: str) -> None:
    path = f"/r/{below}".rstrip("/")
    try:
        is_match = matches_glob(glob, path, roots=("/r",), home="/r")
    except InvalidPattern:
        assert not is_surely_valid_glob(glob)
        return
    if is_match:
        assert all(each in path for each in glob_literals(glob))


def test_long_patterns_are_compiled() -> None:
    assert not is_surely_valid_regex("a" * 301)
    assert not is_surely_valid_glob("a" * 301)
    assert re.fullmatch("a+", "a" * 301)
