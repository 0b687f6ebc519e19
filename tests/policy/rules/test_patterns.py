import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.rules.patterns import InvalidPattern, matches_glob, matches_regex, validate_glob, validate_regex

ROOTS = ("/w/project", "/srv/data")
HOME = "/home/me"


def fits(glob: str, path: str) -> bool:
    return matches_glob(glob, path, roots=ROOTS, home=HOME)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src/main.py", "/w/project/src/main.py"),
        ("src/main.py", "/srv/data/src/main.py"),
        ("./src/main.py", "/w/project/src/main.py"),
        ("src/*.py", "/w/project/src/main.py"),
        ("src/?.py", "/w/project/src/a.py"),
        ("src/[a-c].py", "/w/project/src/b.py"),
        ("src/[!a-c].py", "/w/project/src/d.py"),
        ("src/[]].py", "/w/project/src/].py"),
        ("*.{py,pyi}", "/w/project/a.pyi"),
        ("**/.env", "/w/project/.env"),
        ("**/.env", "/w/project/a/b/.env"),
        ("private/**", "/w/project/private/a/b"),
        ("private/**", "/w/project/private"),
        ("private/", "/w/project/private/a/b"),
        ("private/", "/w/project/private"),
        ("a/**/z", "/w/project/a/z"),
        ("a/**/z", "/w/project/a/b/c/z"),
        ("**", "/w/project/a/b"),
        ("**", "/w/project"),
        ("/etc/**", "/etc/passwd"),
        ("/**", "/"),
        ("/**", "/anything/at/all"),
        ("~/.ssh/*", "/home/me/.ssh/id"),
        ("~", "/home/me"),
        (r"a\*b", "/w/project/a*b"),
        ("a+b(c)|d^$.x", "/w/project/a+b(c)|d^$.x"),
        ("*", "/w/project/a\nb"),
        ("*", "/w/project/a\udcffb"),
        ("?", "/w/project/\udcff"),
        ("?", "/w/project/ä"),
    ],
)
def test_fits(glob: str, path: str) -> None:
    assert fits(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src/*.py", "/w/project/src/sub/main.py"),
        ("*.py", "/w/project/src/main.py"),
        ("src/?.py", "/w/project/src/.py"),
        ("src/?x", "/w/project/src/a/x"),
        ("src/[!a]x", "/w/project/src//x"),
        ("private/**", "/w/project/private-not"),
        ("private/", "/w/project/privately"),
        ("src/main.py", "/w/project-evil/src/main.py"),
        ("src/main.py", "/elsewhere/src/main.py"),
        ("~/x", "/home/mex/x"),
        ("~x", "/home/mex"),
        ("/w/project/a", "/w/project/a/b"),
        ("a.b", "/w/project/axb"),
        (r"a\*b", "/w/project/axb"),
    ],
)
def test_does_not_fit(glob: str, path: str) -> None:
    assert not fits(glob, path)


@pytest.mark.parametrize("glob", ["", "a[b", "a{b", "a\\", "a[/]b", "[z-a]", "a\0b", "*" * 20_000])
def test_a_glob_that_cannot_be_used(glob: str) -> None:
    with pytest.raises(InvalidPattern):
        validate_glob(glob)


@pytest.mark.parametrize(
    "expression", ["(", "a{2,1}", r"(a)\1", "(?=a)", "((a{1000}){1000}){1000}", "\udcff", "a" * 20_000]
)
def test_an_expression_that_cannot_be_used(expression: str) -> None:
    with pytest.raises(InvalidPattern):
        validate_regex(expression)


def test_an_expression_is_searched() -> None:
    assert matches_regex('"command":"git (log|status)', '{"command":"git log"}')
    assert not matches_regex('"command":"git (log|status)', '{"command":"git push"}')
    assert matches_regex("^.x.$", "ÿx\udcff")


def test_no_expression_takes_long() -> None:
    validate_regex("(a+)+$")
    text = "a" * 40 + "!"
    started = time.process_time()
    assert not matches_regex("(a+)+$", text)
    assert time.process_time() - started < 0.5  # a backtracking engine needs days


def test_no_glob_takes_long() -> None:
    glob = "**/a*" * 200 + "b"
    validate_glob(glob)
    started = time.process_time()
    assert not fits(glob, "/w/project/" + "a/" * 2000)
    assert time.process_time() - started < 1


@given(st.text(alphabet="ab/*?[]{}!,\\.~-", max_size=20), st.text(alphabet="ab/.~", max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_glob_fits_or_does_not_or_is_bad(glob: str, path: str) -> None:
    try:
        validate_glob(glob)
    except InvalidPattern:
        with pytest.raises(InvalidPattern):
            fits(glob, "/w/project/" + path)
    else:
        assert fits(glob, "/w/project/" + path) in (True, False)


@given(st.text(min_size=1, max_size=20).filter(lambda text: "\0" not in text and not text.startswith(("/", "~", "./"))))
@settings(max_examples=150, deadline=None)
def test_an_escaped_path_fits_itself_alone(path: str) -> None:
    path = path.strip("/")
    glob = "".join(f"\\{character}" for character in path)
    if not path or "\ud800" <= max(path) <= "\udfff":
        return
    assert fits(glob, f"/w/project/{path}")
    assert not fits(glob, f"/w/project/{path}x")
