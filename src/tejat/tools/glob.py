"""`glob`: finds files by pattern, most recently modified first."""

import os
import time
from collections.abc import Iterable, Sequence
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params, os_error_text
from tejat.tools.files.display_path import short_relative_path
from tejat.tools.files.search import (
    MAX_FILES,
    RespectGeminiIgnore,
    RespectGitIgnore,
    compile_pattern,
    reject_outside_pattern,
    search_directories,
)
from tejat.tools.files.selection import MAX_RESULT_PATHS, FirstItems, fitting_lines
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location
from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.file_search import FileCriteria, FileSearch
from tejat.workspace.paths.glob.pattern import compile_glob
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

_RECENT_SECONDS = 24 * 60 * 60


class GlobParams(Frozen):
    pattern: Annotated[str, Param("The glob pattern, such as `**/*.py` or `docs/*.md`.")]
    path: Annotated[
        str | None, Param("The directory to search, as an absolute path. Default: everywhere.", ("dir_path",))
    ] = None
    case_sensitive: Annotated[bool, Param("Whether upper and lower case differ.")] = False
    respect_git_ignore: RespectGitIgnore = None
    respect_gemini_ignore: RespectGeminiIgnore = None


class GlobTool(TypedTool[GlobParams]):
    """The tool `glob`: find files by a pattern."""

    error_label = "glob"
    limits_own_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(**tool_labels("glob", "FindFiles"), parameters=GlobParams, kind=Kind.SEARCH)
        self._workspace = workspace

    def check(self, params: GlobParams) -> None:
        if not params.pattern.strip():
            raise invalid_params(lazy("The 'pattern' parameter cannot be empty."))
        locations = search_directories(self._workspace, params.path)
        reject_outside_pattern(self._workspace, params.pattern, locations)
        compile_glob(params.pattern.lstrip("/"), case_sensitive=params.case_sensitive)

    def describe(self, params: GlobParams) -> str:
        if params.path is None:
            return f"'{params.pattern}'"
        return f"'{params.pattern}' within {short_relative_path(self._workspace.roots.locate(params.path))}"

    def locations(self, params: GlobParams) -> list[ToolLocation]:
        return [ToolLocation(location.path) for location in search_directories(self._workspace, params.path)]

    async def run(self, params: GlobParams, context: ToolContext) -> ToolResult:
        try:
            return await run_blocking(lambda stop: self._find(params, stop))
        except OSError as error:
            raise ToolFailure(
                lazy("Error during glob search operation: {why}", why=os_error_text(error)),
                ErrorType.GLOB_EXECUTION_ERROR,
                display=lazy("Error: An unexpected error occurred."),
            ) from error

    def _find(self, params: GlobParams, stop: StopToken) -> ToolResult:
        locations = search_directories(self._workspace, params.path)
        # One workspace directory may contain another.
        hits = FirstItems[_Hit](MAX_RESULT_PATHS, is_distinct=len(locations) > 1)
        searches = [search for each in locations if (search := self._find_in(each, params, hits, stop)) is not None]
        only = locations[0] if len(locations) == 1 else None
        where = f"within {only.path}" if only else f"across {len(locations)} workspace directories"
        return _format_result(params.pattern, where, hits, searches)

    def _find_in(
        self, location: Location, params: GlobParams, hits: "FirstItems[_Hit]", stop: StopToken
    ) -> FileSearch | None:
        """Add the files in a directory to the hits."""
        pattern = compile_pattern(self._workspace, location, params.pattern, case_sensitive=params.case_sensitive)
        if pattern is None:
            return None
        git, gemini = params.respect_git_ignore, params.respect_gemini_ignore
        rules = self._workspace.ignore_rules(location.root, git=git, gemini=gemini)
        try:
            with self._workspace.roots.open_directory(location) as directory:
                search = FileSearch(
                    directory.fd,
                    FileCriteria([pattern], EXCLUDED_DIRECTORIES),
                    rules=rules,
                    within=os.fsencode(location.relative),
                    limit=MAX_FILES,
                    stop=stop,
                    ripgrep=find_ripgrep(),
                )
                recent_until = _RECENT_SECONDS - time.time()
                for paths in search:
                    hits.add(_stat_all(directory.fd, location.path, paths, recent_until))
                return search
        except WorkspaceError as error:
            raise _translate_error(error, location.path) from error


_Hit = tuple[float, str]
"""Sort key and absolute path. Files changed within a day come first, newest at the top, all others by name."""


def _stat_all(directory_fd: int, prefix: str, paths: list[bytes], recent_until: float) -> Iterable[_Hit]:
    if not paths:
        return ()
    keys: list[float] = []
    for path in paths:
        try:
            changed = -os.lstat(path, dir_fd=directory_fd).st_mtime
        except OSError:
            changed = 0.0
        keys.append(changed if changed < recent_until else 0.0)
    start = os.fsencode(prefix.rstrip("/")) + b"/"
    # Decoded in one call: there may be thousands of paths.
    names = os.fsdecode(start + (b"\0" + start).join(paths)).split("\0")
    return zip(keys, names, strict=True)


def _format_result(pattern: str, where: str, hits: FirstItems[_Hit], searches: Sequence[FileSearch]) -> ToolResult:
    counts = (
        ("git", sum(search.git_ignored for search in searches)),
        ("gemini", sum(search.gemini_ignored for search in searches)),
    )
    omissions = _format_omissions(searches)
    if not hits.count:
        notes = "".join(f" ({count} files were {source}-ignored)" for source, count in counts if count)
        message = f'No files found matching pattern "{pattern}" {where}.{notes}{omissions}'
        return ToolResult(message, lazy("No files found"))
    notes = "".join(f" ({count} additional files were {source}-ignored)" for source, count in counts if count)
    head = f'Found {hits.count} file(s) matching "{pattern}" {where}{notes}'
    paths = [path for _, path in hits.sorted()]
    shown = fitting_lines(paths)
    if shown < hits.count:
        omissions = (
            f"\n(Only the first {shown} of {hits.count} files are shown: narrow it with path or pattern.){omissions}"
        )
    listing = "\n".join(paths[:shown])
    return ToolResult(
        f"{head}, sorted by modification time (newest first):\n{listing}{omissions}",
        lazy("Found {count} matching file(s)", count=hits.count),
    )


def _format_omissions(searches: Sequence[FileSearch]) -> str:
    notes: list[str] = []
    if not all(search.is_complete for search in searches):
        notes.append(f"\n(The search stopped after {MAX_FILES} files: narrow it with path or pattern.)")
    cut_files = {file for search in searches for file in search.truncated_ignore_files}
    notes += [f"\n({file} is too long: only its beginning counts.)" for file in sorted(cut_files)]
    if unreadable := sum(search.errors for search in searches):
        notes.append(f"\n({unreadable} directories could not be read.)")
    return "".join(notes)


def _translate_error(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.FILE_NOT_FOUND:
            return ToolFailure(lazy("Search path does not exist {path}", path=path), ErrorType.SEARCH_PATH_NOT_FOUND)
        case ErrorType.PATH_IS_NOT_A_DIRECTORY:
            message = lazy("Search path is not a directory: {path}", path=path)
            return ToolFailure(message, ErrorType.SEARCH_PATH_NOT_A_DIRECTORY)
        case ErrorType.PATH_NOT_IN_WORKSPACE:
            return error
        case _:
            return ToolFailure(lazy("Error accessing search path: {why}", why=error.message), error.error_type)
