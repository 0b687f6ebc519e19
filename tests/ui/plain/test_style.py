"""Colour on a terminal, and nowhere else."""

import io
import os
import termios
from collections.abc import Generator
from typing import TextIO

import pytest

from tejat.ui.plain.style import Style


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
    assert Style(terminal).bold("a") == "\x1b[1ma\x1b[0m"


def test_nothing_is_painted_without_text(terminal: TextIO) -> None:
    assert Style(terminal).bold("") == ""


def is_plain(style: Style) -> bool:
    return style.bold("a") == "a"


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


def test_the_width_is_that_of_the_terminal(terminal: TextIO) -> None:
    assert Style(terminal).columns == 80  # this one has none
    termios.tcsetwinsize(terminal.fileno(), (24, 120))
    assert Style(terminal).columns == 120
    assert Style(io.StringIO()).columns == Style(None).columns == 80
