import pytest

from tejat.policy.paths import is_ambiguous, resolve_path


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
def test_resolving(word: str, path: str) -> None:
    assert resolve_path(word, directory="/w/sub", home="/home/me") == path


@pytest.mark.parametrize(
    ("word", "ambiguous"),
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
def test_ambiguous_words(word: str, ambiguous: bool) -> None:
    assert is_ambiguous(word) == ambiguous
