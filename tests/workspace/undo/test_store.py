"""One project's journal stays within its limit and agrees with what other processes do to it."""

import time
from pathlib import Path

import pytest

from tejat.core.undo import PathChange, PathKind, PathState, UndoEntry
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.undo import store as archive_module
from tejat.workspace.undo.comparison import Comparison, compare_snapshots
from tejat.workspace.undo.content_store import sha256_digest
from tejat.workspace.undo.digest_cache import load_saved_digests
from tejat.workspace.undo.snapshot import scan_paths
from tejat.workspace.undo.store import RecordedCall, UndoStore


def never() -> None:
    return


class Work:
    """A file that is written again and again, each time with an entry."""

    def __init__(self, base: Path, *, limit: int = 10**6) -> None:
        (base / "root").mkdir(exist_ok=True)
        self.warnings: list[str] = []
        self.path = base / "root" / "f"
        self.root = RootDirectory(str(base / "root"))
        self.archive = UndoStore(str(base / "state"), limit=limit, file_limit=10**6, warn=self.warnings.append)
        self.archive.load([self.root.real_path], never)

    def write(self, content: bytes) -> UndoEntry | None:
        before = self.archive.snapshot(self.root, scan_paths(self.root, ["f"]), never)
        self.path.write_bytes(content)
        after = self.archive.snapshot(self.root, scan_paths(self.root, ["f"]), never)
        return self.archive.record(RecordedCall("t", "w", 0.0), [compare_snapshots(before, after)], never)


@pytest.fixture
def work(tmp_path: Path):
    made = Work(tmp_path)
    yield made
    made.root.close()


def test_what_is_recorded_comes_back(work: Work, tmp_path: Path) -> None:
    first, second = work.write(b"one"), work.write(b"two")
    again = UndoStore(str(tmp_path / "state"), limit=10**6, file_limit=10**6, warn=work.warnings.append)
    again.load([work.root.real_path], never)
    assert again.entries() == [first, second]
    assert [again.read_content(sha256_digest(content)) for content in (b"one", b"two", b"three")] == [
        b"one",
        b"two",
        None,
    ]
    assert second is not None
    (change,) = second.changes
    assert isinstance(change.before, PathState)
    assert (change.before.digest, change.root, change.path) == (sha256_digest(b"one"), str(tmp_path / "root"), "f")


def test_nothing_is_no_entry(work: Work) -> None:
    assert work.archive.record(RecordedCall("t", "w", 0.0), [Comparison((), ())], never) is None
    assert work.archive.entries() == []


def test_observing_keeps_nothing(work: Work, tmp_path: Path) -> None:
    work.path.write_bytes(b"x")
    observed = work.archive.snapshot_without_storing(work.root, scan_paths(work.root, ["f"]), never)
    assert observed.files["f"].endswith(sha256_digest(b"x"))
    assert not (tmp_path / "state").exists()
    assert not work.archive.has_content(sha256_digest(b"x"))


def test_only_entries_hold_on_to_the_contents_of_removed_files(work: Work) -> None:
    work.write(b"x")
    time.sleep(0.03)  # what has just changed is not written down
    before = work.archive.snapshot(work.root, scan_paths(work.root, ["f"]), never)
    assert load_saved_digests(work.archive.directory) == {sha256_digest(b"x")}
    work.path.unlink()
    after = work.archive.snapshot(work.root, scan_paths(work.root, ["f"]), never)
    work.archive.record(RecordedCall("t", "w", 0.0), [compare_snapshots(before, after)], never)
    assert load_saved_digests(work.archive.directory) == set()


def test_another_process_may_drop_what_we_know(work: Work, tmp_path: Path) -> None:
    """Then it is read and kept anew."""
    work.write(b"precious")
    state = scan_paths(work.root, ["f"])
    for path in (tmp_path / "state").iterdir():
        if path.name.startswith(("pack", "index")):
            path.unlink()
    assert not work.archive.is_loaded([work.root.real_path])
    work.archive.load([work.root.real_path], never)
    assert work.archive.cached_snapshot(work.root, state) is None
    work.archive.snapshot(work.root, state, never)
    assert work.archive.read_content(sha256_digest(b"precious")) == b"precious"


def test_the_newest_entries_stay(tmp_path: Path) -> None:
    work = Work(tmp_path, limit=100_000)
    entries = [work.write(bytes([number]) * 10_000) for number in range(40)]
    work.root.close()
    kept = work.archive.entries()
    assert 2 < len(kept) < 12
    assert kept == entries[-len(kept) :]
    assert sum(path.stat().st_size for path in (tmp_path / "state").iterdir()) <= 110_000
    for entry in kept:
        for change in entry.changes:
            for node in (change.before, change.after):
                assert node is None or node.digest is None or work.archive.has_content(node.digest)
    assert work.warnings[0].startswith("Undo storage is full: the oldest calls (")


def test_not_more_than_so_many_entries(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "_MAX_ENTRIES", 20)
    change = PathChange("/r", "p", before=None, after=PathState(PathKind.LINK, target="x"))
    for number in range(50):
        work.archive.record(RecordedCall("t", str(number), 0.0), [Comparison((change,), ())], never)
    assert 18 <= len(work.archive.entries()) <= 20
    assert work.archive.entries()[-1].summary == "49"


def test_notes(work: Work) -> None:
    assert work.archive.warnings() == []
    work.archive.write_warnings(["something went wrong"])
    (note,) = work.archive.warnings()
    assert note.endswith(" something went wrong")
