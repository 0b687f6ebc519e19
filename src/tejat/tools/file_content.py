"""The content of one file as a model is given it; shared by `read_file` and `read_many_files`."""

import os
from collections.abc import Callable
from contextlib import suppress

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.types import InlineData
from tejat.core.value import replace, value
from tejat.core.words import phrase
from tejat.tools.short_path import relative
from tejat.workspace.encoding import detect
from tejat.workspace.ignore import Ignored, IgnoreRules
from tejat.workspace.lines import Slice, read_slice
from tejat.workspace.media import SUPPORTED_AUDIO, Classified, FileKind, classify
from tejat.workspace.records import LARGEST_HASHED
from tejat.workspace.roots import Location, OpenFile, Root, Roots
from tejat.workspace.workspace import Workspace

DEFAULT_LINES = 2000
MOST_LINES = 50_000
MOST_LINE_LENGTH = 2000
MOST_MEDIA_BYTES = 20 * 2**20

FOREIGN_LINK = "(a hard link to a file of another user)"

_SNIFFED = 64 * 2**10
_MEDIA = frozenset({FileKind.IMAGE, FileKind.SVG, FileKind.PDF, FileKind.AUDIO, FileKind.VIDEO})


@value
class FileContent:
    """What was read, and what a person is told of it.

    `kind` says what it is; a binary file is named, not shown. `is_whole` is False when lines were left out or cut.
    """

    content: str | InlineData
    display: str
    kind: FileKind
    is_whole: bool = True


def read_content(
    workspace: Workspace,
    location: Location,
    *,
    offset: int = 0,
    limit: int = DEFAULT_LINES,
    stop: Callable[[], None],
    check: Callable[[OpenFile, FileKind], None],
) -> FileContent:
    """Read a file for a model, and remember that it was seen. What `check` raises of it goes through.

    Raises ToolFailure: what `Roots.open_file` raises, FILE_TOO_LARGE for big media, READ_CONTENT_FAILURE for audio in a
    format that models cannot hear.
    """
    with workspace.roots.open_file(location) as file:
        read = _read_opened(workspace, file, offset=offset, limit=limit, stop=stop, check=check)
        if _is_foreign_link(file):
            return replace(read, display=f"{read.display} {FOREIGN_LINK}".lstrip())
        return read


def ignored_by(roots: Roots, file: OpenFile, rules_of: Callable[[Root], IgnoreRules]) -> Ignored:
    """What the ignore rules say of the file as it was named, and of the one that links have led to."""
    if all(rules_of(root).is_silent for root in roots.directories):
        return Ignored.NO
    places = {file.location}
    # A root that was moved has another real path now, and what is in it no place there.
    with suppress(WorkspaceError):
        places.add(roots.locate(file.real_path))
    for place in places:
        verdict = rules_of(place.root).judge(place.relative, is_directory=False)
        if verdict is not Ignored.NO:
            return verdict
    return Ignored.NO


def _read_opened(
    workspace: Workspace,
    file: OpenFile,
    *,
    offset: int,
    limit: int,
    stop: Callable[[], None],
    check: Callable[[OpenFile, FileKind], None],
) -> FileContent:
    location = file.location
    size = file.status.st_size
    head = file.read(min(size, _SNIFFED) + 1)
    found = classify(location.path, head, whole=len(head) >= size)
    check(file, found.kind)
    if found.kind in _MEDIA:
        return _media(file, found)
    if found.encoding is None:
        shown = relative(location)
        return FileContent(
            f"Cannot display content of binary file: {shown}",
            phrase("Skipped binary file: {path}", path=shown),
            found.kind,
        )
    raw = _remember(workspace, file, head)
    part = read_slice(
        file.fd,
        size,
        # What an edit of the file will take it for, which may have its first unusual character anywhere.
        found.encoding if raw is None else detect(raw, whole=True) or found.encoding,
        offset=offset,
        limit=min(limit, MOST_LINES),
        max_line_length=MOST_LINE_LENGTH,
        stop=stop,
    )
    return _text(part, offset)


def _is_foreign_link(file: OpenFile) -> bool:
    """Whether the file also has a name elsewhere and belongs to somebody else: it may not be what it seems to be."""
    return file.status.st_nlink > 1 and file.status.st_uid != os.geteuid()


def _media(file: OpenFile, found: Classified) -> FileContent:
    location = file.location
    size = file.status.st_size
    if found.kind is FileKind.AUDIO and found.mime_type not in SUPPORTED_AUDIO.values():
        raise ToolFailure(
            phrase(
                "Cannot read audio file {location}: its format is not supported. Supported formats: {names}.",
                location=relative(location),
                names=", ".join(SUPPORTED_AUDIO),
            ),
            ErrorType.READ_CONTENT_FAILURE,
        )
    if size > MOST_MEDIA_BYTES:
        raise ToolFailure(
            phrase("File size exceeds the 20MB limit: {path} ({size:.2f}MB)", path=location.path, size=size / 2**20),
            ErrorType.FILE_TOO_LARGE,
            display=phrase("File size exceeds the 20MB limit."),
        )
    kind = "image" if found.kind is FileKind.SVG else found.kind.value
    data = InlineData(found.mime_type, file.read(MOST_MEDIA_BYTES))
    return FileContent(data, phrase("Read {kind} file: {path}", kind=kind, path=relative(location)), found.kind)


def _remember(workspace: Workspace, file: OpenFile, head: bytes) -> bytes | None:
    """Note what was read, so that a later write over somebody else's change to it is refused.

    The answer is the whole content where more than `head` had to be read for that.
    """
    size = file.status.st_size
    if size > LARGEST_HASHED:
        workspace.records.saw_identity(file.real_path, file.status)
        return None
    raw = head if len(head) == size else file.read_all()
    workspace.records.saw(file.real_path, file.status, raw)
    return None if raw is head else raw


def _text(part: Slice, offset: int) -> FileContent:
    text = "\n".join(part.lines)
    if not part.lines:
        display = phrase("(nothing to show: the file has {count} lines)", count=part.total)
        return FileContent("", display, FileKind.TEXT, is_whole=False)
    if not part.end:
        last = offset + len(part.lines)
        note = (
            f"[File content truncated: showing lines {offset + 1}-{last} of {part.total} total lines. "
            "Use offset/limit parameters to view more.]\n"
        )
        return FileContent(note + text, phrase("(truncated)"), FileKind.TEXT, is_whole=False)
    if part.cut_lines:
        note = (
            "[File content partially truncated: some lines exceeded maximum length of "
            f"{MOST_LINE_LENGTH} characters.]\n"
        )
        return FileContent(note + text, phrase("(truncated)"), FileKind.TEXT, is_whole=False)
    return FileContent(text, "", FileKind.TEXT, is_whole=offset == 0)
