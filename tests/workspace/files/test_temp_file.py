"""A draft is whole or absent; leftovers of the dead go, everything else stays."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.descriptors import count_leaked, count_open
from tejat.workspace.files import temp_file
from tejat.workspace.files.temp_file import DeferredNamingUnsupported, TempFile, TempFileNaming, remove_stale_temp_files

PIECES = st.lists(st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(memoryview)), max_size=40)


def never() -> None:
    return


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture(params=TempFileNaming)
def naming(request: pytest.FixtureRequest) -> TempFileNaming:
    return request.param


def names(directory: int) -> list[str]:
    return sorted(os.listdir(directory))


class TestWrite:
    @given(pieces=PIECES, naming=st.sampled_from(TempFileNaming))
    @settings(max_examples=100, deadline=None)
    def test_any_pieces_become_their_join(self, pieces: list[bytes | memoryview], naming: TempFileNaming) -> None:
        with tempfile.TemporaryDirectory() as place:
            directory = os.open(place, os.O_RDONLY)
            try:
                with TempFile(directory, mode=0o600, naming=naming) as draft:
                    size = draft.write(pieces, never)
                    draft.link_as("f")
                content = Path(place, "f").read_bytes()
                assert (size, content, names(directory)) == (len(b"".join(pieces)), b"".join(pieces), ["f"])
            finally:
                os.close(directory)

    def test_more_pieces_than_one_system_call_takes(self, directory: int, tmp_path: Path) -> None:
        pieces = [str(number).encode() for number in range(10_000)]
        with TempFile(directory, mode=0o600, naming=TempFileNaming.IMMEDIATE) as draft:
            draft.write(pieces, never)
            draft.link_as("f")
        assert (tmp_path / "f").read_bytes() == b"".join(pieces)

    @given(pieces=PIECES, most=st.integers(min_value=1, max_value=50))
    @settings(max_examples=100, deadline=None)
    def test_writes_that_are_cut_short(self, pieces: list[bytes | memoryview], most: int) -> None:
        def short_writev(target: int, buffers: list[bytes | memoryview]) -> int:
            return os.write(target, b"".join(buffers)[:most])

        with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "writev", short_writev)
            directory = os.open(place, os.O_RDONLY)
            try:
                with TempFile(directory, mode=0o600, naming=TempFileNaming.IMMEDIATE) as draft:
                    draft.write([*pieces, b"end"], never)
                    draft.link_as("f")
                assert Path(place, "f").read_bytes() == b"".join(pieces) + b"end"
            finally:
                os.close(directory)

    def test_a_system_that_takes_nothing_is_an_error_and_no_loop(
        self, directory: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "writev", lambda *_: 0)
        with (
            TempFile(directory, mode=0o600, naming=TempFileNaming.IMMEDIATE) as draft,
            pytest.raises(OSError, match="takes no more"),
        ):
            draft.write([b"text"], never)

    def test_stop_is_asked_between_batches(self, directory: int) -> None:
        calls: list[int] = []

        def stop() -> None:
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt

        with (
            pytest.raises(KeyboardInterrupt),
            TempFile(directory, mode=0o600, naming=TempFileNaming.IMMEDIATE) as draft,
        ):
            draft.write([b"x"] * 100_000, stop)
        assert (len(calls), names(directory)) == (3, [])


class TestPublish:
    def test_what_is_not_published_is_gone(self, directory: int, naming: TempFileNaming) -> None:
        with TempFile(directory, mode=0o600, naming=naming) as draft:
            draft.write([b"text"], never)
            draft.ensure_name()
        assert names(directory) == []

    def test_a_draft_named_late_has_no_name_before(self, directory: int) -> None:
        with TempFile(directory, mode=0o600, naming=TempFileNaming.DEFERRED) as draft:
            draft.write([b"text"], never)
            assert names(directory) == []
            name = draft.ensure_name()
            assert names(directory) == [name] == [draft.ensure_name()]

    def test_over_replaces(self, directory: int, naming: TempFileNaming, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"old")
        with TempFile(directory, mode=0o600, naming=naming) as draft:
            draft.write([b"new"], never)
            draft.rename_over("f")
        assert (names(directory), (tmp_path / "f").read_bytes()) == (["f"], b"new")

    @pytest.mark.parametrize("kind", ["file", "directory", "link", "dangling link"])
    def test_as_new_never_takes_the_place_of_anything(
        self, directory: int, naming: TempFileNaming, tmp_path: Path, kind: str
    ) -> None:
        target = tmp_path / "f"
        (tmp_path / "other").write_bytes(b"other")
        match kind:
            case "file":
                target.write_bytes(b"old")
            case "directory":
                target.mkdir()
            case "link":
                target.symlink_to("other")
            case _:
                target.symlink_to("nowhere")
        before = os.lstat(target).st_ino
        with TempFile(directory, mode=0o600, naming=naming) as draft:
            draft.write([b"new"], never)
            with pytest.raises(FileExistsError):
                draft.link_as("f")
        assert (os.lstat(target).st_ino, names(directory)) == (before, ["f", "other"])
        assert (tmp_path / "other").read_bytes() == b"other"

    @pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP])
    def test_as_new_without_hard_links(
        self, directory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        monkeypatch.setattr(os, "link", failing(code))
        for content in (b"first", b"second"):
            with TempFile(directory, mode=0o640, naming=TempFileNaming.IMMEDIATE) as draft:
                draft.write([content], never)
                if content == b"first":
                    draft.link_as("f")
                else:
                    with pytest.raises(FileExistsError):
                        draft.link_as("f")
        assert (names(directory), (tmp_path / "f").read_bytes()) == (["f"], b"first")

    def test_as_new_without_hard_links_leaves_no_placeholder(
        self, directory: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "link", failing(errno.EPERM))
        monkeypatch.setattr(os, "rename", failing(errno.EIO))
        with (
            pytest.raises(OSError, match=os.strerror(errno.EIO)),
            TempFile(directory, mode=0o640, naming=TempFileNaming.IMMEDIATE) as draft,
        ):
            draft.link_as("f")
        assert names(directory) == []

    def test_another_failure_to_link_is_passed_on(self, directory: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "link", failing(errno.ENOSPC))
        for naming in TempFileNaming:
            with (
                pytest.raises(OSError, match=os.strerror(errno.ENOSPC)),
                TempFile(directory, mode=0o640, naming=naming) as draft,
            ):
                draft.link_as("f")
        assert names(directory) == []

    @pytest.mark.parametrize("mask", [0o002, 0o022, 0o077])
    def test_the_kernel_applies_the_umask(
        self, directory: int, naming: TempFileNaming, tmp_path: Path, mask: int
    ) -> None:
        before = os.umask(mask)
        try:
            with TempFile(directory, mode=0o666, naming=naming) as draft:
                draft.link_as("f")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o666 & ~mask


class TestCannotNameLate:
    @pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EISDIR])
    def test_a_file_system_without_nameless_files(
        self, directory: int, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        monkeypatch.setattr(os, "open", failing(code))
        with pytest.raises(DeferredNamingUnsupported):
            TempFile(directory, mode=0o600, naming=TempFileNaming.DEFERRED)

    def test_a_directory_that_may_not_be_written_is_another_matter(
        self, directory: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "open", failing(errno.EACCES))
        with pytest.raises(PermissionError):
            TempFile(directory, mode=0o600, naming=TempFileNaming.DEFERRED)

    def test_no_proc_file_system(self, directory: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os.path, "exists", lambda _: False)
        before = count_open()
        with pytest.raises(DeferredNamingUnsupported):
            TempFile(directory, mode=0o600, naming=TempFileNaming.DEFERRED)
        assert count_leaked(before) == 0

    def test_a_guard_that_forbids_links(self, directory: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "link", failing(errno.EACCES))
        with (
            TempFile(directory, mode=0o600, naming=TempFileNaming.DEFERRED) as draft,
            pytest.raises(DeferredNamingUnsupported),
        ):
            draft.ensure_name()


class TestLeftovers:
    def test_only_those_of_the_dead_go(self, directory: int, tmp_path: Path) -> None:
        dead = dead_process()
        gone = f".tejat-{dead}-0123456789abcdef.tmp"
        stay = [
            f".tejat-{os.getpid()}-0123456789abcdef.tmp",
            ".tejat-1-0123456789abcdef.tmp",
            f".tejat-{dead}-0123456789abcdef.tmp.txt",
            f".tejat-{dead}-0123456789abcdeg.tmp",
            f".tejat-{dead}-0123456789abcde.tmp",
            f"tejat-{dead}-0123456789abcdef.tmp",
            f".tejat-{dead}.tmp",
            ".tejat-0-0123456789abcdef.tmp",
            ".tejat--1-0123456789abcdef.tmp",
        ]
        for name in (gone, *stay):
            (tmp_path / name).write_bytes(b"")
        link, folder, fifo = (f".tejat-{dead}-{letter * 16}.tmp" for letter in "abc")
        (tmp_path / link).symlink_to(stay[0])
        (tmp_path / folder).mkdir()
        os.mkfifo(tmp_path / fifo)
        remove_stale_temp_files(directory)
        assert names(directory) == sorted([*stay, link, folder, fifo])

    def test_those_of_another_user_stay(self, directory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        name = f".tejat-{dead_process()}-0123456789abcdef.tmp"
        (tmp_path / name).write_bytes(b"")
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        remove_stale_temp_files(directory)
        assert names(directory) == [name]

    def test_a_directory_is_looked_through_once(self, directory: int, tmp_path: Path) -> None:
        remove_stale_temp_files(directory)
        name = f".tejat-{dead_process()}-0123456789abcdef.tmp"
        (tmp_path / name).write_bytes(b"")
        remove_stale_temp_files(directory)
        assert names(directory) == [name]

    def test_after_very_many_directories_it_is_looked_through_again(
        self, directory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(temp_file, "_MAX_SCANNED", 1)
        remove_stale_temp_files(directory)
        (tmp_path / "other").mkdir()
        other = os.open(tmp_path / "other", os.O_RDONLY)
        remove_stale_temp_files(other)
        os.close(other)
        (tmp_path / f".tejat-{dead_process()}-0123456789abcdef.tmp").write_bytes(b"")
        remove_stale_temp_files(directory)
        assert names(directory) == ["other"]

    def test_a_process_number_beyond_all_numbers(self, directory: int, tmp_path: Path) -> None:
        (tmp_path / ".tejat-9999999999-0123456789abcdef.tmp").write_bytes(b"")
        remove_stale_temp_files(directory)
        assert names(directory) == []

    def test_trouble_is_not_the_callers(self, tmp_path: Path) -> None:
        descriptor = os.open(tmp_path, os.O_RDONLY)
        os.close(descriptor)
        remove_stale_temp_files(descriptor)


def failing(code: int) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
