"""`search_file_content`: finds lines that match a regular expression in the files below a directory."""

import os
import time
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.declaration import Kind
from tejat.core.text.secret_files import is_secret_file
from tejat.core.tools.base import ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params, os_error_text
from tejat.tools.files.display_path import short_relative_path
from tejat.tools.files.search import search_directories
from tejat.tools.files.selection import MAX_RESULT_CHARACTERS
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location
from tejat.workspace.search.content_search import (
    FileHits,
    SearchQuery,
    SearchResult,
    check_pattern,
    search,
    search_file,
)
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

MAX_MATCHES = 20_000
TIMEOUT_SECONDS = 30.0


class SearchParams(Frozen):
    pattern: Annotated[str, Param("The regular expression, such as `function\\s+\\w+`.")]
    path: Annotated[
        str | None, Param("The directory or file to search, as an absolute path. Default: everywhere.", ("dir_path",))
    ] = None
    include: Annotated[
        str | None,
        Param("A glob for the files to search, such as `*.js` or `src/**/*.{ts,tsx}`.", ("include_pattern",)),
    ] = None
    exclude_pattern: Annotated[str | None, Param("Lines that match this regular expression are left out.")] = None
    case_sensitive: Annotated[bool, Param("Whether upper and lower case differ.")] = False
    fixed_strings: Annotated[bool, Param("Whether the pattern is plain text.")] = False
    context: Annotated[int | None, Param("Lines to show around each match.", minimum=0)] = None
    before: Annotated[int | None, Param("Lines to show before each match.", minimum=0)] = None
    after: Annotated[int | None, Param("Lines to show after each match.", minimum=0)] = None
    names_only: Annotated[bool, Param("Whether to give only the names of the files.")] = False
    max_matches_per_file: Annotated[int | None, Param("How many matches of a file to show.")] = None
    total_max_matches: Annotated[int | None, Param("How many matches to show in all. Default: 20000.")] = None
    no_ignore: Annotated[bool, Param("Whether to search ignored files and dependency directories too.")] = False

    @property
    def limit(self) -> int:
        return min(self.total_max_matches or MAX_MATCHES, MAX_MATCHES)

    def query(self, remaining: int, room: int) -> SearchQuery:
        context_lines = self.context or 0
        query = SearchQuery(
            pattern=self.pattern,
            exclude_pattern=self.exclude_pattern,
            case_sensitive=self.case_sensitive,
            fixed_strings=self.fixed_strings,
            include=self.include,
            before=context_lines if self.before is None else self.before,
            after=context_lines if self.after is None else self.after,
            max_matches_per_file=self.max_matches_per_file,
            total_max_matches=remaining,
            max_characters=room,
            names_only=self.names_only,
        )
        return replace(query, exclude_directories=frozenset({b".git"})) if self.no_ignore else query


class GrepTool(TypedTool[SearchParams]):
    """The tool `search_file_content`: search files with a regular expression."""

    error_label = "search"
    limits_own_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(**tool_labels("search_file_content", "SearchText"), parameters=SearchParams, kind=Kind.SEARCH)
        self._workspace = workspace

    def check(self, params: SearchParams) -> None:
        check_pattern(params.pattern, fixed_strings=params.fixed_strings)
        if params.exclude_pattern is not None:
            check_pattern(params.exclude_pattern)
        for name in ("max_matches_per_file", "total_max_matches"):
            value = getattr(params, name)
            if value is not None and value < 1:
                raise invalid_params(lazy("{name} must be at least 1.", name=name))
        search_directories(self._workspace, params.path)

    def describe(self, params: SearchParams) -> str:
        text = f"'{params.pattern}'" + (f" in {params.include}" if params.include else "")
        if params.path is None:
            return text
        shown = short_relative_path(self._workspace.roots.locate(params.path))
        return f"{text} within {'./' if shown == '.' else shown}"

    def locations(self, params: SearchParams) -> list[ToolLocation]:
        return [ToolLocation(location.path) for location in search_directories(self._workspace, params.path)]

    async def run(self, params: SearchParams, context: ToolContext) -> ToolResult:
        try:
            return await run_blocking(lambda stop: self._search(params, stop))
        except OSError as error:
            raise ToolFailure(
                lazy("Error during grep search operation: {why}", why=os_error_text(error)),
                ErrorType.GREP_EXECUTION_ERROR,
                display=f"Error: {os_error_text(error)}",
            ) from error

    def _search(self, params: SearchParams, stop: StopToken) -> ToolResult:
        locations = search_directories(self._workspace, params.path)
        report = _SearchReport(params, locations)
        end = time.monotonic() + TIMEOUT_SECONDS
        for location in locations:
            try:
                query = params.query(report.remaining, report.room)
                found = self._search_in(location, params, query, stop, max(end - time.monotonic(), 0))
            except WorkspaceError as error:
                raise _translate_error(error, location.path) from error
            report.add(found, location)
        return report.result()

    def _search_in(
        self, location: Location, params: SearchParams, query: SearchQuery, stop: StopToken, deadline: float
    ) -> SearchResult:
        rules = None if params.no_ignore else self._workspace.ignore_rules(location.root)
        try:
            with self._workspace.roots.open_directory(location) as directory:
                within = os.fsencode(location.relative)
                return search(directory.fd, query, rules=rules, within=within, stop=stop, deadline=deadline)
        except WorkspaceError as error:
            if error.error_type is not ErrorType.PATH_IS_NOT_A_DIRECTORY:
                raise
        with self._workspace.roots.open_file(location) as file:
            name = os.fsencode(os.path.basename(location.path))
            return search_file(file.fd, name, query, stop=stop, deadline=deadline)


