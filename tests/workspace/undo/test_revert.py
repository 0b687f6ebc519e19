"""An entry is put back wholly or not at all, the putting back is an entry too, and refusals name who was later."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.core.undo import DEFAULT_SCOPE, PathProblem, RestoreResult, RestoreScope, UndoEntry
from tejat.workspace.files.roots import Roots
from tejat.workspace.undo.comparison import compare_snapshots
from tejat.workspace.undo.revert import revert_entry
from tejat.workspace.undo.snapshot import scan_paths
from tejat.workspace.undo.store import RecordedCall, UndoStore


def never() -> None:
    return


class Work:
    def __init__(self, base: Path) -> None:
        for name in ("one", "two"):
            (base / name).mkdir()
        self.base = base
        self.roots = Roots([str(base / "one"), str(base / "two")])
        self.archive = UndoStore(str(base / "state"), limit=10**6, file_limit=10**6, warn=print)
        self.archive.load([root.real_path for root in self.roots.directories], never)

    def write(self, content: str) -> UndoEntry:
        """Write a file in both roots."""
        directories = self.roots.directories
        before = [self.archive.snapshot(root, scan_paths(root, ["f"]), never) for root in directories]
        for root in directories:
            (Path(root.path) / "f").write_text(content)
        after = [self.archive.snapshot(root, scan_paths(root, ["f"]), never) for root in directories]
        comparisons = [compare_snapshots(*pair) for pair in zip(before, after, strict=True)]
        entry = self.archive.record(RecordedCall("t", "w", 0.0), comparisons, never)
        assert entry is not None
        return entry

    def contents(self) -> dict[str, str]:
        return {path.parent.name: path.read_text() for path in sorted(self.base.glob("*/f"))}


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    made = Work(tmp_path)
    yield made
    made.roots.close()


def test_both_roots_or_none(work: Work) -> None:
    work.write("old")
    entry = work.write("new")
    (work.base / "two" / "f").write_text("mine")
    refused = (PathProblem(f"{work.base}/two/f", "changed since then"),)
    assert revert_entry(work.archive, work.roots, entry, DEFAULT_SCOPE) == RestoreResult(refused=refused)
    assert work.contents() == {"one": "new", "two": "mine"}
    would = revert_entry(work.archive, work.roots, entry, DEFAULT_SCOPE, dry_run=True)
    assert would == RestoreResult((f"{work.base}/one/f",), refused)
    did = revert_entry(work.archive, work.roots, entry, RestoreScope(partial=True))
    newest = work.archive.entries()[-1]
    assert did == RestoreResult((f"{work.base}/one/f",), refused, entry_id=newest.id)
    assert work.contents() == {"one": "old", "two": "mine"}
    assert (newest.tool, newest.summary, newest.undoes) == ("undo", f"restored part of {entry.id}: w", None)


def test_back_and_forth(work: Work) -> None:
    work.write("old")
    entry = work.write("new")
    for content in ("old", "new", "old"):
        result = revert_entry(work.archive, work.roots, entry, DEFAULT_SCOPE)
        assert work.contents() == {"one": content, "two": content}
        newest = work.archive.entries()[-1]
        assert (newest.id, newest.undoes) == (result.entry_id, entry.id)
        entry = newest


def test_a_root_that_is_gone(work: Work) -> None:
    entry = work.write("new")
    (work.base / "two" / "f").unlink()
    (work.base / "two").rmdir()
    with Roots([str(work.base / "one")]) as roots:
        result = revert_entry(work.archive, roots, entry, DEFAULT_SCOPE)
    assert result.refused == (PathProblem(f"{work.base}/two/f", f"no directory {work.base}/two"),)


def test_a_root_that_is_not_of_this_session(work: Work) -> None:
    entry = work.write("new")
    with Roots([str(work.base / "one")]) as roots:
        assert revert_entry(work.archive, roots, entry, DEFAULT_SCOPE).refused == ()
    assert work.contents() == {}


def test_who_was_later(work: Work) -> None:
    first, second = work.write("1"), work.write("2")
    refused = revert_entry(work.archive, work.roots, first, DEFAULT_SCOPE).refused
    assert refused[0] == PathProblem(f"{work.base}/one/f", f"changed since then (by {second.id}; undo that first)")
