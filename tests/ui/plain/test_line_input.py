"""Reading lines from the terminal."""

import asyncio
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tejat.ui.plain.line_input import read_line


@contextmanager
def typed(keys: bytes, *, hang_up: bool = False) -> Generator[None]:
    """These keys are waiting at standard input."""
    reading, writing = os.pipe()
    before = sys.stdin
    os.write(writing, keys)
    if hang_up:
        os.close(writing)
    with open(reading, encoding="utf-8") as stream:
        sys.stdin = stream
        try:
            yield
        finally:
            sys.stdin = before
            if not hang_up:
                os.close(writing)


@pytest.mark.parametrize(
    ("keys", "line"),
    [(b"hello there\n", "hello there\n"), ("grüße\n".encode(), "grüße\n"), (b"\xff\n", "\ufffd\n"), (b"\n", "\n")],
)
def test_what_was_typed(keys: bytes, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with typed(keys):
        assert asyncio.run(read_line("> ")) == line
    assert capsys.readouterr() == ("", "> ")


def test_one_line_after_the_other() -> None:
    async def main() -> list[str]:
        return [await read_line(""), await read_line(""), await read_line("")]

    with typed(b"one\ntwo\n", hang_up=True):
        assert asyncio.run(main()) == ["one\n", "two\n", ""]


def test_an_interrupt_comes_through_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        task = asyncio.ensure_future(read_line("> "))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with typed(b""):
        asyncio.run(asyncio.wait_for(main(), 60))
    assert capsys.readouterr().err == "> \n"
