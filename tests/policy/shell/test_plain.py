import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.shell.plain import REDIRECTS_UNUSUALLY, PlainLine, parse_plain_line


@pytest.mark.parametrize(
    ("text", "commands", "targets"),
    [
        ("ls", [("ls",)], []),
        ("\n ls \n", [("ls",)], []),
        ("ls;", [("ls",)], []),
        ("ls &", [("ls",)], []),
        ("a&b", [("a",), ("b",)], []),
        ("a && b || c | d; e\nf", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)], []),
        ("a &&\n\n b", [("a",), ("b",)], []),
        ("echo 'a b' \"c d\" e'f'\"g\" ''", [("echo", "a b", "c d", "efg", "")], []),
        ("echo 'a\nb'", [("echo", "a\nb")], []),
        ("git show HEAD~1^2~3:a.b", [("git", "show", "HEAD~1^2~3:a.b")], []),
        ("ls 2>&1", [("ls",)], []),
        ("ls 2>&1&", [("ls",)], []),
        ("ls >/dev/null 2> /dev/null", [("ls",)], []),
        ("ls &>/dev/null", [("ls",)], []),
        ("ls >& /dev/null", [("ls",)], []),
        ("ls </dev/null -l", [("ls", "-l")], []),
        ("ls > out", [("ls",)], ["out"]),
        ("ls >>'o u' 2>e", [("ls",)], ["o u", "e"]),
        ("ls < in | wc &> x", [("ls",), ("wc",)], ["in", "x"]),
        ("ls >|x", [("ls",)], ["x"]),
        ("cd src/app && make", [("cd", "src/app"), ("make",)], []),
        ("cd /home/a/b && make", [("cd", "/home/a/b"), ("make",)], []),
    ],
)
def test_plain_lines(text: str, commands: list[tuple[str, ...]], targets: list[str]) -> None:
    assert parse_plain_line(text) == PlainLine(tuple(commands), tuple(targets))


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("", "it contains no command"),
        (" \n ", "it contains no command"),
        ("ls &&", "a command is missing"),
        ("ls |\n", "a command is missing"),
        ("; ls", "a command is missing"),
        ("ls & ; ls", "a command is missing"),
        ("ls\n| ls", "a command is missing"),
        ("ls &&& ls", "it contains an unsupported character: '&'"),
        ("ls ;; ls", "it contains an unsupported character: ';'"),
        ("ls ||| ls", "it contains an unsupported character: '|'"),
        ("ls |& ls", "it contains an unsupported character: '|'"),
        ("(ls)", "it contains an unsupported character: '('"),
        ("ls # x", "it contains an unsupported character: '#'"),
        ("ls a#b", "it contains an unsupported character: '#'"),
        ("! ls", "it contains an unsupported character: '!'"),
        ("ls $x", "it contains a shell expansion"),
        ("ls `x`", "it contains a shell expansion"),
        ("ls *", "it contains a shell pattern"),
        ("ls ~", "it contains a shell pattern"),
        ("ls a=~/x", "it contains a shell pattern"),
        ("ls a:~/x", "it contains a shell pattern"),
        ("ls {a,b}", "it contains a shell pattern"),
        ('ls "$x"', "it contains escapes or expansions inside quotes"),
        ("ls a\\b", "it contains escapes or expansions inside quotes"),
        ("ls 'x", "it contains escapes or expansions inside quotes"),
        ("'ls'", "a command name is quoted or unusual, or a variable is assigned"),
        ("A=1 ls", "a command name is quoted or unusual, or a variable is assigned"),
        ("> x", "a redirection comes before the command"),
        ("2>&1 ls", "a redirection comes before the command"),
        ("ls > $x", REDIRECTS_UNUSUALLY),
        ("ls > >(x)", REDIRECTS_UNUSUALLY),
        ("ls <<E", REDIRECTS_UNUSUALLY),
        ("ls <<< x", REDIRECTS_UNUSUALLY),
        ("ls >& x", REDIRECTS_UNUSUALLY),
        ("ls 3> x", REDIRECTS_UNUSUALLY),
        ("ls <> x", REDIRECTS_UNUSUALLY),
        ("ls >/dev/null>x", REDIRECTS_UNUSUALLY),
        ("ls x>y", REDIRECTS_UNUSUALLY),
        ("if ls", "it uses a shell keyword (if)"),
        ("time ls", "it uses a shell keyword (time)"),
        ("ls\r", "it contains an unusual character (U+000D)"),
        ("ls '\u200b'", "it contains an unusual character (U+200B)"),
        ("ls \u00a0x", "it contains an unusual character (U+00A0)"),
        ("ls \0", "it contains an unusual character (U+0000)"),
        ("ls é", "it contains an unsupported character: 'é'"),
        ("eval ls", "eval changes the shell or evaluates its arguments"),
        ("ls; export A", "export changes the shell or evaluates its arguments"),
        ("printf -v x y", "printf -v evaluates its argument"),
        ("test a -o -v x", "test -v evaluates its argument"),
        ("cd", "it may change to a directory outside the current one"),
        ("cd -", "it may change to a directory outside the current one"),
        ("cd a b", "it may change to a directory outside the current one"),
        ("cd ..", "it may change to a directory outside the current one"),
        ("cd .git", "it may change to a directory outside the current one"),
        ("cd a/.b/c", "it may change to a directory outside the current one"),
        ("cd a && cat ../b", "it uses .. after changing the directory"),
    ],
)
def test_lines_that_are_not_plain(text: str, doubt: str) -> None:
    assert parse_plain_line(text) == doubt


WORDS = st.text("abcXYZ019_./,:@%+=^-", min_size=1, max_size=8)
QUOTED = st.text('ab $`\\"*?~{}[]();&|<>#!\té', max_size=8)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.one_of(WORDS, QUOTED.map(lambda text: f"'{text}'")), max_size=4), min_size=1, max_size=4))
def test_what_is_written_plainly_is_read_back(commands: list[list[str]]) -> None:
    text = " ; ".join(" ".join(["run", *words]) for words in commands)
    values = tuple(("run", *(word.strip("'") for word in words)) for words in commands)
    assert parse_plain_line(text) == PlainLine(values, ())


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_nothing_is_raised(text: str) -> None:
    assert isinstance(parse_plain_line(text), str | PlainLine)


_BARE = st.from_regex(r"[A-Za-z0-9_./,:@%+=^-]{1,6}", fullmatch=True)
_BLANKS = st.sampled_from((" ", "  ", "\t", " \t"))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(_BARE, min_size=1, max_size=5), min_size=1, max_size=4), _BLANKS)
def test_bare_words_are_read_like_quoted_ones(commands: list[list[str]], blank: str) -> None:
    bare = ";".join(blank.join(words) for words in commands)
    quoted = ";".join(blank.join([words[0], *(f"'{word}'" for word in words[1:])]) for words in commands)
    assert parse_plain_line(bare) == parse_plain_line(quoted)


@pytest.mark.parametrize(
    ("text", "commands", "targets"),
    [
        ("ls 2 2>e", [("ls", "2")], ["e"]),
        ("ls a 2>&1 b", [("ls", "a", "b")], []),
        ("ls a1&b", [("ls", "a1"), ("b",)], []),
        ("ls a &>e", [("ls", "a")], ["e"]),
        ("ls a b~ 'c' d", [("ls", "a", "b~", "c", "d")], []),
        ("ls a 1 >e", [("ls", "a", "1")], ["e"]),
    ],
)
def test_where_bare_words_end(text: str, commands: list[tuple[str, ...]], targets: list[str]) -> None:
    assert parse_plain_line(text) == PlainLine(tuple(commands), tuple(targets))
