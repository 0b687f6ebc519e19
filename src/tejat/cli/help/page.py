"""Help pages, and their layout on a terminal."""

import os
import sys
from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import _

MAX_WIDTH = 100
"""The longest line, because longer ones are hard to read."""
_DEFAULT_WIDTH = 80
_MIN_WIDTH = 30
_MAX_LABEL = 28
"""The longest label that has its text on the same line."""
_INDENT = "  "


class HelpRow(Frozen):
    """A flag, argument or command with its meaning."""

    label: str
    text: str

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that the label names."""
        words = self.label.replace(",", " ").split()
        return tuple(word.partition("=")[0] for word in words if word.startswith("-"))


class HelpSection(Frozen):
    """Rows under a title."""

    title: str
    rows: tuple[HelpRow, ...]


class HelpPage(Frozen):
    """The help of one command. All texts are translated.

    `description` and `notes` are paragraphs; lines of a paragraph that begin with a blank are kept as they are.
    The rows of `examples` are command lines, those of `exit_codes` numbers.
    """

    command: str
    usages: tuple[str, ...]
    description: str
    sections: tuple[HelpSection, ...]
    notes: str = ""
    examples: tuple[HelpRow, ...] = ()
    exit_codes: tuple[HelpRow, ...] = ()

    @property
    def exit_code_section(self) -> HelpSection:
        return HelpSection(_("exit codes"), self.exit_codes)

    @property
    def example_section(self) -> HelpSection:
        return HelpSection(_("examples"), self.examples)


def format_page(page: HelpPage, width: int) -> str:
    """Lay out a page in lines of at most this width, where words allow it."""
    width = max(_MIN_WIDTH, min(width, MAX_WIDTH))
    blocks = [format_usage(page.usages), wrap_text(page.description, width)]
    flags = [row for section in page.sections for row in section.rows if row.flags]
    blocks += [
        _format_section(section, flags if section.rows[0].flags else section.rows, width) for section in page.sections
    ]
    codes = page.exit_code_section
    blocks += [wrap_text(page.notes, width), _format_section(codes, codes.rows, width)]
    blocks.append(_format_examples(page.example_section, width))
    return "\n\n".join(filter(None, blocks)) + "\n"


def format_usage(usages: Sequence[str]) -> str:
    title = _("usage: ")
    return "\n".join(f"{title if number == 0 else ' ' * len(title)}{usage}" for number, usage in enumerate(usages))


def wrap_text(text: str, width: int) -> str:
    """Wrap each paragraph. Lines that begin with a blank are kept."""
    paragraphs = [_wrap_paragraph(paragraph, width) for paragraph in text.strip("\n").split("\n\n") if paragraph]
    return "\n\n".join(paragraphs)


def terminal_width() -> int:
    """The width of the terminal for help. COLUMNS overrides it."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def _wrap_paragraph(paragraph: str, width: int) -> str:
    if any(line.startswith(" ") for line in paragraph.split("\n")):
        return paragraph
    return "\n".join(wrap_words(paragraph.split(), width))


def wrap_words(words: Sequence[str], width: int) -> list[str]:
    """Fill lines with words. A word that is too long has a line of its own."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _format_section(section: HelpSection, aligned: Sequence[HelpRow], width: int) -> str:
    """The rows below the title, with texts in the same column as those of the `aligned` rows."""
    if not section.rows:
        return ""
    fitting = [len(row.label) for row in aligned if len(row.label) <= _MAX_LABEL]
    column = len(_INDENT) + max(fitting, default=0) + 2
    if width - column < _MIN_WIDTH:
        column = 2 * len(_INDENT)
    lines = [f"{section.title}:"]
    for row in section.rows:
        label = f"{_INDENT}{row.label}"
        texts = wrap_words(row.text.split(), width - column)
        if len(label) + 2 <= column and texts:
            lines.append(f"{label.ljust(column)}{texts.pop(0)}")
        else:
            lines.append(label)
        lines += [" " * column + text for text in texts]
    return "\n".join(lines)


def _format_examples(section: HelpSection, width: int) -> str:
    """The command lines, with their meaning beside them if everything fits, else below."""
    if not section.rows:
        return ""
    column = len(_INDENT) + max(len(row.label) for row in section.rows) + 2
    if all(column + len(row.text) <= width for row in section.rows):
        lines = [f"{_INDENT}{row.label}".ljust(column) + row.text for row in section.rows]
    else:
        lines = [
            line
            for row in section.rows
            for line in (
                f"{_INDENT}{row.label}",
                *(f"{_INDENT * 3}{text}" for text in wrap_words(row.text.split(), width - 6)),
            )
        ]
    return "\n".join([f"{section.title}:", *(line.rstrip() for line in lines)])
