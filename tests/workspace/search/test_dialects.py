"""Each matcher gets a spelling of a pattern that means the same to it, or, where only files are picked, more."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.workspace.search.character_class import compile_linear
from tejat.workspace.search.dialects import (
    LinearMode,
    to_grep,
    to_marked_re2,
    to_pcre,
    to_python,
    to_re2,
    to_ripgrep,
)
from tejat.workspace.search.matcher import LineMatcher
from tejat.workspace.search.pattern import SearchPattern, parse_pattern


def read(source: str, *, case_sensitive: bool = True) -> SearchPattern:
    return parse_pattern(source, fixed_strings=False, case_sensitive=case_sensitive)


def test_ripgrep_keeps_its_own_classes() -> None:
    assert to_ripgrep(read(r"(a+?)\w\b[^\d_]{2}|b", case_sensitive=False)) == r"(?i)(?:a+)[\w]\b[^\d_]{2}|b"


def test_case_is_said_where_it_differs() -> None:
    assert to_ripgrep(read("a(?i:b)")) == "a(?:(?i:b))"
    assert to_ripgrep(read("a(?-i:b)1", case_sensitive=False)) == "(?i)a(?:(?-i:b))1"


def test_what_programs_read_differently_is_escaped() -> None:
    assert to_ripgrep(read(r"{[[&&~]\<")) == r"\{[\[\&\&\~]<"


def test_relaxed_patterns_leave_out_what_cannot_be_judged() -> None:
    assert to_re2(read(r"\ba(?!b(c)(?=d))e"), LinearMode.RELAXED) == "(?m)(?:)a(?:)e"
    assert to_re2(read(r"(a)\1"), LinearMode.RELAXED) == "(?m)(?:a)(?:.*)"
    assert to_re2(read(r"a(?!b)"), LinearMode.SYNTAX) == "(?m)a(?:b)"


def test_pcre_sees_line_endings_as_everyone() -> None:
    assert to_pcre(read("^a.(?!b)")) == r"(?:^|(?<=\r)(?!$))a[^\r\n](?!b)"


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        (r"(a)\1", "aa", True),
        (r"(a)\1", "aA", False),
        (r"(?i)(a)\1", "aA", True),
        (r"(a)\10", "aa0", True),
        ("(?i)k(?!x)", "\u212a", True),
        ("^a(?=$)", "a", True),
        (".(?!a)", "\udcff", False),
        ("[^a](?!a)", "\udcff", False),
        (r"\b(?=é)", "é", True),
        (r"(?:\n)?(?!a)b", "b", True),
    ],
)
def test_python(source: str, text: str, expected: bool) -> None:
    # A number of a group that does not exist is refused before; \10 here is group 1 and a zero.
    pattern = read(source.replace(r"\10", r"\1[0]"))
    assert (re.search(to_python(pattern), text) is not None) is expected


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        (r"\bé", "_é_", True),
        (r"\bé", "a_é_", False),
        (r"a\b", "a_é_", False),
        (r"__", "____", True),
        (r"_\b", "__", True),
        (r"_\b", "___é_", False),
        (r"\w\w", "_é_a", True),
        (r".", "\n", False),
        (r"a.b", "a_é_b", True),
        (r"a[^x]b", "a__b", True),
        (r"^é$", "_é_", True),
    ],
)
def test_marked_text(source: str, text: str, expected: bool) -> None:
    found = compile_linear(to_marked_re2(read(source)), crosses_lines=True).search(text.encode())
    assert (found is not None) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a.b", b"a.b"),
        (r"a\.b", rb"a\.b"),
        ("^a$", b"()a()"),
        ("(a|b)+?", b"(a|b)+"),
        ("é", b"(\xc3\xa9)"),
        ("a{2,3}", b"a{2,3}"),
        ("a{9}", b"a{4,}"),
        ("a{2,9}", b"a{2,}"),
        ("a{3,}", b"a{3,}"),
        (r"(a)(?!b)\1", rb"(a)()(.*)"),
        ("[]^[-]", b"([][^-]|[\x80-\xff]+)"),
        (r"[\^]", b"(\\^|[\x80-\xff]+)"),
    ],
)
def test_grep(source: str, expected: bytes) -> None:
    assert to_grep(read(source)) == expected


def test_grep_folds_case() -> None:
    assert to_grep(read("ak1é", case_sensitive=False)) == (b"[aA]([kK]|[\x80-\xff]+)1([kKsS]|[\x80-\xff]+)")


PIECES = [
    "a",
    "k",
    "é",
    ".",
    r"\w",
    r"\W",
    "[^a]",
    "[]^-]",
    r"\b",
    "^",
    "$",
    "(?i:s)",
    "b?",
    "(a|é)*",
    "k{2,5}",
    " ",
    r"\d",
    "(?!a)",
]
LINES = [
    "",
    "a",
    "k",
    "é",
    "ak",
    "kk",
    "kkkkk",
    "\u212a",
    "\u017f",
    "S",
    "]",
    "^",
    "-",
    " ",
    "a é",
    "éa",
    "日",
    "0",
    "b b",
    "aé日 k",
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join), case_sensitive=st.booleans())
def test_grep_picks_at_least_what_matches(tmp_path: Path, source: str, case_sensitive: bool) -> None:
    pattern = read(source, case_sensitive=case_sensitive)
    text = tmp_path / "text"
    text.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    command = ["grep", "-n", "-a", "-E", "-e", to_grep(pattern), "--", text]
    result = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"})
    assert result.returncode in (0, 1), result.stderr
    picked = {int(line.partition(b":")[0]) - 1 for line in result.stdout.splitlines() if line}
    with LineMatcher(pattern, lambda: None) as matcher:
        matching = {index for index, line in enumerate(LINES) if matcher.matches(line.encode())}
    assert matching <= picked
