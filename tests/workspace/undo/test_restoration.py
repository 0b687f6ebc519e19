"""A plan lets through what is as the call left it; carrying it out does all of it, whatever stands in whose way."""

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tejat.core.frozen import replace
from tejat.core.undo import PathChange, PathKind, PathProblem, PathState
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.undo import restoration
from tejat.workspace.undo.comparison import node_at
from tejat.workspace.undo.content_store import sha256_digest
from tejat.workspace.undo.restoration import Restoration, RestoreOutcome, plan_restore, remove_stale_files
from tejat.workspace.undo.snapshot import Snapshot, scan_paths
from tejat.workspace.undo.store import UndoStore


def never() -> None:
    return


@pytest.fixture
def root(tmp_path: Path) -> Iterator[RootDirectory]:
    (tmp_path / "root").mkdir()
    held = RootDirectory(str(tmp_path / "root"))
    yield held
    held.close()


def observe(root: RootDirectory, *paths: str) -> Snapshot:
    archive = UndoStore(f"{root.path}.none", limit=10**6, file_limit=1000, warn=print)
    return archive.snapshot_without_storing(root, scan_paths(root, paths), never)


def old(content: bytes, mode: int = 0o644) -> PathState:
    return PathState(PathKind.FILE, permissions=mode, size=len(content), digest=sha256_digest(content), identity=b"old")


def test_kept_or_not(root: RootDirectory) -> None:
    changes = [
        PathChange(root.path, "kept", before=old(b"kept"), after=None),
        PathChange(root.path, "dropped", before=old(b"dropped"), after=None),
        PathChange(root.path, "never", before=replace(old(b""), digest=None), after=None),
    ]
    made = plan_restore(changes, observe(root), is_kept={sha256_digest(b"kept")}.__contains__)
    assert made.changes == (changes[0],)
    assert made.refused == (
        PathProblem(f"{root.path}/dropped", "its previous content is no longer available"),
        PathProblem(f"{root.path}/never", "its previous content was not saved"),
    )


def test_what_is_as_it_was_needs_nothing(root: RootDirectory) -> None:
    path = Path(root.path) / "f"
    path.write_bytes(b"x")
    path.chmod(0o644)
    changes = [
        PathChange(root.path, "f", before=old(b"x"), after=old(b"y")),
        PathChange(root.path, "g", before=None, after=old(b"y")),
    ]
    made = plan_restore(changes, observe(root, "f", "g"), is_kept=lambda _: True)
    assert (made.changes, made.refused) == ((), ())


def test_a_cut_between_file_and_directory_can_be_finished(root: RootDirectory) -> None:
    """After the file has gone and before the directory is there, and once it is there but still open."""
    change = PathChange(root.path, "p", before=PathState(PathKind.DIRECTORY, permissions=0o555), after=old(b"y"))
    for make in (lambda: None, lambda: (Path(root.path) / "p").mkdir(0o700)):
        make()
        current = observe(root, "p")
        made = plan_restore([change], current, is_kept=lambda _: True)
        assert made.refused == ()
        assert Restoration(root, made.changes, current, {}.get).run() == RestoreOutcome((f"{root.path}/p",), (), ())
        assert (Path(root.path) / "p").stat().st_mode & 0o7777 == 0o555
        (Path(root.path) / "p").rmdir()


def test_one_failure_stops_nothing_else(root: RootDirectory) -> None:
    place = Path(root.path)
    (place / "a").write_bytes(b"new")
    (place / "b").write_bytes(b"new")
    (place / "d").mkdir()
    (place / "d" / "mine").touch()
    current = observe(root, "a", "b", "d")
    changes = [
        PathChange(root.path, "a", before=old(b"lost"), after=node_at(current, "a")),
        PathChange(root.path, "b", before=old(b"old"), after=node_at(current, "b")),
        PathChange(root.path, "d", before=old(b"old"), after=node_at(current, "d")),
        PathChange(root.path, "gone/with/f", before=old(b"old"), after=None),
    ]
    outcome = Restoration(root, changes, current, {sha256_digest(b"old"): b"old"}.get).run()
    assert outcome == RestoreOutcome(
        (f"{root.path}/b", f"{root.path}/gone/with/f"),
        (
            PathProblem(f"{root.path}/d", "could not be restored: the directory contains other files now"),
            PathProblem(f"{root.path}/a", "could not be restored: its saved content is damaged"),
        ),
        (),
    )
    assert (place / "a").read_bytes() == b"new"
    assert (place / "d" / "mine").exists()
    assert (place / "gone" / "with" / "f").read_bytes() == b"old"


def test_an_edit_in_the_last_moment_is_not_lost(root: RootDirectory) -> None:
    path = Path(root.path) / "f"
    path.write_bytes(b"new")
    current = observe(root, "f")
    path.write_bytes(b"edited in the last moment")
    for before in (old(b"old"), None):
        change = PathChange(root.path, "f", before=before, after=node_at(current, "f"))
        outcome = Restoration(root, [change], current, {sha256_digest(b"old"): b"old"}.get).run()
        assert outcome.failed == (
            PathProblem(f"{root.path}/f", "could not be restored: it changed at the last moment"),
        )
        assert path.read_bytes() == b"edited in the last moment"


def test_what_a_killed_process_left_is_removed(root: RootDirectory) -> None:
    place = Path(root.path)
    (place / "d").mkdir()
    left = place / "d" / f".tejat-{2**22 + 5}-0123456789abcdef.tmp"
    left.touch()
    remove_stale_files(root, ["d/f", "missing/f"])
    assert not left.exists()


def test_many_files_in_groups(root: RootDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each group is durable before any file of it is put in place."""
    monkeypatch.setattr(restoration, "_BATCH_FILES", 10)
    contents = {sha256_digest(b"%d" % number): b"%d" % number for number in range(35)}
    changes = [
        PathChange(root.path, f"d{number % 3}/f{number}", before=old(b"%d" % number), after=None)
        for number in range(35)
    ]
    groups: list[int] = []

    def sync(descriptors: Sequence[int]) -> None:
        groups.append(len(descriptors))
        assert len(list(Path(root.path).rglob("f*"))) == min(sum(groups[:-1]), 20)
        if len(groups) == 3:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(restoration, "sync_files", sync)
    outcome = Restoration(root, changes, observe(root), contents.get).run()
    assert groups == [10, 10, 10, 5]
    assert (len(outcome.restored), len(outcome.failed)) == (25, 10)
    assert {problem.reason for problem in outcome.failed} == {"could not be restored: Input/output error"}
    files = list(Path(root.path).rglob("*"))
    assert all(path.read_bytes() == path.name[1:].encode() for path in files if path.is_file())
    assert len(files) == 25 + 3


def test_groups_are_small_in_memory(root: RootDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restoration, "_BATCH_BYTES", 3)
    groups: list[int] = []
    monkeypatch.setattr(restoration, "sync_files", lambda files: groups.append(len(files)))
    changes = [PathChange(root.path, f"f{number}", before=old(b"12"), after=None) for number in range(5)]
    assert len(Restoration(root, changes, observe(root), {sha256_digest(b"12"): b"12"}.get).run().restored) == 5
    assert groups == [2, 2, 1]
