"""Output of any length in memory of a fixed size."""

import errno
import io
import os
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.processes.bounded_buffer import BoundedBuffer


def unspooled(*, head: int, tail: int) -> BoundedBuffer:
    return BoundedBuffer(head=head, tail=tail, spool=None, spool_limit=0)


class TestHeadAndTail:
    @settings(max_examples=300, deadline=None)
    @given(st.lists(st.binary(max_size=40), max_size=12), st.integers(0, 30), st.integers(0, 30), st.booleans())
    def test_the_first_and_the_last_bytes_are_kept(
        self, pieces: list[bytes], head: int, tail: int, as_view: bool
    ) -> None:
        bounded = unspooled(head=head, tail=tail)
        for piece in pieces:
            bounded.add(memoryview(bytearray(piece)) if as_view else piece)
        whole = b"".join(pieces)
        rest = whole[head:]
        kept = rest[max(0, len(rest) - tail) :]
        assert (bounded.total, bounded.head_bytes, bounded.tail_bytes) == (len(whole), whole[:head], kept)
        assert bounded.omitted == len(whole) - len(whole[:head]) - len(kept)
        assert bounded.is_complete == (len(whole) <= head + tail)

    def test_the_caller_may_use_its_buffer_again(self) -> None:
        bounded = unspooled(head=2, tail=2)
        buffer = bytearray(b"abcd")
        bounded.add(memoryview(buffer))
        buffer[:] = b"XXXX"
        assert bounded.head_bytes + bounded.tail_bytes == b"abcd"

    def test_memory_does_not_grow_with_what_comes(self) -> None:
        bounded = unspooled(head=100, tail=1000)
        for _ in range(1000):
            bounded.add(b"x" * 997)
        assert (len(bounded._head), len(bounded._tail), bounded.total) == (100, 1000, 997_000)


class TestBinary:
    @pytest.mark.parametrize(
        ("pieces", "is_binary"),
        [
            ([], False),
            ([b"text"], False),
            ([b"te\0xt"], True),
            ([b"x" * 4095 + b"\0"], True),
            ([b"x" * 4096 + b"\0"], False),
            ([b"x" * 4000, b"y" * 95 + b"\0"], True),
            ([b"x" * 4000, b"y" * 96 + b"\0"], False),
            ([b"a\0b", b"x" * 5000], True),
        ],
    )
    def test_a_nul_early_on_means_binary(self, pieces: list[bytes], is_binary: bool) -> None:
        bounded = unspooled(head=10, tail=10)
        for piece in pieces:
            bounded.add(piece)
        assert bounded.is_binary is is_binary


class Scarce(io.RawIOBase):
    """A file on a disk that takes a few bytes at a time and is full in the end."""

    def __init__(self, room: int) -> None:
        self.content = b""
        self._room = room

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        taken = bytes(data)[: min(3, self._room - len(self.content))]  # pyright: ignore[reportArgumentType]
        if not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.content += taken
        return len(taken)


class TestSpool:
    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.binary(max_size=20), max_size=10), st.integers(0, 10), st.integers(0, 10), st.integers(0, 100))
    def test_the_whole_from_the_first_byte_once_it_overflows(
        self, pieces: list[bytes], head: int, tail: int, limit: int
    ) -> None:
        files: list[io.BytesIO] = []

        def spool() -> BinaryIO:
            files.append(io.BytesIO())
            return files[-1]

        bounded = BoundedBuffer(head=head, tail=tail, spool=spool, spool_limit=limit)
        for piece in pieces:
            bounded.add(piece)
        whole = b"".join(pieces)
        if len(whole) <= head + tail:
            assert (files, bounded.spooled, bounded.is_spool_complete) == ([], 0, False)
            return
        (file,) = files
        assert file.getvalue() == whole[:limit]
        assert (bounded.spooled, bounded.spool_error) == (len(whole[:limit]), None)
        assert bounded.is_spool_complete == (len(whole) <= limit)

    def test_a_real_file(self, tmp_path: Path) -> None:
        path = tmp_path / "whole"
        bounded = BoundedBuffer(head=3, tail=3, spool=lambda: path.open("wb", buffering=0), spool_limit=1 << 20)
        for number in range(100):
            bounded.add(f"{number}\n".encode())
        bounded.close()
        bounded.close()
        assert path.read_text() == "".join(f"{number}\n" for number in range(100))
        assert bounded.is_spool_complete
        assert (bounded.head_bytes, bounded.tail_bytes) == (b"0\n1", b"99\n")

    def test_a_full_disk_ends_the_file_and_nothing_else(self) -> None:
        file = Scarce(7)
        bounded = BoundedBuffer(head=2, tail=2, spool=lambda: file, spool_limit=100)  # pyright: ignore[reportArgumentType]
        bounded.add(b"abcdefghij")
        bounded.add(b"klm")
        bounded.close()
        assert file.content == b"abcdefg"
        assert bounded.spool_error is not None
        assert bounded.spool_error.errno == errno.ENOSPC
        assert (bounded.spooled, bounded.is_spool_complete, bounded.total) == (7, False, 13)
        assert (bounded.head_bytes, bounded.tail_bytes) == (b"ab", b"lm")

    def test_a_file_that_cannot_be_opened_is_tried_once(self) -> None:
        tried: list[int] = []

        def spool() -> BinaryIO:
            tried.append(1)
            raise PermissionError(errno.EACCES, "no")

        bounded = BoundedBuffer(head=1, tail=1, spool=spool, spool_limit=100)
        for _ in range(3):
            bounded.add(b"abc")
        assert (tried, isinstance(bounded.spool_error, PermissionError)) == ([1], True)
        assert (bounded.head_bytes, bounded.tail_bytes, bounded.is_spool_complete) == (b"a", b"c", False)
