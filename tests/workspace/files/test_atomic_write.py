"""A file is replaced whole or not at all, keeps what is its own, and is never written over someone else's change."""

import contextlib
import os
import stat
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.file_writes import at_last, file, refusal, root, roots, seen, system, tree, write
from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import replace
from tejat.workspace.files.atomic_write import ExpectedFile, FileWriteResult, prepare_replacement, write_atomically
from tejat.workspace.files.roots import Roots

__all__ = ["file", "root", "roots", "system"]  # fixtures


def stale(path: Path, what: str) -> tuple[ErrorType, str]:
    text = f"The file has changed since it was read, so nothing was written: {path} ({what}). Read it again first."
    return ErrorType.STALE_FILE, text


class TestContent:
    def test_a_file_is_replaced(self, roots: Roots, file: Path, root: Path) -> None:
        written = write(roots, file, b"new", seen(roots, file))
        expected = FileWriteResult(3, is_new=False, broke_hard_link=False, created_directories=(), status=file.stat())
        assert (written, tree(root)) == (expected, {"f": b"new"})

    def test_a_new_file_and_its_directories(self, roots: Roots, root: Path) -> None:
        written = write(roots, root / "a/b/f", b"new", None)
        assert written == FileWriteResult(
            3,
            is_new=True,
            broke_hard_link=False,
            created_directories=(str(root / "a"), str(root / "a/b")),
            status=(root / "a/b/f").stat(),
        )
        assert tree(root) == {"a": None, "a/b": None, "a/b/f": b"new"}

    @given(old=st.binary(max_size=300), pieces=st.lists(st.binary(max_size=300), max_size=30))
    @settings(max_examples=60, deadline=None)
    def test_any_pieces_become_their_join(self, old: bytes, pieces: list[bytes]) -> None:
        with tempfile.TemporaryDirectory() as place, Roots([place]) as roots:
            path = Path(place, "f")
            write(roots, path, old, None)
            views = [memoryview(piece) if len(piece) % 2 else piece for piece in pieces]
            written = write_atomically(roots, roots.locate("f"), views, expected=seen(roots, path))
            assert (path.read_bytes(), written.size) == (b"".join(pieces), len(b"".join(pieces)))

    def test_large_pieces_are_neither_joined_nor_read_whole(self, roots: Roots, root: Path) -> None:
        content = os.urandom(1 << 20) * 24
        view = memoryview(content)
        pieces = [view[start : start + 100_000] for start in range(0, len(view), 100_000)]
        location = roots.locate("f")
        write_atomically(roots, location, pieces, expected=None)
        expected = ExpectedFile(content, (root / "f").stat())
        tracemalloc.start()
        try:
            write_atomically(roots, location, [*pieces, b"end"], expected=expected)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 3 << 20
        assert (root / "f").read_bytes() == content + b"end"

    def test_a_link_inside_stays_a_link(self, roots: Roots, file: Path, root: Path) -> None:
        (root / "link").symlink_to("f")
        written = write(roots, root / "link", b"new", seen(roots, root / "link"))
        assert ((root / "link").readlink(), file.read_bytes(), written.is_new) == (Path("f"), b"new", False)

    def test_a_dangling_link_inside_gets_its_target(self, roots: Roots, root: Path) -> None:
        (root / "link").symlink_to("a/f")
        written = write(roots, root / "link", b"new", None)
        assert (written.created_directories, (root / "a/f").read_bytes()) == ((str(root / "a"),), b"new")

    def test_leftovers_of_a_killed_process_go(self, roots: Roots, file: Path, root: Path) -> None:
        (root / ".tejat-4194999-0123456789abcdef.tmp").write_bytes(b"half")
        write(roots, file, b"new", seen(roots, file))
        assert tree(root) == {"f": b"new"}


