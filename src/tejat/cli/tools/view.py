"""Human-readable output of `tejat tools`."""

import sys
from collections.abc import Sequence
from typing import assert_never

from tejat.cli.messages import print_error, print_errors
from tejat.core.errors import ErrorType
from tejat.core.i18n import _, ngettext
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.core.messages.types import FileData, FunctionResponse, InlineData, Part, PartListUnion, Text
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.display import FileDiff
from tejat.tools.registry import ToolEntry
from tejat.ui.plain.table import print_table

_TOKENS_COLUMN = 4
"""The index of the column with numbers."""


def print_tools(entries: Sequence[ToolEntry], problems: Sequence[str] = ()) -> None:
    """Print a table of tools and the tokens of all declarations.

    On a terminal lines are cut to its width. Problems with other tools go to standard error.
    """
    costs = [estimate_declaration_tokens(entry.declaration) for entry in entries]
    rows = [
        (entry.name, entry.display_name, entry.kind.value, _source_label(entry), f"{cost:,}", _first_sentence(entry))
        for entry, cost in zip(entries, costs, strict=True)
    ]
    heading = _("NAME"), _("SHOWN AS"), _("KIND"), _("SOURCE"), _("TOKENS"), _("DESCRIPTION")
    print_table([heading, *rows], numeric=(_TOKENS_COLUMN,))
    cost = ngettext(
        "{count} tool, about {tokens:,} tokens in every request that declares it",
        "{count} tools, about {tokens:,} tokens in every request that declares all of them",
        len(entries),
        tokens=sum(costs),
    )
    print(f"\n{cost}")
    print_errors(problems)


def _source_label(entry: ToolEntry) -> str:
    if entry.server is not None:
        return _("server {name}", name=entry.server)
    return f"{entry.source}: {entry.origin}" if entry.origin else entry.source.value


def print_result(result: ToolResult) -> None:
    """Print a result: content to standard output, a failure to standard error. A terminal also gets the diff."""
    if result.error is not None:
        print_error(_failure_text(result, result.error))
        return
    display = result.return_display
    if isinstance(display, FileDiff) and sys.stdout.isatty():
        print(_format_diff(display.file_diff))
    text = _content_text(result.llm_content)
    print(sanitize_text(text) if sys.stdout.isatty() else text, end="" if text.endswith("\n") else "\n")


def _format_diff(diff: str) -> str:
    # Imported late: few calls change a file.
    from tejat.ui.plain.diff import format_diff
    from tejat.ui.plain.style import Style

    return format_diff(diff, Style(sys.stdout))


def _failure_text(result: ToolResult, error: ToolError) -> str:
    """The error for the model, or for a policy violation the text for the user, who can change the rules."""
    if error.type is ErrorType.POLICY_VIOLATION and isinstance(result.return_display, str) and result.return_display:
        return result.return_display
    return _content_text(result.llm_content)


def _first_sentence(entry: ToolEntry) -> str:
    first_line = entry.declaration.description.strip().partition("\n")[0]
    return first_line.partition(". ")[0].rstrip(".")


def _content_text(content: PartListUnion) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Text | InlineData | FileData | FunctionResponse):
        return _part_text(content)
    return "".join(item if isinstance(item, str) else _part_text(item) for item in content)


def _part_text(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case InlineData(mime_type, data):
            return _("[{type}, {size} bytes]", type=mime_type, size=len(data)) + "\n"
        case FileData(mime_type, file_uri):
            return f"[{mime_type}, {file_uri}]\n"
        case FunctionResponse(name, _):
            return _("[result of {name}]", name=name) + "\n"
        case _:
            assert_never(part)
