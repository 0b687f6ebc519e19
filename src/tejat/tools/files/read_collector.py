"""Answer of `read_many_files`: the content of the files, and what was skipped."""

from collections import Counter
from dataclasses import dataclass, field

from tejat.core.i18n import join_lazy, lazy, map_lazy
from tejat.core.messages.types import Part
from tejat.core.tools.base import ToolResult
from tejat.tools.files.content import FileContent
from tejat.workspace.files.media.file_type import FileKind
from tejat.workspace.files.roots import Location
from tejat.workspace.paths.ignore_rules import IgnoreStatus

MAX_CHARACTERS = 2**20
"""Limit for the text of all files with their headings."""
MAX_MEDIA_BYTES = 20 * 2**20

NO_FILES_READ = "No files matching the criteria were found or all were skipped."
TRUNCATION_NOTE = (
    "[WARNING: This file was truncated. To view the full content, use the 'read_file' tool on this specific file.]\n\n"
)
LIMIT_REACHED = "the limit for one answer is reached"
LEFT_OUT_NOTE = (
    "[WARNING: {count} more file(s) were not read: the limit for one answer is reached. "
    "Narrow the patterns, or use the 'read_file' tool on specific files.]\n\n"
)
END_NOTE = "\n--- End of content ---"

_MAX_READ_SHOWN = 10
_MAX_SKIPPED_SHOWN = 5


@dataclass(slots=True)
class ReadCollector:
    """Files read and skipped so far."""

    root: str
    named_files: set[Location] = field(default_factory=set[Location])
    """Files that were named exactly."""
    content: list[str | Part] = field(default_factory=list["str | Part"])
    read: list[str] = field(default_factory=list[str])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    ignored: Counter[IgnoreStatus] = field(default_factory=Counter[IgnoreStatus])
    left_out: int = 0
    """How many files were not read, because the answer would be too long."""
    characters: int = 0
    media_bytes: int = 0

    @property
    def is_full(self) -> bool:
        return self.characters >= MAX_CHARACTERS or self.media_bytes >= MAX_MEDIA_BYTES

    def display_path(self, location: Location) -> str:
        """Path relative to the first root, absolute for files outside of it."""
        return location.path.removeprefix(f"{self.root.rstrip('/')}/")

    def skip(self, what: str, reason: str) -> None:
        self.skipped.append((what, reason))

    def add(self, name: str, read: FileContent) -> None:
        if read.kind is FileKind.BINARY:
            self.skip(name, "binary file")
            return
        if isinstance(read.content, str):
            self._add_text(name, read.content, is_complete=read.is_complete)
        else:
            self.content.append(read.content)
            self.media_bytes += len(read.content.data)
        self.read.append(name)

    def _add_text(self, name: str, text: str, *, is_complete: bool) -> None:
        room = max(MAX_CHARACTERS - self.characters, 0)
        if len(text) > room:
            line_end = text.rfind("\n", 0, room)
            text, is_complete = text[: line_end + 1 or room], False
        block = f"--- {name} ---\n\n{'' if is_complete else TRUNCATION_NOTE}{text}\n\n"
        self.content.append(block)
        # With the heading: very many files may be empty.
        self.characters += len(block)

    def result(self) -> ToolResult:
        if not self.content:
            return ToolResult([NO_FILES_READ], self._display())
        left_out = [LEFT_OUT_NOTE.format(count=self.left_out)] if self.left_out else []
        return ToolResult([*self.content, *left_out, END_NOTE], self._display())

    def _display(self) -> str:
        lines: list[str] = [lazy("### ReadManyFiles Result (Target Dir: {root})", root=f"`{self.root}`"), "\n\n"]
        if self.read:
            count = len(self.read)
            told = lazy("Successfully read and concatenated content from **{count} file(s)**.", count=count)
            lines += [told, "\n"]
            lines.append(_heading(lazy("Processed Files"), len(self.read), _MAX_READ_SHOWN))
            lines += [f"- `{path}`\n" for path in self.read[:_MAX_READ_SHOWN]]
            lines.append(_more_line(len(self.read), _MAX_READ_SHOWN))
        else:
            lines += [lazy("No files were read and concatenated based on the criteria."), "\n"]
        reasons = ((IgnoreStatus.GIT, "git-ignored"), (IgnoreStatus.GEMINI, "gemini-ignored"))
        ignored = [(self.ignored[status], reason) for status, reason in reasons if self.ignored[status]]
        if self.left_out:
            ignored.append((self.left_out, LIMIT_REACHED))
        skipped = [*((lazy("{count} file(s)", count=count), reason) for count, reason in ignored), *self.skipped]
        if skipped:
            title = lazy("Skipped {count} item(s)", count=len(skipped))
            lines.append(_heading(title, len(skipped), _MAX_SKIPPED_SHOWN))
            lines += [
                join_lazy("", ("- `", path, "` ", lazy("(Reason: {reason})", reason=reason), "\n"))
                for path, reason in skipped[:_MAX_SKIPPED_SHOWN]
            ]
            lines.append(_more_line(len(skipped), _MAX_SKIPPED_SHOWN))
        return map_lazy(join_lazy("", lines), str.strip)


def _heading(title: str, count: int, limit: int) -> str:
    note = lazy(" (first {count} shown)", count=limit) if count > limit else ""
    return join_lazy("", ("\n**", title, note, ":**\n"))


def _more_line(count: int, limit: int) -> str:
    return join_lazy("", ("- ", lazy("...and {count} more.", count=count - limit), "\n")) if count > limit else ""
