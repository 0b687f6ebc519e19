"""Diffs in plain output."""

import io
import os
from collections.abc import Generator
from typing import TextIO

import pytest

from support.diff_samples import TWO_FILES
from tejat.ui.plain.diff import format_diff, format_diff_rows
from tejat.ui.plain.style import Style
from tejat.ui.shared.diff.rows import build_diff_rows

UNCOLOURED = Style(None)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Generator[TextIO]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLORFGBG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    controller, line = os.openpty()
    with open(line, "w", encoding="utf-8") as stream:
        yield stream
    os.close(controller)


def test_numbered_lines_without_colours() -> None:
    assert format_diff_rows(build_diff_rows(TWO_FILES), UNCOLOURED) == [
        "one +3 -2",
        " 1   context",
        " 2 - old",
        " 2 + new",
        " 3   end",
        "[6 unchanged lines]",
        "10 - -- a comment",
        "10 + ++ plus",
        "11 + more",
        "[No newline at end of file]",
        "two +0 -1",
        " 1 - gone",
    ]


def test_a_terminal_with_colours_gets_the_drawn_diff(terminal: TextIO) -> None:
    assert format_diff_rows(build_diff_rows("@@ -1 +1 @@\n-same = 1\n+same = 2\n"), Style(terminal)) == [
        "\x1b[2m1 \x1b[0;31m- same = \x1b[0;7;31m1\x1b[0m",
        "\x1b[2m1 \x1b[0;32m+ same = \x1b[0;7;32m2\x1b[0m",
    ]
    assert format_diff_rows((), Style(terminal)) == []


def test_files_and_pipes_get_the_unified_diff(terminal: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    assert format_diff(TWO_FILES, Style(io.StringIO())) == TWO_FILES.removesuffix("\n")
    monkeypatch.setenv("NO_COLOR", "1")
    assert format_diff(TWO_FILES, Style(terminal)).split("\n")[:3] == ["one +3 -2", " 1   context", " 2 - old"]
