"""The paths that a call names."""

import pytest

from tejat.core.undo import PathChange, PathKind, PathState
from tejat.workspace.undo.attribution.named_paths import is_named, named_paths

FILE = PathState(PathKind.FILE)
DIRECTORY = PathState(PathKind.DIRECTORY)


def removed(path: str, node: PathState = FILE) -> PathChange:
    return PathChange("/r", path, before=node, after=None)


@pytest.mark.parametrize(
    ("command", "path", "expected"),
    [
        ("echo x > a.txt", "a.txt", True),
        ("echo x >a.txt;ls", "a.txt", True),
        ("tool --out=src/a.txt", "src/a.txt", True),
        ("tee ./src//a.txt", "src/a.txt", False),
        ("tee ./src/a.txt", "src/a.txt", True),
        ("cd src && rm a.txt", "src/a.txt", True),
        ("cd src/deep && rm a.txt", "src/deep/a.txt", True),
        ("rm a.txt", "src/a.txt", False),
        ("rm /r/src/a.txt", "src/a.txt", True),
        ("python -c \"open('a.txt', 'w')\"", "a.txt", True),
        ("rm src/*.txt", "src/a.txt", True),
        ("rm *.txt", "src/a.txt", False),
        ("rm [ab].txt", "a.txt", True),
        ("rm txt", "a.txt", False),
        ("make", "a.txt", False),
        ("ls . ..", "a.txt", False),
        ("rm xa.txt", "a.txt", False),
        ("rm [", "a.txt", False),
    ],
)
def test_words_of_a_command(command: str, path: str, expected: bool) -> None:
    assert bool(named_paths([removed(path)], {"command": command})) == expected


def test_a_removed_directory_stands_for_all_in_it() -> None:
    changes = [removed("src", DIRECTORY), *(removed(f"src/{number}") for number in range(3)), removed("src2")]
    named = named_paths(changes, {"command": "rm -rf src"})
    assert named == ("/r/src",)
    assert is_named("/r/src/1", named)
    assert not is_named("/r/src2", named)
    assert is_named("/anything", ("/",))


def test_a_directory_that_stays_names_only_itself() -> None:
    mode = PathChange("/r", "src", before=DIRECTORY, after=PathState(PathKind.DIRECTORY, permissions=1))
    assert named_paths([mode, removed("src/a")], {"command": "chmod 1 src"}) == ("/r/src",)
    assert named_paths([removed("src/a")], {"command": "pytest src"}) == ()


def test_arguments_of_any_shape() -> None:
    arguments = {"files": [{"path": "a"}, ("b",)], "count": 3, "none": None}
    assert named_paths([removed("a"), removed("b"), removed("c")], arguments) == ("/r/a", "/r/b")
