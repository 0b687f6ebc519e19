"""A workspace whose files are open in an editor, and the tools of a model in it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from support.editor import EditorProcess, write_old
from tejat.core.approval.confirmation import Confirmation
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult, validate_and_execute
from tejat.tools.read_file import ReadFileTool
from tejat.tools.read_many_files import ReadManyFilesTool
from tejat.tools.replace import EditTool
from tejat.tools.write_file import WriteFileTool
from tejat.workspace.context import Workspace


class EditorWorkspace:
    """The root, its editor and its workspace. `replaced` are the contents that undo would restore."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.editor = EditorProcess(root, **options)
        self.workspace = Workspace([str(root)], editor=self.editor.files)
        self.replaced: dict[str, bytes] = {}

    def __enter__(self) -> "EditorWorkspace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.editor.close()
        self.workspace.close()

    def file(self, name: str, raw: bytes = b"") -> Path:
        """Write a file that the editor has had the time to load."""
        return write_old(self.root / name, raw)

    def read(self, name: str, **more: Any) -> ToolResult:
        return self._run(ReadFileTool(self.workspace), {"path": name, **more})

    def read_many(self, *names: str) -> ToolResult:
        return self._run(ReadManyFilesTool(self.workspace), {"paths": list(names)})

    def write(self, name: str, content: str) -> ToolResult:
        return self._run(WriteFileTool(self.workspace), {"file_path": name, "content": content})

    def replace(self, name: str, old: str, new: str) -> ToolResult:
        return self._run(EditTool(self.workspace), {"file_path": name, "old_string": old, "new_string": new})

    def propose(self, name: str, old: str, new: str) -> Confirmation:
        """What the user is shown before a `replace`."""
        params = {"file_path": name, "old_string": old, "new_string": new}
        confirmation = asyncio.run(EditTool(self.workspace).should_confirm_execute(params))
        assert confirmation is not None
        return confirmation

    def approve(self, name: str, old: str, new: str, confirmation: Confirmation) -> ToolResult:
        """Do what the user has approved."""
        params = {"file_path": name, "old_string": old, "new_string": new}
        return self._run(EditTool(self.workspace), params, confirmation)

    def _run(self, tool: BaseTool, params: Mapping[str, object], approved: Confirmation | None = None) -> ToolResult:
        context = ToolContext(approved=approved, keep_replaced=self.replaced.__setitem__)
        return asyncio.run(validate_and_execute(tool, params, context))
