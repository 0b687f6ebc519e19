"""The built-in tools: declared from data, their code loaded when they are first used."""

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from tejat.core.errors import UsageError
from tejat.core.i18n import gettext_lazy
from tejat.core.tools.base import BaseTool, FunctionDeclaration, Kind
from tejat.tools.registry import ToolEntry, ToolRegistry, ToolSource, entry_for

if TYPE_CHECKING:
    from tejat.core.tools.edit_failure import EditCorrector
    from tejat.tools.web.access import WebAccess
    from tejat.workspace.context import Workspace
    from tejat.workspace.files.memory_file import MemoryFile
    from tejat.workspace.processes.shell import ShellContext

DECLARATIONS = os.path.join(os.path.dirname(__file__), "declarations.json")
"""What the tool classes declare, written down by `scripts/declarations` so that listing them loads no tool."""

FILE_TOOLS = (
    "list_directory",
    "read_file",
    "search_file_content",
    "glob",
    "replace",
    "write_file",
    "read_many_files",
)
"""The tools that need nothing but a workspace."""


class ToolDependencies(Protocol):
    """What a session has for its tools. Each is made when a tool first needs it."""

    def workspace(self) -> "Workspace": ...

    def shell(self) -> "ShellContext": ...

    def memory(self) -> "MemoryFile": ...

    def web(self) -> "WebAccess": ...

    def corrector(self) -> "EditCorrector | None": ...


def builtin_registry(workspace: "Workspace") -> ToolRegistry:
    """A registry with the file tools, working in `workspace`. A whole session has more: see `open_tools`."""
    registry = ToolRegistry()
    for known in _load_declarations():
        if known["name"] in FILE_TOOLS:
            registry.register_entry(_builtin_entry(known, partial(load_file_tool, known["name"], workspace)))
    return registry


def session_registry(dependencies: ToolDependencies) -> ToolRegistry:
    """A registry with every built-in tool."""
    registry = ToolRegistry()
    for known in _load_declarations():
        registry.register_entry(_builtin_entry(known, partial(load_builtin, known["name"], dependencies)))
    return registry


def find_tools_entry(registry: ToolRegistry, entries: Sequence[ToolEntry]) -> ToolEntry:
    """The tool that looks for these, which are not declared themselves."""
    from tejat.tools.find_tools import FindToolsTool

    return entry_for(FindToolsTool(registry, entries))


def _load_declarations() -> list[dict[str, Any]]:
    with open(DECLARATIONS, encoding="utf-8") as file:
        return json.load(file)


def _builtin_entry(known: dict[str, Any], load: Callable[[], BaseTool]) -> ToolEntry:
    return ToolEntry(
        declaration=FunctionDeclaration(known["name"], known["description"], known["parametersJsonSchema"]),
        display_name=known["displayName"],
        class_name=known["className"],
        kind=Kind(known["kind"]),
        source=ToolSource.BUILT_IN,
        load=load,
    )


def load_builtin(name: str, dependencies: ToolDependencies) -> BaseTool:
    """The built-in tool of this name. Raises UsageError for any other name."""
    match name:
        case "replace":
            from tejat.tools.replace import EditTool

            return EditTool(dependencies.workspace(), dependencies.corrector())
        case "run_shell_command":
            from tejat.tools.run_shell_command import ShellTool

            return ShellTool(dependencies.workspace(), dependencies.shell())
        case "save_memory":
            from tejat.tools.save_memory import MemoryTool

            return MemoryTool(dependencies.memory())
        case "web_fetch":
            from tejat.tools.web_fetch import WebFetchTool

            return WebFetchTool(dependencies.web())
        case "google_web_search":
            from tejat.tools.google_web_search import WebSearchTool

            return WebSearchTool(dependencies.web())
        case "list_background_processes":
            from tejat.tools.list_background_processes import ListBackgroundProcessesTool

            return ListBackgroundProcessesTool(dependencies.shell().jobs)
        case "read_background_output":
            from tejat.tools.read_background_output import ReadBackgroundOutputTool

            return ReadBackgroundOutputTool(dependencies.shell().jobs)
        case "stop_background_process":
            from tejat.tools.stop_background_process import StopBackgroundProcessTool

            return StopBackgroundProcessTool(dependencies.shell().jobs)
        case _:
            return load_file_tool(name, dependencies.workspace())


def load_file_tool(name: str, workspace: "Workspace") -> BaseTool:
    """The file tool of this name. Raises UsageError for any other name."""
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
            raise UsageError(gettext_lazy('There is no built-in tool "{name}".', name=name))
