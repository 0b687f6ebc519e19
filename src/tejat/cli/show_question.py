"""What a person sees before they answer: all of it, nothing hidden, no line that could pass for one of ours."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import assert_never

from tejat.cli.style import Style
from tejat.core.confirm import (
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Question,
)
from tejat.core.json_text import dump_json
from tejat.core.visible import visible

LEAST_WIDTH = 20
USUAL_WIDTH = 80

_COMMAND, _NEXT_LINE, _SAME_LINE = "$ ", "> ", "| "
"""How lines that others wrote begin: a command, each further line of it or of a text, and the rest of a long line."""

_MOST_LOOKALIKES = 5


def question_lines(question: Question, confirmation: Confirmation, style: Style, *, width: int) -> list[str]:
    """Everything that there is to know before an answer, wrapped to `width` and never cut."""
    width = max(width, LEAST_WIDTH)
    lines = [style.bold(line) for line in _field("", confirmation.title, width)]
    lines += _field("", question.note, width)
    lines += _field("Reason: ", question.reason, width)
    lines += _lookalikes(_what_counts(confirmation), width)  # before what may go on for pages
    match confirmation:
        case EditConfirmation():
            lines += _field("File: ", confirmation.file_path, width)
            lines += _diff(confirmation.file_diff, style, width)
        case ExecConfirmation():
            lines += _command(confirmation, style, width)
        case McpConfirmation():
            lines += _foreign_call(confirmation, width)
        case InfoConfirmation():
            lines += _words(confirmation, width)
        case _:
            assert_never(confirmation)
    return lines


def short_question(confirmation: Confirmation) -> str:
    """The question itself, in one line."""
    match confirmation:
        case EditConfirmation():
            return "Apply this change?"
        case ExecConfirmation():
            return (
                f"Allow execution of: '{one_line(confirmation.root_command)}'?"
                if confirmation.root_commands
                else ("Allow execution?")
            )
        case McpConfirmation():
            tool, server = one_line(confirmation.tool_name), one_line(confirmation.server_name)
            return f'Allow execution of MCP tool "{tool}" from server "{server}"?'
        case InfoConfirmation():
            return "Do you want to proceed?"
        case _:
            assert_never(confirmation)


def one_line(text: str) -> str:
    """A text that is to stand in one line, with everything shown that would end the line."""
    return visible(text).replace("\n", "<U+000A>")


def wrapped(text: str, *, width: int, first: str = "") -> Iterator[str]:
    """One line in pieces that fit: the first begins with `first`, the others with the mark of a line that goes on."""
    if len(first) + len(text) <= width and text.isascii() and "\t" not in text:
        yield first + text
        return
    piece, room = first, width - len(first)
    for character in text:
        columns = _columns(character)
        if columns > room:
            yield piece
            piece, room = _SAME_LINE, width - len(_SAME_LINE)
        piece += character
        room -= columns
    yield piece


def _field(label: str, text: str, width: int) -> Iterator[str]:
    return wrapped(one_line(text), width=width, first=label) if text else iter(())


def _block(text: str, *, width: int, first: str = _NEXT_LINE) -> Iterator[str]:
    for number, line in enumerate(visible(text).split("\n")):
        yield from wrapped(line, width=width, first=_NEXT_LINE if number else first)


def _diff(patch: str, style: Style, width: int) -> list[str]:
    lines = visible(patch.removesuffix("\n")).split("\n")
    pieces = [piece for line in lines for piece in wrapped(_with_end_shown(line), width=width)]
    return style.diff("\n".join(pieces)).split("\n")


def _with_end_shown(line: str) -> str:
    """A changed line whose blanks at the end can be seen."""
    if not line.startswith(("+", "-")):
        return line
    kept = line.rstrip(" \t")
    return kept + _BLANKS.sub(_spelled, line[len(kept) :])


def _spelled(blanks: re.Match[str]) -> str:
    count = len(blanks.group())
    return f"<U+{ord(blanks.group()[0]):04X}{f' x {count}' if count > 1 else ''}>"


def _command(confirmation: ExecConfirmation, style: Style, width: int) -> Iterator[str]:
    yield from _field("The model says: ", confirmation.description, width)
    yield from _field("Directory: ", confirmation.directory, width)
    yield from map(style.bold, _block(confirmation.command, width=width, first=_COMMAND))
    yield from _field("Programs: ", confirmation.root_command, width)
    for note in confirmation.notes:
        yield from _field("Note: ", note, width)


def _foreign_call(confirmation: McpConfirmation, width: int) -> Iterator[str]:
    yield from _field("Server: ", confirmation.server_name, width)
    yield from _field("Tool: ", confirmation.tool_name, width)
    if confirmation.tool_display_name != confirmation.tool_name:
        yield from _field("Shown as: ", confirmation.tool_display_name, width)
    if confirmation.tool_description:
        yield "The server says about it:"
        yield from _block(confirmation.tool_description, width=width)
    if confirmation.tool_parameter_schema and confirmation.tool_parameter_schema.get("properties"):
        yield "Its parameters:"
        yield from _block(dump_json(confirmation.tool_parameter_schema, indent=1), width=width)
    # Last, so that nothing that a server says can push them off the screen.
    yield "Arguments:" if confirmation.tool_args else "Arguments: none"
    if confirmation.tool_args:
        yield from _block(dump_json(confirmation.tool_args, indent=2), width=width)


def _words(confirmation: InfoConfirmation, width: int) -> Iterator[str]:
    yield from _block(confirmation.prompt, width=width)
    if confirmation.urls and confirmation.urls != (confirmation.prompt,):
        yield "URLs to fetch:"
        for url in confirmation.urls:
            yield from _field("> ", url, width)


def _what_counts(confirmation: Confirmation) -> Iterable[str]:
    """The texts in which a letter of another alphabet would matter."""
    match confirmation:
        case EditConfirmation():
            return [confirmation.file_path, *(line for line in confirmation.file_diff.split("\n") if line[:1] == "+")]
        case ExecConfirmation():
            return [confirmation.command, confirmation.directory, *confirmation.notes]
        case McpConfirmation():
            return [confirmation.server_name, confirmation.tool_name, dump_json(confirmation.tool_args)]
        case InfoConfirmation():
            return [confirmation.prompt, *confirmation.urls]
        case _:
            assert_never(confirmation)


def _lookalikes(texts: Iterable[str], width: int) -> Iterator[str]:
    """Words that pass for Latin ones and are not."""
    words = (word for text in texts if not text.isascii() for word in _WORD.findall(text))
    found = list(dict.fromkeys(word for word in words if _LATIN.search(word) and _LOOKALIKE.search(word)))
    for word in found[:_MOST_LOOKALIKES]:
        spelled = _LOOKALIKE.sub(lambda letter: f"<U+{ord(letter.group()):04X}>", word)
        yield from _field("Look closely, this word mixes alphabets: ", f"{word} = {spelled}", width)
    if len(found) > _MOST_LOOKALIKES:
        yield f"And {len(found) - _MOST_LOOKALIKES} more such words."


def _columns(character: str) -> int:
    if character == "\t":
        return 8
    return 2 if character > "\u02ff" and unicodedata.east_asian_width(character) in "WF" else 1


_BLANKS = re.compile(r" +|\t+")

# Cyrillic, Armenian, Cherokee and the Greek letters that look like Latin ones.
_LOOKALIKE_LETTERS = (
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf"
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13f5"
)
_LOOKALIKE = re.compile(f"[{_LOOKALIKE_LETTERS}]")
_LATIN = re.compile("[A-Za-z]")
_WORD = re.compile(f"[A-Za-z{_LOOKALIKE_LETTERS}]+")
