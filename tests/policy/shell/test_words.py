"""The values of words, checked against what bash itself hands to a program."""

import random
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.shell.words import MAX_ROOTED_PARTS, ShellWord, find_rooted_parts, literal_word, parse_word, word_set


@pytest.mark.parametrize(
    ("text", "value", "is_bare"),
    [
        ("plain", "plain", True),
        ("-x=1,2:3", "-x=1,2:3", True),
        ("'a b'", "a b", False),
        ('"a b"', "a b", False),
        ("t''ouch", "touch", False),
        ('t""ou"c"h', "touch", False),
        ("t\\ouch", "touch", False),
        ("\\$x", "$x", False),
        ('"\\$x \\" \\\\ \\a"', '$x " \\ \\a', False),
        ("$'to\\x75ch'", "touch", False),
        ("$'\\164\\157uch'", "touch", False),
        ("$'\\u0074ouch\\t\\''", "touch\t'", False),
        ("$'a\\0b'c", "ac", False),
        ("$'\\xc3\\xa9'", "é", False),
        ("a$", "a$", True),
        ('"a$"', "a$", False),
        ("[", "[", True),
        ("]", "]", True),
        ("{}", "{}", True),
        ("stash@{0}", "stash@{0}", True),
        ("HEAD~1", "HEAD~1", True),
    ],
)
def test_literal_words(text: str, value: str, is_bare: bool) -> None:
    assert parse_word(text) == ShellWord(text=text, value=value, is_literal=True, is_unquoted=is_bare)


@pytest.mark.parametrize(
    ("text", "is_split"),
    [
        ("$x", True),
        ("a$x", True),
        ('"$x"', False),
        ('"$x"$y', True),
        ("`x`", True),
        ('"`x`"', False),
        ("*.py", True),
        ("a?", True),
        ("[ab]", True),
        ("{a,b}", True),
        ("{1..3}", True),
        ("~", True),
        ("~/x", True),
        ("a=~/x", True),
        ('$"x"', True),
        ("'open", True),
        ('"open', True),
        ("$'open", True),
        ("$'\\x'", True),
        ("<(x)", True),
        ("to\\\nuch", True),
        ('"to\\\nuch"', True),
        ("$\\\nx", True),
        ("a\\", True),
    ],
)
def test_words_that_the_shell_computes(text: str, is_split: bool) -> None:
    word = parse_word(text)
    assert (word.value, word.is_literal, word.is_split) == (text, False, is_split)


def test_tables_and_given_words() -> None:
    assert word_set("a  b\n c") == frozenset(("a", "b", "c"))
    assert literal_word("a b") == ShellWord("a b", "a b", is_literal=True, is_unquoted=True)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30))
def test_nothing_is_raised(text: str) -> None:
    assert parse_word(text).text == text


PIECES = [
    *(
        "a",
        "é",
        "''",
        "'b c'",
        '"d"',
        '"\\\\"',
        '"\\$"',
        '"\\a"',
        "\\e",
        "\\'",
        '\\"',
        "$'\\x41'",
        "$'\\n'",
        "$'\\101'",
    ),
    *("$'\\''", "$", "{", "}", "=", "$'\\u00e9'", "\\\n", '"\\\n"', "%", "^", "!", "@"),
]


def test_bash_sees_the_same() -> None:
    chance = random.Random(7)
    texts = ["x" + "".join(chance.choices(PIECES, k=chance.randint(1, 8))) for _ in range(2000)]
    known = [word for word in map(parse_word, texts) if word.is_literal]
    assert len(known) > 500
    line = "printf '%s\\0' " + " ".join(word.text for word in known)
    environment = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    arguments = ["bash", "--norc", "--noprofile", "-c", line]
    said = subprocess.run(arguments, env=environment, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    given_to_program = said.stdout.decode().split("\0")[:-1]
    assert [pair for pair in zip(known, given_to_program, strict=True) if pair[0].value != pair[1]] == []


def test_paths_inside_a_word() -> None:
    assert find_rooted_parts("--a=/b:~/c") == [4, 7]
    assert find_rooted_parts("/a/b") == []
    assert find_rooted_parts("a/b~1") == []
    assert len(find_rooted_parts("=/" * 1000)) == MAX_ROOTED_PARTS + 1
