"""`list_directory`: the names directly inside one directory."""

import os
import re
import stat
from collections.abc import Iterable
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.tools.file_search import RespectGeminiIgnore, RespectGitIgnore
from tejat.tools.short_path import short_relative
from tejat.tools.words import description_of
from tejat.workspace.ignore import Ignored, IgnoreRules
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.roots import Location
from tejat.workspace.workspace import Workspace

MOST_ENTRIES = 100_000


@value
class ListDirectoryParams:
    path: Annotated[str, Param("The directory, as an absolute path.", aliases=("dir_path",))]
    ignore: Annotated[list[str] | None, Param("Glob patterns of names to leave out, such as `*.log`.")] = None
    respect_git_ignore: RespectGitIgnore = None
    respect_gemini_ignore: RespectGeminiIgnore = None


class LSTool(TypedTool[ListDirectoryParams]):
    spoken_name = "list directory"
    bounds_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            name="list_directory",
            display_name="ReadFolder",
            description=description_of("list_directory"),
            parameters=ListDirectoryParams,
            kind=Kind.SEARCH,
        )
        self._workspace = workspace

    def check(self, params: ListDirectoryParams) -> None:
        self._workspace.roots.locate(params.path)

    def describe(self, params: ListDirectoryParams) -> str:
        return short_relative(self._workspace.roots.locate(params.path))

    def locations(self, params: ListDirectoryParams) -> list[ToolLocation]:
        return [ToolLocation(self._workspace.roots.locate(params.path).path)]

    async def run(self, params: ListDirectoryParams, context: ToolContext) -> ToolResult:
        location = self._workspace.roots.locate(params.path)
        try:
            listing = await off_loop(lambda stop: self._list(location, params, stop))
        except WorkspaceError as error:
            raise _in_words(error, location.path) from error
        except OSError as error:
            raise _failure(f"{error.strerror}: {location.path}") from error
        return listing.result()

    def _list(self, location: Location, params: ListDirectoryParams, stop: Stop) -> "_Listing":
        rules = self._workspace.ignore_rules(
            location.root, git=params.respect_git_ignore, gemini=params.respect_gemini_ignore
        )
        with self._workspace.roots.open_directory(location) as directory:
            return _Listing.of(directory.fd, location, rules, _name_pattern(params.ignore or ()), stop)


@value
class _Listing:
    path: str
    directories: list[str]
    files: list[str]
    found: int
    git_ignored: int
    gemini_ignored: int

    @classmethod
    def of(
        cls, fd: int, location: Location, rules: IgnoreRules, hidden: re.Pattern[str] | None, stop: Stop
    ) -> "_Listing":
        directories: list[str] = []
        files: list[str] = []
        counts = {Ignored.GIT: 0, Ignored.GEMINI: 0}
        found = 0
        prefix = f"{location.relative}/" if location.relative else ""
        with os.scandir(fd) as entries:
            for entry in entries:
                stop()
                found += 1
                name = entry.name
                if hidden is not None and hidden.fullmatch(name):
                    continue
                is_directory = _is_directory(entry)
                if is_directory is None:
                    continue
                verdict = rules.judge(prefix + name, is_directory=is_directory)
                if verdict is not Ignored.NO:
                    counts[verdict] += 1
                    continue
                (directories if is_directory else files).append(name)
        return cls(
            path=location.path,
            directories=sorted(directories, key=_alphabetically),
            files=sorted(files, key=_alphabetically),
            found=found,
            git_ignored=counts[Ignored.GIT],
            gemini_ignored=counts[Ignored.GEMINI],
        )

    def result(self) -> ToolResult:
        if not self.found:
            return ToolResult(f"Directory {self.path} is empty.", phrase("Directory is empty."))
        lines = [*(f"[DIR] {name}" for name in self.directories), *self.files]
        shown = lines[:MOST_ENTRIES]
        ignored = [
            f"{count} {whose}-ignored"
            for count, whose in ((self.git_ignored, "git"), (self.gemini_ignored, "gemini"))
            if count
        ]
        note = f"\n\n({', '.join(ignored)})" if ignored else ""
        if len(shown) < len(lines):
            note += f"\n\n({len(lines) - len(shown)} more entries are not shown: use glob to find files by name)"
        told = phrase("Listed {count} item(s).", count=len(lines))
        display = joined("", (told, f" ({', '.join(ignored)})")) if ignored else told
        return ToolResult(f"Directory listing for {self.path}:\n" + "\n".join(shown) + note, display)


def _is_directory(entry: "os.DirEntry[str]") -> bool | None:
    """None for what is gone again or leads nowhere."""
    try:
        if not entry.is_symlink():
            return entry.is_dir(follow_symlinks=False)
        return stat.S_ISDIR(entry.stat().st_mode)
    except OSError:
        return None


def _alphabetically(name: str) -> tuple[str, str]:
    return name.casefold(), name


def _name_pattern(globs: Iterable[str]) -> re.Pattern[str] | None:
    """`*` is any run of characters, `?` is one, everything else stands for itself."""
    translated = [re.escape(glob).replace(r"\*", ".*").replace(r"\?", ".") for glob in globs]
    return re.compile("|".join(translated), re.DOTALL) if translated else None


def _in_words(error: WorkspaceError, path: str) -> ToolFailure:
    match error.error_type:
        case ErrorType.PATH_IS_NOT_A_DIRECTORY:
            return ToolFailure(
                phrase("Error: Path is not a directory: {path}", path=path),
                error.error_type,
                display=phrase("Error: Path is not a directory."),
            )
        case ErrorType.FILE_NOT_FOUND:
            return ToolFailure(
                phrase("Error: Directory not found or inaccessible: {path}", path=path),
                error.error_type,
                display=phrase("Error: Failed to list directory."),
            )
        case ErrorType.PATH_NOT_IN_WORKSPACE:
            return error
        case _:
            return _failure(error.message)


def _failure(reason: str) -> ToolFailure:
    return ToolFailure(
        phrase("Error listing directory: {reason}", reason=reason),
        ErrorType.LS_EXECUTION_ERROR,
        display=phrase("Error: Failed to list directory."),
    )
