"""Colours and signs by what a stream can show."""

import pytest

from support.terminal.live_output import open_output
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.ui.report import Tone


def test_a_terminal_has_colours_and_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with open_output(70, 20) as output:
        style = TerminalStyle(output.stream)
        assert (style.columns, style.rows) == (70, 20)
        assert style.paint("x", Tone.BAD) == "\x1b[31mx\x1b[0m"
        assert style.paint("x", Tone.PLAIN) == "x"
        monkeypatch.setenv("NO_COLOR", "1")
        assert TerminalStyle(output.stream).paint("x", Tone.BAD) == "x"


def test_an_encoding_without_the_signs_gets_ascii() -> None:
    with open_output(encoding="ascii") as output:
        style = TerminalStyle(output.stream)
        assert style.signs.is_ascii
        assert style.encodable("日本 é") == "???? ?"
    assert not TerminalStyle(None).signs.is_ascii


def test_no_terminal() -> None:
    style = TerminalStyle(None)
    assert (style.columns, style.rows, style.is_coloured) == (80, 24, False)
