import codecs
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.files.line_slice import LineSlice, read_line_slice
from tejat.workspace.text.encoding import UTF_8, TextEncoding

UTF_16 = TextEncoding("utf-16-le", codecs.BOM_UTF16_LE)
ENCODINGS = [
    UTF_8,
    TextEncoding("utf-8", codecs.BOM_UTF8),
    UTF_16,
    TextEncoding("utf-16-be", b""),
    TextEncoding("utf-32-le", codecs.BOM_UTF32_LE),
    TextEncoding("utf-32-be", b""),
    TextEncoding("cp932", b""),
    TextEncoding("gb18030", b""),
    TextEncoding("cp1252", b""),
]
WITHOUT_END = 1 << 40


def go_on() -> None:
    """Never stops."""


@contextmanager
def held(raw: bytes) -> Iterator[int]:
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(raw)
        yield file.fileno()


def slice_of(
    raw: bytes,
    encoding: TextEncoding = UTF_8,
    *,
    offset: int = 0,
    limit: int = 2000,
    max_line_length: int = 2000,
    max_characters: int | None = None,
    small: int = 1 << 20,
    block_size: int = 1 << 18,
) -> LineSlice:
    with held(raw) as fd:
        return read_line_slice(
            fd,
            len(raw),
            encoding,
            offset=offset,
            limit=limit,
            max_line_length=max_line_length,
            max_characters=max_characters,
            stop=go_on,
            small=small,
            block_size=block_size,
        )


# Both ways to read must give the same: all at once, and in blocks of a few bytes.
both_ways = pytest.mark.parametrize("ways", [{}, {"small": -1, "block_size": 8}], ids=["small", "big"])


@both_ways
class TestLines:
    @pytest.mark.parametrize(
        ("raw", "lines"),
        [
            (b"", [""]),
            (b"a", ["a"]),
            (b"a\n", ["a", ""]),
            (b"\n", ["", ""]),
            (b"\n\n", ["", "", ""]),
            (b"a\r\nb\r\n", ["a", "b", ""]),
            (b"a\rb", ["a\rb"]),
            (b"a\r", ["a\r"]),
            (b"a\r\r\nb", ["a\r", "b"]),
            ("a\x0cb\x0bc\u2028d\u2029e\x85f\x1cg".encode(), ["a\x0cb\x0bc\u2028d\u2029e\x85f\x1cg"]),
            (b"a\xffb\n\xe6\x97\nc", ["a\ufffdb", "\ufffd\ufffd", "c"]),
        ],
    )
    def test_they_end_at_newlines_only(self, raw: bytes, lines: list[str], ways: dict[str, Any]):
        expected = LineSlice(lines=lines, first=0, total=len(lines), has_truncated_lines=False, reaches_end=True)
        assert slice_of(raw, **ways) == expected

    def test_a_part(self, ways: dict[str, Any]):
        raw = b"zero\none\ntwo\nthree\nfour"
        assert slice_of(raw, offset=1, limit=2, **ways) == LineSlice(
            ["one", "two"], 1, 5, has_truncated_lines=False, reaches_end=False
        )
        assert slice_of(raw, offset=3, limit=2, **ways) == LineSlice(
            ["three", "four"], 3, 5, has_truncated_lines=False, reaches_end=True
        )
        assert slice_of(raw, offset=3, limit=9, **ways) == LineSlice(
            ["three", "four"], 3, 5, has_truncated_lines=False, reaches_end=True
        )

    def test_carriage_returns_at_the_end_of_a_part(self, ways: dict[str, Any]):
        assert slice_of(b"a\r\nb\r\nc\r\n", offset=1, limit=1, **ways).lines == ["b"]

    @pytest.mark.parametrize("offset", [3, 4, 1000, 1 << 62])
    def test_a_part_beyond_the_end_is_empty(self, offset: int, ways: dict[str, Any]):
        assert slice_of(b"a\nb\nc", offset=offset, **ways) == LineSlice(
            [], offset, 3, has_truncated_lines=False, reaches_end=True
        )

    def test_an_endless_limit(self, ways: dict[str, Any]):
        assert slice_of(b"a\nb", limit=1 << 70, **ways) == LineSlice(
            ["a", "b"], 0, 2, has_truncated_lines=False, reaches_end=True
        )

    @pytest.mark.parametrize("encoding", ENCODINGS[:6], ids=lambda encoding: encoding.codec + encoding.bom.hex())
    def test_a_byte_order_mark_is_dropped_from_the_first_line_only(self, encoding: TextEncoding, ways: dict[str, Any]):
        raw = encoding.bom + "a\n\ufeffb".encode(encoding.codec)
        assert slice_of(raw, encoding, **ways).lines == ["a", "\ufeffb"]
        assert slice_of(raw, encoding, offset=1, **ways).lines == ["\ufeffb"]

    def test_the_empty_last_line_by_itself(self, ways: dict[str, Any]):
        assert slice_of(b"a\nb\n", offset=2, **ways) == LineSlice(
            [""], 2, 3, has_truncated_lines=False, reaches_end=True
        )


