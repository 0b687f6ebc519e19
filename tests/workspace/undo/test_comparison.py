"""Two snapshots are compared: what can be undone is a change, what cannot is said, what is only unseen is neither."""

import hashlib
import os
import stat
import struct

from tejat.core.undo import PathChange, PathKind, PathProblem, PathState
from tejat.workspace.undo.comparison import Comparison, compare_snapshots, node_at, with_replaced, without_placeholders
from tejat.workspace.undo.snapshot import Snapshot
from tejat.workspace.undo.tree_state import TreeState, pack_file_key

START = 10**18


def value(
    digest: bytes = b"",
    *,
    inode: int = 1,
    size: int = 3,
    mode: int = 0o644,
    modified: int = START,
    changed: int = START,
) -> bytes:
    seconds = (
        mode | stat.S_IFREG,
        inode,
        7,
        1,
        10,
        20,
        size,
        0,
        modified // 10**9,
        0,
        0.0,
        0.0,
        0.0,
        0,
        modified,
        changed,
    )
    return pack_file_key(os.stat_result(seconds)) + digest


def node(digest: bytes | None, *, inode: int = 1, size: int = 3, mode: int = 0o644, modified: int = START) -> PathState:
    identity = struct.pack("<QQqq", 7, inode, size, modified)
    return PathState(PathKind.FILE, permissions=mode, size=size, digest=digest, identity=identity, owner=(10, 20))


def snapshot(files: dict[str, bytes], *, unkept: dict[str, str] | None = None, **rest: dict[str, object]) -> Snapshot:
    state = TreeState(**rest, taken_at=START + 10**9)  # type: ignore[arg-type] -- each test knows what it puts in
    return Snapshot("/r", state, files, unkept or {})


OLD, NEW = b"o" * 32, b"n" * 32


def test_every_change() -> None:
    before = snapshot(
        {"edited": value(OLD), "gone": value(OLD, inode=2), "same": value(OLD), "mode": value(OLD)},
        links={"link": "a", "lost": "b"},
        directories={"d": (0o755, 1, 1), "e": (0o755, 1, 1), "now a file": (0o700, 1, 1)},
    )
    after = snapshot(
        {
            "edited": value(NEW, inode=5),
            "same": value(OLD, inode=9, modified=START + 5, changed=START + 6),
            "mode": value(OLD, mode=0o600),
            "made": value(NEW),
            "now a file": value(NEW),
        },
        links={"link": "c"},
        directories={"d": (0o700, 1, 1), "f": (0o755, 2, 2)},
    )
    assert compare_snapshots(before, after) == Comparison(
        (
            PathChange("/r", "d", before=directory(0o755), after=directory(0o700)),
            PathChange("/r", "e", before=directory(0o755), after=None),
            PathChange("/r", "edited", before=node(OLD), after=node(NEW, inode=5)),
            PathChange("/r", "f", before=None, after=directory(0o755, owner=2)),
            PathChange("/r", "gone", before=node(OLD, inode=2), after=None),
            PathChange("/r", "link", before=link("a"), after=link("c")),
            PathChange("/r", "lost", before=link("b"), after=None),
            PathChange("/r", "made", before=None, after=node(NEW)),
            PathChange("/r", "mode", before=node(OLD), after=node(OLD, mode=0o600)),
            PathChange("/r", "now a file", before=directory(0o700), after=node(NEW)),
        ),
        (),
    )
    assert compare_snapshots(before, before) == Comparison((), ())


def directory(mode: int, owner: int = 1) -> PathState:
    return PathState(PathKind.DIRECTORY, permissions=mode, owner=(owner, owner))


def link(target: str) -> PathState:
    return PathState(PathKind.LINK, target=target)


def test_contents_that_are_gone() -> None:
    before = snapshot({"a": value(), "b": value(inode=2)}, unkept={"a": "too large"})
    after = snapshot({"b": value(NEW, inode=2, modified=START + 2)})
    assert compare_snapshots(before, after).skipped == (
        PathProblem("/r/a", "removed, and the old content is gone: too large"),
        PathProblem("/r/b", "changed, and the old content is gone: it was not kept"),
    )


def test_what_is_not_kept_but_only_moved_or_closed() -> None:
    before = snapshot({"a": value(), "b": value(inode=2)})
    after = snapshot({"c/a": value(), "b": value(inode=2, mode=0o600)})
    assert compare_snapshots(before, after) == Comparison(
        (
            PathChange("/r", "a", before=node(None), after=None),
            PathChange("/r", "b", before=node(None, inode=2), after=node(None, inode=2, mode=0o600)),
            PathChange("/r", "c/a", before=None, after=node(None)),
        ),
        (),
    )


