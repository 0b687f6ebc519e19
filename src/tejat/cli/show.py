"""What `tejat tools` prints for people."""

import os
import sys
from collections.abc import Sequence
from typing import assert_never

from tejat.cli.style import Style
from tejat.core.errors import ErrorType
from tejat.core.tokens import estimate_declaration
from tejat.core.tool import ToolError, ToolResult
from tejat.core.types import FileData, FunctionResponse, InlineData, Part, PartListUnion, Text
from tejat.core.visible import visible
from tejat.core.words import say, say_count, translated
from tejat.tools.registry import Entry

_TOKENS = 4
"""The column with numbers."""


def show_tools(entries: Sequence[Entry], problems: Sequence[str] = ()) -> None:
    """A table: name, display name, kind, where it is from, its tokens, what it does; then what all of them cost.

    On a terminal its lines are cut to the width. Problems, of tools that could not be had, go to standard error.
    """
    costs = [estimate_declaration(entry.declaration) for entry in entries]
    rows = [
        (entry.name, entry.display_name, entry.kind.value, _source_of(entry), f"{cost:,}", _first_sentence(entry))
        for entry, cost in zip(entries, costs, strict=True)
    ]
    heading = say("NAME"), say("SHOWN AS"), say("KIND"), say("SOURCE"), say("TOKENS"), say("WHAT IT DOES")
    _show_table([heading, *rows])
    cost = say_count(
        "{count} tool, about {tokens:,} tokens in every request that tells of all of them",
        "{count} tools, about {tokens:,} tokens in every request that tells of all of them",
        len(entries),
        tokens=sum(costs),
    )
    print(f"\n{cost}")
    for problem in problems:
        print(f"tejat: {visible(translated(problem))}", file=sys.stderr)


def _source_of(entry: Entry) -> str:
    if entry.server is not None:
        return say("server {name}", name=entry.server)
    return f"{entry.source}: {entry.origin}" if entry.origin else entry.source.value


def _show_table(rows: Sequence[tuple[str, ...]]) -> None:
    """The first row is the heading; the last column may be as long as it likes."""
    cleaned = [tuple(visible(translated(cell)) for cell in row) for row in rows]
    *widths, _ = (max(map(len, column)) for column in zip(*cleaned, strict=True))
    room = _columns() if sys.stdout.isatty() else 0
    style = Style(sys.stdout)
    for number, row in enumerate(cleaned):
        cells = [_aligned(cell, width, at) for at, (cell, width) in enumerate(zip(row, widths, strict=False))]
        line = "  ".join([*cells, row[-1]])
        if room and len(line) > room:
            line = line[: room - 1] + "…"
        print(style.bold(line) if number == 0 else line)


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column == _TOKENS else cell.ljust(width)


def show_result(result: ToolResult) -> None:
    """The result as a person reads it: content on standard output, a failure on standard error."""
    if result.error is not None:
        print(f"tejat: {visible(translated(_reason(result, result.error)))}", file=sys.stderr)
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
            return say("[{type}, {size} bytes]", type=mime_type, size=len(data)) + "\n"
        case FileData(mime_type, file_uri):
            return f"[{mime_type}, {file_uri}]\n"
        case FunctionResponse(name, _):
            return say("[answer of {name}]", name=name) + "\n"
        case _:
            assert_never(part)
