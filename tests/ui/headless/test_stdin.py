"""What is piped in: all of it, within limits, whoever is at the other end."""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.ui.headless import stdin as standard_input
from tejat.ui.headless.stdin import MAX_BYTES, PipedInput, read_piped_input

CUT = "Standard input is longer than 8 MB. The rest is ignored."


@contextmanager
def input_from(descriptor: int) -> Generator[None]:
    """Standard input is this, for a while."""
    before = sys.stdin
    with open(descriptor, encoding="utf-8", closefd=False) as stream:
        sys.stdin = stream
        try:
            yield
        finally:
            sys.stdin = before


def piped(write: Callable[[int], object], *, wait_for_first_byte: float | None = 5.0) -> tuple[PipedInput, float]:
    """What is read of what is written into a pipe meanwhile, and how long that took."""
    reading, writing = os.pipe()

    def work() -> None:
        try:
            write(writing)
        finally:
            os.close(writing)

    writer = threading.Thread(target=work)
    try:
        with input_from(reading):
            started = time.monotonic()
            writer.start()
            found = read_piped_input(wait_for_first_byte=wait_for_first_byte)
            seconds = time.monotonic() - started
    finally:
        os.close(reading)
        writer.join(20)
    assert not writer.is_alive()
    return found, seconds


def write_all(content: bytes) -> Callable[[int], None]:
    def write(descriptor: int) -> None:
        left = memoryview(content)
        try:
            while left:
                left = left[os.write(descriptor, left) :]
        except BrokenPipeError:
            return

    return write


class TestAPipe:
    def test_all_of_it(self) -> None:
        assert piped(write_all("grüße\n".encode() * 100_000))[0] == PipedInput("grüße\n" * 100_000)

    def test_nothing(self) -> None:
        assert piped(write_all(b""))[0] == PipedInput()

    def test_slow_writers_are_waited_for_once_they_have_begun(self) -> None:
        def write(descriptor: int) -> None:
            for piece in (b"one ", b"two ", b"three"):
                os.write(descriptor, piece)
                time.sleep(0.15)

        assert piped(write, wait_for_first_byte=0.1)[0] == PipedInput("one two three")

    def test_one_into_which_nobody_writes_is_not_waited_for_long(self) -> None:
        found, seconds = piped(lambda _: time.sleep(1), wait_for_first_byte=0.1)
        assert found == PipedInput()
        assert 0.1 <= seconds < 0.9

    def test_half_a_second_is_waited_by_default(self) -> None:
        assert standard_input.FIRST_BYTE_SECONDS == 0.5

    def test_without_a_limit_it_is_waited_for(self) -> None:
        def write(descriptor: int) -> None:
            time.sleep(0.8)
            os.write(descriptor, b"late")

        assert piped(write, wait_for_first_byte=None)[0] == PipedInput("late")

    def test_one_that_falls_silent_is_taken_as_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(standard_input, "_IDLE_SECONDS", 0.1)

        def write(descriptor: int) -> None:
            os.write(descriptor, b"some")
            time.sleep(0.6)

        found, _ = piped(write)
        note = "No more data on standard input for 0 seconds. Continuing with what was read."
        assert found == PipedInput("some", note)

    def test_the_limit_itself_is_no_cut(self) -> None:
        found, _ = piped(write_all(b"a" * MAX_BYTES))
        assert (len(found.text), found.note) == (MAX_BYTES, "")

    @pytest.mark.parametrize(("character", "kept"), [("ü", 4194303), ("€", 2796202), ("🙂", 2097151)])
    def test_too_much_is_cut_where_a_character_is_whole(self, character: str, kept: int) -> None:
        found, _ = piped(write_all(b"x" + character.encode() * (kept + 10)))
        assert found == PipedInput("x" + character * kept, CUT)

    def test_bytes_that_are_no_text_stay_visible(self) -> None:
        assert piped(write_all(b"a\xff\xfeb"))[0] == PipedInput("a\ufffd\ufffdb")


class TestNoPipe:
    def test_a_file_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("content\n")
        with open(tmp_path / "file", "rb") as file, input_from(file.fileno()):
            assert read_piped_input() == PipedInput("content\n")

    def test_nothing_of_a_terminal(self) -> None:
        controller, line = os.openpty()
        try:
            with input_from(line):
                assert read_piped_input(wait_for_first_byte=None) == PipedInput()
        finally:
            os.close(controller)
            os.close(line)

    def test_nothing_where_there_is_no_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reading, writing = os.pipe()
        os.close(writing)
        closed = open(reading, encoding="utf-8")  # noqa: SIM115 -- closed at once, and asked about then
        closed.close()
        monkeypatch.setattr(sys, "stdin", closed)
        assert read_piped_input() == PipedInput()

    def test_what_cannot_be_read_is_an_error(self, tmp_path: Path) -> None:
        descriptor = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
        try:
            with input_from(descriptor), pytest.raises(OSError, match="Bad file descriptor"):
                read_piped_input()
        finally:
            os.close(descriptor)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=8), st.integers(0, 30))
def test_a_cut_anywhere_loses_at_most_the_character_it_is_in(text: str, at: int) -> None:
    content = text.encode("utf-8", "replace")[:at]
    shown = standard_input._decode(content)
    assert text.encode("utf-8", "replace").decode().startswith(shown)
    assert len(content) - len(shown.encode()) < 4
