"""Patterns with groups mean what bash means by them."""

import re
import subprocess
from itertools import product

import pytest

from tejat.workspace.paths.glob.extglob import ExtglobPattern
from tejat.workspace.paths.glob.syntax import parse_glob

NAMES = ["".join(letters) for length in range(1, 5) for letters in product("abc", repeat=length)]
# Not `*!(a)`: there bash forgets that the asterisk may take everything.
PATTERNS = [
    *("@(a|bc)", "x@(a)", "a?(b|c)", "?(a)?(b)?(c)", "*(ab|c)", "*(a)b", "+(a|b)c", "+(ab|b)+(c)", "@(a*|*c)"),
    *("!(a)", "!(a|b)", "a!(b)", "!(b)c", "a!(b|bb)c", "!(a*)", "!(*a)", "!(?)", "!(*)", "!(a)!(b)", "!(a)*"),
    *("!(!(a))", "!(@(a|b)c)", "*(!(a))", "+(a?(b))", "*(+(a)|?(b)c)", "@(!(a)|aa)", "[ab]!([ab])", "!([!a])", "!()"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_like_bash(pattern: str) -> None:
    script = f'shopt -s extglob; for name in "$@"; do [[ $name == {pattern} ]] && echo "$name"; done; true'
    bash = subprocess.run(["bash", "-c", script, "bash", *NAMES], capture_output=True, check=True, text=True)
    compiled = ExtglobPattern(parse_glob(pattern, pattern), re.DOTALL)
    assert [name for name in NAMES if compiled.matches(name)] == bash.stdout.split()


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("**/!(a)", ["b", "x/b", "a/b"], ["a", "x/a"]),
        ("!(a)/**", ["b/a", "b/c/d"], ["a/b", "b"]),
        ("**/+(a)/**/!(b)", ["a/c", "x/aa/y/c", "b/a/b/a/c"], ["a/b", "c", "a"]),
        ("a/**/!(b)/c", ["a/x/c", "a/b/x/c", "a/b/b/x/c"], ["a/c", "a/b/c"]),
        ("@(a|b)/*/c", ["a/x/c"], ["a/c", "a/x/y/c"]),
    ],
)
def test_among_directories(pattern: str, yes: list[str], no: list[str]) -> None:
    compiled = ExtglobPattern(parse_glob(pattern, pattern), re.DOTALL)
    assert [path for path in [*yes, *no] if compiled.matches(path)] == yes