class _SearchReport:
    """Matches of all searched directories, formatted as one result."""

    def __init__(self, params: SearchParams, locations: list[Location]) -> None:
        self._params = params
        self._prefixes = _path_prefixes(locations)
        self._files: dict[str, tuple[str, FileHits]] = {}
        self._matches = 0
        self._characters = 0
        self._limited = False
        self._complete = True

    @property
    def remaining(self) -> int:
        return self._params.limit - self._matches

    @property
    def room(self) -> int:
        return max(MAX_RESULT_CHARACTERS - self._characters, 0)

    def add(self, result: SearchResult, location: Location) -> None:
        for hits in result.files:
            path = os.path.join(location.path, hits.path)
            # A file that the call names was judged by the policy. Nothing may tell that another one matched.
            if is_secret_file(path) and not is_secret_file(location.path):
                continue
            # One workspace directory may contain another.
            if path not in self._files:
                self._files[path] = (os.path.join(self._prefixes[location.path], hits.path), hits)
                self._matches += sum(line.is_match for line in hits.lines) or 1
                self._characters += len(self._prefixes[location.path]) + hits.size
        self._limited = self._limited or result.is_limited
        self._complete = self._complete and result.is_complete

    def result(self) -> ToolResult:
        where = self._describe_query()
        unfinished = "" if self._complete else _TIMEOUT_NOTE
        if is_secret_file(self._params.include or ""):
            unfinished += _SECRET_NOTE
        if not self._files:
            return ToolResult(f"No matches found for {where}.{unfinished}", lazy("No matches found"))
        is_long = self._limited and self._matches < self._params.limit
        shown = self._matches if is_long else self._params.limit
        limited = f" (results limited to {shown} matches for performance)" if self._limited else ""
        unfinished += _MORE_NOTE if is_long else ""
        marked = lazy(" (limited)") if self._limited else ""
        files = list(self._files.values())
        if self._params.names_only:
            names = "\n".join(path for path, _ in files)
            head = f"Found {len(files)} files with matches for {where}{limited}:"
            display = lazy("Found {count} files with matches", count=len(files))
            return ToolResult(f"{head}\n{names}{unfinished}", join_lazy("", (display, marked)))
        head = f"Found {self._matches} match(es) for {where}{limited}:"
        body = "\n---\n".join(_format_file(path, hits) for path, hits in files)
        display = lazy("Found {count} match(es)", count=self._matches)
        return ToolResult(f"{head}\n---\n{body}\n---{unfinished}", join_lazy("", (display, marked)))

    def _describe_query(self) -> str:
        params = self._params
        several = len(self._prefixes)
        where = f"across {several} workspace directories" if several > 1 else f'in path "{params.path or "."}"'
        include = f' (filter: "{params.include}")' if params.include else ""
        return f'pattern "{params.pattern}" {where}{include}'


def _path_prefixes(locations: list[Location]) -> dict[str, str]:
    """Choose a prefix for the paths of each directory: none for a single one, else its base name if unique."""
    if len(locations) == 1:
        return {locations[0].path: ""}
    names = [os.path.basename(location.path) for location in locations]
    return {
        location.path: name if name and names.count(name) == 1 else location.path
        for location, name in zip(locations, names, strict=True)
    }


_TIMEOUT_NOTE = (
    f"\n(Not everything was searched: the search ended after {TIMEOUT_SECONDS:.0f} seconds or had too many files. "
    "Narrow it with 'path' or 'include'.)"
)


_MORE_NOTE = (
    "\n(There are more matches than one answer can hold. Narrow the search with 'path', 'include' or a more exact "
    "pattern, or use 'names_only'.)"
)


_SECRET_NOTE = "\n(Files that usually hold secrets are left out. To search one, name it with 'path'.)"


def _format_file(path: str, hits: FileHits) -> str:
    lines = (f"L{line.number}{':' if line.is_match else '-'} {line.text}" for line in hits.lines)
    return "\n".join([f"File: {path}", *lines])


def _translate_error(error: WorkspaceError, path: str) -> ToolFailure:
    if error.error_type is ErrorType.FILE_NOT_FOUND:
        return ToolFailure(lazy("Path does not exist: {path}", path=path), ErrorType.SEARCH_PATH_NOT_FOUND)
    return error
