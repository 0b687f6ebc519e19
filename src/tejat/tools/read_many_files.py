"""`read_many_files`: several files, named by paths or patterns, one after the other."""

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolResult, TypedTool
from tejat.core.types import Part
from tejat.core.words import changed, joined, phrase
from tejat.tools.file_content import FileContent, ignored_by, read_content
from tejat.tools.file_search import (
    MOST_FILES,
    RespectGeminiIgnore,
    RespectGitIgnore,
    entry_at,
    patterns_in,
    refuse_outside,
    relative_in,
    search_places,
)
from tejat.tools.words import description_of
from tejat.workspace.glob_pattern import GlobPattern, compile_glob, escape_glob
from tejat.workspace.ignore import Ignored, IgnoreRules
from tejat.workspace.media import FileKind
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.ripgrep import ripgrep_path
from tejat.workspace.roots import Location, OpenFile, Root
from tejat.workspace.walk import NEVER_ENTERED, find_files
from tejat.workspace.workspace import Workspace

DEFAULT_EXCLUDED_DIRECTORIES = NEVER_ENTERED | {
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
MOST_CHARACTERS = 20 * 2**20
"""Text beyond this is not added; the files left out are named."""

NOT_ASKED_FOR = "asset file (image/pdf) was not explicitly requested by name or extension"
NOTHING_READ = "No files matching the criteria were found or all were skipped."
CUT_NOTE = (
    "[WARNING: This file was truncated. To view the full content, use the 'read_file' tool on this specific file.]\n\n"
)
END_NOTE = "\n--- End of content ---"

_SHOWN_READ = 10
_SHOWN_SKIPPED = 5


@dataclass(frozen=True, slots=True)
class ReadManyFilesParams:
    paths: Annotated[
        list[str] | None,
        Param(
            "The files: paths or glob patterns, relative to the workspace or absolute.",
            min_item_length=1,
            asked_for=True,
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
    def wanted(self) -> list[str]:
        return [*(self.paths or ()), *(self.include or ())]


class ReadManyFilesTool(TypedTool[ReadManyFilesParams]):
    spoken_name = "read many files"
    bounds_output = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            name="read_many_files",
            display_name="ReadManyFiles",
            description=description_of("read_many_files"),
            parameters=ReadManyFilesParams,
            kind=Kind.READ,
        )
        self._workspace = workspace

    def check(self, params: ReadManyFilesParams) -> None:
        if not params.wanted:
            raise ToolFailure(
                phrase('The "paths" parameter is required and must be a non-empty array of strings/glob patterns.'),
                ErrorType.INVALID_TOOL_PARAMS,
            )

    def describe(self, params: ReadManyFilesParams) -> str:
        excluded = " without default excludes" if not params.useDefaultExcludes else ""
        return f"Reading {', '.join(params.wanted)}{excluded}"

    async def run(self, params: ReadManyFilesParams, context: ToolContext) -> ToolResult:
        return await off_loop(lambda stop: self._read_all(params, stop))

    def _read_all(self, params: ReadManyFilesParams, stop: Stop) -> ToolResult:
        gathered = _Gathered(self._workspace.roots.first.path)
        try:
            places = self._find(params, gathered, stop)
        except OSError as error:
            raise ToolFailure(
                phrase("Error during file search: {why}", why=error), ErrorType.READ_MANY_FILES_SEARCH_ERROR
            ) from error
        for _, place in sorted(places.items()):
            stop()
            self._read(place, params, gathered, stop)
        return gathered.result()

    def _find(self, params: ReadManyFilesParams, gathered: "_Gathered", stop: Stop) -> dict[str, Location]:
        """The files by their paths: where one workspace directory lies in another, each comes once."""
        wanted = [pattern for pattern in params.wanted if self._is_inside(pattern, gathered)]
        found: dict[str, Location] = {}
        for place in search_places(self._workspace, None):
            found |= {file.path: file for file in self._find_in(place, wanted, params, gathered, stop)}
        return found

    def _is_inside(self, pattern: str, gathered: "_Gathered") -> bool:
        """Whether the pattern stays in the workspace; what does not is skipped. Raises ToolFailure for a bad one."""
        try:
            refuse_outside(self._workspace, pattern, search_places(self._workspace, None))
            compile_glob(pattern.strip("/") or ".", case_sensitive=False)
            self._workspace.roots.stat(self._workspace.roots.locate(pattern))
        except ToolFailure as failure:
            if failure.error_type is ErrorType.PATH_NOT_IN_WORKSPACE:
                gathered.skip(pattern, "Security: it leads outside the workspace")
                return False
            if not isinstance(failure, WorkspaceError):
                raise
        return True

    def _find_in(
        self, place: Location, wanted: list[str], params: ReadManyFilesParams, gathered: "_Gathered", stop: Stop
    ) -> list[Location]:
        named, patterns = self._meant(place, wanted, recursive=params.recursive)
        excludes = [*(DEFAULT_EXCLUDES if params.useDefaultExcludes else ()), *(params.exclude or ())]
        excluded = patterns_in(self._workspace, place, excludes, case_sensitive=False)
        directories = DEFAULT_EXCLUDED_DIRECTORIES if params.useDefaultExcludes else frozenset[bytes]()
        kept = [
            file
            for path, file in named.items()
            if directories.isdisjoint(path.split(b"/")) and not any(pattern.matches(path) for pattern in excluded)
        ]
        gathered.named.update(kept)
        if not patterns:
            return kept
        with self._workspace.roots.open_directory(place) as directory:
            found = find_files(
                directory.fd,
                patterns=patterns,
                excluded=excluded,
                exclude_directories=directories,
                rules=self._rules(place.root, params),
                limit=MOST_FILES,
                stop=stop,
                ripgrep=ripgrep_path(),
            )
        gathered.ignored[Ignored.GIT] += found.git_ignored
        gathered.ignored[Ignored.GEMINI] += found.gemini_ignored
        if not found.complete:
            gathered.skip(place.path, f"only the first {MOST_FILES} files in it were looked at")
        if found.errors:
            gathered.skip(place.path, f"{found.errors} directories in it could not be read")
        return [*kept, *(Location(place.root, os.fsdecode(path)) for path in found.paths)]

    def _meant(
        self, place: Location, wanted: list[str], *, recursive: bool
    ) -> tuple[dict[bytes, Location], list[GlobPattern]]:
        """What is wanted here: files by their names, to the letter, and patterns, a directory being all in it."""
        named: dict[bytes, Location] = {}
        patterns: list[GlobPattern] = []
        for pattern in wanted:
            relative = relative_in(place, pattern)
            if relative is None:
                continue
            there = entry_at(self._workspace, place, relative)
            if there is not None:
                # It may belong to another workspace directory that lies in this one.
                here = there.location.root is place.root
                relative = there.location.relative if here else os.path.normpath(relative)
            if there is not None and not there.is_directory:
                named[os.fsencode(relative)] = there.location
                continue
            text = relative if there is None else f"{escape_glob(relative)}/**".removeprefix("/")
            patterns.append(compile_glob(text if recursive else _flat(text), case_sensitive=False))
        return named, patterns

    def _rules(self, root: Root, params: ReadManyFilesParams) -> IgnoreRules:
        return self._workspace.ignore_rules(root, git=params.respect_git_ignore, gemini=params.respect_gemini_ignore)

    def _read(self, place: Location, params: ReadManyFilesParams, gathered: "_Gathered", stop: Stop) -> None:
        shown = gathered.shown(place)
        if gathered.is_full:
            gathered.skip(shown, "the limit for one answer is reached")
            return
        try:
            read = read_content(
                self._workspace, place, stop=stop, check=lambda file, kind: self._check(file, kind, params, gathered)
            )
        except _NotAskedFor:
            gathered.skip(shown, NOT_ASKED_FOR)
        except _IgnoredFile as error:
            gathered.ignored[error.by] += 1
        except (ToolFailure, OSError) as error:
            gathered.skip(shown, f"Read error: {error}")
        else:
            gathered.add(shown, read)

    def _check(self, file: OpenFile, kind: FileKind, params: ReadManyFilesParams, gathered: "_Gathered") -> None:
        # What was found by walking is not ignored, and is no link.
        if file.location in gathered.named:
            verdict = ignored_by(self._workspace.roots, file, lambda root: self._rules(root, params))
            if verdict is not Ignored.NO:
                raise _IgnoredFile(verdict)
        if not _is_asked_for(kind, file.location, params.wanted):
            raise _NotAskedFor


class _NotAskedFor(Exception):
    """Media that no pattern names."""


class _IgnoredFile(Exception):
    """A file that was named although ignore rules hide it."""

    def __init__(self, by: Ignored) -> None:
        super().__init__()
        self.by = by


@dataclass(slots=True)
class _Gathered:
    """What was read and what was not, while it is being gathered."""

    root: str
    named: set[Location] = field(default_factory=set[Location])
    """The files that were asked for by name."""
    content: list[str | Part] = field(default_factory=list["str | Part"])
    read: list[str] = field(default_factory=list[str])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    ignored: Counter[Ignored] = field(default_factory=Counter[Ignored])
    size: int = 0

    @property
    def is_full(self) -> bool:
        return self.size >= MOST_CHARACTERS

    def shown(self, place: Location) -> str:
        """Relative to the first root; a file outside of it by its whole path."""
        return place.path.removeprefix(f"{self.root.rstrip('/')}/")

    def skip(self, what: str, reason: str) -> None:
        self.skipped.append((what, reason))

    def add(self, shown: str, read: FileContent) -> None:
        if read.kind is FileKind.BINARY:
            self.skip(shown, "binary file")
            return
        if isinstance(read.content, str):
            note = "" if read.is_whole else CUT_NOTE
            self.content.append(f"--- {shown} ---\n\n{note}{read.content}\n\n")
            self.size += len(read.content)
        else:
            self.content.append(read.content)
            self.size += len(read.content.data)
        self.read.append(shown)

    def result(self) -> ToolResult:
        content = [*self.content, END_NOTE] if self.content else [NOTHING_READ]
        return ToolResult(content, self._display())

    def _display(self) -> str:
        lines: list[str] = [
            phrase("### ReadManyFiles Result (Target Dir: {root})", root=f"`{self.root}`"),
            "\n\n",
        ]
        if self.read:
            count = len(self.read)
            told = phrase("Successfully read and concatenated content from **{count} file(s)**.", count=count)
            lines += [told, "\n"]
            lines.append(_heading(phrase("Processed Files"), len(self.read), _SHOWN_READ))
            lines += [f"- `{path}`\n" for path in self.read[:_SHOWN_READ]]
            lines.append(_more(len(self.read), _SHOWN_READ))
        else:
            lines += [phrase("No files were read and concatenated based on the criteria."), "\n"]
        ignored = ((self.ignored[Ignored.GIT], "git-ignored"), (self.ignored[Ignored.GEMINI], "gemini-ignored"))
        skipped = [
            *((phrase("{count} file(s)", count=count), reason) for count, reason in ignored if count),
            *self.skipped,
        ]
        if skipped:
            lines.append(_heading(phrase("Skipped {count} item(s)", count=len(skipped)), len(skipped), _SHOWN_SKIPPED))
            lines += [
                joined("", ("- `", path, "` ", phrase("(Reason: {reason})", reason=reason), "\n"))
                for path, reason in skipped[:_SHOWN_SKIPPED]
            ]
            lines.append(_more(len(skipped), _SHOWN_SKIPPED))
        return changed(joined("", lines), str.strip)


def _heading(title: str, count: int, shown: int) -> str:
    note = phrase(" (first {count} shown)", count=shown) if count > shown else ""
    return joined("", ("\n**", title, note, ":**\n"))


def _more(count: int, shown: int) -> str:
    return joined("", ("- ", phrase("...and {count} more.", count=count - shown), "\n")) if count > shown else ""


def _flat(pattern: str) -> str:
    """The pattern without its reach into subdirectories."""
    return pattern.replace("**/", "").removesuffix("**") + ("*" if pattern.endswith("**") else "")


def _is_asked_for(kind: FileKind, place: Location, wanted: list[str]) -> bool:
    """Media take room: they are given only when a pattern names their extension or their name."""
    if kind in (FileKind.TEXT, FileKind.BINARY):
        return True
    stem, extension = os.path.splitext(os.path.basename(place.relative).lower())
    return any(extension in pattern.lower() or stem in pattern.lower() for pattern in wanted)