@both_ways
class TestLongLines:
    def test_one_character_too_many_is_cut(self, ways: dict[str, Any]):
        found = slice_of(b"x" * 11 + b"\nshort", max_line_length=10, **ways)
        assert found == LineSlice(
            ["x" * 10 + "... [truncated]", "short"], 0, 2, has_truncated_lines=True, reaches_end=True
        )

    def test_exactly_as_long_as_allowed_is_not(self, ways: dict[str, Any]):
        found = slice_of(b"x" * 10 + b"\r\nshort", max_line_length=10, **ways)
        assert found == LineSlice(["x" * 10, "short"], 0, 2, has_truncated_lines=False, reaches_end=True)

    @pytest.mark.parametrize("encoding", ENCODINGS[:6], ids=lambda encoding: encoding.codec)
    def test_characters_are_counted_not_bytes(self, encoding: TextEncoding, ways: dict[str, Any]):
        raw = encoding.bom + ("😀" * 11 + "\n" + "日" * 10).encode(encoding.codec)
        found = slice_of(raw, encoding, max_line_length=10, **ways)
        assert found == LineSlice(
            ["😀" * 10 + "... [truncated]", "日" * 10], 0, 2, has_truncated_lines=True, reaches_end=True
        )

    def test_only_lines_of_the_part_count(self, ways: dict[str, Any]):
        assert not slice_of(
            b"x" * 50 + b"\nb\n" + b"x" * 50, offset=1, limit=1, max_line_length=10, **ways
        ).has_truncated_lines


class TestManyCharacters:
    @pytest.mark.parametrize("ways", [{}, {"small": -1, "block_size": 64}])
    def test_the_last_lines_are_left_out(self, ways: dict[str, Any]):
        raw = b"".join(b"%09d\n" % number for number in range(100))
        part = slice_of(raw, offset=10, max_characters=55, **ways)
        assert part.lines == [f"{number:09}" for number in range(10, 15)]
        assert (part.total, part.reaches_end) == (101, False)
        assert slice_of(raw, max_characters=1, **ways).lines == [f"{0:09}"]
        assert len(slice_of(raw, max_characters=5000, **ways).lines) == 101