def test_only_what_the_call_wrote_may_go_without_being_kept() -> None:
    after = snapshot({"written": value(modified=START + 2 * 10**9), "came": value()}, unkept={"came": "too large"})
    assert compare_snapshots(snapshot({}), after) == Comparison(
        (PathChange("/r", "written", before=None, after=node(None, modified=START + 2 * 10**9)),),
        (PathProblem("/r/came", "created, and undo would lose it: too large"),),
    )


def test_what_was_or_is_out_of_sight() -> None:
    """Files that appear with their directory were there before, those that vanish with it still are."""
    before = snapshot({"closes/f": value(OLD)}, unwatched={"opens": (1, 1)}, directories={"closes": (0o755, 1, 1)})
    after = snapshot({"opens/deep/f": value(OLD)}, unwatched={"closes": (2, 2)}, directories={"opens": (0o755, 1, 1)})
    said = compare_snapshots(before, after)
    assert said.changes == ()
    assert [remark.path for remark in said.skipped] == ["/r/closes", "/r/opens"]
    assert compare_snapshots(snapshot({}), snapshot({"f": value(OLD)}, unwatched={"": (-1, -1)})).changes == ()


def test_a_directory_that_was_closed_can_be_opened_again() -> None:
    before = snapshot({"d/f": value(OLD)}, directories={"d": (0o755, 1, 1)})
    after = snapshot({}, directories={"d": (0o644, 1, 1)}, unwatched={"d": (-1, -1)})
    why = "could not be looked into, before or after, so what happened in there is not known"
    assert compare_snapshots(before, after) == Comparison(
        (PathChange("/r", "d", before=directory(0o755), after=directory(0o644)),), (PathProblem("/r/d", why),)
    )


def test_special_files() -> None:
    before = snapshot({"b": value(OLD)}, special_files={"a": stat.S_IFIFO, "c": stat.S_IFIFO})
    after = snapshot({}, special_files={"b": stat.S_IFSOCK, "c": stat.S_IFIFO})
    assert compare_snapshots(before, after) == Comparison(
        (),
        (
            PathProblem("/r/a", "was a pipe, socket or device"),
            PathProblem("/r/b", "is now a pipe, socket or device"),
        ),
    )


def test_nothing_at_a_path() -> None:
    assert node_at(snapshot({}), "x") is None


def test_empty_directories_that_stand_for_nothing() -> None:
    directory, file = PathState(PathKind.DIRECTORY), PathState(PathKind.FILE)
    real = (
        PathChange("/r", ".idea", None, directory),
        PathChange("/r", ".idea/x", None, file),
        PathChange("/r", ".vscode", directory, file),
        PathChange("/r", "other", None, directory),
    )
    stand_ins = (PathChange("/r", ".gemini", None, directory), PathChange("/r", ".claude", directory, None))
    places = {".gemini", ".claude", ".idea", ".vscode"}
    found = Comparison((*stand_ins, *real), (PathProblem("x", "kept out"),))
    assert without_placeholders(found, places) == Comparison(real, found.skipped)


class TestReplaced:
    """Undo restores what an editor had, not what was on disk."""

    def restored(self, mode: int = 0o644) -> PathState:
        digest = hashlib.sha256(b"unsaved").digest()
        return PathState(PathKind.FILE, permissions=mode, size=7, digest=digest, owner=(10, 20))

    def test_a_changed_a_new_and_an_equal_file(self) -> None:
        before = snapshot({"changed": value(OLD, mode=0o600), "equal": value(OLD), "other": value(OLD)})
        files = {"changed": value(NEW), "equal": value(OLD, modified=START + 1), "new": value(NEW), "other": value(NEW)}
        after = snapshot(files)
        paths = ["/r/changed", "/r/equal", "/r/new", "/elsewhere/other"]
        replaced = dict.fromkeys(paths, b"unsaved")
        found = with_replaced(compare_snapshots(before, after), after, replaced)
        assert found == Comparison(
            (
                PathChange("/r", "changed", before=self.restored(0o600), after=node(NEW)),
                PathChange("/r", "equal", before=self.restored(), after=node(OLD, modified=START + 1)),
                PathChange("/r", "new", before=self.restored(), after=node(NEW)),
                PathChange("/r", "other", before=node(OLD), after=node(NEW)),
            ),
            (),
        )

    def test_content_that_is_there_again_is_no_change(self) -> None:
        now = hashlib.sha256(b"unsaved").digest()
        before, after = snapshot({"f": value(OLD)}), snapshot({"f": value(now, size=7)})
        assert with_replaced(compare_snapshots(before, after), after, {"/r/f": b"unsaved"}) == Comparison((), ())

    def test_a_file_that_is_gone_comes_back_as_it_was_on_disk(self) -> None:
        before, after = snapshot({"f": value(OLD)}), snapshot({})
        compared = compare_snapshots(before, after)
        assert with_replaced(compared, after, {"/r/f": b"unsaved"}) == compared
