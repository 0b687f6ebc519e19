"""`list_directory`: lists the entries of one directory."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.files.display_path import short_relative_path
from tejat.tools.files.search import RespectGeminiIgnore, RespectGitIgnore
from tejat.tools.files.selection import MAX_RESULT_PATHS, FirstItems, fitting_lines
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

MAX_ENTRIES = MAX_RESULT_PATHS
_BATCH = 4096


class ListDirectoryParams(Frozen):
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
            listing = _Listing(location, rules, _name_pattern(params.ignore or ()))
            listing.read(directory.fd, stop)
            return listing


class _Listing:
    """The entries of a directory, of which only the first are kept."""

    def __init__(self, location: Location, rules: IgnoreRules, hidden: re.Pattern[str] | None) -> None:
        self._location, self._rules, self._hidden = location, rules, hidden
        self._directories = FirstItems[tuple[str, str]](MAX_ENTRIES)
        self._files = FirstItems[tuple[str, str]](MAX_ENTRIES)
        self._ignored = Counter[IgnoreStatus]()
        self._entry_count = 0

    def read(self, fd: int, stop: StopToken) -> None:
        with os.scandir(fd) as entries:
            while batch := list(islice(entries, _BATCH)):
                stop()
                self._add(batch)

    def _add(self, entries: "list[os.DirEntry[str]]") -> None:
        self._entry_count += len(entries)
        if self._hidden is not None:
            entries = [entry for entry in entries if not self._hidden.fullmatch(entry.name)]
        kinds = [_is_directory(entry) for entry in entries]
        directories = [entry.name for entry, kind in zip(entries, kinds, strict=True) if kind]
        files = [entry.name for entry, kind in zip(entries, kinds, strict=True) if kind is False]
        if not self._rules.is_empty:
            directories = [name for name in directories if self._is_kept(name)]
            files = self._without_ignored(files)
        self._directories.add((name.casefold(), name) for name in directories)
        self._files.add((name.casefold(), name) for name in files)

    def _is_kept(self, directory: str) -> bool:
        prefix = f"{self._location.relative}/" if self._location.relative else ""
        status = self._rules.check(prefix + directory, is_directory=True)
        self._ignored[status] += 1
        return status is IgnoreStatus.NOT_IGNORED

    def _without_ignored(self, files: list[str]) -> list[str]:
        within = os.fsencode(self._location.relative)
        kept, by_git, by_gemini = self._rules.filter(map(os.fsencode, files), within=within)
        self._ignored[IgnoreStatus.GIT] += by_git
        self._ignored[IgnoreStatus.GEMINI] += by_gemini
        return files if len(kept) == len(files) else list(map(os.fsdecode, kept))

    def result(self) -> ToolResult:
        path = self._location.path
        if not self._entry_count:
            return ToolResult(f"Directory {path} is empty.", lazy("Directory is empty."))
        directories = [f"[DIR] {name}" for _, name in self._directories.sorted()]
        lines = [*directories, *(name for _, name in self._files.sorted())][:MAX_ENTRIES]
        shown = lines[: fitting_lines(lines)]
        counts = ((self._ignored[IgnoreStatus.GIT], "git"), (self._ignored[IgnoreStatus.GEMINI], "gemini"))
        ignored = [f"{count} {whose}-ignored" for count, whose in counts if count]
        note = f"\n\n({', '.join(ignored)})" if ignored else ""
        count = self._directories.count + self._files.count
        if len(shown) < count:
            note += f"\n\n({count - len(shown)} more entries are not shown: use glob to find files by name)"
        message = lazy("Listed {count} item(s).", count=count)
        display = join_lazy("", (message, f" ({', '.join(ignored)})")) if ignored else message
        return ToolResult(f"Directory listing for {path}:\n" + "\n".join(shown) + note, display)


def _is_directory(entry: "os.DirEntry[str]") -> bool | None:
    """Check for a directory, following links; None for entries that are gone and for broken links."""
    try:
        if not entry.is_symlink():
            return entry.is_dir(follow_symlinks=False)
        return stat.S_ISDIR(entry.stat().st_mode)
    except OSError:
        return None


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
