"""Relative paths: every tool that takes a path takes one relative to the workspace."""

import asyncio
from pathlib import Path

import pytest

from support.tool_results import outside_workspace_result
from tejat.core.tools.base import validate_and_execute
from tejat.tools import builtin_registry
from tejat.workspace.context import Workspace

CALLS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("read_file", "sub/f", {"absolute_path": "sub/f"}),
    ("write_file", "sub/f", {"file_path": "sub/f", "content": "new"}),
    ("replace", "sub/f", {"file_path": "sub/f", "old_string": "old", "new_string": "new"}),
    ("replace", "sub/new", {"file_path": "sub/new", "old_string": "", "new_string": "new"}),
    ("list_directory", "sub", {"path": "sub"}),
    ("glob", "sub", {"pattern": "*", "path": "sub"}),
    ("search_file_content", "sub", {"pattern": "old", "path": "sub"}),
    ("read_many_files", "sub", {"paths": ["sub/f"]}),
)


@pytest.mark.parametrize(("name", "path", "params"), CALLS)
def test_a_relative_path_is_in_the_root(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, path: str, params: dict[str, object]
) -> None:
    monkeypatch.chdir(root.parent)
    (root / "sub").mkdir()
    (root / "sub" / "f").write_text("old\n")
    assert asyncio.run(validate_and_execute(builtin_registry(workspace)[name], params)).error is None
    assert not (root.parent / "sub").exists()
    assert path == "sub" or (root / path).read_text().strip() in {"old", "new"}


@pytest.mark.parametrize("path", ["../MARK", "sub/../../MARK"])
def test_replace_outside_of_the_root(workspace: Workspace, root: Path, path: str) -> None:
    tool = builtin_registry(workspace)["replace"]
    params = {"file_path": path, "old_string": "", "new_string": "x"}
    assert asyncio.run(validate_and_execute(tool, params)) == outside_workspace_result(path, root)
    assert not (root.parent / "MARK").exists()
