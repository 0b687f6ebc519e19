"""Lines are matched in a process that can be ended at any time."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.workspace.search.backtracking_matcher import BacktrackingMatcher
from tejat.workspace.search.types import SearchEngineFailure


class Stopped(Exception):
    pass


def never() -> None:
    """Asks nobody to stop."""


@contextmanager
def matching(expression: str) -> Iterator[BacktrackingMatcher]:
    matcher = BacktrackingMatcher(expression)
    try:
        yield matcher
    finally:
        matcher.close()


def children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


def test_each_line_gets_its_answer() -> None:
    with matching(r"(\w)\1(?!\d)") as matcher:
        assert matcher.find([b"aa", b"ab", b"aa1", "éé".encode(), b""], never) == [0, None, None, 0, None]
        assert matcher.find([b"bb"], never) == [0]
        assert matcher.find([], never) == []


def test_a_byte_that_is_no_text_is_one_surrogate() -> None:
    with matching("^a[\udc80-\udcff]b$") as matcher:
        assert matcher.find([b"a\xffb", b"a\xff\xffb"], never) == [0, None]


def test_more_than_a_pipe_holds() -> None:
    with matching("x") as matcher:
        lines = [b"a" * 300_000 + b"x", b"a" * 300_000] * 10
        assert matcher.find(lines, never) == [300_000, None] * 10


@pytest.mark.parametrize("expression", ["(?<=a+)b", "(", r"\9"])
def test_an_expression_that_does_not_compile(expression: str) -> None:
    with matching(expression) as matcher, pytest.raises(SearchEngineFailure):
        matcher.find([b"a" * 200_000] * 5, never)


def test_it_can_be_ended_while_it_matches() -> None:
    before = children()
    end = time.monotonic() + 0.3

    def stop() -> None:
        if time.monotonic() > end:
            raise Stopped

    with matching("^(a|a)+$") as matcher, pytest.raises(Stopped):
        matcher.find([b"a" * 60 + b"!"], stop)
    assert time.monotonic() < end + 3
    assert children() == before
