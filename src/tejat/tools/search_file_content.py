"""`search_file_content`: lines that match a regular expression, in all files below a directory."""

import os
import time
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.value import replace, value
from tejat.core.words import joined, phrase
from tejat.tools.file_search import search_places
from tejat.tools.short_path import short_relative
from tejat.tools.words import description_of
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.roots import Location
from tejat.workspace.search.search import FileHits, Query, SearchResult, check_pattern, search, search_file
from tejat.workspace.workspace import Workspace

MOST_MATCHES = 20_000
SECONDS = 30.0


@value
class SearchParams:
    pattern: Annotated[str, Param("The regular expression, such as `function\\s+\\w+`.")]
    path: Annotated[
        str | None,
        Param("The directory or file to search, as an absolute path. Default: everywhere.", ("dir_path",)),
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
        return min(self.total_max_matches or MOST_MATCHES, MOST_MATCHES)

    def query(self, room: int) -> Query:
        surroundings = self.context or 0
        query = Query(
            pattern=self.pattern,
            exclude_pattern=self.exclude_pattern,
            case_sensitive=self.case_sensitive,
            fixed_strings=self.fixed_strings,
            include=self.include,
            before=surroundings if self.before is None else self.before,
            after=surroundings if self.after is None else self.after,
            max_matches_per_file=self.max_matches_per_file,
            total_max_matches=room,
            names_only=self.names_only,
        )
        return replace(query, exclude_directories=frozenset({b".git"})) if self.no_ignore else query


class GrepTool(TypedTool[SearchParams]):
    spoken_name = "search"
    bounds_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            name="search_file_content",
            display_name="SearchText",
            description=description_of("search_file_content"),
            parameters=SearchParams,
            kind=Kind.SEARCH,
        )
        self._workspace = workspace

    def check(self, params: SearchParams) -> None:
        check_pattern(params.pattern, fixed_strings=params.fixed_strings)
        if params.exclude_pattern is not None:
            check_pattern(params.exclude_pattern)
        for name in ("max_matches_per_file", "total_max_matches"):
            value = getattr(params, name)
            if value is not None and value < 1:
                raise ToolFailure(phrase("{name} must be at least 1.", name=name), ErrorType.INVALID_TOOL_PARAMS)
        search_places(self._workspace, params.path)

    def describe(self, params: SearchParams) -> str:
        said = f"'{params.pattern}'" + (f" in {params.include}" if params.include else "")
        if params.path is None:
            return said
        shown = short_relative(self._workspace.roots.locate(params.path))
        return f"{said} within {'./' if shown == '.' else shown}"

    def locations(self, params: SearchParams) -> list[ToolLocation]:
        return [ToolLocation(place.path) for place in search_places(self._workspace, params.path)]

    async def run(self, params: SearchParams, context: ToolContext) -> ToolResult:
        try:
            return await off_loop(lambda stop: self._search(params, stop))
        except OSError as error:
            raise ToolFailure(
                phrase("Error during grep search operation: {why}", why=error),
                ErrorType.GREP_EXECUTION_ERROR,
                display=f"Error: {error}",
            ) from error

    def _search(self, params: SearchParams, stop: Stop) -> ToolResult:
        places = search_places(self._workspace, params.path)
        findings = _Findings(params, places)
        end = time.monotonic() + SECONDS
        for place in places:
            try:
                found = self._search_in(place, params, findings.room, stop, max(end - time.monotonic(), 0))
            except WorkspaceError as error:
                raise _in_words(error, place.path) from error
            findings.add(found, place)
        return findings.result()

    def _search_in(self, place: Location, params: SearchParams, room: int, stop: Stop, deadline: float) -> SearchResult:
        query = params.query(room)
        rules = None if params.no_ignore else self._workspace.ignore_rules(place.root)
        try:
            with self._workspace.roots.open_directory(place) as directory:
                return search(
                    directory.fd,
                    query,
                    rules=rules,
                    within=os.fsencode(place.relative),
                    stop=stop,
                    deadline=deadline,
                )
        except WorkspaceError as error:
            if error.error_type is not ErrorType.PATH_IS_NOT_A_DIRECTORY:
                raise
        with self._workspace.roots.open_file(place) as file:
            name = os.fsencode(os.path.basename(place.path))
            return search_file(file.fd, name, query, stop=stop, deadline=deadline)


class _Findings:
    """What was found in one place after the other, and how it is told."""

    def __init__(self, params: SearchParams, places: list[Location]) -> None:
        self._params = params
        self._names = _names_of(places)
        self._files: dict[str, tuple[str, FileHits]] = {}
        self._matches = 0
        self._limited = False
        self._complete = True

    @property
    def room(self) -> int:
        return self._params.limit - self._matches

    def add(self, result: SearchResult, place: Location) -> None:
        for hits in result.files:
            path = os.path.join(place.path, hits.path)
            # One workspace directory may lie in another.
            if path not in self._files:
                self._files[path] = (os.path.join(self._names[place.path], hits.path), hits)
                self._matches += sum(line.is_match for line in hits.lines) or 1
        self._limited = self._limited or result.limited
        self._complete = self._complete and result.complete

    def result(self) -> ToolResult:
        where = self._where()
        unfinished = "" if self._complete else _OUT_OF_TIME
        if not self._files:
            return ToolResult(f"No matches found for {where}.{unfinished}", phrase("No matches found"))
        limited = f" (results limited to {self._params.limit} matches for performance)" if self._limited else ""
        marked = phrase(" (limited)") if self._limited else ""
        files = list(self._files.values())
        if self._params.names_only:
            names = "\n".join(path for path, _ in files)
            head = f"Found {len(files)} files with matches for {where}{limited}:"
            display = phrase("Found {count} files with matches", count=len(files))
            return ToolResult(f"{head}\n{names}{unfinished}", joined("", (display, marked)))
        head = f"Found {self._matches} match(es) for {where}{limited}:"
        body = "\n---\n".join(_lines_of(path, hits) for path, hits in files)
        display = phrase("Found {count} match(es)", count=self._matches)
        return ToolResult(f"{head}\n---\n{body}\n---{unfinished}", joined("", (display, marked)))

    def _where(self) -> str:
        params = self._params
        several = len(self._names)
        place = f"across {several} workspace directories" if several > 1 else f'in path "{params.path or "."}"'
        include = f' (filter: "{params.include}")' if params.include else ""
        return f'pattern "{params.pattern}" {place}{include}'


def _names_of(places: list[Location]) -> dict[str, str]:
    """What the paths found in each place begin with: nothing for a single one, else its base name if that is clear."""
    if len(places) == 1:
        return {places[0].path: ""}
    names = [os.path.basename(place.path) for place in places]
    return {
        place.path: name if name and names.count(name) == 1 else place.path
        for place, name in zip(places, names, strict=True)
    }


_OUT_OF_TIME = (
    f"\n(Not everything was searched: the search ended after {SECONDS:.0f} seconds or had too many files. "
    "Narrow it with 'path' or 'include'.)"
)


def _lines_of(path: str, hits: FileHits) -> str:
    lines = (f"L{line.number}{':' if line.is_match else '-'} {line.text}" for line in hits.lines)
    return "\n".join([f"File: {path}", *lines])


def _in_words(error: WorkspaceError, path: str) -> ToolFailure:
    if error.error_type is ErrorType.FILE_NOT_FOUND:
        return ToolFailure(phrase("Path does not exist: {path}", path=path), ErrorType.SEARCH_PATH_NOT_FOUND)
    return error
