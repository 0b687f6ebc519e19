"""Commands of bare words, read in one step as they are read word by word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.shell.bare_command import is_ordinary_name, read_bare_words
from tejat.policy.shell.grammar import Node, parse_tree
from tejat.policy.shell.implicit_eval import find_implicit_eval
from tejat.policy.shell.plain import RESERVED
from tejat.policy.shell.walker import LineAnalysis
from tejat.policy.shell.words import parse_word
from tejat.policy.shell.wrappers import unwrap_command

_NAMES = (
    *("ls", "ln", "./x", "a/b/", "git", "sudo", "env", "/usr/bin/env", "xargs", "bash", "find", "time", "if", "coproc"),
    *("declare", "export", "read", "unset", "eval", "source", ".", "let", "test", "set", "printf", "ld-linux.so.2"),
    *("python3", "npm", "watch", "su", "docker", "[", "trap", "hash", "mapfile", "-x", "a=b", "done", "crontab"),
)
_WORDS = (
    *("a", "-c", "-x", "--", "ls", "rm", "run", "exec", "-v", "x=/a", "-S", "a,b", "-a", "PATH=1"),
    *("=/a" * 70, "y" * 100),
)


def _first_command(text: str) -> tuple[Node, bytes]:
    source = text.encode()
    root = parse_tree(source)
    assert root is not None
    waiting = [root]
    while waiting:
        node = waiting.pop(0)
        if node.type == "command":
            return node, source
        waiting += node.children
    raise AssertionError(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ls", ["ls"]),
        ("  ls -la a/b.c 12 x=1; b", ["ls", "-la", "a/b.c", "12", "x=1"]),
        ("a > b", ["a"]),
        ("a  b", None),
        ("a\tb", None),
        ("a 'b'", None),
        ("a b'c'", None),
        ("a $x", None),
        ("a b*", None),
        ("a ~", None),
        ("a \\\nb", None),
        ("X=1 a", None),
        ("$(a) b", None),
        ("a <<< b", None),
        ("a é", None),
    ],
)
def test_words_of_the_tree(text: str, words: list[str] | None) -> None:
    assert read_bare_words(*_first_command(text)) == words


def _state(analysis: LineAnalysis) -> tuple[object, ...]:
    return analysis.commands, list(analysis.doubts), analysis.is_opaque, analysis.redirections


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(_NAMES), st.lists(st.sampled_from(_WORDS), max_size=4)), max_size=3),
    st.lists(st.sampled_from(("sudo", "env")), max_size=14).map(tuple),
)
def test_a_bare_command_adds_what_its_words_add(commands: list[tuple[str, list[str]]], via: tuple[str, ...]) -> None:
    quick, thorough = LineAnalysis(), LineAnalysis()
    for name, words in commands:
        quick.add_bare_command([name, *words], via)
        thorough.add_command(list(map(parse_word, [name, *words])), via)
    assert _state(quick) == _state(thorough)


@pytest.mark.parametrize("name", [*_NAMES, *sorted(RESERVED)])
def test_an_ordinary_name_neither_evaluates_nor_wraps(name: str) -> None:
    special = False
    for operands in ([], ["-c", "x"], ["a"], ["$x"], ["-x", "$x", "a"]):
        words = list(map(parse_word, [name, *operands]))
        special = special or find_implicit_eval(words) is not None or unwrap_command(words) is not None
    assert not (is_ordinary_name(name) and (special or name in RESERVED))


def test_most_names_are_ordinary() -> None:
    assert all(map(is_ordinary_name, ("ls", "ln", "sed", "./x", "cargo-x", "python3")))


@pytest.mark.parametrize("count", [2001, 2002])
def test_a_line_of_too_many_commands_is_opaque(count: int) -> None:
    analysis = LineAnalysis()
    analysis.analyze(";".join(["a b"] * count))
    assert analysis.is_opaque


def test_a_long_line_is_not_opaque() -> None:
    analysis = LineAnalysis()
    analysis.analyze(";".join(["a b"] * 2000))
    assert (len(analysis.commands), analysis.is_opaque) == (2000, False)


@pytest.mark.parametrize(("depth", "is_opaque"), [(190, False), (198, True)])
def test_a_deep_command_is_opaque(depth: int, is_opaque: bool) -> None:
    analysis = LineAnalysis()
    analysis.analyze(f"{'if a; then ' * depth}ls x{'; fi' * depth}")
    assert analysis.is_opaque is is_opaque
