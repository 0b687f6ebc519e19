"""`glob`: finds files by pattern, most recently modified first."""

import os
import time
from collections.abc import Iterable
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import frozen
from tejat.core.i18n import lazy
from tejat.core.tools.base import Kind, ToolContext, ToolLocation, ToolResult, TypedTool
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
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location
from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.glob.pattern import compile_glob
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES, WalkResult, find_files
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

_RECENT_SECONDS = 24 * 60 * 60


@frozen
class GlobParams:
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
        hits: list[_Hit] = []
        git_ignored = gemini_ignored = unreadable = 0
        complete = True
        cut_files: set[str] = set()
        for location in locations:
            found, here = self._find_in(location, params, stop)
            hits += here
            git_ignored += found.git_ignored
            gemini_ignored += found.gemini_ignored
            unreadable += found.errors
            cut_files.update(found.truncated_ignore_files)
            complete = complete and found.is_complete
        if len(locations) > 1:  # One workspace directory may contain another.
            hits = list(set(hits))
        only = locations[0] if len(locations) == 1 else None
        where = f"within {only.path}" if only else f"across {len(locations)} workspace directories"
        ignored = (("git", git_ignored), ("gemini", gemini_ignored))
        cut = f"\n(The search stopped after {MAX_FILES} files: narrow it with path or pattern.)"
        omissions = "" if complete else cut
        omissions += "".join(f"\n({file} is too long: only its beginning counts.)" for file in sorted(cut_files))
        if unreadable:
            omissions += f"\n({unreadable} directories could not be read.)"
        return _format_result(params.pattern, where, _sort_newest_first(hits), ignored, omissions)

    def _find_in(self, location: Location, params: GlobParams, stop: StopToken) -> "tuple[WalkResult, list[_Hit]]":
        pattern = compile_pattern(self._workspace, location, params.pattern, case_sensitive=params.case_sensitive)
        if pattern is None:
            return WalkResult([], 0, 0, is_complete=True, errors=0), []
        git, gemini = params.respect_git_ignore, params.respect_gemini_ignore
        rules = self._workspace.ignore_rules(location.root, git=git, gemini=gemini)
        try:
            with self._workspace.roots.open_directory(location) as directory:
                found = find_files(
                    directory.fd,
                    patterns=[pattern],
                    exclude_directories=EXCLUDED_DIRECTORIES,
                    rules=rules,
                    within=os.fsencode(location.relative),
                    limit=MAX_FILES,
                    stop=stop,
                    ripgrep=find_ripgrep(),
                )
                return found, _stat_all(directory.fd, location.path, found.paths)
        except WorkspaceError as error:
            raise _translate_error(error, location.path) from error


_Hit = tuple[float, str]
"""Negated modification time, so that the newest sorts first, and absolute path."""


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
    # Decoded in one call: there may be a hundred thousand paths.
    names = os.fsdecode(start + (b"\0" + start).join(paths)).split("\0")
    return list(zip(changed, names, strict=True))


def _sort_newest_first(hits: Iterable[_Hit]) -> list[str]:
    """Sort files modified within a day by time, newest first, and then all others by name."""
    recent_until = _RECENT_SECONDS - time.time()
    recent = sorted([hit for hit in hits if hit[0] < recent_until])
    older = sorted([path for before, path in hits if before >= recent_until])
    return [path for _, path in recent] + older


def _format_result(
    pattern: str, where: str, paths: list[str], ignored: tuple[tuple[str, int], ...], omissions: str
) -> ToolResult:
    if not paths:
        notes = "".join(f" ({count} files were {source}-ignored)" for source, count in ignored if count)
        message = f'No files found matching pattern "{pattern}" {where}.{notes}{omissions}'
        return ToolResult(message, lazy("No files found"))
    notes = "".join(f" ({count} additional files were {source}-ignored)" for source, count in ignored if count)
    head = f'Found {len(paths)} file(s) matching "{pattern}" {where}{notes}'
    listing = "\n".join(paths)
    return ToolResult(
        f"{head}, sorted by modification time (newest first):\n{listing}{omissions}",
        lazy("Found {count} matching file(s)", count=len(paths)),
    )


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
