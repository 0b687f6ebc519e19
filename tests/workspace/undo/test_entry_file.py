"""Entries come back as they were written, torn and foreign lines are passed over, undone is said of what is undone."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.frozen import replace
from tejat.core.undo import PathChange, PathKind, PathProblem, PathState, UndoEntry
from tejat.workspace.files.regular_file import read_bytes
from tejat.workspace.undo import entry_file
from tejat.workspace.undo.entry_file import EntryFile, entry_digests
from tejat.workspace.undo.private_directory import PrivateDirectory

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
OWNERS = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
MODES = st.integers(0, 0o7777)
NODES = st.one_of(
    st.none(),
    st.builds(lambda target: PathState(PathKind.LINK, target=target), TEXT),
    st.builds(lambda mode, owner: PathState(PathKind.DIRECTORY, permissions=mode, owner=owner), MODES, OWNERS),
    st.builds(
        lambda mode, owner, size, digest, identity: PathState(
            PathKind.FILE, permissions=mode, size=size, digest=digest, identity=identity, owner=owner
        ),
        MODES,
        OWNERS,
        st.integers(0, 2**60),
        st.none() | st.binary(min_size=32, max_size=32),
        st.none() | st.binary(max_size=32),
    ),
)
NAMES = TEXT.filter(lambda name: name not in ("", ".", "..") and not {"/", "\0"} & set(name))
CHANGES = st.builds(
    lambda root, names, before, after: PathChange(f"/{root}", "/".join(names), before=before, after=after),
    TEXT.filter(lambda name: "\0" not in name),
    st.lists(NAMES, min_size=1, max_size=3),
    NODES,
    NODES,
)
ENTRIES = st.builds(
    UndoEntry,
    id=TEXT,
    time=st.floats(0, 1e10),
    tool=TEXT,
    summary=TEXT,
    changes=st.lists(CHANGES, max_size=3).map(tuple),
    skipped=st.lists(st.builds(PathProblem, TEXT, TEXT), max_size=2).map(tuple),
)


def file_in(path: str | Path) -> EntryFile:
    return EntryFile(PrivateDirectory(str(path)))


@settings(max_examples=60, deadline=None)
@given(entries=st.lists(ENTRIES, max_size=4))
def test_any_entry_comes_back(entries: list[UndoEntry]) -> None:
    with tempfile.TemporaryDirectory() as base:
        for entry in entries:
            file_in(base).append(entry)
        assert file_in(base).read() == entries
        if entries:
            file_in(base).drop_oldest(1)
        assert file_in(base).read() == entries[1:]


def entry(name: str, undoes: str | None = None) -> UndoEntry:
    return UndoEntry(name, 1.0, "t", "w", (), (), undoes)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"id":"a","time":"x","tool":"t","what":"w","changes":[],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"t","what":"w","changes":[["/r","../x",null,null]],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"t","what":"w","changes":[["/r","/x",null,null]],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"t","what":"w","changes":[["/r","x",["odd"],null]],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"t","what":"w","changes":[["/r","x"]],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"t","what":"w","changes":[],"skipped":[["a"]],"undoes":null}',
        b'{"id":"a","time":1e99,"tool":"t","what":"w","changes":[],"skipped":[],"undoes":null}',
        b'{"id":"a","time":-1,"tool":"t","what":"w","changes":[],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"t","what":"w","changes":[["r","x",null,null]],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"t","what":"w","changes":[["/r","x\\u0000",null,null]],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"","what":"","changes":[["/","x",["directory",99999,0,0],null]],"skipped":[],"undoes":null}',
        b'{"id":"a","time":1,"tool":"","what":"","changes":[["/","x",["directory",0,-1,0],null]],"skipped":[],"undoes":null}',
    ],
)
def test_a_bad_line_is_no_entry(tmp_path: Path, line: bytes) -> None:
    file = file_in(tmp_path)
    file.append(entry("1"))
    with open(tmp_path / "entries.jsonl", "ab") as journal:
        journal.write(line + b"\n" + b'{"id":"torn')
    file.append(entry("2"))
    assert file.read() == [entry("1"), entry("2")]


def test_no_file(tmp_path: Path) -> None:
    assert file_in(tmp_path / "none").read() == []
    assert not (tmp_path / "none").exists()


def test_undone_and_done_again(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    file.append(entry("a"))
    file.append(entry("b", undoes="a"))
    assert file.read() == [replace(entry("a"), undone_by="b"), entry("b", undoes="a")]
    file.append(entry("c", undoes="b"))
    assert [other.undone_by for other in file.read()] == [None, "c", None]
    file.append(entry("d", undoes="a"))
    assert [other.undone_by for other in file.read()] == ["d", "c", None, None]


def test_the_contents_an_entry_needs() -> None:
    old = PathState(PathKind.FILE, digest=b"o" * 32)
    new = PathState(PathKind.FILE, digest=b"n" * 32)
    changes = (
        PathChange("/r", "a", before=old, after=new),
        PathChange("/r", "b", before=PathState(PathKind.FILE), after=None),
        PathChange("/r", "c", before=None, after=PathState(PathKind.LINK, target="x")),
    )
    assert entry_digests(replace(entry("1"), changes=changes)) == {b"o" * 32, b"n" * 32}


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the size of each read from now on."""
    sizes: list[int] = []

    def counting(descriptor: int, offset: int, size: int) -> bytes:
        content = read_bytes(descriptor, offset, size)
        sizes.append(len(content))
        return content

    monkeypatch.setattr(entry_file, "read_bytes", counting)
    return sizes


