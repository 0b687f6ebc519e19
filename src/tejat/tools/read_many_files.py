"""`read_many_files`: several files, named by paths or patterns, one after the other."""

import os
from dataclasses import dataclass, field
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolResult, TypedTool
from tejat.core.types import Part
from tejat.tools.file_content import FileContent, read_content
from tejat.tools.file_search import MOST_FILES, NEVER_ENTERED, patterns_in, refuse_outside, search_places
from tejat.tools.words import description_of
from tejat.workspace.glob_pattern import GlobPattern, compile_glob, escape_glob
from tejat.workspace.media import FileKind
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.ripgrep import ripgrep_path
from tejat.workspace.roots import Location
from tejat.workspace.walk import find_files
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
    respect_git_ignore: Annotated[
        bool | None,
        Param("Whether to leave out what git ignores. Default: true.", ("file_filtering_options.respect_git_ignore",)),
    ] = None
    respect_gemini_ignore: Annotated[
        bool | None,
        Param(
            "Whether to leave out what `.geminiignore` names. Default: true.",
            ("file_filtering_options.respect_gemini_ignore",),
        ),
    ] = None

    @property
    def wanted(self) -> list[str]:
        return [*(self.paths or ()), *(self.include or ())]


class ReadManyFilesTool(TypedTool[ReadManyFilesParams]):
    spoken_name = "read many files"

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
                'The "paths" parameter is required and must be a non-empty array of strings/glob patterns.',
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
            raise ToolFailure(f"Error during file search: {error}", ErrorType.READ_MANY_FILES_SEARCH_ERROR) from error
        for place in sorted(places, key=lambda place: place.path):
            stop()
            self._read(place, params.wanted, gathered, stop)
        return gathered.result()

    def _find(self, params: ReadManyFilesParams, gathered: "_Gathered", stop: Stop) -> set[Location]:
        wanted = [self._usable(pattern, gathered) for pattern in params.wanted]
        patterns = [pattern if params.recursive else _flat(pattern) for pattern in wanted if pattern is not None]
        found: set[Location] = set()
        for place in search_places(self._workspace, None):
            found |= self._find_in(place, patterns, params, gathered, stop)
        return found

    def _usable(self, pattern: str, gathered: "_Gathered") -> str | None:
        """The pattern, a directory meaning all that is in it; None for one that leads out of the workspace."""
        try:
            refuse_outside(self._workspace, pattern, search_places(self._workspace, None))
            compile_glob(pattern.lstrip("/"), case_sensitive=False)
        except ToolFailure as failure:
            if failure.error_type is not ErrorType.PATH_NOT_IN_WORKSPACE:
                raise
            gathered.skip(pattern, "Security: it leads outside the workspace")
            return None
        return f"{escape_glob(pattern.rstrip('/'))}/**" if self._is_directory(pattern) else pattern

    def _is_directory(self, path: str) -> bool:
        try:
            with self._workspace.roots.open_directory(self._workspace.roots.locate(path)):
                return True
        except ToolFailure:
            return False

    def _find_in(
        self, place: Location, patterns: list[str], params: ReadManyFilesParams, gathered: "_Gathered", stop: Stop
    ) -> set[Location]:
        rules = self._workspace.ignore_rules(
            place.root, git=params.respect_git_ignore, gemini=params.respect_gemini_ignore
        )
        default_excludes = DEFAULT_EXCLUDES if params.useDefaultExcludes else ()
        with self._workspace.roots.open_directory(place) as directory:
            found = find_files(
                directory.fd,
                patterns=patterns_in(self._workspace, place, patterns, case_sensitive=False),
                excluded=self._excluded(place, [*default_excludes, *(params.exclude or ())]),
                exclude_directories=DEFAULT_EXCLUDED_DIRECTORIES if params.useDefaultExcludes else frozenset(),
                rules=rules,
                limit=MOST_FILES,
                stop=stop,
                ripgrep=ripgrep_path(),
            )
        for count, whose in ((found.git_ignored, "git"), (found.gemini_ignored, "gemini")):
            if count:
                gathered.skip(f"{count} file(s)", f"{whose}-ignored")
        return {Location(place.root, os.fsdecode(path)) for path in found.paths}

    def _excluded(self, place: Location, patterns: list[str]) -> list[GlobPattern]:
        return patterns_in(self._workspace, place, patterns, case_sensitive=False)

    def _read(self, place: Location, wanted: list[str], gathered: "_Gathered", stop: Stop) -> None:
        shown = gathered.shown(place)
        if gathered.is_full:
            gathered.skip(shown, "the limit for one answer is reached")
            return
        try:
            read = read_content(
                self._workspace, place, stop=stop, accept=lambda kind: _is_asked_for(kind, place, wanted)
            )
        except (ToolFailure, OSError) as error:
            gathered.skip(shown, f"Read error: {error}")
            return
        if read is None:
            gathered.skip(shown, NOT_ASKED_FOR)
        else:
            gathered.add(shown, read)


@dataclass(slots=True)
class _Gathered:
    """What was read and what was not, while it is being gathered."""

    root: str
    content: list[str | Part] = field(default_factory=list["str | Part"])
    read: list[str] = field(default_factory=list[str])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    size: int = 0

    @property
    def is_full(self) -> bool:
        return self.size >= MOST_CHARACTERS

    def shown(self, place: Location) -> str:
        """Relative to the first root; a file of another root by its whole path."""
        return place.relative if place.root.path == self.root else place.path

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
        lines = [f"### ReadManyFiles Result (Target Dir: `{self.root}`)\n\n"]
        if self.read:
            lines.append(f"Successfully read and concatenated content from **{len(self.read)} file(s)**.\n")
            lines.append(_heading("Processed Files", len(self.read), _SHOWN_READ))
            lines += [f"- `{path}`\n" for path in self.read[:_SHOWN_READ]]
            lines.append(_more(len(self.read), _SHOWN_READ))
        else:
            lines.append("No files were read and concatenated based on the criteria.\n")
        if self.skipped:
            lines.append(_heading(f"Skipped {len(self.skipped)} item(s)", len(self.skipped), _SHOWN_SKIPPED))
            lines += [f"- `{path}` (Reason: {reason})\n" for path, reason in self.skipped[:_SHOWN_SKIPPED]]
            lines.append(_more(len(self.skipped), _SHOWN_SKIPPED))
        return "".join(lines).strip()


def _heading(title: str, count: int, shown: int) -> str:
    return f"\n**{title}{f' (first {shown} shown)' if count > shown else ''}:**\n"


def _more(count: int, shown: int) -> str:
    return f"- ...and {count - shown} more.\n" if count > shown else ""


def _flat(pattern: str) -> str:
    """The pattern without its reach into subdirectories."""
    return pattern.replace("**/", "").removesuffix("**") + ("*" if pattern.endswith("**") else "")


def _is_asked_for(kind: FileKind, place: Location, wanted: list[str]) -> bool:
    """Media take room: they are given only when a pattern names their extension or their name."""
    if kind in (FileKind.TEXT, FileKind.BINARY):
        return True
    stem, extension = os.path.splitext(os.path.basename(place.relative).lower())
    return any(extension in pattern.lower() or stem in pattern.lower() for pattern in wanted)
