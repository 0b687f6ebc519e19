"""Recorded screens: text files with what a terminal of each size shows, and with which colours.

A file has a section for each size. Below a row of text, a line that begins with `~` has the styles of its cells as
counts and letters (`.` for the default): `2a 5. 38b`. The letters are explained at the end of the section, with the
style in a dark and in a light terminal.

TEJAT_WRITE_SNAPSHOTS=1 writes the sections anew.
"""

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from support.pictures.svg import Screen
from support.terminal.emulator import PLAIN, Style
from tejat import __version__

DIRECTORY = Path(__file__).parents[2] / "e2e" / "snapshots"
_HEADING = re.compile(r"^== (.+)\n", re.MULTILINE)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def check_screens(section: str, screens: Mapping[str, Sequence[Screen]]) -> None:
    """Compare screens by name with the recorded ones: each in a dark and in a light terminal, or just one."""
    problems: list[str] = []
    for name, seen in screens.items():
        path = DIRECTORY / f"{name}.txt"
        text = describe_screens(seen)
        if os.environ.get("TEJAT_WRITE_SNAPSHOTS") == "1":
            _write_section(path, section, text)
        recorded = _read_sections(path).get(section, "")
        if recorded != text:
            lines = difflib.unified_diff(recorded.split("\n"), text.split("\n"), "recorded", "seen", lineterm="", n=2)
            problems.append("\n".join([f"{path.name}, {section}:", *lines]))
    assert not problems, "\n\n".join([*problems, "If this is right, record it with TEJAT_WRITE_SNAPSHOTS=1."])


def describe_screens(screens: Sequence[Screen]) -> str:
    """The text of the screens, which must be the same in all of them, and their styles side by side."""
    first = screens[0]
    texts = [[_hide_version(line) for line in screen.text()] for screen in screens]
    for other in texts[1:]:
        assert other == texts[0], "\n".join(difflib.unified_diff(texts[0], other, "dark", "light", lineterm=""))
    letters: dict[tuple[Style, ...], str] = {(PLAIN,) * len(screens): "."}
    lines: list[str] = []
    for number, text in enumerate(texts[0]):
        styles = list(zip(*([cell.style for cell in screen.rows[number]] for screen in screens), strict=True))
        runs = _describe_runs([letters.setdefault(style, _LETTERS[len(letters) - 1]) for style in styles])
        lines += [text, f"~ {runs}"] if runs else [text]
    while lines and not lines[-1]:
        lines.pop()
    cursor = "hidden" if first.cursor is None else "column {}, row {}".format(*first.cursor)
    legend = [
        f"{letter}: {' | '.join(dict.fromkeys(map(describe_style, styles)))}"
        for styles, letter in letters.items()
        if letter != "."
    ]
    return "\n".join([*lines, f"-- cursor {cursor}", *legend, ""])


def _hide_version(line: str) -> str:
    """Put zeros in the place of the digits of our version, so that a release changes no screen."""
    return line.replace(__version__, re.sub(r"\d", "0", __version__))


def describe_style(style: Style) -> str:
    flags = [name for name in Style.__dataclass_fields__ if getattr(style, name) is True]
    colours = [f"{name} {value}" for name, value in (("fg", style.fg), ("bg", style.bg)) if value]
    return " ".join([*colours, *flags]) or "default"


def _describe_runs(letters: Sequence[str]) -> str:
    runs = [(letter, len(list(cells))) for letter, cells in groupby(letters)]
    if runs[-1][0] == ".":
        runs.pop()
    return " ".join(f"{count}{letter}" for letter, count in runs)


def _read_sections(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    parts = _HEADING.split(path.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _write_section(path: Path, section: str, text: str) -> None:
    sections = {**_read_sections(path), section: text}
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(sections, key=lambda name: (-int(re.split(r"\D", name)[0]), name))
    path.write_text("".join(f"== {name}\n{sections[name]}" for name in ordered), encoding="utf-8")
