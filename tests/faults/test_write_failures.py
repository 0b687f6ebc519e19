"""Whatever a write runs into, the old file stays, nothing is left behind, and the model is told what it was."""

import contextlib
import errno
import fcntl
import gc
import os
import stat
import struct
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from support.fault_injection import NthCallFails, fail
from support.file_writes import at_last, file, refusal, root, roots, seen, system, tree, write
from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.files.atomic_write import write_atomically
from tejat.workspace.files.roots import Roots

GET_FLAGS = 0x80086601
SET_FLAGS = 0x40086602

__all__ = ["file", "root", "roots", "system"]  # fixtures

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


class TestRefused:
    @pytest.mark.parametrize("mode", [0o444, 0o555, 0o400])
    def test_a_file_that_nobody_may_write(self, roots: Roots, file: Path, root: Path, mode: int) -> None:
        expected = seen(roots, file)
        file.chmod(mode)
        error = refusal(roots, file, expected)
        message = f"Permission denied writing to file: {file} (EACCES). The file is read-only (mode {mode:04o})."
        assert (error.error_type, error.message) == (ErrorType.PERMISSION_DENIED, message)
        assert (stat.S_IMODE(file.stat().st_mode), tree(root)) == (mode, {"f": b"old content"})

    def test_a_file_that_is_locked_at_the_last_moment(self, roots: Roots, file: Path, root: Path) -> None:
        error = refusal(roots, file, seen(roots, file), at_last(lambda: file.chmod(0o444)))
        assert error.error_type is ErrorType.PERMISSION_DENIED
        assert (stat.S_IMODE(file.stat().st_mode), tree(root)) == (0o444, {"f": b"old content"})

    @pytest.mark.parametrize("name", ["f", "new", "a/b/new"])
    def test_a_directory_that_nobody_may_write(self, roots: Roots, file: Path, root: Path, name: str) -> None:
        expected = seen(roots, file) if name == "f" else None
        root.chmod(0o555)
        try:
            error = refusal(roots, root / name, expected)
        finally:
            root.chmod(0o755)
        reason = "The directory is read-only (mode 0555)."
        message = f"Permission denied writing to file: {root / name} (EACCES). {reason}"
        assert (error.error_type, error.message) == (ErrorType.PERMISSION_DENIED, message)
        assert tree(root) == {"f": b"old content"}

    @pytest.mark.parametrize("flag", [0x10, 0x20], ids=["immutable", "append only"])
    def test_a_protected_file(self, roots: Roots, file: Path, root: Path, flag: int) -> None:
        expected = seen(roots, file)
        with protected(file, flag):
            error = refusal(roots, file, expected)
        start = f"Permission denied writing to file: {file} (EPERM). "
        assert (error.error_type, error.message.startswith(start)) == (ErrorType.PERMISSION_DENIED, True)
        assert tree(root) == {"f": b"old content"}

    def test_a_file_where_a_directory_should_be_made(self, roots: Roots, root: Path) -> None:
        (root / "a/b").mkdir(parents=True)
        (root / "a/b/c").write_bytes(b"in the way")
        assert refusal(roots, root / "a/b/c/d/f", None).error_type is ErrorType.FILE_WRITE_FAILURE
        assert tree(root) == {"a": None, "a/b": None, "a/b/c": b"in the way"}

    @needs_root
    def test_an_owner_that_cannot_be_kept_is_a_refusal(self, roots: Roots, file: Path, root: Path) -> None:
        root.chmod(0o777)
        file.chmod(0o666)
        expected = seen(roots, file)
        with as_user(12345):
            error = refusal(roots, file, expected)
        reason = "The owner user 0 and group 0 cannot be preserved by this user."
        message = f"Permission denied writing to file: {file} (EPERM). {reason}"
        assert (error.error_type, error.message) == (ErrorType.PERMISSION_DENIED, message)
        assert tree(root) == {"f": b"old content"}

    @needs_root
    def test_the_right_to_the_directory_is_not_the_right_to_the_file(
        self, roots: Roots, file: Path, root: Path
    ) -> None:
        root.chmod(0o777)
        expected = seen(roots, file)
        with as_user(12345):
            error = refusal(roots, file, expected)
        message = f"Permission denied writing to file: {file} (EACCES). This user cannot write it (mode 0644, owner 0)."
        assert (error.error_type, error.message) == (ErrorType.PERMISSION_DENIED, message)
        assert tree(root) == {"f": b"old content"}

    @needs_root
    def test_an_ordinary_user_writes_own_files(self, roots: Roots, file: Path, root: Path) -> None:
        root.chmod(0o777)
        os.chown(file, 12345, 12345)
        expected = seen(roots, file)
        with as_user(12345):
            write(roots, file, b"new", expected)
        assert (file.stat().st_uid, file.stat().st_gid, tree(root)) == (12345, 12345, {"f": b"new"})


