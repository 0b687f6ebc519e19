"""Parts of a log: nothing lost or told twice, wherever it is cut and however it grows."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.workspace.jobs.log import MAX_BYTES, LogChunk, read_log, read_log_tail
from tejat.workspace.text.terminal_text import render_terminal_text


def from_offset(path: Path, offset: int, *, lines: int | None = None, is_over: bool = False) -> LogChunk:
    with path.open("rb") as file:
        return read_log(file, offset, lines=lines, is_finished=is_over)


def tail(path: Path, *, lines: int | None = None, is_over: bool = False) -> LogChunk:
    with path.open("rb") as file:
        return read_log_tail(file, lines=lines, is_finished=is_over)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


class TestFrom:
    def test_small(self, log: Path) -> None:
        log.write_bytes(b"one\ntwo\n")
        assert from_offset(log, 0) == LogChunk("one\ntwo\n", 0, 8, 8)
        assert from_offset(log, 4) == LogChunk("two\n", 4, 8, 8)
        assert from_offset(log, 8) == LogChunk("", 8, 8, 8)
        assert from_offset(log, 99) == LogChunk("", 8, 8, 8)

    def test_some_lines(self, log: Path) -> None:
        log.write_bytes(b"one\r\ntwo\nthree")
        assert from_offset(log, 0, lines=1) == LogChunk("one\n", 0, 5, 14)
        assert from_offset(log, 5, lines=2) == LogChunk("two\nthree", 5, 14, 14)

    @pytest.mark.parametrize(
        "cut", [b"\xe2\x82", b"\xe2", b"\xf0\x9f\x98", b"\xc3", b"\x1b", b"\x1b[", b"\x1b[31;", b"\x1b("]
    )
    def test_what_is_not_complete_comes_with_the_next_part(self, log: Path, cut: bytes) -> None:
        log.write_bytes(b"hi " + cut)
        assert from_offset(log, 0) == LogChunk("hi ", 0, 3, 3 + len(cut))
        assert from_offset(log, 3) == LogChunk("", 3, 3, 3 + len(cut))
        told = render_terminal_text((b"hi " + cut).decode("utf-8", "replace"))
        assert from_offset(log, 0, is_over=True) == LogChunk(told, 0, 3 + len(cut), 3 + len(cut))

    def test_long_logs_are_cut_between_lines(self, log: Path) -> None:
        line = b"x" * 99 + b"\n"
        log.write_bytes(line * 1000)
        whole_lines = MAX_BYTES // 100
        assert from_offset(log, 0) == LogChunk((line * whole_lines).decode(), 0, whole_lines * 100, 100_000)

    def test_a_line_that_is_too_long_is_cut_between_characters(self, log: Path) -> None:
        log.write_bytes(b"x" + "é".encode() * 50_000)
        assert from_offset(log, 0) == LogChunk("x" + "é" * 32767, 0, MAX_BYTES - 1, 100_001)

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.sampled_from(["a", "é", "日", "😀", "\n", "\r\n", "\x1b[31m", "x" * 9000]), max_size=40),
        st.lists(st.integers(0, 60_000), max_size=5),
        st.none() | st.integers(1, 5),
    )
    def test_parts_of_a_growing_log_make_up_the_whole(
        self, log: Path, pieces: list[str], cuts: list[int], lines: int | None
    ) -> None:
        raw = "".join(pieces).encode()
        told, offset = "", 0
        for size in sorted(min(cut, len(raw)) for cut in [*cuts, len(raw)]):
            log.write_bytes(raw[:size])
            while True:
                part = from_offset(log, offset, lines=lines, is_over=size == len(raw))
                assert (part.offset, part.size) == (offset, size)
                assert part.next_offset - offset <= MAX_BYTES
                if part.next_offset == offset:
                    break
                told, offset = told + part.text, part.next_offset
        assert told == render_terminal_text(raw.decode())
        assert offset == len(raw)


class TestTail:
    @pytest.mark.parametrize(
        ("raw", "lines", "told"),
        [
            (b"", 5, ""),
            (b"one\ntwo\nthree\n", 2, "two\nthree\n"),
            (b"one\ntwo\nthree", 2, "two\nthree"),
            (b"one\ntwo\n", 5, "one\ntwo\n"),
            (b"\n\n\n", 2, "\n\n"),
            (b"one\ntwo\n", None, "one\ntwo\n"),
        ],
    )
    def test_the_last_lines(self, log: Path, raw: bytes, lines: int | None, told: str) -> None:
        log.write_bytes(raw)
        assert tail(log, lines=lines) == LogChunk(told, len(raw) - len(told), len(raw), len(raw))

    def test_no_more_than_fits(self, log: Path) -> None:
        log.write_bytes(b"begin\n" + (b"x" * 99 + b"\n") * 1000)
        part = tail(log, lines=5000)
        assert part == LogChunk(("x" * 99 + "\n") * 655, 100_006 - 65_500, 100_006, 100_006)
        assert from_offset(log, part.offset).text == part.text

    def test_a_line_that_is_too_long(self, log: Path) -> None:
        log.write_bytes("é".encode() * 50_000 + b"x")
        part = tail(log, lines=1)
        assert part == LogChunk("é" * 32767 + "x", 100_001 - 65535, 100_001, 100_001)

    def test_bytes_that_are_no_text(self, log: Path) -> None:
        log.write_bytes(b"\x80" * 70_000)
        assert tail(log, lines=1) == LogChunk("\ufffd" * MAX_BYTES, 70_000 - MAX_BYTES, 70_000, 70_000)


def test_only_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    with open(descriptor, "rb", buffering=0) as file, pytest.raises(OSError, match="Not a regular file"):
        read_log(file, 0, lines=None, is_finished=True)
