import pytest

from tejat.policy.paths import is_ambiguous, is_inside, resolve_path


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("a", "/w/sub/a"),
        ("../a", "/w/a"),
        ("/etc/passwd", "/etc/passwd"),
        ("~", "/home/me"),
        ("~/x", "/home/me/x"),
        ("./a//b/", "/w/sub/a/b"),
        ("", "/w/sub"),
        ("../../../../..", "/"),
    ],
)
def test_resolved(word: str, path: str) -> None:
    assert resolve_path(word, directory="/w/sub", home="/home/me") == path


@pytest.mark.parametrize(
    ("path", "inside"), [("/a", True), ("/a/b", True), ("/ab", False), ("/", False), ("/c/d", True), ("/c", False)]
)
def test_is_inside(path: str, inside: bool) -> None:
    assert is_inside(path, ("/a", "/c/d")) == inside


def test_everything_is_inside_of_the_topmost_root() -> None:
    assert is_inside("/x", ("/",))
    assert not is_inside("/x", ())


@pytest.mark.parametrize(
    ("word", "astray"),
    [
        ("a/b", False),
        ("..", False),
        ("../../a", False),
        ("./../a", False),
        ("a/..", True),
        ("a/../b", True),
        ("../a/../b", True),
        ("/a/../b", True),
        ("~", False),
        ("~/a", False),
        ("~root/a", True),
        ("a..b/..c", False),
    ],
)
def test_leads_astray(word: str, astray: bool) -> None:
    assert is_ambiguous(word) == astray
