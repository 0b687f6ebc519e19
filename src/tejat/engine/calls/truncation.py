"""Truncation of long results: the model gets both ends, the full text is saved to a file."""

import os
from collections.abc import Sequence
from contextlib import suppress

from tejat.core.frozen import replace
from tejat.core.messages.types import Part, PartListUnion, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.display import Display
from tejat.workspace.files.private_files import create_private_file, make_private_directory
from tejat.workspace.processes.truncation_notice import truncate_text

DEFAULT_LIMIT = 40_000
"""Characters of one result that a model is given."""

_CHUNK_CHARACTERS = 1_000_000
"""Long texts are encoded in pieces of this size, and not all at once."""
_SAFE_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


class OutputTruncator:
    """Truncates results and saves the full text. A limit of 0 or less means no limit.

    `directory` is created on first use.
    """

    def __init__(self, directory: str, *, limit: int = DEFAULT_LIMIT) -> None:
        self._directory = directory
        self._limit = limit

    def truncate(self, result: ToolResult, *, tool_name: str) -> ToolResult:
        """Return the result with every text for the model within the limit. If one is too long, so may be its display.

        If the full text cannot be saved, the truncation notice says so.
        """
        content = self._truncate_content(result.llm_content, tool_name)
        if content != result.llm_content:
            result = replace(result, return_display=self._truncate_display(result, content, tool_name))
        if result.error is None or len(result.error.message) <= self._limit:
            return result if content is result.llm_content else replace(result, llm_content=content)
        error = ToolError(self._truncate_text(result.error.message, tool_name), result.error.type)
        return replace(result, llm_content=content, error=error)

    def _truncate_display(self, result: ToolResult, content: PartListUnion, tool_name: str) -> Display:
        display = result.return_display
        if not isinstance(display, str):
            return display
        if isinstance(content, str) and display is result.llm_content:
            return content
        return self._truncate_text(display, tool_name)

    def _truncate_content(self, content: PartListUnion, tool_name: str) -> PartListUnion:
        if isinstance(content, Sequence) and not isinstance(content, str):
            return [self._truncate_item(item, tool_name) for item in content]
        return self._truncate_item(content, tool_name)

    def _truncate_item(self, item: str | Part, tool_name: str) -> str | Part:
        match item:
            case str():
                return self._truncate_text(item, tool_name)
            case Text(text):
                return Text(self._truncate_text(text, tool_name))
            case _:
                return item

    def _truncate_text(self, text: str, tool_name: str) -> str:
        if self._limit <= 0 or len(text) <= self._limit:
            return text
        return truncate_text(text, limit=self._limit, path=self._save(text, tool_name))

    def _save(self, text: str, tool_name: str) -> str | None:
        name = "".join(letter if letter in _SAFE_CHARACTERS else "_" for letter in tool_name)[:64]
        path = os.path.join(self._directory, f"{name}_{os.urandom(8).hex()}.txt")
        try:
            make_private_directory(self._directory)
            with open(create_private_file(path), "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                for start in range(0, len(text), _CHUNK_CHARACTERS):
                    file.write(text[start : start + _CHUNK_CHARACTERS])
        except OSError:
            with suppress(OSError):
                os.unlink(path)  # a partial file would be taken for the whole
            return None
        return path
