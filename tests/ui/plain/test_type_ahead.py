"""Lines typed ahead at a real terminal."""

import asyncio
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tejat.ui.plain.type_ahead import TypeAheadReader


@contextmanager
def terminal() -> Generator[int]:
    controller, line = os.openpty()
    before = sys.stdin
    with open(line, encoding="utf-8") as stream:
        sys.stdin = stream
        try:
            yield controller
        finally:
            sys.stdin = before
            os.close(controller)


async def prompts(lines: TypeAheadReader) -> list[str]:
    """All up to the end of the input."""
    found: list[str] = []
    async with asyncio.timeout(60):
        while (typed := await lines.read_prompt("> ")) is not None:
            found.append(typed)
    return found


def test_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal() as controller:
        os.write(controller, b"one\n\ntwo\\\nthree\\\nfour\n\x04")
        assert asyncio.run(prompts(TypeAheadReader())) == ["one", "", "two\nthree\nfour"]
    assert capsys.readouterr().err == "> > > ... ... > "


def test_what_is_set_aside_comes_first_and_is_shown_again(capsys: pytest.CaptureFixture[str]) -> None:
    lines = TypeAheadReader()
    with terminal() as controller:
        os.write(controller, b"one\\\ntwo\x1b[2J\n")
        lines.drain()
        os.write(controller, b"three\n\x04")
        assert asyncio.run(prompts(lines)) == ["one\ntwo\x1b[2J", "three"]
    assert capsys.readouterr().err == "> one\\\n... two<U+001B>[2J\n> > "


def test_also_the_end_of_the_input() -> None:
    lines = TypeAheadReader()
    with terminal() as controller:
        os.write(controller, b"one\n\x04")
        lines.drain()
        assert asyncio.run(prompts(lines)) == ["one"]


def test_nothing_was_typed() -> None:
    lines = TypeAheadReader()
    with terminal() as controller:
        lines.drain()
        os.write(controller, b"one\n\x04")
        assert asyncio.run(prompts(lines)) == ["one"]
