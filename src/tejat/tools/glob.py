"""`glob`: finds files by a pattern, most recently changed first."""

import os
import time
from collections.abc import Iterable
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools.file_search import (
    MOST_FILES,
    RespectGeminiIgnore,
    RespectGitIgnore,
    pattern_in,
    refuse_outside,
    search_places,
)
from tejat.tools.short_path import short_relative
from tejat.tools.words import description_of
from tejat.workspace.glob_pattern import compile_glob
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.ripgrep import ripgrep_path
from tejat.workspace.roots import Location
from tejat.workspace.walk import NEVER_ENTERED, Found, find_files
from tejat.workspace.workspace import Workspace

_RECENT_SECONDS = 24 * 60 * 60


@value
class GlobParams:
    pattern: Annotated[str, Param("The glob pattern, such as `**/*.py` or `docs/*.md`.")]
    path: Annotated[
        str | None, Param("The directory to search, as an absolute path. Default: everywhere.", ("dir_path",))
    ] = None
    case_sensitive: Annotated[bool, Param("Whether upper and lower case differ.")] = False
    respect_git_ignore: RespectGitIgnore = None
    respect_gemini_ignore: RespectGeminiIgnore = None


class GlobTool(TypedTool[GlobParams]):
    spoken_name = "glob"
    bounds_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            name="glob",
            display_name="FindFiles",
            description=description_of("glob"),
            parameters=GlobParams,
            kind=Kind.SEARCH,
        )
        self._workspace = workspace

    def check(self, params: GlobParams) -> None:
        if not params.pattern.strip():
            raise ToolFailure(phrase("The 'pattern' parameter cannot be empty."), ErrorType.INVALID_TOOL_PARAMS)
        places = search_places(self._workspace, params.path)
        refuse_outside(self._workspace, params.pattern, places)
        compile_glob(params.pattern.lstrip("/"), case_sensitive=params.case_sensitive)

    def describe(self, params: GlobParams) -> str:
        if params.path is None:
            return f"'{params.pattern}'"
        return f"'{params.pattern}' within {short_relative(self._workspace.roots.locate(params.path))}"

    def locations(self, params: GlobParams) -> list[ToolLocation]:
        return [ToolLocation(place.path) for place in search_places(self._workspace, params.path)]

    async def run(self, params: GlobParams, context: ToolContext) -> ToolResult:
        try:
            return await off_loop(lambda stop: self._find(params, stop))
        except OSError as error:
            raise ToolFailure(
                phrase("Error during glob search operation: {why}", why=error),
                ErrorType.GLOB_EXECUTION_ERROR,
                display=phrase("Error: An unexpected error occurred."),
            ) from error

    def _find(self, params: GlobParams, stop: Stop) -> ToolResult:
        places = search_places(self._workspace, params.path)
        hits: list[_Hit] = []
        git_ignored = gemini_ignored = unreadable = 0
        complete = True
        cut_files: set[str] = set()
        for place in places:
            found, here = self._find_in(place, params, stop)
            hits += here
            git_ignored += found.git_ignored
            gemini_ignored += found.gemini_ignored
            unreadable += found.errors
            cut_files.update(found.cut_files)
            complete = complete and found.complete
        if len(places) > 1:  # one workspace directory may lie in another
            hits = list(set(hits))
        where = f"within {places[0].path}" if len(places) == 1 else f"across {len(places)} workspace directories"
        ignored = (("git", git_ignored), ("gemini", gemini_ignored))
        left_out = (
            "" if complete else f"\n(The search stopped after {MOST_FILES} files: narrow it with path or pattern.)"
        )
        left_out += "".join(f"\n({file} is too long: only its beginning counts.)" for file in sorted(cut_files))
        if unreadable:
            left_out += f"\n({unreadable} directories could not be read.)"
        return _result(params.pattern, where, _newest_first(hits), ignored, left_out)

    def _find_in(self, place: Location, params: GlobParams, stop: Stop) -> "tuple[Found, list[_Hit]]":
        pattern = pattern_in(self._workspace, place, params.pattern, case_sensitive=params.case_sensitive)
        if pattern is None:
            return Found([], 0, 0, complete=True, errors=0), []
        rules = self._workspace.ignore_rules(
            place.root, git=params.respect_git_ignore, gemini=params.respect_gemini_ignore
        )
        try:
            with self._workspace.roots.open_directory(place) as directory:
                found = find_files(
                    directory.fd,
                    patterns=[pattern],
                    exclude_directories=NEVER_ENTERED,
                    rules=rules,
                    within=os.fsencode(place.relative),
                    limit=MOST_FILES,
                    stop=stop,
                    ripgrep=ripgrep_path(),
                )
                return found, _stat_all(directory.fd, place.path, found.paths)
        except WorkspaceError as error:
            raise _in_words(error, place.path) from error


_Hit = tuple[float, str]
"""How many seconds before 1970 the file was changed, so that the newest sorts first, and its absolute path."""


def _stat_all(directory_fd: int, prefix: str, paths: list[bytes]) -> list[_Hit]:
    if not paths:
        return []
    changed: list[float] = []
    for path in paths:
        try:
            changed.append(-os.lstat(path, dir_fd=directory_fd).st_mtime)
        except OSError:
            changed.append(0.0)
    start = os.fsencode(prefix.rstrip("/")) + b"/"
    # Decoded all at once: there may be a hundred thousand of them.
    names = os.fsdecode(start + (b"\0" + start).join(paths)).split("\0")
    return list(zip(changed, names, strict=True))


def _newest_first(hits: Iterable[_Hit]) -> list[str]:
    """What changed within a day comes first, the newest at the top; the rest follows in alphabetical order."""
    recent_until = _RECENT_SECONDS - time.time()
    recent = sorted([hit for hit in hits if hit[0] < recent_until])
    older = sorted([path for before, path in hits if before >= recent_until])
    return [path for _, path in recent] + older


def _result(
    pattern: str, where: str, paths: list[str], ignored: tuple[tuple[str, int], ...], left_out: str
) -> ToolResult:
    if not paths:
        notes = "".join(f" ({count} files were {whose}-ignored)" for whose, count in ignored if count)
        return ToolResult(
            f'No files found matching pattern "{pattern}" {where}.{notes}{left_out}', phrase("No files found")
        )
    notes = "".join(f" ({count} additional files were {whose}-ignored)" for whose, count in ignored if count)
    head = f'Found {len(paths)} file(s) matching "{pattern}" {where}{notes}'
    listing = "\n".join(paths)
    return ToolResult(
        f"{head}, sorted by modification time (newest first):\n{listing}{left_out}",
        phrase("Found {count} matching file(s)", count=len(paths)),
    )


def _in_words(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.FILE_NOT_FOUND:
            return ToolFailure(phrase("Search path does not exist {path}", path=path), ErrorType.SEARCH_PATH_NOT_FOUND)
        case ErrorType.PATH_IS_NOT_A_DIRECTORY:
            return ToolFailure(
                phrase("Search path is not a directory: {path}", path=path), ErrorType.SEARCH_PATH_NOT_A_DIRECTORY
            )
        case ErrorType.PATH_NOT_IN_WORKSPACE:
            return error
        case _:
            return ToolFailure(phrase("Error accessing search path: {why}", why=error.message), error.error_type)