def test_each_line_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_in(tmp_path)
    size = 0
    reads = counted_reads(monkeypatch)
    for number in range(20):
        file.append(entry(f"{number:06x}"))
        assert len(file.ids()) == number + 1
        added = (tmp_path / "entries.jsonl").stat().st_size - size
        size += added
        assert reads == [added]
        reads.clear()
    assert len(file.read()) == 20
    assert reads == [size]
    reads.clear()
    file.append(entry("abc"))
    assert [each.id for each in file.read()][-1] == "abc"
    assert sum(reads) < 2 * size / 10


def test_what_other_processes_do_is_seen(tmp_path: Path) -> None:
    one, other = file_in(tmp_path), file_in(tmp_path)
    for number in range(5):
        (one if number % 2 else other).append(entry(f"{number}"))
        assert one.read() == other.read()
        assert one.ids() == other.ids() == {str(each) for each in range(number + 1)}
    one.drop_oldest(2)
    assert other.ids() == {"2", "3", "4"}
    other.append(entry("5", undoes="3"))
    assert [(each.id, each.undone_by) for each in one.read()] == [("2", None), ("3", "5"), ("4", None), ("5", None)]
    (tmp_path / "entries.jsonl").unlink()
    assert (one.read(), one.ids()) == ([], set())


def test_a_line_that_was_taken_back(tmp_path: Path) -> None:
    """Another one of the same length is in its place."""
    file = file_in(tmp_path)
    file.append(entry("a"))
    size = (tmp_path / "entries.jsonl").stat().st_size
    file.append(entry("b"))
    assert file.ids() == {"a", "b"}
    os.truncate(tmp_path / "entries.jsonl", size)
    file_in(tmp_path).append(entry("c"))
    assert file.ids() == {"a", "c"}
    assert [each.id for each in file.read()] == ["a", "c"]


def test_dropping_passes_over_bad_lines(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    file.append(entry("a"))
    with open(tmp_path / "entries.jsonl", "ab") as journal:
        journal.write(b"null\n")
    file.append(entry("b"))
    file.append(entry("c"))
    file.drop_oldest(2)
    assert [each.id for each in file.read()] == ["c"]
    file.drop_oldest(5)
    assert file.read() == []
