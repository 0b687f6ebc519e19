"""`read_file`: reads one file."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params
from tejat.tools.files.content import (
    DEFAULT_LINES,
    FileContent,
    LocatedFile,
    find_ignore_verdict,
    read_cached_content,
    read_content,
)
from tejat.tools.files.display_path import relative_path, short_relative_path
from tejat.workspace.context import Workspace
from tejat.workspace.files.media.file_type import FileKind
from tejat.workspace.files.roots import Location, RootDirectory
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken


class ReadFileParams(Frozen):
    path: Annotated[str, Param("The file, as an absolute path.", aliases=("absolute_path", "file_path"))]
    offset: Annotated[
        int | None, Param("The line to begin with, counted from 0. Use it with `limit`.", json_type="number")
    ] = None
    limit: Annotated[int | None, Param("How many lines to read. Default: 2000.", json_type="number")] = None
    start_line: Annotated[int | None, Param(minimum=1, declared=False)] = None
    end_line: Annotated[int | None, Param(minimum=1, declared=False)] = None

    @property
    def has_range(self) -> bool:
        """Whether only some lines are wanted."""
        return any(given is not None for given in (self.offset, self.limit, self.start_line, self.end_line))

    @property
    def first_line(self) -> int:
        """First line to read, counted from 0."""
        if self.start_line is not None:
            return self.start_line - 1
        return self.offset or 0

    @property
    def line_count(self) -> int:
        if self.end_line is not None:
            return self.end_line - self.first_line
        return DEFAULT_LINES if self.limit is None else self.limit


class ReadFileTool(TypedTool[ReadFileParams]):
    """The tool `read_file`: read a text, an image, a PDF or other media, whole or in pages."""

    error_label = "read file"
    limits_own_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(**tool_labels("read_file", "ReadFile"), parameters=ReadFileParams, kind=Kind.READ)
        self._workspace = workspace

    def check(self, params: ReadFileParams) -> None:
        if not params.path.strip():
            raise invalid_params(lazy("The 'path' parameter must be non-empty."))
        if params.offset is not None and params.offset < 0:
            raise invalid_params(lazy("Offset must be a non-negative number"))
        if params.limit is not None and params.limit <= 0:
            raise invalid_params(lazy("Limit must be a positive number"))
        if params.line_count <= 0:
            raise invalid_params(lazy("start_line cannot be greater than end_line"))
        self._workspace.roots.locate(params.path)

    def describe(self, params: ReadFileParams) -> str:
        return short_relative_path(self._workspace.roots.locate(params.path))

    def locations(self, params: ReadFileParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.path).path, params.first_line)]

    async def run(self, params: ReadFileParams, context: ToolContext) -> ToolResult:
        location = self._workspace.roots.locate(params.path)
        try:
            read = self._read_cached(location, params)
            if read is None:
                read = await run_blocking(lambda stop: self._read(location, params, stop))
            else:
                await asyncio.sleep(0)  # many calls in a row must not keep others from running
        except WorkspaceError as error:
            raise _translate_error(error, location) from error
        except OSError as error:
            raise _read_failure(location, str(error.strerror), ErrorType.READ_CONTENT_FAILURE) from error
        return ToolResult(read.content, read.display)

    def _read_cached(self, location: Location, params: ReadFileParams) -> FileContent | None:
        """Read the file in place, None if something has to be waited for."""
        rules = self._workspace.find_current_rules()
        if rules is None:
            return None
        check = partial(self._reject_ignored, rules_of=rules.__getitem__)
        lines = params.first_line, params.line_count
        return read_cached_content(self._workspace, location, offset=lines[0], limit=lines[1], check=check)

    def _read(self, location: Location, params: ReadFileParams, stop: StopToken) -> FileContent:
        return read_content(
            self._workspace,
            location,
            offset=params.first_line,
            limit=params.line_count,
            pdf_as_text=params.has_range,
            stop=stop,
            check=partial(self._reject_ignored, rules_of=self._workspace.own_ignore_rules),
        )

    def _reject_ignored(
        self, file: LocatedFile, _: FileKind, *, rules_of: Callable[[RootDirectory], IgnoreRules]
    ) -> None:
        if find_ignore_verdict(self._workspace.roots, file, rules_of) is IgnoreStatus.NOT_IGNORED:
            return
        place = file.location
        rule = rules_of(place.root).explain(place.relative, is_directory=False)
        why = (
            lazy("It is a link to such a file.")
            if rule is None
            else lazy("See line {line} of {file}: {rule}", line=rule.line, file=rule.file, rule=rule.text)
        )
        raise invalid_params(
            lazy(
                "File path '{path}' is ignored by .geminiignore pattern(s). {why}",
                path=short_relative_path(place),
                why=why,
            )
        )


def _translate_error(error: WorkspaceError, location: Location) -> ToolFailure:
    match error.error_type:
        case ErrorType.FILE_NOT_FOUND:
            message = lazy("File not found: {path}", path=location.path)
            return ToolFailure(message, error.error_type, display=lazy("File not found."))
        case ErrorType.TARGET_IS_DIRECTORY:
            message = lazy("Path is a directory, not a file: {path}", path=location.path)
            return ToolFailure(message, error.error_type, display=lazy("Path is a directory."))
        case ErrorType.READ_CONTENT_FAILURE | ErrorType.PERMISSION_DENIED:
            return _read_failure(location, error.message, error.error_type)
        case _:
            return error


def _read_failure(location: Location, reason: str, error_type: ErrorType) -> ToolFailure:
    message = lazy("Error reading file {location}: {reason}", location=relative_path(location), reason=reason)
    return ToolFailure(message, error_type)
