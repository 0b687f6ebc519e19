"""The person at a terminal that shows lines and nothing else, as commands ask them."""

import sys
import termios
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import assert_never

from tejat.cli.read_line import read_line
from tejat.cli.style import Style
from tejat.core.person import Choice
from tejat.core.sheet import Block, Patch, Prose, Sheet, Source, Table, Words
from tejat.core.visible import visible
from tejat.core.words import say, translated
from tejat.frontends.external_editor import Editor
from tejat.frontends.terminal.clipboard import copy_text


class PlainPerson:
    """A Person who reads what goes to `line` and types lines on standard input."""

    def __init__(self, line: Callable[[str], None], style: Style, editor: Editor) -> None:
        self._line = line
        self._style = style
        self._editor = editor

    def show(self, sheet: Sheet) -> None:
        if sheet.title:
            self._line(self._style.bold(_flat(sheet.title)))
        for block in sheet.blocks:
            for line in self._lines(block):
                self._line(line)

    async def choose(self, choice: Choice) -> int | None:
        if choice.sheet is not None:
            self.show(choice.sheet)
        self._line(self._style.bold(_flat(choice.title)))
        for number, option in enumerate(choice.options, 1):
            detail = f" ({_flat(option.detail)})" if option.detail else ""
            self._line(f"  {number} {_flat(option.label)}{detail}")
        most = len(choice.options)
        while True:
            typed = await read_line(say("Your choice, 1 to {most}, or 0 for none of them: ", most=most))
            answer = typed.strip()
            if answer in ("", "0"):
                return None
            if answer.isascii() and answer.isdigit() and int(answer) <= most:
                return int(answer) - 1
            labels = [option.label.casefold() for option in choice.options]
            if labels.count(answer.casefold()) == 1:
                return labels.index(answer.casefold())
            self._line(say("Please type a number from 0 to {most}.", most=most))

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        asked = _flat(label)
        if initial and not is_secret:
            asked += f" ({say('empty for {initial}', initial=_flat(initial))})"
        if not is_secret:
            typed = await read_line(f"{asked}: ")
        else:
            with _no_echo():
                typed = await read_line(f"{asked} ({say('not shown while you type')}): ")
            self._line("")
        if not typed:
            return None
        return typed.removesuffix("\n") or initial

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        self._line(say("Opening the editor. Save and close it to go on."))
        return await self._editor.write(text, suffix=suffix)

    async def copy(self, text: str) -> str:
        return await copy_text(text, _send)

    def _lines(self, block: Block) -> Iterator[str]:
        match block:
            case Words(text) | Source(text) | Prose(text):
                yield visible(translated(text))
            case Patch(text):
                yield self._style.diff(text)
            case Table(rows, headings):
                for row in rows:
                    yield _row(headings, row)
            case _:
                assert_never(block)


def _row(headings: tuple[str, ...], cells: tuple[str, ...]) -> str:
    """A row as it can be heard: each cell with its heading, without headings the first cell as one."""
    if headings:
        named = [(_flat(heading), _flat(cell)) for heading, cell in zip(headings, cells, strict=False) if cell]
        return "; ".join(f"{heading}: {cell}" if heading else cell for heading, cell in named)
    first, *rest = cells or ("",)
    others = ", ".join(_flat(cell) for cell in rest if cell)
    return f"{_flat(first)}: {others}" if others else _flat(first)


def _flat(text: str) -> str:
    return " ".join(visible(translated(text)).split())


@contextmanager
def _no_echo() -> Generator[None]:
    """The terminal shows nothing of what is typed. It is as before afterwards."""
    try:
        before = termios.tcgetattr(sys.stdin)
    except (termios.error, OSError, ValueError):
        yield  # no terminal, so there is nothing that would echo
        return
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _send(sequence: str) -> None:
    sys.stderr.write(sequence)
    sys.stderr.flush()
