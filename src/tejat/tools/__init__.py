"""The built-in tools: declared from data, their code loaded when they are first used."""

import json
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tejat.core.errors import UsageError
from tejat.core.tool import BaseTool, FunctionDeclaration, Kind
from tejat.tools.registry import Entry, Source, ToolRegistry

if TYPE_CHECKING:
    from tejat.workspace.workspace import Workspace

DECLARATIONS = os.path.join(os.path.dirname(__file__), "declarations.json")
"""What the tool classes declare, written down by `scripts/declarations` so that listing them loads no tool."""


def builtin_registry(workspace: "Workspace") -> ToolRegistry:
    """A registry with every built-in tool, working in `workspace`."""
    return lazy_builtin_registry(lambda: workspace)


def lazy_builtin_registry(open_workspace: "Callable[[], Workspace]") -> ToolRegistry:
    """The same for a workspace that is opened when the first tool is used."""
    registry = ToolRegistry()
    with open(DECLARATIONS, encoding="utf-8") as file:
        declared: list[dict[str, Any]] = json.load(file)
    for known in declared:
        entry = Entry(
            declaration=FunctionDeclaration(known["name"], known["description"], known["parametersJsonSchema"]),
            display_name=known["displayName"],
            class_name=known["className"],
            kind=Kind(known["kind"]),
            source=Source.BUILT_IN,
            load=partial(_load, known["name"], open_workspace),
        )
        registry.register_entry(entry)
    return registry


def _load(name: str, open_workspace: "Callable[[], Workspace]") -> BaseTool:
    return load_builtin(name, open_workspace())


def load_builtin(name: str, workspace: "Workspace") -> BaseTool:
    """The built-in tool of this name. Raises UsageError for any other name."""
    match name:
        case "list_directory":
            from tejat.tools.list_directory import LSTool

            return LSTool(workspace)
        case "read_file":
            from tejat.tools.read_file import ReadFileTool

            return ReadFileTool(workspace)
        case "search_file_content":
            from tejat.tools.search_file_content import GrepTool

            return GrepTool(workspace)
        case "glob":
            from tejat.tools.glob import GlobTool

            return GlobTool(workspace)
        case "replace":
            from tejat.tools.replace import EditTool

            return EditTool(workspace)
        case "write_file":
            from tejat.tools.write_file import WriteFileTool

            return WriteFileTool(workspace)
        case "read_many_files":
            from tejat.tools.read_many_files import ReadManyFilesTool

            return ReadManyFilesTool(workspace)
        case _:
            raise UsageError(f'There is no built-in tool "{name}".')
