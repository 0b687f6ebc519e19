"""Prompter of commands in plain lines."""

import os
import sys
import termios
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import assert_never

from tejat.core.errors import UsageError
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.ui.prompter import Choice
from tejat.core.ui.report import DiffBlock, MarkdownBlock, Paragraph, Report, ReportBlock, ReportTable, SourceListing
from tejat.ui.plain.diff import format_diff_rows
from tejat.ui.plain.line_input import read_line
from tejat.ui.plain.question_view import wrap_line
from tejat.ui.plain.style import Style
from tejat.ui.shared.diff.fit import block_rows
from tejat.ui.shared.external.clipboard import copy_text
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import QUESTION_ROWS, Pager


class PlainPrompter:
    """UserPrompter that writes to `line` and reads from standard input. Without a `pager` all lines are written."""

    def __init__(
        self, line: Callable[[str], None], style: Style, editor: ExternalEditor, pager: Pager | None = None
    ) -> None:
        self._line = line
        self._style = style
        self._editor = editor
        self._pager = pager

    def show(self, report: Report) -> None:
        for line in _report_lines(report, self._style):
            self._line(line)

    async def page(self, reports: Sequence[Report]) -> bool:
        plain = _joined(reports, Style(None))
        if self._pager is not None and self._pager.is_wanted and not _fits(plain):
            try:
                await self._pager.show(plain, styled=f"{_joined(reports, self._style)}\n")
            except UsageError:
                pass  # there is none
            else:
                return True
        for report in reports:
            self.show(report)
        return False

    async def choose(self, choice: Choice) -> int | None:
        if choice.report is not None:
            self.show(choice.report)
        self._line(self._style.bold(_one_line(choice.title)))
        for number, option in enumerate(choice.options, 1):
            detail = f" ({_one_line(option.detail)})" if option.detail else ""
            self._line(f"  {number} {_one_line(option.label)}{detail}")
            if option.note:
                self._line(f"    {_one_line(option.note)}")
        most = len(choice.options)
        while True:
            typed = await read_line(_("Your choice, 1 to {most}, or 0 to cancel: ", most=most))
            answer = typed.strip()
            if answer in ("", "0"):
                return None
            if answer.isascii() and answer.isdigit() and int(answer) <= most:
                return int(answer) - 1
            labels = [option.label.casefold() for option in choice.options]
            if labels.count(answer.casefold()) == 1:
                return labels.index(answer.casefold())
            self._line(_("Type a number from 0 to {most}.", most=most))

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        asked = _one_line(label)
        if initial and not is_secret:
            asked += " (" + _("empty for {initial}", initial=_one_line(initial)) + ")"
        if not is_secret:
            typed = await read_line(f"{asked}: ")
        else:
            with _no_echo():
                typed = await read_line(asked + " (" + _("not shown while you type") + "): ")
            self._line("")
        if not typed:
            return None
        return typed.removesuffix("\n") or initial

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        self._line(_("Opening the editor. Save and close it to continue."))
        return await self._editor.edit_text(text, suffix=suffix)

    async def copy(self, text: str) -> str:
        return await copy_text(text, _write_sequence)


def _report_lines(report: Report, style: Style) -> Iterator[str]:
    """The texts of a report, sanitized."""
    if report.title:
        yield style.bold(_one_line(report.title))
    for block in report.blocks:
        yield from _block_lines(block, style)


def _block_lines(block: ReportBlock, style: Style) -> Iterator[str]:
    match block:
        case Paragraph(text) | SourceListing(text) | MarkdownBlock(text):
            yield sanitize_text(translate(text))
        case DiffBlock():
            yield from format_diff_rows(block_rows(block), style)
        case ReportTable(rows, headings):
            for row in rows:
                yield _row_text(headings, row)
        case _:
            assert_never(block)


def _joined(reports: Sequence[Report], style: Style) -> str:
    return "\n\n".join("\n".join(_report_lines(report, style)) for report in reports)


def _fits(text: str) -> bool:
    """Whether a text and a question fit on the terminal, or its size is not known."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return True
    if not columns or not rows:
        return True
    return sum(len(wrap_line(line, width=columns)) for line in text.split("\n")) <= rows - QUESTION_ROWS


def _row_text(headings: tuple[str, ...], cells: tuple[str, ...]) -> str:
    """Return a table row as a sentence for a screen reader: each cell with its heading."""
    if headings:
        named = [(_one_line(heading), _one_line(cell)) for heading, cell in zip(headings, cells, strict=False) if cell]
        return "; ".join(f"{heading}: {cell}" if heading else cell for heading, cell in named)
    first, *rest = cells or ("",)
    others = ", ".join(_one_line(cell) for cell in rest if cell)
    return f"{_one_line(first)}: {others}" if others else _one_line(first)


def _one_line(text: str) -> str:
    return sanitize_summary(translate(text))


@contextmanager
def _no_echo() -> Generator[None]:
    """Turn off the echo of the terminal."""
    try:
        before = termios.tcgetattr(sys.stdin)
    except (termios.error, OSError, ValueError):
        yield  # not a terminal: nothing to turn off
        return
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _write_sequence(sequence: str) -> None:
    print(sequence, end="", file=sys.stderr, flush=True)
