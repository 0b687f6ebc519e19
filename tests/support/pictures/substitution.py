"""Replacing what differs from run to run in a screen: times and temporary paths."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from support.pictures.svg import Screen
from support.terminal.emulator import BLANK, Cell

TIMES = (
    (re.compile(r"\d+\.\d{3}s\b"), "0.001s"),  # of unittest
    (re.compile(r"\bunder 0\.1 s\b|\b\d+(?:\.\d)? s\b"), "8 s"),
)

Substitutions = Sequence[tuple[re.Pattern[str], str]]


def substitute(screen: Screen, substitutions: Substitutions) -> Screen:
    """The screen with these replacements. What follows a replacement in its row moves along."""
    rows = [_substitute_row(row, substitutions) for row in screen.rows]
    return replace(screen, rows=tuple(rows))


def substitute_text(lines: Iterable[str], substitutions: Substitutions) -> list[str]:
    """The lines with these replacements, and with every run of blanks as one."""
    text = "\n".join(lines)
    for pattern, replacement in substitutions:
        text = pattern.sub(replacement, text)
    return [" ".join(line.split()) for line in text.split("\n")]


def _substitute_row(row: tuple[Cell, ...], substitutions: Substitutions) -> tuple[Cell, ...]:
    for pattern, replacement in substitutions:
        text = "".join(cell.text or "\0" for cell in row)
        if len(text) != len(row):  # a cell with several code points: nothing that is replaced here has one
            return row
        for found in reversed(list(pattern.finditer(text))):
            style = row[found.start()].style
            put = tuple(Cell(character, 1, style) for character in replacement)
            row = _fit((*row[: found.start()], *put, *row[found.end() :]), len(text))
    return row


def _fit(row: tuple[Cell, ...], width: int) -> tuple[Cell, ...]:
    filler = replace(BLANK, style=row[-1].style)
    return (*row, *[filler] * (width - len(row)))[:width]
