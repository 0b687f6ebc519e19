"""What the model is told of an edit that was corrected, and of one that was refused."""

import asyncio
from pathlib import Path

import pytest

from tejat.core.errors import ErrorType
from tejat.core.tool import ToolResult, validate_and_execute
from tejat.tools.replace import EditTool
from tejat.workspace.workspace import Workspace

CODE = "def total(items):\n    result = sum(items)\n    return result\n\n\ndef most(items):\n    return max(items)\n"


def call(workspace: Workspace, path: Path, old: str, new: str) -> ToolResult:
    given = {"file_path": str(path), "old_string": old, "new_string": new}
    return asyncio.run(validate_and_execute(EditTool(workspace), given))


@pytest.fixture
def path(root: Path) -> Path:
    (root / "f.py").write_text(CODE)
    return root / "f.py"


def refusal(path: Path) -> str:
    return (
        f"Failed to edit, 0 occurrences found for old_string in {path}. No edits made. The exact text in old_string "
        "was not found. Ensure you're not escaping content incorrectly and check whitespace, indentation, and context. "
        "Use read_file tool to verify."
    )


def test_what_was_overlooked_and_the_lines_as_they_are_now(workspace: Workspace, path: Path) -> None:
    result = call(
        workspace, path, "\tresult = sum(items)\n\treturn result", "\tresult = sum(items)\n\treturn result + 1"
    )
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). The file does not contain old_string as given; it was "
        "corrected: overlooked: indentation. Lines 2-4 are now:\n    result = sum(items)\n    return result + 1\n"
    )


def test_what_was_repaired(workspace: Workspace, path: Path) -> None:
    result = call(workspace, path, "```\n    return max(items)\n```", "    return min(items)")
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). The file does not contain old_string as given; it was "
        "corrected: the code fence was left out. Lines 6-7 are now:\ndef most(items):\n    return min(items)"
    )


def test_the_nearest_text_and_what_differs(workspace: Workspace, path: Path) -> None:
    result = call(workspace, path, "    result = add(items)\n    return result", "    result = 0\n    return result")
    assert result.error is not None
    assert result.error.type is ErrorType.EDIT_NO_OCCURRENCE_FOUND
    assert result.llm_content == (
        f"{refusal(path)} Line 2 is to be changed and is not what old_string says.\n"
        "Nearest text in the file, lines 2-3:\n    result = sum(items)\n    return result\n"
        "What differs:\n- line 2: old_string has `result = add(items)`, the file `result = sum(items)`"
    )
    assert path.read_text() == CODE


def test_an_edit_that_was_made_already(workspace: Workspace, path: Path) -> None:
    result = call(workspace, path, "    return min(items)", "    return max(items)")
    assert str(result.llm_content).startswith(
        f"{refusal(path)} The edit seems to be applied already: the file has the text of new_string."
    )


def test_a_file_that_is_kept_from_the_model_is_not_shown(workspace: Workspace, root: Path, path: Path) -> None:
    (root / ".geminiignore").write_text("f.py\n")
    assert call(workspace, path, "    result = add(items)\n    return result", "    x = 1").llm_content == refusal(path)
    result = call(workspace, path, "    return  max(items)", "    return  min(items)")
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). The file does not contain old_string as given; it was "
        "corrected: overlooked: spacing or look-alike characters."
    )


def test_a_file_that_changed_on_disk_is_refused_first(workspace: Workspace, path: Path) -> None:
    assert call(workspace, path, "max(items)", "min(items)").error is None
    path.write_text(CODE.replace("total", "whole"))
    result = call(workspace, path, "  result  = sum(items)", "  result  = 0")
    assert result.error is not None
    assert result.error.type is ErrorType.STALE_FILE
