import pytest

from tejat.policy.shell.command_line import Redirection, ShellCommand
from tejat.policy.shell.walker import LineAnalysis


def reading_of(text: str) -> LineAnalysis:
    analysis = LineAnalysis()
    analysis.analyze(text)
    return analysis


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a; b && c || d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("(a; b)", ["a", "b"]),
        ("{ a; b; }", ["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("for x in $(a); do b; done", ["a", "b"]),
        ("case $(a) in x) b;; *) c;; esac", ["a", "b", "c"]),
        ("f() { a; }; f", ["a", "f"]),
        ("x=$(a) b", ["b", "a"]),
        ("x=(1 $(a))", ["a"]),
        ("a <(b) >(c)", ["a", "b", "c"]),
        ('a "$(b "$(c)")"', ["a", "b", "c"]),
        ("a ${x:-$(b)} ${x/y/$(c)}", ["a", "b", "c"]),
        ("a <<< $(b)", ["a", "b"]),
        ("a > $(b)", ["a", "b"]),
        ("a <<E | b\n$(c)\nE", ["a", "b", "c"]),
        ("[ -f x ] && a", ["[", "a"]),
        ("[[ -f $(a) ]] && b", ["a", "b"]),
        ("! a", ["a"]),
        ("a \\\n  b", ["a"]),
        ("trap 'a; b' EXIT", ["trap", "a", "b"]),
        ("eval 'a; b'", ["eval", "a", "b"]),
    ],
)
def test_every_command_is_found(text: str, names: list[str]) -> None:
    analysis = reading_of(text)
    assert ([command.name for command in analysis.commands], analysis.is_opaque) == (names, False)


@pytest.mark.parametrize(
    ("text", "redirections"),
    [
        ("a > b", [Redirection(">", "b", writes=True, is_harmless=False)]),
        ("a >> 'b c'", [Redirection(">>", "b c", writes=True, is_harmless=False)]),
        ("a < b", [Redirection("<", "b", writes=False, is_harmless=False)]),
        ("a > $x", [Redirection(">", None, writes=True, is_harmless=False)]),
        ("a 2>&1", [Redirection(">&", "1", writes=False, is_harmless=True)]),
        ("a >& b", [Redirection(">&", "b", writes=True, is_harmless=False)]),
        ("a &> /dev/null", [Redirection("&>", "/dev/null", writes=True, is_harmless=True)]),
        ("a <<< b", [Redirection("<<<", None, writes=False, is_harmless=False)]),
        ("a <<E\nb\nE", [Redirection("<<", None, writes=False, is_harmless=False)]),
    ],
)
def test_redirections(text: str, redirections: list[Redirection]) -> None:
    assert reading_of(text).redirections == redirections


def test_a_command_that_is_not_plain() -> None:
    assert reading_of('A=1 "b" $c; d').commands == [
        ShellCommand(("b", "$c"), is_plain=False),
        ShellCommand(("d",), is_plain=True),
    ]


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("a &&& b", "it cannot be parsed"),
        ("a\n\\b", "the end of a line is uncertain"),
        ("a \n\\\nb", "the end of a line is uncertain"),
        ("a $\\\nx", "an operator continues on the next line"),
        ("a\\\nb c", "a word continues on the next line"),
        ("a ${x%$(b)}", "an expansion cannot be parsed"),
        ("a `b \\`c\\``", "backquotes contain backquotes or escapes"),
        ("a <<E\nb\\\nE\nE", "the end of a here-document is uncertain"),
        ("a <<E <<F\nE\nF", "the end of a here-document is uncertain"),
        ("time { a; }", "a reserved word is used as a command"),
        ("PATH=x", "PATH may be run as a command"),
        ("bash -c '$x'", "the name of a command is computed"),
        ("a >&'x$(b)'", "bash expands the target of >& twice"),
        ('a >&"$x"', "bash expands the target of >& twice"),
        ("a >&'<(b)'", "bash expands the target of >& twice"),
        ("a\rb", "it contains unusual characters"),
        ("a \ud800", "it is not text"),
        ("env " * 30 + "a", "it is nested too deeply or too long"),
    ],
)
def test_what_hides_something(text: str, doubt: str) -> None:
    analysis = reading_of(text)
    assert (analysis.is_opaque, doubt in analysis.doubts) == (True, True), analysis.doubts


@pytest.mark.parametrize("text", ["a >&x.log", "a 2>&1", "a >& /dev/null", "a &>'x$(b)'"])
def test_redirections_that_hide_nothing(text: str) -> None:
    assert not reading_of(text).is_opaque


def test_a_line_within_that_is_not_plain() -> None:
    analysis = reading_of("bash -c 'a *'")
    assert (list(analysis.doubts), analysis.is_opaque) == (["the command that bash runs is not plain"], False)


@pytest.mark.parametrize("sign", ["=/a", "=~", ":/", ",~"])
def test_a_word_with_very_many_paths_is_opaque(sign: str) -> None:
    assert reading_of(f"cat x{sign * 65}").is_opaque
    assert not reading_of(f"cat x{sign * 64}").is_opaque


def test_arrays_and_declarations_meet_in_any_order() -> None:
    assert reading_of("a=(1); declare a=$x").is_opaque
    assert reading_of("declare a=$x; a=(1)").is_opaque
    assert reading_of("read -a a; declare a=$x").is_opaque
    assert not reading_of("a=(1); declare b=$x").is_opaque