class TestFailures:
    @pytest.mark.parametrize(
        ("code", "error_type", "message"),
        [
            (errno.EIO, ErrorType.FILE_WRITE_FAILURE, "Error writing to file '{}': Input/output error (EIO)"),
            (errno.ENOSPC, ErrorType.NO_SPACE_LEFT, "No space left on device: {} (ENOSPC)"),
            (errno.EDQUOT, ErrorType.NO_SPACE_LEFT, "No space left on device: {} (EDQUOT)"),
            (errno.EISDIR, ErrorType.TARGET_IS_DIRECTORY, "Target is a directory, not a file: {} (EISDIR)"),
            (
                errno.EROFS,
                ErrorType.PERMISSION_DENIED,
                "Permission denied writing to file: {} (EROFS). Read-only file system.",
            ),
        ],
    )
    @pytest.mark.parametrize("name", ["f", "a/b/new"])
    def test_each_has_its_words_and_leaves_no_trace(
        self,
        roots: Roots,
        file: Path,
        root: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        code: int,
        error_type: ErrorType,
        message: str,
    ) -> None:
        def broken(*_: object) -> int:
            raise fail(code)

        monkeypatch.setattr(os, "writev", broken)
        error = refusal(roots, root / name, seen(roots, file) if name == "f" else None)
        assert (error.error_type, error.message) == (error_type, message.format(root / name))
        assert tree(root) == {"f": b"old content"}

    def test_bytes_that_do_not_arrive(
        self, roots: Roots, file: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "writev", lambda _, pieces: sum(map(len, pieces)))
        error = refusal(roots, file, seen(roots, file))
        message = f"Error writing to file '{file}': wrote 11 bytes, but 0 are on disk (EIO)"
        assert (error.error_type, error.message) == (ErrorType.FILE_WRITE_FAILURE, message)
        assert tree(root) == {"f": b"old content"}

    @pytest.mark.parametrize(("code", "heard"), [(errno.EIO, True), (errno.EINVAL, False)])
    def test_a_directory_that_cannot_be_flushed(
        self, roots: Roots, file: Path, monkeypatch: pytest.MonkeyPatch, code: int, heard: bool
    ) -> None:
        real_fsync = os.fsync

        def fsync(descriptor: int) -> None:
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise fail(code)
            real_fsync(descriptor)

        expected = seen(roots, file)
        monkeypatch.setattr(os, "fsync", fsync)
        if heard:
            error = refusal(roots, file, expected)
            words = "Input/output error (EIO). The file was replaced, but a power failure may undo that."
            assert error.message == f"Error writing to file '{file}': {words}"
        else:
            write(roots, file, b"new content", expected)
        assert file.read_bytes() == b"new content"

    @pytest.mark.parametrize("when", [1, 2])
    @pytest.mark.parametrize(
        "what", [KeyboardInterrupt, TimeoutError, WorkspaceError("x", ErrorType.CANCELLED, path="")]
    )
    @pytest.mark.parametrize("name", ["f", "a/b/new"])
    def test_stop_is_passed_on_and_leaves_no_trace(
        self, roots: Roots, file: Path, root: Path, name: str, what: type[BaseException] | BaseException, when: int
    ) -> None:
        calls: list[None] = []

        def stop() -> None:
            calls.append(None)
            if len(calls) == when:
                raise what

        expected = seen(roots, file) if name == "f" else None
        with pytest.raises(what if isinstance(what, type) else type(what)) as caught:
            write(roots, root / name, b"new", expected, stop)
        assert caught.value is what or caught.type is what
        assert (len(calls), tree(root)) == (when, {"f": b"old content"})

    def test_what_is_new_lasts_with_its_directories(
        self, roots: Roots, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flushed: list[int] = []
        real_fsync = os.fsync

        def fsync(descriptor: int) -> None:
            real_fsync(descriptor)
            flushed.append(os.fstat(descriptor).st_ino)

        monkeypatch.setattr(os, "fsync", fsync)
        write(roots, root / "a/b/f", b"new", None)
        assert flushed == [(root / name).stat().st_ino for name in ("a/b/f", "a/b", "a", ".")]


INTERRUPTIBLE = (
    *("access", "fchmod", "fstat", "fsync", "getxattr", "link", "listdir", "listxattr"),
    *("mkdir", "open", "readv", "rename", "setxattr", "stat", "writev"),
)


class TestEverySystemCall:
    """The n-th system call fails, for every n until the write gets through."""

    @pytest.mark.parametrize("name", ["f", "a/b/new"])
    @pytest.mark.parametrize("how", [KeyboardInterrupt, lambda: fail(errno.EIO)], ids=["interrupt", "error"])
    def test_fails_in_turn(self, root: Path, file: Path, name: str, how: Callable[[], BaseException]) -> None:
        gc.collect()  # what earlier tests dropped would be closed in the midst
        refused = 0
        for failing in count():
            with Roots([root]) as roots, pytest.MonkeyPatch.context() as patch:
                expected = seen(roots, file) if name == "f" else None
                location = roots.locate(str(root / name))
                descriptors = len(os.listdir("/dev/fd"))
                calls = NthCallFails(patch, INTERRUPTIBLE, failing, how)
                outcomes = [finished(name)]
                try:
                    write_atomically(roots, location, [b"new"], expected=expected)
                except (KeyboardInterrupt, WorkspaceError):
                    refused += 1
                    outcomes.append({"f": b"old content"})
                patch.undo()
                assert (len(os.listdir("/dev/fd")), tree(root) in outcomes) == (descriptors, True)
            restore(root)
            if calls.failed is None:
                break
        assert refused > 10


def finished(name: str) -> dict[str, bytes | None]:
    return {"f": b"new"} if name == "f" else {"f": b"old content", "a": None, "a/b": None, "a/b/new": b"new"}


def restore(root: Path) -> None:
    (root / "f").write_bytes(b"old content")
    (root / "a/b/new").unlink(missing_ok=True)
    for name in ("a/b", "a"):
        with contextlib.suppress(FileNotFoundError):
            (root / name).rmdir()


@contextlib.contextmanager
def protected(file: Path, flag: int) -> Iterator[None]:
    """The file with the immutable or the append-only flag; where that is not ours to set, a kernel that acts so."""
    with file.open("rb") as opened:
        try:
            before = change_flags(opened.fileno(), add=flag)
        except OSError:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(os, "rename", lambda *_, **__: raise_error(fail(errno.EPERM)))
                yield
            return
        try:
            yield
        finally:
            fcntl.ioctl(opened.fileno(), SET_FLAGS, before)


def change_flags(descriptor: int, *, add: int) -> bytes:
    before = fcntl.ioctl(descriptor, GET_FLAGS, bytes(8))
    fcntl.ioctl(descriptor, SET_FLAGS, struct.pack("q", struct.unpack("q", before)[0] | add))
    return before


def raise_error(error: OSError) -> None:
    raise error


@contextlib.contextmanager
def as_user(number: int) -> Iterator[None]:
    groups = os.getgroups()
    os.setgroups([])
    os.setresgid(number, number, 0)
    os.setresuid(number, number, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)
