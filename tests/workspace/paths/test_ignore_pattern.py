"""Lines of ignore files are read as git reads them. What they match is compared with git itself in test_ignore.py."""

import time

import pytest

from tejat.workspace.paths.ignore_pattern import MAX_BYTES, MAX_PATTERNS, IgnorePattern, IgnoreRule, parse_ignore_file


def only(line: bytes) -> IgnorePattern:
    (pattern,), cut = parse_ignore_file(line, file="f")
    assert not cut
    return pattern


def texts(content: bytes) -> list[str]:
    return [pattern.rule.text for pattern in parse_ignore_file(content, file="f")[0]]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbfa\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\n", ["a\r"]),
        (b"# no\n\\#yes\n #yes\n", ["\\#yes", " #yes"]),
        (b"a  \nb\\ \nc\\\\ \nd\\  \ne\t\n", ["a", "b\\ ", "c\\\\", "d\\ ", "e\t"]),
        (b"a\0b\n", ["a"]),
        (b"\n\r\n/\n!\n!/\n   \n", []),
        (b"a\\\n[a\n[[:nope:]]\na\\/\n", []),
        (b"\xff\n", ["\udcff"]),
    ],
)
def test_lines(content: bytes, expected: list[str]) -> None:
    assert texts(content) == expected


def test_rules_know_their_lines() -> None:
    patterns, _ = parse_ignore_file(b"# c\n\n!a/\n[\nb\n", file="some/file")
    assert [pattern.rule for pattern in patterns] == [
        IgnoreRule(file="some/file", line=3, text="!a/", negated=True),
        IgnoreRule(file="some/file", line=5, text="b", negated=False),
    ]


@pytest.mark.parametrize(
    ("line", "literal", "suffix", "prefix", "on_name", "depth"),
    [
        (b"build", b"build", None, b"build", True, 0),
        (b"/build", b"build", None, b"build", False, 0),
        (b"docs/_build/", b"docs/_build", None, b"docs/_build", False, 1),
        (b"**/build", b"build", None, b"build", True, 0),
        (b"\\!a\\b", b"!ab", None, b"!ab", True, 0),
        (b"*.pyc", None, b".pyc", b"", True, 0),
        (b"**/*.pyc", None, b".pyc", b"", True, 0),
        (b"*", None, b"", b"", True, 0),
        (b"a*.b", None, None, b"a", True, 0),
        (b"*a*", None, None, b"", True, 0),
        (b"src/*/gen", None, None, b"src/", False, 2),
        (b"a/**/b", None, None, b"a/", False, None),
        (b"a/**", None, None, b"a/", False, None),
    ],
)
def test_shortcuts(
    line: bytes, literal: bytes | None, suffix: bytes | None, prefix: bytes, on_name: bool, depth: int | None
) -> None:
    found = only(line)
    shortcuts = (found.literal, found.suffix, found.prefix, found.matches_name, found.depth)
    assert shortcuts == (literal, suffix, prefix, on_name, depth)


@pytest.mark.parametrize(
    ("line", "matched"),
    [
        (b"foo**/bar", [b"foo/bar", b"foox/bar"]),
        (b"/foo**/bar", [b"foo/bar", b"foox/bar"]),
        (b"f?o**/bar", [b"foo/bar", b"foox/bar"]),
        (b"x/foo**", [b"x/foo", b"x/foobar"]),
    ],
)
def test_asterisks_after_a_name_are_ordinary_ones(line: bytes, matched: list[bytes]) -> None:
    paths = b"foobar foo/bar foox/bar foox/y/bar foo/y/bar xfoo/bar x/foo x/foobar x/foo/y".split()
    found = only(line)
    assert [path for path in paths if found.matches(path)] == matched


def test_too_many_bytes_or_patterns_are_cut_at_a_line() -> None:
    content = b"first\n" + b"x" * MAX_BYTES + b"\nlast\n"
    patterns, cut = parse_ignore_file(content, file="f")
    assert ([pattern.rule.text for pattern in patterns], cut) == (["first"], True)
    patterns, cut = parse_ignore_file(b"a\n" * MAX_PATTERNS, file="f")
    assert (len(patterns), cut) == (MAX_PATTERNS, False)
    patterns, cut = parse_ignore_file(b"a\n" * (MAX_PATTERNS + 1), file="f")
    assert (len(patterns), cut) == (MAX_PATTERNS, True)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"*a" * 60 + b"b", b"a" * 250),
        (b"x/" + b"**/a*/" * 60 + b"b", b"x/" + b"aa/" * 1000 + b"c"),
        (b"x/" + b"**/" * 500 + b"b", b"x/" + b"a/" * 1000 + b"c"),
    ],
)
def test_hostile_patterns_do_not_take_long(line: bytes, text: bytes) -> None:
    started = time.process_time()
    assert not only(line).matches(text)
    assert time.process_time() - started < 2
