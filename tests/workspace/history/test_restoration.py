"""A plan lets through what is as the call left it; carrying it out does all of it, whatever stands in whose way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.core.undo import Change, Node, NodeKind, Remark
from tejat.core.value import replace
from tejat.workspace.beneath import Root
from tejat.workspace.history.archive import Archive
from tejat.workspace.history.changes import node_at
from tejat.workspace.history.restoration import Outcome, Restoration, clean_up, plan
from tejat.workspace.history.snapshot import Snapshot, look_at
from tejat.workspace.history.store import digest_of


def never() -> None:
    return


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    (tmp_path / "root").mkdir()
    held = Root(str(tmp_path / "root"))
    yield held
    held.close()


def observe(root: Root, *paths: str) -> Snapshot:
    archive = Archive(f"{root.path}.none", limit=10**6, file_limit=1000, warn=print)
    return archive.observe(root, look_at(root, paths), never)


def old(content: bytes, mode: int = 0o644) -> Node:
    return Node(NodeKind.FILE, permissions=mode, size=len(content), digest=digest_of(content), identity=b"old")


def test_kept_or_not(root: Root) -> None:
    changes = [
        Change(root.path, "kept", before=old(b"kept"), after=None),
        Change(root.path, "dropped", before=old(b"dropped"), after=None),
        Change(root.path, "never", before=replace(old(b""), digest=None), after=None),
    ]
    made = plan(changes, observe(root), is_kept={digest_of(b"kept")}.__contains__)
    assert made.changes == (changes[0],)
    assert made.refused == (
        Remark(f"{root.path}/dropped", "its old content is no longer kept"),
        Remark(f"{root.path}/never", "its old content was not kept"),
    )


def test_what_is_as_it_was_needs_nothing(root: Root) -> None:
    path = Path(root.path) / "f"
    path.write_bytes(b"x")
    path.chmod(0o644)
    changes = [
        Change(root.path, "f", before=old(b"x"), after=old(b"y")),
        Change(root.path, "g", before=None, after=old(b"y")),
    ]
    made = plan(changes, observe(root, "f", "g"), is_kept=lambda _: True)
    assert (made.changes, made.refused) == ((), ())


def test_a_cut_between_file_and_directory_can_be_finished(root: Root) -> None:
    """After the file has gone and before the directory is there, and once it is there but still open."""
    change = Change(root.path, "p", before=Node(NodeKind.DIRECTORY, permissions=0o555), after=old(b"y"))
    for make in (lambda: None, lambda: (Path(root.path) / "p").mkdir(0o700)):
        make()
        current = observe(root, "p")
        made = plan([change], current, is_kept=lambda _: True)
        assert made.refused == ()
        assert Restoration(root, made.changes, current, {}.get).run() == Outcome((f"{root.path}/p",), (), ())
        assert (Path(root.path) / "p").stat().st_mode & 0o7777 == 0o555
        (Path(root.path) / "p").rmdir()


def test_one_failure_stops_nothing_else(root: Root) -> None:
    place = Path(root.path)
    (place / "a").write_bytes(b"new")
    (place / "b").write_bytes(b"new")
    (place / "d").mkdir()
    (place / "d" / "mine").touch()
    current = observe(root, "a", "b", "d")
    changes = [
        Change(root.path, "a", before=old(b"lost"), after=node_at(current, "a")),
        Change(root.path, "b", before=old(b"old"), after=node_at(current, "b")),
        Change(root.path, "d", before=old(b"old"), after=node_at(current, "d")),
        Change(root.path, "gone/with/f", before=old(b"old"), after=None),
    ]
    outcome = Restoration(root, changes, current, {digest_of(b"old"): b"old"}.get).run()
    assert outcome == Outcome(
        (f"{root.path}/b", f"{root.path}/gone/with/f"),
        (
            Remark(f"{root.path}/d", "could not be put back: there is something else in the directory now"),
            Remark(f"{root.path}/a", "could not be put back: its old content is damaged"),
        ),
        (),
    )
    assert (place / "a").read_bytes() == b"new"
    assert (place / "d" / "mine").exists()
    assert (place / "gone" / "with" / "f").read_bytes() == b"old"


def test_an_edit_in_the_last_moment_is_not_lost(root: Root) -> None:
    path = Path(root.path) / "f"
    path.write_bytes(b"new")
    current = observe(root, "f")
    path.write_bytes(b"edited in the last moment")
    for before in (old(b"old"), None):
        change = Change(root.path, "f", before=before, after=node_at(current, "f"))
        outcome = Restoration(root, [change], current, {digest_of(b"old"): b"old"}.get).run()
        assert outcome.failed == (Remark(f"{root.path}/f", "could not be put back: it changed in the last moment"),)
        assert path.read_bytes() == b"edited in the last moment"


def test_what_a_killed_process_left_is_removed(root: Root) -> None:
    place = Path(root.path)
    (place / "d").mkdir()
    left = place / "d" / f".tejat-{2**22 + 5}-0123456789abcdef.tmp"
    left.touch()
    clean_up(root, ["d/f", "missing/f"])
    assert not left.exists()
