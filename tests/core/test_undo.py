"""The values of the undo journal: when two nodes are alike, what a change is called, what is printed as JSON."""

import pytest

from tejat.core.undo import (
    ChangeKind,
    ForeignChange,
    PathChange,
    PathKind,
    PathProblem,
    PathState,
    UndoEntry,
    net_changes,
)

FILE = PathState(PathKind.FILE, permissions=0o644, size=3, digest=b"a" * 32, identity=b"1", owner=(1, 2))
OTHER = PathState(PathKind.FILE, permissions=0o644, size=3, digest=b"b" * 32, identity=b"1", owner=(1, 2))
UNREAD = PathState(PathKind.FILE, permissions=0o644, size=3, identity=b"1")
MOVED = PathState(PathKind.FILE, permissions=0o644, size=3, identity=b"2")
CLOSED = PathState(PathKind.FILE, permissions=0o600, size=3, digest=b"a" * 32, identity=b"9")
LINK = PathState(PathKind.LINK, target="x")
DIRECTORY = PathState(PathKind.DIRECTORY, permissions=0o755)


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        (FILE, FILE, True),
        (FILE, OTHER, False),
        (FILE, UNREAD, True),
        (FILE, MOVED, False),
        (UNREAD, MOVED, False),
        (FILE, CLOSED, False),
        (FILE, LINK, False),
        (LINK, PathState(PathKind.LINK, target="y"), False),
        (DIRECTORY, PathState(PathKind.DIRECTORY, permissions=0o755, owner=(5, 5)), True),
        (DIRECTORY, PathState(PathKind.DIRECTORY, permissions=0o700), False),
    ],
)
def test_alike(one: PathState, two: PathState, alike: bool) -> None:
    assert one.matches(two) == alike
    assert two.matches(one) == alike


@pytest.mark.parametrize(
    ("before", "after", "verb"),
    [
        (None, FILE, ChangeKind.CREATED),
        (FILE, None, ChangeKind.REMOVED),
        (FILE, OTHER, ChangeKind.CHANGED),
        (FILE, CLOSED, ChangeKind.PERMISSIONS),
        (UNREAD, FILE, ChangeKind.PERMISSIONS),
        (FILE, LINK, ChangeKind.CHANGED),
        (LINK, PathState(PathKind.LINK, target="y"), ChangeKind.CHANGED),
        (DIRECTORY, PathState(PathKind.DIRECTORY, permissions=0o700), ChangeKind.PERMISSIONS),
        (DIRECTORY, FILE, ChangeKind.CHANGED),
    ],
)
def test_verbs(before: PathState | None, after: PathState | None, verb: ChangeKind) -> None:
    assert PathChange("/r", "p", before=before, after=after).kind is verb


@pytest.mark.parametrize(("root", "full"), [("/r", "/r/a/b"), ("/", "/a/b")])
def test_full_path(root: str, full: str) -> None:
    assert PathChange(root, "a/b", before=None, after=LINK).full_path == full


def test_json() -> None:
    entry = UndoEntry(
        "1", 2.5, "t", "w", (PathChange("/r", "p", before=FILE, after=UNREAD),), (PathProblem("/q", "why"),), "0", "2"
    )
    assert entry.to_json() == {
        "id": "1",
        "time": 2.5,
        "tool": "t",
        "what": "w",
        "changes": [
            {
                "path": "/r/p",
                "change": "permissions changed",
                "before": {"kind": "file", "mode": "0644", "size": 3, "sha256": "61" * 32},
                "after": {"kind": "file", "mode": "0644", "size": 3, "sha256": None},
            }
        ],
        "skipped": [{"path": "/q", "why": "why"}],
        "foreign": [],
        "undoes": "0",
        "undoneBy": "2",
    }


def entry(*changes: PathChange, foreign: tuple[str, ...] = ()) -> UndoEntry:
    others = tuple(ForeignChange(path, "no", is_proven=True) for path in foreign)
    return UndoEntry("id", 0.0, "tool", "", changes, foreign=others)


def test_changes_of_one_path_become_one() -> None:
    first = entry(PathChange("/r", "a", None, FILE), PathChange("/r", "b", FILE, None))
    second = entry(PathChange("/r", "a", FILE, OTHER), PathChange("/r", "b", None, FILE))
    assert net_changes([second, first]) == [PathChange("/r", "a", None, OTHER)]


def test_what_others_changed_is_left_out() -> None:
    changes = (PathChange("/r", "a", None, FILE), PathChange("/r", "b", None, FILE))
    assert net_changes([entry(*changes, foreign=("/r/a",))]) == [changes[1]]


def test_a_file_that_came_and_went() -> None:
    created, removed = entry(PathChange("/r", "a", None, FILE)), entry(PathChange("/r", "a", FILE, None))
    assert net_changes([removed, created]) == []
