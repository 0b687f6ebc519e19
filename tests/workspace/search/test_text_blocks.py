"""Text comes in whole lines, in UTF-8, and is shown as people read it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.workspace.search import text_blocks as text
from tejat.workspace.search.text_blocks import (
    MAX_LINE_BYTES,
    BinaryFile,
    TextBlocks,
    format_line,
    open_regular_file,
    read_head,
)


def never() -> None:
    """Asks nobody to stop."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def blocks_of(path: Path, raw: bytes, block_size: int = 1 << 20) -> list[bytes]:
    path.write_bytes(raw)
    with open(path, "rb") as file:
        return list(TextBlocks(file.fileno(), never, block_size=block_size))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\nb\n", [b"a\nb"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a\nb"]),
        (b"a\rb\r", [b"a\rb\r"]),
        (b"a\r\r\n", [b"a\r"]),
        (b"\xef\xbb\xbfa\n", [b"a"]),
        ("\ufeffé\r\nb".encode("utf-16-le"), ["é".encode(), b"b"]),
        ("\ufeffé\n".encode("utf-16-be"), ["é".encode()]),
        (b"\xff\xfea\0\n", [b"a\xef\xbf\xbd"]),
        (b"\xff\xfe\0\xd8a\0", [b"\xef\xbf\xbda"]),
    ],
)
def test_blocks(path: Path, raw: bytes, expected: list[bytes]) -> None:
    assert b"\n".join(blocks_of(path, raw)) == b"\n".join(expected)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    raw=st.lists(st.sampled_from([b"a", b"bc", "é".encode(), b"\n", b"\r\n", b"\r", b"\xff"]), max_size=30).map(
        b"".join
    ),
    block_size=st.integers(4, 9),
)
def test_lines_do_not_depend_on_how_they_are_read(path: Path, raw: bytes, block_size: int) -> None:
    lines = [line.removesuffix(b"\r") for line in raw.split(b"\n")[:-1]] + ([raw.split(b"\n")[-1]] if raw else [])
    if raw.endswith(b"\n"):
        lines.pop()
    assert [line for block in blocks_of(path, raw, block_size) for line in block.split(b"\n")] == lines


@pytest.mark.parametrize(
    "raw", [b"\0", b"a\n\0", b"a" * 100 + b"\0", "\ufeffa\0".encode("utf-16-le"), "\ufeffa".encode("utf-32-le")]
)
def test_a_nul_anywhere_makes_a_file_binary(path: Path, raw: bytes) -> None:
    with pytest.raises(BinaryFile):
        blocks_of(path, raw, block_size=16)


def test_the_rest_is_searched_for_a_nul(path: Path) -> None:
    path.write_bytes(b"a\n" * 20 + b"\0")
    with open(path, "rb") as file:
        blocks = TextBlocks(file.fileno(), never, block_size=16)
        assert next(iter(blocks)) == b"\n".join([b"a"] * 8)
        with pytest.raises(BinaryFile):
            blocks.drain()


def test_a_line_without_end_is_cut_and_told(path: Path) -> None:
    longest = 16 << 20
    path.write_bytes(b"first\n" + b"x" * (longest + 5) + b"\nlast\n")
    with open(path, "rb") as file:
        blocks = TextBlocks(file.fileno(), never)
        lines = [line for block in blocks for line in block.split(b"\n")]
    assert [len(line) for line in lines] == [5, longest, 4]
    assert (lines[0], lines[2]) == (b"first", b"last")
    assert not blocks.complete


def test_a_file_that_is_read_from_the_middle_is_read_whole(path: Path) -> None:
    path.write_bytes(b"a\nb\n")
    with open(path, "rb") as file:
        os.lseek(file.fileno(), 2, os.SEEK_SET)
        assert list(TextBlocks(file.fileno(), never)) == [b"a\nb"]


def test_reading_can_be_stopped(path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    path.write_bytes(b"a\n" * 100)
    with open(path, "rb") as file, pytest.raises(Stopped):
        list(TextBlocks(file.fileno(), stop, block_size=16))


class TestOpened:
    @pytest.fixture
    def directory_fd(self, tmp_path: Path) -> Iterator[int]:
        fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
        yield fd
        os.close(fd)

    def test_a_regular_file(self, tmp_path: Path, directory_fd: int) -> None:
        (tmp_path / "a").write_text("x")
        with open_regular_file(directory_fd, b"a") as fd:
            assert fd is not None
            assert read_head(fd) == b"x"

    def test_nothing_else(self, tmp_path: Path, directory_fd: int) -> None:
        (tmp_path / "directory").mkdir()
        (tmp_path / "link").symlink_to("/etc/hostname")
        os.mkfifo(tmp_path / "fifo")
        for name in (b"directory", b"link", b"fifo", b"missing"):
            with open_regular_file(directory_fd, name) as fd:
                assert fd is None

    @pytest.mark.parametrize("open_file", [text._open, text._open_by_parts])
    def test_no_way_out(self, tmp_path: Path, open_file: Callable[[int, bytes], int]) -> None:
        root = tmp_path / "root"
        (root / "deep" / "er").mkdir(parents=True)
        (root / "deep" / "er" / "a").write_text("inside")
        (tmp_path / "a").write_text("outside")
        (root / "away").symlink_to("..")
        (root / "absolute").symlink_to(tmp_path)
        (root / "a").symlink_to("../a")
        directory_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fd = open_file(directory_fd, b"deep/er/a")
            assert read_head(fd) == b"inside"
            os.close(fd)
            for path in (b"away/a", b"absolute/a", b"a", b"deep/missing/a"):
                with pytest.raises(OSError, match=r"link|directory"):
                    open_file(directory_fd, path)
        finally:
            os.close(directory_fd)


def no_head() -> bytes:
    raise AssertionError("the file need not be looked at")


class TestShown:
    @pytest.mark.parametrize(
        ("raw", "text"),
        [
            (b"", ""),
            (b"  a \t\r", "  a"),
            ("é".encode() * 2000, "é" * 2000),
            ("é".encode() * 2001, "é" * 2000 + "... [truncated]"),
            (b"a" * 1999 + b"  ", "a" * 1999 + " ... [truncated]"),
            (b"a" + "日".encode() * MAX_LINE_BYTES, "a" + "日" * 1999 + "... [truncated]"),
        ],
    )
    def test_text(self, raw: bytes, text: str) -> None:
        assert format_line(raw, no_head) == text

    def test_what_is_no_utf8_is_decoded_as_the_file_is(self) -> None:
        sentence = "Übermäßig schöne Grüße aus Köln, für alle, die größer träumen."
        raw = sentence.encode("cp1252")
        assert format_line(raw, lambda: raw) == sentence

    def test_what_is_no_text_is_shown_as_such(self) -> None:
        assert format_line(b"a\xff", lambda: b"a\0\1\2\3\4\xff") == "a\ufffd"