class TestStale:
    def test_other_content_with_old_size_and_time(self, roots: Roots, file: Path) -> None:
        expected = seen(roots, file)
        file.write_bytes(b"OLD CONTENT")
        os.utime(file, ns=(expected.status.st_atime_ns, expected.status.st_mtime_ns))
        error = refusal(roots, file, expected)
        assert (error.error_type, error.message) == stale(file, "its content changed")
        assert file.read_bytes() == b"OLD CONTENT"

    @pytest.mark.parametrize("content", [b"", b"old conten", b"old content!", b"old contenT"])
    def test_content_that_changes_at_the_last_moment(
        self, roots: Roots, file: Path, root: Path, content: bytes
    ) -> None:
        error = refusal(roots, file, seen(roots, file), at_last(lambda: file.write_bytes(content)))
        assert (error.error_type, error.message) == stale(file, "its content changed")
        assert tree(root) == {"f": content}

    def test_a_change_in_a_later_block(self, roots: Roots, file: Path) -> None:
        content = bytes(3 << 20)
        file.write_bytes(content)
        expected = seen(roots, file)
        file.write_bytes(content[:-1] + b"x")
        assert refusal(roots, file, expected).error_type is ErrorType.STALE_FILE
        file.write_bytes(content)
        assert write(roots, file, b"new", expected).size == 3

    def test_touched_or_saved_again_is_no_conflict(self, roots: Roots, file: Path, root: Path) -> None:
        def save_again() -> None:
            (root / "g").write_bytes(b"old content")
            (root / "g").rename(file)

        expected = seen(roots, file)
        os.utime(file, ns=(1, 1))
        write(roots, file, b"old content", expected, at_last(lambda: os.utime(file, ns=(2, 2))))
        write(roots, file, b"new", expected, at_last(save_again))
        assert tree(root) == {"f": b"new"}

    def test_touched_during_the_last_look_is_no_conflict(
        self, roots: Roots, file: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expected = seen(roots, file)
        touch_at_each_look(monkeypatch, file, looks=range(4))
        write(roots, file, b"new", expected)
        assert tree(root) == {"f": b"new"}

    def test_a_file_that_never_rests(
        self, roots: Roots, file: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expected = seen(roots, file)
        touch_at_each_look(monkeypatch, file, looks=range(1000))
        error = refusal(roots, file, expected)
        assert (error.error_type, error.message) == stale(file, "it keeps changing")
        assert tree(root) == {"f": b"old content"}

    def test_a_file_that_appears(self, roots: Roots, root: Path) -> None:
        path = root / "a/f"
        error = refusal(roots, path, None, at_last(lambda: path.write_bytes(b"theirs")))
        assert (error.error_type, error.message) == stale(path, "it was created in the meantime")
        assert tree(root) == {"a": None, "a/f": b"theirs"}

    def test_a_file_that_is_there_already(self, roots: Roots, file: Path, root: Path) -> None:
        error = refusal(roots, file, None)
        assert (error.error_type, error.message) == stale(file, "it was created in the meantime")
        assert tree(root) == {"f": b"old content"}

    def test_a_file_that_goes(self, roots: Roots, file: Path, root: Path) -> None:
        expected = seen(roots, file)
        error = refusal(roots, file, expected, at_last(file.unlink))
        assert (error.error_type, error.message) == stale(file, "it no longer exists")
        error = refusal(roots, file, expected)
        assert (error.error_type, error.message) == stale(file, "it no longer exists")
        assert tree(root) == {}

    def test_a_directory_that_goes(self, roots: Roots, root: Path, file: Path) -> None:
        error = refusal(roots, root / "a/f", seen(roots, file))
        assert (error.error_type, error.message) == stale(root / "a/f", "its directory no longer exists")
        assert tree(root) == {"f": b"old content"}

    def test_without_content_the_identity_decides(self, roots: Roots, file: Path, root: Path) -> None:
        expected = replace(seen(roots, file), content=None)
        assert write(roots, file, b"new", expected).size == 3
        assert refusal(roots, file, expected).error_type is ErrorType.STALE_FILE
        expected = replace(seen(roots, file), content=None)
        os.utime(file, ns=(1, 1))
        assert refusal(roots, file, expected).error_type is ErrorType.STALE_FILE
        assert tree(root) == {"f": b"new"}

    def test_two_sessions(self, roots: Roots, file: Path) -> None:
        first, second = seen(roots, file), seen(roots, file)
        write(roots, file, b"first", first)
        assert refusal(roots, file, second).error_type is ErrorType.STALE_FILE
        assert file.read_bytes() == b"first"


class TestSwapped:
    """The name means something else by the time of the write: refused, nothing followed, nothing harmed."""

    @pytest.mark.parametrize("existing", [True, False])
    def test_a_directory(self, roots: Roots, root: Path, existing: bool) -> None:
        path, expected = prepared(roots, root, existing)
        error = refusal(roots, path, expected, at_last(lambda: (path.unlink(missing_ok=True), path.mkdir())))
        message = f"Target is a directory, not a file: {path} (EISDIR)"
        assert (error.error_type, error.message) == (ErrorType.TARGET_IS_DIRECTORY, message)
        assert tree(root) == {"f": None}

    @pytest.mark.parametrize("existing", [True, False])
    def test_a_fifo(self, roots: Roots, root: Path, existing: bool) -> None:
        path, expected = prepared(roots, root, existing)
        error = refusal(roots, path, expected, at_last(lambda: (path.unlink(missing_ok=True), os.mkfifo(path))))
        message = f"Not a regular file, so it cannot be written: {path}."
        assert (error.error_type, error.message) == (ErrorType.SPECIAL_FILE, message)
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert list(tree(root)) == ["f"]

    @pytest.mark.parametrize("existing", [True, False])
    def test_a_link_out(self, roots: Roots, root: Path, tmp_path: Path, existing: bool) -> None:
        outside = tmp_path / "secret"
        outside.write_bytes(b"old content")
        path, expected = prepared(roots, root, existing)
        error = refusal(
            roots, path, expected, at_last(lambda: (path.unlink(missing_ok=True), path.symlink_to(outside)))
        )
        assert (error.error_type, error.message) == stale(path, "it is now a symbolic link")
        assert (path.readlink(), outside.read_bytes(), list(tree(root))) == (outside, b"old content", ["f"])

    def test_a_directory_before_the_write(self, roots: Roots, root: Path) -> None:
        (root / "f").mkdir()
        assert refusal(roots, root / "f", None).error_type is ErrorType.TARGET_IS_DIRECTORY
        assert tree(root) == {"f": None}


def prepared(roots: Roots, root: Path, existing: bool) -> tuple[Path, ExpectedFile | None]:
    path = root / "f"
    if not existing:
        return path, None
    path.write_bytes(b"old content")
    return path, seen(roots, path)


class TestMetadata:
    def test_mode_and_attributes(self, roots: Roots, file: Path) -> None:
        file.chmod(0o4754)
        with contextlib.suppress(OSError):
            os.setxattr(file, "user.note", b"kept")
        before = (file.stat().st_mode, {name: os.getxattr(file, name) for name in os.listxattr(file)})
        write(roots, file, b"new", seen(roots, file))
        assert (file.stat().st_mode, {name: os.getxattr(file, name) for name in os.listxattr(file)}) == before

    def test_a_mode_that_changes_during_the_write(self, roots: Roots, file: Path) -> None:
        write(roots, file, b"new", seen(roots, file), at_last(lambda: file.chmod(0o751)))
        assert stat.S_IMODE(file.stat().st_mode) == 0o751

    @pytest.mark.parametrize("mask", [0o002, 0o022, 0o077])
    def test_a_new_file_obeys_the_umask_and_an_old_one_does_not(
        self, roots: Roots, root: Path, file: Path, mask: int
    ) -> None:
        file.chmod(0o666)
        before = os.umask(mask)
        try:
            write(roots, root / "new", b"new", None)
            write(roots, file, b"new", seen(roots, file))
        finally:
            os.umask(before)
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (root / "new", file)]
        assert modes == [0o666 & ~mask, 0o666]

    def test_a_hard_link_is_broken_and_reported(self, roots: Roots, root: Path, tmp_path: Path, system: str) -> None:
        outside = tmp_path / "secret"
        outside.write_bytes(b"secret")
        if system == "no links":
            with pytest.raises(PermissionError):
                (root / "h").hardlink_to(outside)
            return
        (root / "h").hardlink_to(outside)
        written = write(roots, root / "h", b"new", seen(roots, root / "h"))
        assert (written.broke_hard_link, written.is_new) == (True, False)
        assert (outside.read_bytes(), (root / "h").read_bytes(), outside.stat().st_nlink) == (b"secret", b"new", 1)


def touch_at_each_look(monkeypatch: pytest.MonkeyPatch, file: Path, looks: range) -> None:
    real_stat = os.stat
    remaining = list(looks)

    def stat_and_touch(path: object, **keywords: Any) -> os.stat_result:
        if path == file.name and remaining:
            os.utime(file, ns=(remaining[0], remaining.pop(0)))
        return real_stat(path, **keywords)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(os, "stat", stat_and_touch)


class TestPreparation:
    """Another program writes the file; it is checked in the same way."""

    def prepare(self, roots: Roots, path: Path, expected: ExpectedFile | None) -> None:
        with prepare_replacement(roots, roots.locate(str(path)), expected):
            path.write_bytes(b"by another program")

    def test_files(self, roots: Roots, file: Path, root: Path) -> None:
        self.prepare(roots, file, seen(roots, file))
        self.prepare(roots, root / "a/b", None)
        assert tree(root) == {"f": b"by another program", "a": None, "a/b": b"by another program"}

    def test_a_file_that_has_changed(self, roots: Roots, file: Path, root: Path) -> None:
        expected = seen(roots, file)
        file.write_bytes(b"changed")
        with pytest.raises(WorkspaceError) as caught:
            self.prepare(roots, file, expected)
        assert (caught.value.error_type, caught.value.message) == stale(file, "its content changed")
        with pytest.raises(WorkspaceError) as caught:
            self.prepare(roots, file, None)
        assert (caught.value.error_type, caught.value.message) == stale(file, "it was created in the meantime")
        file.unlink()
        with pytest.raises(WorkspaceError) as caught:
            self.prepare(roots, file, expected)
        assert (caught.value.error_type, caught.value.message) == stale(file, "it no longer exists")
        assert tree(root) == {}

    def test_a_file_that_may_not_be_written(self, roots: Roots, file: Path) -> None:
        file.chmod(0o444)
        with pytest.raises(WorkspaceError) as caught:
            self.prepare(roots, file, seen(roots, file))
        assert caught.value.error_type is ErrorType.PERMISSION_DENIED

    def test_a_failure_leaves_no_directory(self, roots: Roots, root: Path) -> None:
        with contextlib.suppress(TimeoutError), prepare_replacement(roots, roots.locate("a/b/f"), None):
            assert tree(root) == {"a": None, "a/b": None}
            raise TimeoutError
        assert tree(root) == {}

    def test_a_directory_in_which_another_program_left_something_stays(self, roots: Roots, root: Path) -> None:
        with contextlib.suppress(TimeoutError), prepare_replacement(roots, roots.locate("a/f"), None):
            (root / "a/other").write_bytes(b"x")
            raise TimeoutError
        assert tree(root) == {"a": None, "a/other": b"x"}
