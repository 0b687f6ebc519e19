"""A command becomes the words that a POSIX shell would make of it; what only a shell could do is refused."""

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import UsageError
from tejat.core.text.argv import parse_argv

WORDS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), max_size=5)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bin/discover", ("bin/discover",)),
        ("  python3 tools.py\tlist  ", ("python3", "tools.py", "list")),
        ("python3 'my tools.py' --kind=\"a b\"", ("python3", "my tools.py", "--kind=a b")),
        ("a '' \"\"", ("a", "", "")),
        ("a'b'\"c\"d\\ e", ("abcd e",)),
        (r'a "\$x \" \\ \n" \n', ("a", r'$x " \ \n', "n")),
        ("a '$(b) `c` | ; > &&'", ("a", "$(b) `c` | ; > &&")),
        (r'a "\$(b) \`c\` | ; > &&" \| \; \$\(', ("a", "$(b) `c` | ; > &&", "|", ";", "$(")),
        ("a $NAME ${NAME} $ *.py ~ #x {a,b} X=1", ("a", "$NAME", "${NAME}", "$", "*.py", "~", "#x", "{a,b}", "X=1")),
        ('a \'b\nc\' "d\ne" f\\\ng "h\\\ni"', ("a", "b\nc", "d\ne", "fg", "hi")),
        ("a b\\ ", ("a", "b ")),
        ("a\n", ("a",)),
        ("a \\\n b\\\nc", ("a", "bc")),
        ("günther ' ä'", ("günther", " ä")),
    ],
)
def test_a_line(line: str, words: tuple[str, ...]) -> None:
    assert parse_argv(line) == words


@pytest.mark.parametrize(
    "words", [("python3", "tools.py"), ("my program", "", "$(x)", "a|b", "'", '"'), ("a\nb",), ("echo", "-n", "\\")]
)
def test_a_list_is_taken_as_it_is(words: tuple[str, ...]) -> None:
    assert parse_argv(words) == words
    assert parse_argv(list(words)) == words


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "is empty or contains only whitespace."),
        (" \t\n ", "is empty or contains only whitespace."),
        ((), "is empty or contains only whitespace."),
        ("| a", "must start with a program name."),
        (" && a", "must start with a program name."),
        ("''", "must start with a program name."),
        ("' ' a", "must start with a program name."),
        (("", "a"), "must start with a program name."),
        ("a 'b", "has an unclosed quote: '"),
        ('a "b\\"', 'has an unclosed quote: "'),
        ("a \\", "ends with a lone backslash."),
        ("a b\0", "contains a NUL character."),
        (("a", "b\0c"), "contains a NUL character."),
    ],
)
def test_no_command(given: str | tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_argv(given, label="Tool discovery command")
    assert str(raised.value) == f"Tool discovery command {problem}"


@pytest.mark.parametrize(
    ("line", "operator"),
    [
        ("a | b", "|"),
        ("a || b", "||"),
        ("a && b", "&&"),
        ("a&", "&"),
        ("a; b", ";"),
        ("a > b", ">"),
        ("a>>b", ">>"),
        ("a 2>&1", ">"),
        ("a < b", "<"),
        ("a << b", "<<"),
        ("a <(b)", "<"),
        ("a (b)", "("),
        ("a `b`", "`"),
        ("a $(b)", "$("),
        ("a$(b)", "$("),
        ("a $((1))", "$("),
        ('a "`b`"', "`"),
        ('a "x $(b)"', "$("),
        (r'a "\\$(b)"', "$("),
        ("a\nb", "a line break"),
    ],
)
def test_what_only_a_shell_could_do(line: str, operator: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_argv(line)
    assert str(raised.value) == (
        f"The command contains {operator}, which needs a shell, but it runs without one. "
        "Quote it to use it literally, or put the line in a script and run that."
    )


@given(WORDS)
def test_quoted_words_come_back(words: list[str]) -> None:
    line = shlex.join(["program", *words])
    assert parse_argv(line) == ("program", *words)


@settings(max_examples=150, deadline=None)
@given(st.text("ab \t'\"\\|", max_size=12))
def test_a_shell_makes_the_same_of_it(text: str) -> None:
    """What a shell runs as one plain command has the same words here; nothing else is refused but what it refuses."""
    script = f'p() {{ printf "%s\\0" "$#" "$@"; exit 0; }}; p {text}'
    heard = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=False)
    try:
        words = parse_argv(f"p {text}")[1:]
    except UsageError:
        assert "|" in text or heard.returncode != 0 or text.endswith("\\")
    else:
        assert heard.stdout.decode().split("\0")[:-1] == [str(len(words)), *words]
