"""A snapshot holds the contents of a state as far as they fit, and says why the rest is missing."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tejat.workspace.files.roots import Roots
from tejat.workspace.undo.content_store import sha256_digest
from tejat.workspace.undo.digest_cache import DigestCache
from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.snapshot import Snapshot, SnapshotBudget, format_size, scan_paths, take_snapshot
from tejat.workspace.undo.tree_state import TreeState, pack_file_key


class Taking:
    """Takes snapshots of one directory and counts what is kept."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        self.known = DigestCache(PrivateDirectory(str(state)), str(root))
        self.kept: dict[bytes, bytes] = {}
        self.room = 10**9

    def keep(self, contents: Mapping[bytes, bytes]) -> None:
        self.kept |= contents

    def take(self, *paths: str, file_limit: int = 1000, recognise: bool = False) -> Snapshot:
        budget = SnapshotBudget(
            file_limit=file_limit,
            reserve=lambda _: self.room,
            store=self.keep,
            stop=lambda: None,
            is_stored=self.kept.__contains__ if recognise else None,
        )
        with Roots([str(self.root)]) as roots:
            return take_snapshot(roots.first, scan_paths(roots.first, paths), self.known, budget)


@pytest.fixture
def taking(tmp_path: Path) -> Taking:
    (tmp_path / "root").mkdir()
    return Taking(tmp_path / "root", tmp_path / "state")


def test_contents_are_kept_and_read_once(taking: Taking) -> None:
    (taking.root / "a").write_text("a")
    (taking.root / "b").write_text("b")
    state = taking.take("a", "b").state
    for path in state.files:
        taking.known.add(path, state.files[path], sha256_digest(path.encode()), read_at=2**62)
    taking.kept.clear()
    snapshot = taking.take("a", "b")
    assert snapshot.files == {path: state.files[path] + sha256_digest(path.encode()) for path in ("a", "b")}
    assert snapshot.skip_reasons == {}
    assert taking.kept == {}
    (taking.root / "b").write_text("new")
    assert taking.take("a", "b").files["b"].endswith(sha256_digest(b"new"))
    assert taking.kept == {sha256_digest(b"new"): b"new"}


def test_what_is_too_large(taking: Taking) -> None:
    (taking.root / "large").write_bytes(b"x" * 1001)
    snapshot = taking.take("large")
    assert snapshot.files == {"large": pack_file_key((taking.root / "large").lstat())}
    assert snapshot.skip_reasons == {"large": "too large to be kept (1.0 kB)"}


def test_small_files_first(taking: Taking) -> None:
    for size in (900, 10, 500, 20):
        (taking.root / str(size)).write_bytes(b"x" * size)
    taking.room = 600
    snapshot = taking.take("900", "10", "500", "20")
    assert snapshot.skip_reasons == {"900": "the room for undo is used up (900 bytes)"}
    assert sorted(map(len, taking.kept.values())) == [10, 20, 500]


def test_what_is_kept_already_needs_no_room(taking: Taking) -> None:
    (taking.root / "a").write_bytes(b"a")
    (taking.root / "b").write_bytes(b"b")
    taking.kept = {sha256_digest(b"a"): b"a"}
    taking.room = 0
    assert taking.take("a", "b", recognise=True).skip_reasons == {"b": "the room for undo is used up (1 bytes)"}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_what_cannot_be_read(taking: Taking) -> None:
    (taking.root / "closed").touch(mode=0)
    assert taking.take("closed").skip_reasons == {"closed": "could not be read (Permission denied)"}


def test_a_file_that_became_something_else(taking: Taking) -> None:
    (taking.root / "f").write_text("x")
    (taking.root / "g").write_text("x")
    (taking.root / "d").mkdir()
    (taking.root / "d" / "h").write_text("x")
    with Roots([str(taking.root)]) as roots:
        state = scan_paths(roots.first, ("f", "g", "d/h"))
        (taking.root / "f").unlink()
        (taking.root / "f").symlink_to("/etc/passwd")
        (taking.root / "g").unlink()
        os.mkfifo(taking.root / "g")
        (taking.root / "d").rename(taking.root / "e")
        budget = SnapshotBudget(file_limit=1000, reserve=lambda _: 10**9, store=taking.keep, stop=lambda: None)
        snapshot = take_snapshot(roots.first, state, taking.known, budget)
    assert taking.kept == {}
    assert snapshot.skip_reasons == {
        "f": "could not be read (Too many levels of symbolic links)",
        "g": "could not be read (is no file any more)",
        "d/h": "could not be read (No such file or directory)",
    }


def test_looking_follows_no_link(taking: Taking) -> None:
    (taking.root / "d").mkdir()
    (taking.root / "d" / "f").touch()
    (taking.root / "l").symlink_to("d")
    os.mkfifo(taking.root / "pipe")
    with Roots([str(taking.root)]) as roots:
        state = scan_paths(roots.first, ("d", "d/f", "l", "l/f", "missing", "pipe"))
    status = (taking.root / "d").stat()
    assert state == TreeState(
        files={"d/f": pack_file_key((taking.root / "d" / "f").lstat())},
        links={"l": "d"},
        directories={"d": (status.st_mode & 0o7777, status.st_uid, status.st_gid)},
        special_files={"pipe": 0o010000},
    )


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2_000_000, "2.0 MB"), (3 * 10**12, "3000.0 GB")],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert format_size(size) == words
