"""Writers at the same time: every edit lands, and of several makers of one file one wins."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.files.atomic_write import ExpectedFile, write_atomically
from tejat.workspace.files.read_tracker import ReadTracker
from tejat.workspace.files.roots import Roots


def test_fifty_parallel_edits_under_several_spellings_all_land(tmp_path: Path) -> None:
    for name in ("one", "one/sub"):
        (tmp_path / name).mkdir()
    (tmp_path / "one/sub/f").write_bytes(b"")
    (tmp_path / "one/link").symlink_to("sub/f")
    (tmp_path / "one/folder").symlink_to("sub")
    spellings = ["one/sub/f", "one/link", "one/folder/f"]
    records = ReadTracker()
    with Roots([tmp_path / "one", tmp_path / "one/sub"]) as roots:

        def edit(number: int) -> None:
            location = roots.locate(str(tmp_path / spellings[number % 3]))
            with roots.open_parent(location, create=False) as parent:
                path = parent.location.path
            with records.lock(path):
                with roots.open_file(location) as opened:
                    original = ExpectedFile(opened.read_all(), opened.status)
                    records.check_unchanged(path, opened.status, original.content)
                pieces = [original.content or b"", b"%d\n" % number]
                written = write_atomically(roots, location, pieces, expected=original)
                records.record_write(path, written.status, pieces)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(edit, range(50)))
    lines = (tmp_path / "one/sub/f").read_bytes().split()
    assert sorted(map(int, lines)) == list(range(50))


def test_parallel_makers_of_one_file_and_one_wins(tmp_path: Path) -> None:
    with Roots([tmp_path]) as roots:

        def make(number: int) -> ErrorType | None:
            try:
                write_atomically(roots, roots.locate("a/b/f"), [b"%d" % number], expected=None)
            except WorkspaceError as error:
                return error.error_type
            return None

        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(make, range(16)))
    assert sorted(map(str, results)) == sorted(["None", *["stale_file"] * 15])
    assert (tmp_path / "a/b/f").read_bytes() == b"%d" % results.index(None)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "f"]
