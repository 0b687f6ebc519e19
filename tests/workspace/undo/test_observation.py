"""What a call changed is found in small trees by scans, in large ones by events, and in too large ones not at all."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.core.undo import ChangeKind
from tejat.workspace.files.roots import Roots
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo import observation
from tejat.workspace.undo.live import live_tree
from tejat.workspace.undo.observation import LiveObservation, Observation, ScanObservation, TreeObserver
from tejat.workspace.undo.store import UndoStore
from tejat.workspace.undo.tree_state import TooManyEntries
from tejat.workspace.undo.watch import watch_trees

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")


class Tree:
    """A root with a few files, and an observer for which that is a large tree."""

    def __init__(self, base: Path) -> None:
        self.root = base / "root"
        for name in ("a", "d/b", "d/e/c"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(name)
        self.roots = Roots([str(self.root)])
        self.store = UndoStore(str(base / "state"), limit=1 << 20, file_limit=1 << 10, warn=lambda _: None)
        self.observer = TreeObserver(self.store)

    def observe(self) -> Observation:
        (seen,) = self.observer.observe(watch_trees(self.roots, self.store.directory), never_stop, is_exact=False)
        return seen

    def changes(self, seen: Observation) -> dict[str, tuple[ChangeKind, bytes | None]]:
        """Return how each path changed, and what was in it."""
        compared = seen.compare(never_stop, ())
        assert compared is None or compared[0].skipped == ()
        found: dict[str, tuple[ChangeKind, bytes | None]] = {}
        for change in () if compared is None else compared[0].changes:
            digest = None if change.before is None else change.before.digest
            found[change.path] = change.kind, None if digest is None else self.store.read_content(digest)
        return found

    def close(self) -> None:
        self.observer.close()
        self.roots.close()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tree]:
    monkeypatch.setattr(observation, "LARGE_TREE", 2)
    made = Tree(tmp_path)
    yield made
    made.close()


CHANGED = {
    "a": (ChangeKind.CHANGED, b"a"),
    "d": (ChangeKind.REMOVED, None),
    "d/b": (ChangeKind.REMOVED, b"d/b"),
    "d/e": (ChangeKind.REMOVED, None),
    "d/e/c": (ChangeKind.REMOVED, b"d/e/c"),
    "new": (ChangeKind.CREATED, None),
}


def change(root: Path) -> None:
    subprocess.run(["bash", "-c", "echo x > a; rm -r d; > new"], cwd=root, check=True)


def test_a_large_tree(tree: Tree) -> None:
    for _ in range(2):
        seen = tree.observe()
        assert isinstance(seen, LiveObservation)
        assert not seen.is_unchanged()
        assert tree.changes(seen) == {}
        seen.close()
    seen = tree.observe()
    change(tree.root)
    assert tree.changes(seen) == CHANGED
    assert tree.changes(seen) == CHANGED


def test_what_others_change_between_calls_is_stored_before_the_next(tree: Tree) -> None:
    tree.observe().close()
    (tree.root / "a").write_text("by the user")
    (tree.root / "new").write_text("by the user, too")
    seen = tree.observe()
    (tree.root / "a").write_text("by the call")
    (tree.root / "new").unlink()
    assert tree.changes(seen) == {
        "a": (ChangeKind.CHANGED, b"by the user"),
        "new": (ChangeKind.REMOVED, b"by the user, too"),
    }


def test_two_changes_within_a_tick(tree: Tree) -> None:
    """Times and size are equal, and the content is not."""
    tree.observe().close()
    for number in range(10):
        (tree.root / "a").write_text(f"before {number}")
        seen = tree.observe()
        (tree.root / "a").write_text(f"after  {number}")
        assert tree.changes(seen) == {"a": (ChangeKind.CHANGED, f"before {number}".encode())}
        seen.close()


def test_calls_at_the_same_time(tree: Tree) -> None:
    one = tree.observe()
    (tree.root / "a").write_text("1")
    other = tree.observe()
    (tree.root / "a").write_text("22")
    (tree.root / "d" / "b").write_text("3")
    assert tree.changes(one) == {"a": (ChangeKind.CHANGED, b"a"), "d/b": (ChangeKind.CHANGED, b"d/b")}
    assert tree.changes(other) == {"a": (ChangeKind.CHANGED, b"1"), "d/b": (ChangeKind.CHANGED, b"d/b")}


def test_track_is_lost_during_a_call(tree: Tree) -> None:
    seen = tree.observe()
    change(tree.root)
    (watched,) = tree.observer.trees
    watched.close()
    assert tree.changes(seen) == CHANGED
    assert tree.observer.trees != [watched]
    seen = tree.observe()
    (tree.root / "new").write_text("x")
    assert tree.changes(seen) == {"new": (ChangeKind.CHANGED, b"")}


def test_track_is_lost_between_calls(tree: Tree) -> None:
    tree.observe().close()
    tree.observer.trees[0].close()
    (tree.root / "a").write_text("by the user")
    seen = tree.observe()
    (tree.root / "a").unlink()
    assert tree.changes(seen) == {"a": (ChangeKind.REMOVED, b"by the user")}


def test_track_is_lost_and_cannot_be_found(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tree.observe()
    change(tree.root)
    tree.observer.trees[0].close()
    monkeypatch.setattr(live_tree, "max_watches", lambda: 0)
    assert tree.changes(seen) == CHANGED
    assert isinstance(tree.observe(), ScanObservation)


def test_without_watches_trees_are_scanned(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_tree, "max_watches", lambda: 1)
    assert isinstance(tree.observe(), ScanObservation)
    seen = tree.observe()
    assert isinstance(seen, ScanObservation)
    change(tree.root)
    assert tree.changes(seen) == CHANGED


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_tree_that_is_too_large_is_not_scanned_again(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, *, is_watched: bool
) -> None:
    monkeypatch.setattr(observation, "_MAX_ENTRIES", 4)
    monkeypatch.setattr(observation, "_MAX_SCANNED", 3)
    if not is_watched:
        monkeypatch.setattr(live_tree, "max_watches", lambda: 1)
    with pytest.raises(TooManyEntries) as raised:
        tree.observe()
    assert raised.value.limit == (4 if is_watched else 3)
    os.rename(tree.root, tree.root.with_name("elsewhere"))
    with pytest.raises(TooManyEntries) as raised:
        tree.observe()
    assert raised.value.limit == (4 if is_watched else 3)
    assert tree.observer.trees == []


def test_contents_that_another_process_removed_are_stored_again(tree: Tree) -> None:
    tree.observe().close()
    for file in Path(tree.store.directory.path).iterdir():
        if file.name.startswith(("pack-", "index")):
            file.unlink()
    seen = tree.observe()
    change(tree.root)
    assert tree.changes(seen) == CHANGED


def test_a_root_is_added(tree: Tree) -> None:
    """What belongs to the trees is another now."""
    tree.observe().close()
    tree.roots.add([str(tree.root / "d")])
    tree.observer.forget_trees()
    watches = watch_trees(tree.roots, tree.store.directory)
    seen = tree.observer.observe(watches, never_stop, is_exact=False)
    (tree.root / "d" / "b").write_text("x")
    assert [set(tree.changes(each)) for each in seen] == [set(), {"b"}]


def test_a_small_tree_is_scanned_in_place(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    watches = watch_trees(tree.roots, tree.store.directory)
    assert tree.observer.observe_inline(watches, is_exact=False) is None  # nothing is stored yet
    tree.observe()
    while (seen := tree.observer.observe_inline(watches, is_exact=False)) is None:
        tree.observe()  # until the files are older than a tick
    assert seen[0].is_unchanged()
    (tree.root / "a").write_text("x")
    assert not seen[0].is_unchanged()
    assert tree.changes(seen[0]) == {"a": (ChangeKind.CHANGED, b"a")}
    tree.close()
