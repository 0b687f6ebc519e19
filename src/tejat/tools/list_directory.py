"""`list_directory`: lists the entries of one directory."""

import os
import re
import stat
from collections.abc import Iterable
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.tools.base import Kind, ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.files.display_path import short_relative_path
from tejat.tools.files.search import RespectGeminiIgnore, RespectGitIgnore
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

MAX_ENTRIES = 100_000


@frozen
class ListDirectoryParams:
    path: Annotated[str, Param("The directory, as an absolute path.", aliases=("dir_path",))]
    ignore: Annotated[list[str] | None, Param("Glob patterns of names to leave out, such as `*.log`.")] = None
    respect_git_ignore: RespectGitIgnore = None
    respect_gemini_ignore: RespectGeminiIgnore = None


class LSTool(TypedTool[ListDirectoryParams]):
    """The tool `list_directory`: list the entries of a directory."""

    error_label = "list directory"
    limits_own_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            **tool_labels("list_directory", "ReadFolder"), parameters=ListDirectoryParams, kind=Kind.SEARCH
        )
        self._workspace = workspace

    def check(self, params: ListDirectoryParams) -> None:
        self._workspace.roots.locate(params.path)

    def describe(self, params: ListDirectoryParams) -> str:
        return short_relative_path(self._workspace.roots.locate(params.path))

    def locations(self, params: ListDirectoryParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.path).path)]

    async def run(self, params: ListDirectoryParams, context: ToolContext) -> ToolResult:
        location = self._workspace.roots.locate(params.path)
        try:
            listing = await run_blocking(lambda stop: self._list(location, params, stop))
        except WorkspaceError as error:
            raise _translate_error(error, location.path) from error
        except OSError as error:
            raise _failure(f"{error.strerror}: {location.path}") from error
        return listing.result()

    def _list(self, location: Location, params: ListDirectoryParams, stop: StopToken) -> "_Listing":
        git, gemini = params.respect_git_ignore, params.respect_gemini_ignore
        rules = self._workspace.ignore_rules(location.root, git=git, gemini=gemini)
        with self._workspace.roots.open_directory(location) as directory:
            return _Listing.read(directory.fd, location, rules, _name_pattern(params.ignore or ()), stop)


@frozen
class _Listing:
    path: str
    directories: list[str]
    files: list[str]
    entry_count: int
    git_ignored: int
    gemini_ignored: int

    @classmethod
    def read(
        cls, fd: int, location: Location, rules: IgnoreRules, hidden: re.Pattern[str] | None, stop: StopToken
    ) -> "_Listing":
        directories: list[str] = []
        files: list[str] = []
        counts = {IgnoreStatus.GIT: 0, IgnoreStatus.GEMINI: 0}
        entry_count = 0
        prefix = f"{location.relative}/" if location.relative else ""
        with os.scandir(fd) as entries:
            for entry in entries:
                stop()
                entry_count += 1
                name = entry.name
                if hidden is not None and hidden.fullmatch(name):
                    continue
                is_directory = _is_directory(entry)
                if is_directory is None:
                    continue
                verdict = rules.check(prefix + name, is_directory=is_directory)
                if verdict is not IgnoreStatus.NOT_IGNORED:
                    counts[verdict] += 1
                    continue
                (directories if is_directory else files).append(name)
        return cls(
            path=location.path,
            directories=sorted(directories, key=_sort_key),
            files=sorted(files, key=_sort_key),
            entry_count=entry_count,
            git_ignored=counts[IgnoreStatus.GIT],
            gemini_ignored=counts[IgnoreStatus.GEMINI],
        )

    def result(self) -> ToolResult:
        if not self.entry_count:
            return ToolResult(f"Directory {self.path} is empty.", lazy("Directory is empty."))
        lines = [*(f"[DIR] {name}" for name in self.directories), *self.files]
        shown = lines[:MAX_ENTRIES]
        counts = ((self.git_ignored, "git"), (self.gemini_ignored, "gemini"))
        ignored = [f"{count} {whose}-ignored" for count, whose in counts if count]
        note = f"\n\n({', '.join(ignored)})" if ignored else ""
        if len(shown) < len(lines):
            note += f"\n\n({len(lines) - len(shown)} more entries are not shown: use glob to find files by name)"
        message = lazy("Listed {count} item(s).", count=len(lines))
        display = join_lazy("", (message, f" ({', '.join(ignored)})")) if ignored else message
        return ToolResult(f"Directory listing for {self.path}:\n" + "\n".join(shown) + note, display)


def _is_directory(entry: "os.DirEntry[str]") -> bool | None:
    """Check for a directory, following links; None for entries that are gone and for broken links."""
    try:
        if not entry.is_symlink():
            return entry.is_dir(follow_symlinks=False)
        return stat.S_ISDIR(entry.stat().st_mode)
    except OSError:
        return None


def _sort_key(name: str) -> tuple[str, str]:
    return name.casefold(), name


def _name_pattern(globs: Iterable[str]) -> re.Pattern[str] | None:
    """Compile name patterns in which only `*` and `?` are special."""
    translated = [re.escape(glob).replace(r"\*", ".*").replace(r"\?", ".") for glob in globs]
    return re.compile("|".join(translated), re.DOTALL) if translated else None


def _translate_error(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.PATH_IS_NOT_A_DIRECTORY:
            message = lazy("Error: Path is not a directory: {path}", path=path)
            return ToolFailure(message, error.error_type, display=lazy("Error: Path is not a directory."))
        case ErrorType.FILE_NOT_FOUND:
            message = lazy("Error: Directory not found or inaccessible: {path}", path=path)
            return ToolFailure(message, error.error_type, display=lazy("Error: Failed to list directory."))
        case ErrorType.PATH_NOT_IN_WORKSPACE:
            return error
        case _:
            return _failure(error.message)


def _failure(reason: str) -> ToolFailure:
    message = lazy("Error listing directory: {reason}", reason=reason)
    return ToolFailure(message, ErrorType.LS_EXECUTION_ERROR, display=lazy("Error: Failed to list directory."))