texts = st.lists(
    st.sampled_from(["", "a", "日本", "é", "\r", "\n", "\r\n", "\n\n", "x" * 9, "😀", "\u2028", "ਊ", "\u0a0a"]),
    max_size=25,
).map("".join)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: encoding.codec + " " + encoding.bom.hex())
class TestProperties:
    @settings(max_examples=40, deadline=None)
    @given(text=texts, limit=st.integers(1, 7), block_size=st.sampled_from([4, 8, 12, 64]))
    def test_pages_put_together_are_the_file(self, encoding: TextEncoding, text: str, limit: int, block_size: int):
        raw = encoding.bom + text.encode(encoding.codec, "ignore")
        *ended, last = encoding.decode(raw).split("\n")
        expected = [*(line.removesuffix("\r") for line in ended), last]
        for small in (1 << 20, -1):
            pages: list[str] = []
            while True:
                page = slice_of(raw, encoding, offset=len(pages), limit=limit, small=small, block_size=block_size)
                assert page.total == len(expected)
                pages += page.lines
                if page.reaches_end:
                    break
                assert len(page.lines) == limit
            assert pages == expected

    @settings(max_examples=60, deadline=None)
    @given(
        raw=st.one_of(st.binary(max_size=80), texts.map(lambda text: text.encode("utf-16-le"))),
        offset=st.integers(0, 6),
        limit=st.integers(1, 6),
        max_line_length=st.integers(1, 6),
    )
    def test_blocks_give_what_one_read_gives(
        self, encoding: TextEncoding, raw: bytes, offset: int, limit: int, max_line_length: int
    ):
        small, big = (
            slice_of(
                raw,
                encoding,
                offset=offset,
                limit=limit,
                max_line_length=max_line_length,
                small=limit_of_small,
                block_size=8,
            )
            for limit_of_small in (1 << 20, -1)
        )
        assert big == small


class TestBigFiles:
    def test_every_tenth_of_a_million_lines(self, tmp_path: Path):
        path = tmp_path / "big.txt"
        path.write_bytes(b"".join(b"line %d\n" % number for number in range(1_000_000)))
        size = path.stat().st_size
        assert size > 10 << 20
        with path.open("rb") as file:
            for offset in range(0, 1_000_000, 100_000):
                found = read_line_slice(
                    file.fileno(), size, UTF_8, offset=offset, limit=3, max_line_length=2000, stop=go_on
                )
                lines = [f"line {number}" for number in range(offset, offset + 3)]
                assert found == LineSlice(lines, offset, 1_000_001, has_truncated_lines=False, reaches_end=False)

    def test_the_position_of_the_descriptor_does_not_move(self):
        with held(b"a\n" * 1000) as fd:
            os.lseek(fd, 7, os.SEEK_SET)
            read_line_slice(fd, 2000, UTF_8, offset=3, limit=2, max_line_length=9, stop=go_on, small=-1, block_size=64)
            assert os.lseek(fd, 0, os.SEEK_CUR) == 7


class TestChangingFiles:
    @pytest.mark.parametrize("small", [1 << 20, -1])
    def test_what_was_added_since_is_not_seen(self, small: int):
        with held(b"a\nb\nc\nd\n") as fd:
            found = read_line_slice(
                fd, 3, UTF_8, offset=0, limit=9, max_line_length=9, stop=go_on, small=small, block_size=8
            )
        assert found == LineSlice(["a", "b"], 0, 2, has_truncated_lines=False, reaches_end=True)

    @pytest.mark.parametrize("small", [1 << 20, -1])
    def test_a_file_shorter_than_it_was_said_to_be(self, small: int):
        with held(b"a\nb\nc") as fd:
            found = read_line_slice(
                fd, 5000, UTF_8, offset=1, limit=9, max_line_length=9, stop=go_on, small=small, block_size=8
            )
        assert found == LineSlice(["b", "c"], 1, 3, has_truncated_lines=False, reaches_end=True)

    def test_a_file_that_shrinks_while_its_lines_are_read(self):
        raw = b"".join(b"%03d\n" % number for number in range(200))
        calls = 0

        def empty_while_reading() -> None:
            # Counting one stretch takes at most a few calls, reading takes one for each of the thirteen blocks.
            nonlocal calls
            calls += 1
            if calls == 8:
                os.ftruncate(fd, 0)

        with held(raw) as fd:
            found = read_line_slice(
                fd,
                len(raw),
                UTF_8,
                offset=5,
                limit=190,
                max_line_length=9,
                stop=empty_while_reading,
                small=-1,
                block_size=64,
            )
        *complete, last = found.lines
        assert complete == [f"{number:03}" for number in range(5, 5 + len(complete))]
        assert f"{5 + len(complete):03}".startswith(last)
        assert 10 < len(found.lines) < 190
        assert (found.total, found.reaches_end) == (5 + len(found.lines), True)

    def test_a_file_that_is_emptied_before_its_lines_are_read(self):
        calls = 0

        def empty_after_counting() -> None:
            # One block is counted by the calling thread alone, in a call before it and one behind.
            nonlocal calls
            calls += 1
            if calls == 2:
                os.ftruncate(fd, 0)

        with held(b"a\nb\n" * 100) as fd:
            found = read_line_slice(
                fd,
                400,
                UTF_8,
                offset=150,
                limit=9,
                max_line_length=9,
                stop=empty_after_counting,
                small=-1,
                block_size=400,
            )
        assert found == LineSlice([], 150, 150, has_truncated_lines=False, reaches_end=True)


