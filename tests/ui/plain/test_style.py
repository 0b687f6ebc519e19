"""Colour on a terminal, and nowhere else."""

import io
import os
from collections.abc import Generator
from typing import TextIO

import pytest

from tejat.ui.plain.style import Style

PATCH = "\n".join(
    [
        "Index: a.txt",
        "=" * 67,
        "--- a.txt\tCurrent",
        "+++ a.txt\tProposed",
        "@@ -1,2 +1,2 @@",
        " kept",
        "-old",
        "+new",
        "\\ No newline at end of file",
        "",
    ]
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Generator[TextIO]:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    controller, line = os.openpty()
    with open(line, "w", encoding="utf-8") as stream:
        yield stream
    os.close(controller)


def test_a_terminal_is_coloured(terminal: TextIO) -> None:
    style = Style(terminal)
    assert style.bold("a") == "\x1b[1ma\x1b[0m"
    assert style.diff(PATCH).split("\n") == [
        "\x1b[2mIndex: a.txt\x1b[0m",
        f"\x1b[2m{'=' * 67}\x1b[0m",
        "\x1b[1m--- a.txt\tCurrent\x1b[0m",
        "\x1b[1m+++ a.txt\tProposed\x1b[0m",
        "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m",
        " kept",
        "\x1b[31m-old\x1b[0m",
        "\x1b[32m+new\x1b[0m",
        "\x1b[2m\\ No newline at end of file\x1b[0m",
    ]


def test_nothing_is_painted_without_text(terminal: TextIO) -> None:
    assert Style(terminal).bold("") == ""


def is_plain(style: Style) -> bool:
    return (style.bold("a"), style.diff(PATCH)) == ("a", PATCH.rstrip("\n"))


def test_a_file_is_not_coloured(terminal: TextIO) -> None:
    del terminal
    assert is_plain(Style(io.StringIO()))


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [("NO_COLOR", "1", True), ("NO_COLOR", "", False), ("TERM", "dumb", True), ("TERM", "vt100", False)],
)
def test_a_person_may_want_none(
    terminal: TextIO, monkeypatch: pytest.MonkeyPatch, name: str, value: str, plain: bool
) -> None:
    monkeypatch.setenv(name, value)
    assert is_plain(Style(terminal)) == plain


def test_what_a_terminal_would_obey_or_hide_is_shown(terminal: TextIO) -> None:
    shown = Style(terminal).diff("+\x1b[2Jgone\r\n-a\u202eb\n \u200b\n")
    assert shown.split("\n") == [
        "\x1b[32m+<U+001B>[2Jgone<U+000D>\x1b[0m",
        "\x1b[31m-a<U+202E>b\x1b[0m",
        " <U+200B>",
    ]


@pytest.mark.parametrize(("line", "colour"), [("--- a list item", "\x1b[31m"), ("+++ counter", "\x1b[32m")])
def test_a_changed_line_that_looks_like_a_header_is_still_a_changed_line(
    terminal: TextIO, line: str, colour: str
) -> None:
    assert Style(terminal).diff(f"{PATCH}{line}\n").split("\n")[-1] == f"{colour}{line}\x1b[0m"


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "0"}, False),
        ({}, False),
    ],
)
def test_what_people_say_counts_without_a_terminal(
    environment: dict[str, str], is_coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    assert (Style(io.StringIO()).bold("a") != "a") == is_coloured


def test_colour_can_be_switched_off_at_a_terminal(terminal: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "0")
    assert Style(terminal).bold("a") == "a"
