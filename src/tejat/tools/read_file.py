"""`read_file`: the content of one file."""

from functools import partial
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools.file_content import DEFAULT_LINES, FileContent, ignored_by, read_content
from tejat.tools.short_path import relative, short_relative
from tejat.tools.words import description_of
from tejat.workspace.ignore import Ignored
from tejat.workspace.media import FileKind
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.roots import Location, OpenFile
from tejat.workspace.workspace import Workspace


@value
class ReadFileParams:
    path: Annotated[str, Param("The file, as an absolute path.", aliases=("absolute_path", "file_path"))]
    offset: Annotated[
        int | None, Param("The line to begin with, counted from 0. Use it with `limit`.", json_type="number")
    ] = None
    limit: Annotated[int | None, Param("How many lines to read. Default: 2000.", json_type="number")] = None
    start_line: Annotated[int | None, Param(minimum=1, declared=False)] = None
    end_line: Annotated[int | None, Param(minimum=1, declared=False)] = None

    @property
    def first(self) -> int:
        """The first line to read, counted from 0."""
        if self.start_line is not None:
            return self.start_line - 1
        return self.offset or 0

    @property
    def count(self) -> int:
        if self.end_line is not None:
            return self.end_line - self.first
        return DEFAULT_LINES if self.limit is None else self.limit


class ReadFileTool(TypedTool[ReadFileParams]):
    spoken_name = "read file"
    bounds_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            name="read_file",
            display_name="ReadFile",
            description=description_of("read_file"),
            parameters=ReadFileParams,
            kind=Kind.READ,
        )
        self._workspace = workspace

    def check(self, params: ReadFileParams) -> None:
        if not params.path.strip():
            raise _invalid(phrase("The 'path' parameter must be non-empty."))
        if params.offset is not None and params.offset < 0:
            raise _invalid(phrase("Offset must be a non-negative number"))
        if params.limit is not None and params.limit <= 0:
            raise _invalid(phrase("Limit must be a positive number"))
        if params.count <= 0:
            raise _invalid(phrase("start_line cannot be greater than end_line"))
        self._workspace.roots.locate(params.path)

    def describe(self, params: ReadFileParams) -> str:
        return short_relative(self._workspace.roots.locate(params.path))

    def locations(self, params: ReadFileParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.path).path, params.first)]

    async def run(self, params: ReadFileParams, context: ToolContext) -> ToolResult:
        location = self._workspace.roots.locate(params.path)
        try:
            read = await off_loop(lambda stop: self._read(location, params, stop))
        except WorkspaceError as error:
            raise _in_words(error, location) from error
        except OSError as error:
            raise _unreadable(location, str(error.strerror), ErrorType.READ_CONTENT_FAILURE) from error
        return ToolResult(read.content, read.display)

    def _read(self, location: Location, params: ReadFileParams, stop: Stop) -> FileContent:
        return read_content(
            self._workspace, location, offset=params.first, limit=params.count, stop=stop, check=self._refuse_ignored
        )

    def _refuse_ignored(self, file: OpenFile, _: FileKind) -> None:
        rules_of = partial(self._workspace.ignore_rules, git=False)
        if ignored_by(self._workspace.roots, file, rules_of) is Ignored.NO:
            return
        place = file.location
        rule = rules_of(place.root).explain(place.relative, is_directory=False)
        why = (
            phrase("It is a link to such a file.")
            if rule is None
            else phrase("See line {line} of {file}: {rule}", line=rule.line, file=rule.file, rule=rule.text)
        )
        raise _invalid(
            phrase(
                "File path '{path}' is ignored by .geminiignore pattern(s). {why}", path=short_relative(place), why=why
            )
        )


def _invalid(reason: str) -> ToolFailure:
    return ToolFailure(reason, ErrorType.INVALID_TOOL_PARAMS)


def _in_words(error: WorkspaceError, location: Location) -> ToolFailure:
    match error.error_type:
        case ErrorType.FILE_NOT_FOUND:
            return ToolFailure(
                phrase("File not found: {path}", path=location.path),
                error.error_type,
                display=phrase("File not found."),
            )
        case ErrorType.TARGET_IS_DIRECTORY:
            return ToolFailure(
                phrase("Path is a directory, not a file: {path}", path=location.path),
                error.error_type,
                display=phrase("Path is a directory."),
            )
        case ErrorType.READ_CONTENT_FAILURE | ErrorType.PERMISSION_DENIED:
            return _unreadable(location, error.message, error.error_type)
        case _:
            return error


def _unreadable(location: Location, reason: str, error_type: ErrorType) -> ToolFailure:
    return ToolFailure(
        phrase("Error reading file {location}: {reason}", location=relative(location), reason=reason), error_type
    )
