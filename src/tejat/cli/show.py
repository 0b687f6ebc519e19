"""What `tejat tools` prints for people."""

import os
import sys
from typing import assert_never

from tejat.cli.style import Style
from tejat.core.errors import ErrorType
from tejat.core.tool import ToolError, ToolResult
from tejat.core.types import FileData, FunctionResponse, InlineData, Part, PartListUnion, Text
from tejat.core.visible import visible
from tejat.tools.registry import Entry


def show_tools(entries: list[Entry]) -> None:
    """A table: name, display name, kind, first line of the description, cut to the width of the terminal."""
    rows = [
        (visible(entry.name), visible(entry.display_name), entry.kind.value, visible(_first_sentence(entry)))
        for entry in entries
    ]
    rows.insert(0, ("NAME", "SHOWN AS", "KIND", "WHAT IT DOES"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    room = _columns() if sys.stdout.isatty() else 0
    style = Style(sys.stdout)
    for number, row in enumerate(rows):
        line = "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])
        if room and len(line) > room:
            line = line[: room - 1] + "…"
        print(style.bold(line) if number == 0 else line)


def show_result(result: ToolResult) -> None:
    """The result as a person reads it: content on standard output, a failure on standard error."""
    if result.error is not None:
        print(f"tejat: {visible(_reason(result, result.error))}", file=sys.stderr)
        return
    text = _in_words(result.llm_content)
    print(visible(text) if sys.stdout.isatty() else text, end="" if text.endswith("\n") else "\n")


def _reason(result: ToolResult, error: ToolError) -> str:
    """What the model is told, or where a rule stood in the way what a person can do about it."""
    if error.type is ErrorType.POLICY_VIOLATION and isinstance(result.return_display, str) and result.return_display:
        return result.return_display
    return _in_words(result.llm_content)


def _columns() -> int:
    """How wide the terminal is; 0 when it does not say."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 0


def _first_sentence(entry: Entry) -> str:
    first_line = entry.declaration.description.strip().partition("\n")[0]
    return first_line.partition(". ")[0].rstrip(".")


def _in_words(content: PartListUnion) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Text | InlineData | FileData | FunctionResponse):
        return _part_in_words(content)
    return "".join(item if isinstance(item, str) else _part_in_words(item) for item in content)


def _part_in_words(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case InlineData(mime_type, data):
            return f"[{mime_type}, {len(data)} bytes]\n"
        case FileData(mime_type, file_uri):
            return f"[{mime_type}, {file_uri}]\n"
        case FunctionResponse(name, _):
            return f"[answer of {name}]\n"
        case _:
            assert_never(part)
