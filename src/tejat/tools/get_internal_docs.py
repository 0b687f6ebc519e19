"""`get_internal_docs`: lists and reads the documentation that is installed with Tejat.

It is declared to the agent `cli_help` only: see `ToolEntry.is_declared`.
"""

import os
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.text.paths import is_beneath_any
from tejat.core.tools.base import ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import os_error_text
from tejat.workspace.documentation import DOCUMENTATION_DIRECTORY, documentation_files, read_documentation
from tejat.workspace.threads.offload import run_blocking


class GetInternalDocsParams(Frozen):
    path: Annotated[str | None, Param("File of the list, for example `settings.md`. Leave it out to get the list.")] = (
        None
    )


class GetInternalDocsTool(TypedTool[GetInternalDocsParams]):
    error_label = "get internal docs"

    def __init__(self) -> None:
        super().__init__(
            **tool_labels("get_internal_docs", "GetInternalDocs"), parameters=GetInternalDocsParams, kind=Kind.READ
        )

    def describe(self, params: GetInternalDocsParams) -> str:
        return params.path or "Listing the documentation"

    async def run(self, params: GetInternalDocsParams, context: ToolContext) -> ToolResult:
        return await run_blocking(lambda _: _read(params.path) if params.path else _list())


def _list() -> ToolResult:
    try:
        names = documentation_files()
    except OSError as error:
        raise _failure(os_error_text(error)) from error
    lines = "\n".join(f"- {name}" for name in names)
    return ToolResult(
        f"Available Tejat documentation files:\n\n{lines}",
        lazy("Found {count} documentation files.", count=len(names)),
    )


def _read(path: str) -> ToolResult:
    """Read a file of the list, by its path beneath the directory."""
    try:
        name = _relative_name(path)
        if name not in documentation_files():
            raise _failure(f"File not found: {path}. Call without path for the list.", ErrorType.FILE_NOT_FOUND)
        return ToolResult(read_documentation(name), lazy("Read {name}.", name=name))
    except OSError as error:
        raise _failure(os_error_text(error)) from error


def _relative_name(path: str) -> str:
    """Raises ToolFailure for a path outside of the directory."""
    full = os.path.normpath(os.path.join(DOCUMENTATION_DIRECTORY, path.removeprefix("docs/")))
    if not is_beneath_any(full, (DOCUMENTATION_DIRECTORY,)):
        raise _failure(f"{path} is outside of the documentation directory.", ErrorType.PATH_NOT_IN_WORKSPACE)
    return os.path.relpath(full, DOCUMENTATION_DIRECTORY)


def _failure(reason: str, error_type: ErrorType = ErrorType.EXECUTION_FAILED) -> ToolFailure:
    return ToolFailure(f"Error accessing internal documentation: {reason}", error_type)
