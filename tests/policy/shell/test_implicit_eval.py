import pytest

from tejat.policy.shell.implicit_eval import find_implicit_eval, is_command_variable, is_harmless_subscript
from tejat.policy.shell.words import parse_word

EVALUATING = [
    "$x",
    "`x`",
    '"$x" y',
    "l* x",
    "let x",
    "let 1",
    "alias a=b",
    "unalias a",
    "compgen -W x",
    "complete -C x y",
    "bind x",
    "enable x",
    "fc -s",
    "read a[x]",
    "read $x",
    "read -r 'a[$(x)]'",
    "unset 'a[x]'",
    "unset $x",
    "getopts a 'b[x]'",
    "wait -p 'a[x]'",
    "wait $x",
    "mapfile -C x y",
    "readarray -c 1 y",
    "mapfile 'a[x]'",
    "printf -v 'a[x]' y",
    "printf -v $x y",
    "printf -va[x] y",
    "printf $x y",
    "declare -i x",
    "declare -n x",
    "declare +n x",
    "declare 'a[x]=1'",
    "declare $x",
    "typeset -i x",
    "local -n x",
    "export PATH=x",
    "export PS4=x",
    "export $x",
    "readonly 'a[x]'",
    "set -k",
    "set -o posix",
    "set $x",
    "set -h",
    "shopt -s extglob",
    "shopt -s expand_aliases",
    "shopt $x",
    "hash -p a b",
    "hash $x",
    "test -v 'a[x]'",
    "test $x",
    'test "$x" "$y"',
    'test a "$x" b',
    "[ -v 'a[x]' ]",
    "[ $x ]",
    '[ -v "$x" ]',
    "source $x",
    "source",
    ". /dev/stdin",
    "source /dev/fd/3",
    '. "$x"',
]
SEEN = [
    "ls",
    "ls $x",
    "read x",
    "read -r x y",
    "unset x",
    "unset -f f",
    "getopts ab x",
    "wait",
    "wait $!",
    'wait "$!"',
    "mapfile -t x",
    "printf '%s' $x",
    "printf -v x y",
    "declare x",
    "declare -r x=1",
    "declare -a x",
    "local x=$y",
    "export A=1 B",
    "export -f f",
    "readonly x=1",
    "set -e",
    "set -euo pipefail",
    "set +x",
    "set -o errexit",
    "set -- $x",
    "set -- -k",
    "shopt -s nullglob",
    "hash -r",
    "hash ls",
    "test -f x",
    'test "$x" = y',
    'test -n "$x"',
    "[ -f x ]",
    '[ "$x" = 1 ]',
    "[ -v x ]",
    "source a.sh",
    ". ./a.sh",
    "let",
    "alias",
    "source a.sh $x",
    "true",
]


def reason(text: str) -> str | None:
    return find_implicit_eval([parse_word(word) for word in split(text)])


def split(text: str) -> list[str]:
    """Words at blanks: none of the lines here has a blank within quotes."""
    return text.split(" ")


@pytest.mark.parametrize("text", EVALUATING)
def test_what_evaluates(text: str) -> None:
    assert reason(text)


@pytest.mark.parametrize("text", SEEN)
def test_what_does_not(text: str) -> None:
    assert reason(text) is None


def test_no_words() -> None:
    assert find_implicit_eval([]) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            (name, True)
            for name in ("PATH", "PS4", "BASH_ENV", "LD_PRELOAD", "GIT_PAGER", "MANPAGER", "EDITOR", "IFS", "GIT_SSH")
        ),
        *((name, False) for name in ("A", "MY_PATH", "CI", "LANG", "path")),
    ],
)
def test_variables_that_are_run(name: str, expected: bool) -> None:
    assert is_command_variable(name) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("0", True), ("@", True), ("*", True), ("-1", True), ("x", False), ("$x", False)]
)
def test_subscripts(text: str, expected: bool) -> None:
    assert is_harmless_subscript(text) == expected
