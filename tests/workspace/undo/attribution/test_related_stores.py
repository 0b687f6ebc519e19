"""Stores of projects above and below are found, others are not."""

from pathlib import Path

from tejat.core.frozen import replace
from tejat.core.undo import PathChange, PathKind, PathState, UndoEntry
from tejat.workspace.undo.attribution.related_stores import RelatedStores
from tejat.workspace.undo.entry_file import EntryFile
from tejat.workspace.undo.private_directory import PrivateDirectory


def entry(name: str, path: str) -> UndoEntry:
    change = PathChange("/r", path, before=None, after=PathState(PathKind.FILE))
    return UndoEntry(name, 2.0, "t", "w", (change,), started=1.0)


def test_above_and_below(tmp_path: Path) -> None:
    def store_of(path: str) -> str:
        return f"{tmp_path}/{path.replace('/', '_')}"

    for path in ("/", "/r", "/r/sub/deep", "/r/other", "/elsewhere"):
        directory = PrivateDirectory(store_of(path))
        directory.ensure()
        EntryFile(directory).append(entry(path, "x"))
    related = RelatedStores(PrivateDirectory(store_of("/r")), store_of)
    own = entry("own", "sub/deep/f")
    for _ in range(2):
        assert {other.id for other in related.read([own])[0]} == {"/", "/r/sub/deep"}
    assert related.read([replace(own, undone_by="x")]) == ([], [])
    assert related.read([replace(own, named=("/",))]) == ([], [])
    assert related.read([]) == ([], [])