class Stopped(Exception):
    pass


class TestStopping:
    def test_it_ends_the_counting_of_an_endless_file(self, tmp_path: Path):
        path = tmp_path / "sparse"
        path.touch()
        os.truncate(path, WITHOUT_END)
        threads = set(threading.enumerate())
        calls = 0

        def stop_soon() -> None:
            nonlocal calls
            calls += 1
            if calls == 5:
                raise Stopped

        with path.open("rb") as file, pytest.raises(Stopped):
            read_line_slice(file.fileno(), WITHOUT_END, UTF_8, offset=0, limit=9, max_line_length=9, stop=stop_soon)
        assert not set(threading.enumerate()) - threads

    def test_it_ends_the_reading_of_the_lines(self):
        calls = 0

        def stop_while_reading() -> None:
            # One stretch is counted in a few calls, and then read in sixteen blocks.
            nonlocal calls
            calls += 1
            if calls == 10:
                raise Stopped

        with held(b"a" * 1024) as fd, pytest.raises(Stopped):
            read_line_slice(
                fd,
                1024,
                UTF_8,
                offset=0,
                limit=9,
                max_line_length=5000,
                stop=stop_while_reading,
                small=-1,
                block_size=64,
            )

    def test_a_line_without_end_is_not_read_to_its_end(self):
        calls = 0

        def watch() -> None:
            nonlocal calls
            calls += 1

        with held(b"x" * 64_000) as fd:
            found = read_line_slice(
                fd, 64_000, UTF_8, offset=0, limit=1, max_line_length=5, stop=watch, small=-1, block_size=64
            )
        assert found == LineSlice(["xxxxx... [truncated]"], 0, 1, has_truncated_lines=True, reaches_end=True)
        # Counting takes a call for sixteen blocks, reading takes one for each of the thousand.
        assert calls < 100


@pytest.mark.parametrize("small", [1 << 20, -1])
def test_what_cannot_be_read_is_an_os_error(tmp_path: Path, small: int):
    threads = set(threading.enumerate())
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(IsADirectoryError):
            read_line_slice(
                fd, 5000, UTF_8, offset=0, limit=9, max_line_length=9, stop=go_on, small=small, block_size=64
            )
    finally:
        os.close(fd)
    assert not set(threading.enumerate()) - threads


@pytest.mark.skipif((os.cpu_count() or 1) == 1, reason="one processor has no helpers")
def test_what_a_helper_could_not_read_is_an_os_error(tmp_path: Path):
    threads = set(threading.enumerate())
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, WITHOUT_END)
    fd = os.open(path, os.O_RDONLY)
    intact = os.dup(fd)
    directory = os.open(tmp_path, os.O_RDONLY)

    def break_for_the_helper_only() -> None:
        os.dup2(directory, fd)
        while set(threading.enumerate()) - threads:
            time.sleep(0.001)
        os.dup2(intact, fd)

    try:
        with pytest.raises(IsADirectoryError):
            read_line_slice(
                fd, WITHOUT_END, UTF_8, offset=0, limit=9, max_line_length=9, stop=break_for_the_helper_only
            )
    finally:
        for opened in (fd, intact, directory):
            os.close(opened)
