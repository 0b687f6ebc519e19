"""`read_many_files`: reads several files, given by paths or patterns."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.text.secret_files import is_secret_file
from tejat.core.tools.base import ToolContext, ToolLocation, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params, os_error_text
from tejat.tools.files.content import LocatedFile, find_ignore_verdict, read_content
from tejat.tools.files.read_collector import ReadCollector
from tejat.tools.files.search import (
    MAX_FILES,
    RespectGeminiIgnore,
    RespectGitIgnore,
    compile_patterns,
    reject_outside_pattern,
    relativize_pattern,
    search_directories,
    stat_entry,
)
from tejat.tools.files.selection import FirstItems
from tejat.workspace.context import Workspace
from tejat.workspace.files.media.file_type import FileKind
from tejat.workspace.files.roots import Location, RootDirectory
from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.file_search import FileCriteria, FileSearch
from tejat.workspace.paths.glob.pattern import GlobPattern, compile_glob, escape_glob
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

DEFAULT_EXCLUDED_DIRECTORIES = EXCLUDED_DIRECTORIES | {
    b".vscode",
    b".idea",
    b"dist",
    b"build",
    b"coverage",
    b"__pycache__",
}
DEFAULT_EXCLUDES = (
    "**/*.{pyc,pyo,bin,exe,dll,so,dylib,class,jar,war,zip,tar,gz,bz2,rar,7z,pak,rpa}",
    "**/*.{doc,docx,xls,xlsx,ppt,pptx,odt,ods,odp}",
    "**/*.DS_Store",
    "**/.env",
    "**/GEMINI.md",
)
MAX_READ_FILES = 10_000
"""Files that one call opens at most, the first by path."""

MEDIA_NOT_REQUESTED = "asset file (image/pdf) was not explicitly requested by name or extension"
SECRET_NOT_NAMED = "it usually holds secrets and was not requested by name"


@dataclass(frozen=True, slots=True)
class ReadManyFilesParams:
    paths: Annotated[
        list[str] | None,
        Param(
            "The files: paths or glob patterns, relative to the workspace or absolute.",
            min_item_length=1,
            listed_as_required=True,
        ),
    ] = None
    include: Annotated[list[str] | None, Param("Further glob patterns.", min_item_length=1)] = None
    exclude: Annotated[list[str] | None, Param("Glob patterns of files to leave out.", min_item_length=1)] = None
    recursive: Annotated[bool, Param("Whether `**` reaches into subdirectories.")] = True
    useDefaultExcludes: Annotated[  # noqa: N815 -- the documents spell it so
        bool, Param("Whether to leave out dependencies, build results and binary files.")
    ] = True
    respect_git_ignore: RespectGitIgnore = None
    respect_gemini_ignore: RespectGeminiIgnore = None

    @property
    def all_patterns(self) -> list[str]:
        return [*(self.paths or ()), *(self.include or ())]


class ReadManyFilesTool(TypedTool[ReadManyFilesParams]):
    """The tool `read_many_files`: read several files, by path or pattern."""

    error_label = "read many files"
    limits_own_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            **tool_labels("read_many_files", "ReadManyFiles"), parameters=ReadManyFilesParams, kind=Kind.READ
        )
        self._workspace = workspace

    def check(self, params: ReadManyFilesParams) -> None:
        if not params.all_patterns:
            raise invalid_params(
                lazy('The "paths" parameter is required and must be a non-empty array of strings/glob patterns.')
            )

    def describe(self, params: ReadManyFilesParams) -> str:
        excluded = " without default excludes" if not params.useDefaultExcludes else ""
        return f"Reading {', '.join(params.all_patterns)}{excluded}"

    def locations(self, params: ReadManyFilesParams) -> list[ToolLocation]:
        """The named files and directories, and for each pattern the directory that it begins with."""
        found: dict[str, None] = {}
        for location in search_directories(self._workspace, None):
            for pattern in params.all_patterns:
                relative = relativize_pattern(location, pattern)
                if relative is None:
                    continue
                entry = stat_entry(self._workspace, location, relative)
                prefix = "" if entry else compile_glob(relative or ".", case_sensitive=False).literal_prefix
                found[entry.location.path if entry else os.path.join(location.path, prefix).rstrip("/")] = None
        return [ToolLocation(path) for path in found]

    async def run(self, params: ReadManyFilesParams, context: ToolContext) -> ToolResult:
        return await run_blocking(lambda stop: _FileReader(self._workspace, params, stop).read_all())


class _FileReader:
    """Search and reading of the files of one call."""

    def __init__(self, workspace: Workspace, params: ReadManyFilesParams, stop: StopToken) -> None:
        self._workspace, self._params, self._stop = workspace, params, stop
        self._collector = ReadCollector(workspace.roots.first.path)
        self._new_files: list[Location] = []

    def read_all(self) -> ToolResult:
        try:
            locations = self._find_files()
        except OSError as error:
            message = lazy("Error during file search: {why}", why=os_error_text(error))
            raise ToolFailure(message, ErrorType.READ_MANY_FILES_SEARCH_ERROR) from error
        for _, location in sorted(locations.items()):
            self._stop()
            self._read(location)
        return self._collector.result()

    def _find_files(self) -> dict[str, Location]:
        """Find the files by path; a file below two workspace directories is listed once."""
        requested = [pattern for pattern in self._params.all_patterns if self._is_in_workspace(pattern)]
        found: dict[str, Location] = {}
        for location in search_directories(self._workspace, None):
            found |= {file.path: file for file in self._find_in(location, requested)}
        self._new_files = [] if self._workspace.buffers is None else list(self._find_missing(requested))
        self._collector.named_files.update(self._new_files)
        return found | {file.path: file for file in self._new_files}

    def _find_missing(self, requested: list[str]) -> Iterator[Location]:
        """The named files that are not on disk: the editor may have them."""
        for path in requested:
            with suppress(WorkspaceError):
                location = self._workspace.roots.locate(path)
                if escape_glob(path) == path and not self._exists(location):
                    yield location

    def _exists(self, location: Location) -> bool:
        """Raises WorkspaceError if that cannot be found out."""
        try:
            self._workspace.roots.stat(location)
        except WorkspaceError as error:
            if not _is_missing(error):
                raise
            return False
        return True

    def _is_in_workspace(self, pattern: str) -> bool:
        """Check that a pattern stays in the workspace, else report it as skipped.

        Raises ToolFailure for an invalid pattern.
        """
        try:
            reject_outside_pattern(self._workspace, pattern, search_directories(self._workspace, None))
            compile_glob(pattern.strip("/") or ".", case_sensitive=False)
            self._workspace.roots.stat(self._workspace.roots.locate(pattern))
        except ToolFailure as failure:
            if failure.error_type is ErrorType.PATH_NOT_IN_WORKSPACE:
                self._collector.skip(pattern, "Security: it leads outside the workspace")
                return False
            if not isinstance(failure, WorkspaceError):
                raise
        return True

    def _find_in(self, location: Location, requested: list[str]) -> list[Location]:
        params, collector = self._params, self._collector
        named, patterns = self._resolve_patterns(location, requested)
        excludes = [*(DEFAULT_EXCLUDES if params.useDefaultExcludes else ()), *(params.exclude or ())]
        excluded = compile_patterns(self._workspace, location, excludes, case_sensitive=False)
        directories = DEFAULT_EXCLUDED_DIRECTORIES if params.useDefaultExcludes else frozenset[bytes]()
        kept = [
            file
            for path, file in named.items()
            if directories.isdisjoint(path.split(b"/")) and not any(pattern.matches(path) for pattern in excluded)
        ]
        collector.named_files.update(kept)
        if not patterns:
            return kept
        first = FirstItems[str](MAX_READ_FILES)
        with self._workspace.roots.open_directory(location) as directory:
            search = FileSearch(
                directory.fd,
                FileCriteria(patterns, directories, excluded),
                rules=self._ignore_rules(location.root),
                limit=MAX_FILES,
                stop=self._stop,
                ripgrep=find_ripgrep(),
            )
            for paths in search:
                first.add(map(os.fsdecode, paths))
        found = first.sorted()
        collector.ignored[IgnoreStatus.GIT] += search.git_ignored
        collector.ignored[IgnoreStatus.GEMINI] += search.gemini_ignored
        collector.left_out += first.count - len(found)
        if not search.is_complete:
            collector.skip(location.path, f"only the first {MAX_FILES} files in it were looked at")
        if search.errors:
            collector.skip(location.path, f"{search.errors} directories in it could not be read")
        return [*kept, *(Location(location.root, path) for path in found)]

    def _resolve_patterns(
        self, location: Location, requested: list[str]
    ) -> tuple[dict[bytes, Location], list[GlobPattern]]:
        """Split patterns into exact file names and globs; a directory means everything in it."""
        named: dict[bytes, Location] = {}
        patterns: list[GlobPattern] = []
        for pattern in requested:
            relative = relativize_pattern(location, pattern)
            if relative is None:
                continue
            entry = stat_entry(self._workspace, location, relative)
            if entry is not None:
                # It may belong to a workspace directory inside this one.
                here = entry.location.root is location.root
                relative = entry.location.relative if here else os.path.normpath(relative)
            if entry is not None and not entry.is_directory:
                named[os.fsencode(relative)] = entry.location
                continue
            text = relative if entry is None else f"{escape_glob(relative)}/**".removeprefix("/")
            text = text if self._params.recursive else _without_recursion(text)
            patterns.append(compile_glob(text, case_sensitive=False))
        return named, patterns

    def _ignore_rules(self, root: RootDirectory) -> IgnoreRules:
        params = self._params
        return self._workspace.ignore_rules(root, git=params.respect_git_ignore, gemini=params.respect_gemini_ignore)

    def _read(self, location: Location) -> None:
        collector = self._collector
        name = collector.display_path(location)
        if location not in collector.named_files and is_secret_file(location.path):
            collector.skip(name, SECRET_NOT_NAMED)
            return
        if collector.is_full:
            collector.left_out += 1
            return
        try:
            read = read_content(self._workspace, location, stop=self._stop, check=self._check)
        except _MediaNotRequested:
            collector.skip(name, MEDIA_NOT_REQUESTED)
        except _IgnoredFile as error:
            collector.ignored[error.by] += 1
        except (ToolFailure, OSError) as error:
            if location not in self._new_files or not _is_missing(error):
                collector.skip(name, f"Read error: {error}")
        else:
            collector.add(name, read)

    def _check(self, file: LocatedFile, kind: FileKind) -> None:
        # Files found by the walk are not ignored and are not links.
        if file.location in self._collector.named_files:
            verdict = find_ignore_verdict(self._workspace.roots, file, self._ignore_rules)
            if verdict is not IgnoreStatus.NOT_IGNORED:
                raise _IgnoredFile(verdict)
        if not _is_requested(kind, file.location, self._params.all_patterns):
            raise _MediaNotRequested


def _is_missing(error: ToolFailure | OSError) -> bool:
    return isinstance(error, ToolFailure) and error.error_type is ErrorType.FILE_NOT_FOUND


class _MediaNotRequested(Exception):
    """A media file that no pattern names."""


class _IgnoredFile(Exception):
    """A file that was named although it is ignored."""

    def __init__(self, by: IgnoreStatus) -> None:
        super().__init__()
        self.by = by


def _without_recursion(pattern: str) -> str:
    """Remove the recursion into subdirectories from a pattern."""
    return pattern.replace("**/", "").removesuffix("**") + ("*" if pattern.endswith("**") else "")


def _is_requested(kind: FileKind, location: Location, requested: list[str]) -> bool:
    """Check that a pattern names the extension or the name of a media file: media are large."""
    if kind in (FileKind.TEXT, FileKind.BINARY):
        return True
    stem, extension = os.path.splitext(os.path.basename(location.relative).lower())
    return any(extension in pattern.lower() or stem in pattern.lower() for pattern in requested)
