"""The values of the undo journal: when two nodes are alike, what a change is called, what is printed as JSON."""

import pytest

from tejat.core.undo import Change, Entry, Node, NodeKind, Remark, Verb

FILE = Node(NodeKind.FILE, permissions=0o644, size=3, digest=b"a" * 32, identity=b"1", owner=(1, 2))
OTHER = Node(NodeKind.FILE, permissions=0o644, size=3, digest=b"b" * 32, identity=b"1", owner=(1, 2))
UNREAD = Node(NodeKind.FILE, permissions=0o644, size=3, identity=b"1")
MOVED = Node(NodeKind.FILE, permissions=0o644, size=3, identity=b"2")
CLOSED = Node(NodeKind.FILE, permissions=0o600, size=3, digest=b"a" * 32, identity=b"9")
LINK = Node(NodeKind.LINK, target="x")
DIRECTORY = Node(NodeKind.DIRECTORY, permissions=0o755)


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
        (LINK, Node(NodeKind.LINK, target="y"), False),
        (DIRECTORY, Node(NodeKind.DIRECTORY, permissions=0o755, owner=(5, 5)), True),
        (DIRECTORY, Node(NodeKind.DIRECTORY, permissions=0o700), False),
    ],
)
def test_alike(one: Node, two: Node, alike: bool) -> None:
    assert one.is_like(two) == alike
    assert two.is_like(one) == alike


@pytest.mark.parametrize(
    ("before", "after", "verb"),
    [
        (None, FILE, Verb.CREATED),
        (FILE, None, Verb.REMOVED),
        (FILE, OTHER, Verb.CHANGED),
        (FILE, CLOSED, Verb.PERMISSIONS),
        (UNREAD, FILE, Verb.PERMISSIONS),
        (FILE, LINK, Verb.CHANGED),
        (LINK, Node(NodeKind.LINK, target="y"), Verb.CHANGED),
        (DIRECTORY, Node(NodeKind.DIRECTORY, permissions=0o700), Verb.PERMISSIONS),
        (DIRECTORY, FILE, Verb.CHANGED),
    ],
)
def test_verbs(before: Node | None, after: Node | None, verb: Verb) -> None:
    assert Change("/r", "p", before=before, after=after).verb is verb


@pytest.mark.parametrize(("root", "full"), [("/r", "/r/a/b"), ("/", "/a/b")])
def test_full_path(root: str, full: str) -> None:
    assert Change(root, "a/b", before=None, after=LINK).full_path == full


def test_json() -> None:
    entry = Entry("1", 2.5, "t", "w", (Change("/r", "p", before=FILE, after=UNREAD),), (Remark("/q", "why"),), "0", "2")
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
        "undoes": "0",
        "undoneBy": "2",
    }
