"""Writing tools refuse a line that stands for lines of the file."""

import asyncio
from pathlib import Path

import pytest

from support.note_tool import create_scheduler
from support.tool_results import EditApprover
from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.tools import builtin_registry
from tejat.workspace.context import Workspace

BEFORE = "def area(shape):\n    width = shape.width\n    height = shape.height\n    return width * height\n"
AFTER = "def area(shape):\n    # ...\n    return width * height * 2\n"
REFUSAL = (
    "contains an omission placeholder: `# ...` would replace lines of the file. Provide those lines. "
    "If they must go and `# ...` is meant literally, delete them in one edit and add it in another."
)


def call(workspace: Workspace, name: str, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(builtin_registry(workspace)[name], params))


def test_write_file(workspace: Workspace, root: Path) -> None:
    (root / "f.py").write_text(BEFORE)
    result = call(workspace, "write_file", file_path="f.py", content=AFTER)
    assert result.error is not None
    assert (result.error.type, result.error.message) == (ErrorType.INVALID_TOOL_PARAMS, f"`content` {REFUSAL}")
    assert (root / "f.py").read_text() == BEFORE
    assert call(workspace, "write_file", file_path="new.py", content=AFTER).error is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_replace(workspace: Workspace, root: Path, encoding: str, ending: str) -> None:
    raw = f"# é\n{BEFORE}".replace("\n", ending).encode(encoding)
    (root / "f.py").write_bytes(raw)
    result = call(workspace, "replace", file_path="f.py", old_string=BEFORE, new_string=AFTER)
    assert result.error is not None
    assert (result.error.type, result.error.message) == (ErrorType.INVALID_TOOL_PARAMS, f"`new_string` {REFUSAL}")
    assert (root / "f.py").read_bytes() == raw


def test_the_two_edits_that_the_refusal_suggests(workspace: Workspace, root: Path) -> None:
    (root / "f.py").write_text(BEFORE)
    deleted = "def area(shape):\n    return width * height * 2\n"
    assert call(workspace, "replace", file_path="f.py", old_string=BEFORE, new_string=deleted).error is None
    assert call(workspace, "replace", file_path="f.py", old_string=deleted, new_string=AFTER).error is None
    assert (root / "f.py").read_text() == AFTER


@pytest.mark.parametrize("name", ["replace", "write_file"])
def test_what_a_person_wrote(workspace: Workspace, root: Path, name: str) -> None:
    (root / "f.py").write_text(BEFORE)
    person = EditApprover([ApprovalReply(Outcome.PROCEED_ONCE, new_content=AFTER), ApprovalReply(Outcome.PROCEED_ONCE)])
    given = {"file_path": "f.py", "old_string": BEFORE, "new_string": "x\n"}
    arguments = given if name == "replace" else {"file_path": "f.py", "content": "x\n"}
    scheduler = create_scheduler(workspace.roots, builtin_registry(workspace), person)
    assert asyncio.run(scheduler.run(FunctionCall(name, arguments))).error is None
    assert (root / "f.py").read_text() == AFTER
