"""Expected failures of `replace`."""

from pathlib import Path

from support.tool_results import failed_result
from tejat.core.errors import ErrorType
from tejat.core.tools.base import ToolResult


def not_found_result(path: Path, nearest: str = "") -> ToolResult:
    return failed_result(
        f"Failed to edit, 0 occurrences found for old_string in {path}. No edits made. The exact text in old_string "
        "was not found. Ensure you're not escaping content incorrectly and check whitespace, indentation, and context. "
        f"Use read_file tool to verify.{nearest}",
        ErrorType.EDIT_NO_OCCURRENCE_FOUND,
        "Error: Failed to edit, could not find the string to replace.",
    )


def nothing_similar(text: str) -> str:
    """Explanation for a short file that shares nothing with the search text."""
    lines = text.splitlines()
    size, where = ("1 line", "line 1") if len(lines) == 1 else (f"{len(lines)} lines", f"lines 1-{len(lines)}")
    return (
        f" The file has {size} and none of the telling words of old_string: is another file meant?"
        f"\nHow it begins, {where}:\n" + "\n".join(lines)
    )


def count_mismatch_result(path: Path, expected: int, found: int, places: str) -> ToolResult:
    return failed_result(
        f"Failed to edit, expected {expected} occurrences but found {found} for old_string in file: {path}. {places}",
        ErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
        f"Error: Failed to edit, expected {expected} occurrences but found {found}.",
    )
