"""Content of one file for a model. Shared by `read_file` and `read_many_files`."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.types import InlineData
from tejat.tools.files.display_path import relative_path
from tejat.tools.files.media_content import read_media, unusable_media
from tejat.workspace.context import Workspace
from tejat.workspace.files.handles.open_file import Location, OpenFile
from tejat.workspace.files.line_slice import LineSlice, read_line_slice, slice_lines
from tejat.workspace.files.media.file_type import FileKind, FileType, classify_file
from tejat.workspace.files.read_tracker import MAX_HASHED_BYTES
from tejat.workspace.files.roots import RootDirectory, Roots
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus
from tejat.workspace.text.encoding import detect_encoding
from tejat.workspace.threads.stop import never_stop

DEFAULT_LINES = 2000
MAX_LINES = 50_000
MAX_LINE_LENGTH = 2000
MAX_CHARACTERS = DEFAULT_LINES * (MAX_LINE_LENGTH + 20)
"""Limit for the lines of one answer: what the default number of lines can have at most."""

FOREIGN_LINK_NOTE = "(a hard link to a file of another user)"

_SNIFF_BYTES = 64 * 2**10
_MAX_CACHED_BYTES = 64 * 2**10
_MEDIA = frozenset({FileKind.IMAGE, FileKind.PDF, FileKind.AUDIO, FileKind.VIDEO})


class FileContent(Frozen):
    """Content of a file and the text shown to the user.

    A binary file is only named. `is_complete` is False if lines were omitted or truncated.
    """

    content: str | InlineData
    display: str
    kind: FileKind
    is_complete: bool = True


def read_content(
    workspace: Workspace,
    location: Location,
    *,
    offset: int = 0,
    limit: int = DEFAULT_LINES,
    pdf_as_text: bool = False,
    stop: Callable[[], None],
    check: "Callable[[LocatedFile, FileKind], None]",
) -> FileContent:
    """Read a file for the model and record that it was read. Exceptions from `check` propagate.

    Where the editor has unsaved text, that is read. Media come whole; of a PDF document only lines of its text with
    `pdf_as_text`. Raises ToolFailure: what `Roots.open_file` raises, FILE_TOO_LARGE for large media,
    READ_CONTENT_FAILURE for media that no service would take, and what the editor raises.
    """
    lines = _LineRange(offset, limit)
    try:
        opened = workspace.roots.open_file(location)
    except WorkspaceError as error:
        unsaved = _read_new_buffer(workspace, location, lines, stop, check) if _is_missing(error) else None
        if unsaved is None:
            raise
        return unsaved
    with opened as file:
        read = _read_open_file(workspace, file, lines, pdf_as_text=pdf_as_text, stop=stop, check=check)
        return _with_link_note(read, file)


def read_cached_content(
    workspace: Workspace,
    location: Location,
    *,
    offset: int = 0,
    limit: int = DEFAULT_LINES,
    check: "Callable[[LocatedFile, FileKind], None]",
) -> FileContent | None:
    """Read a small text file as `read_content` does, if nothing has to be waited for; None otherwise.

    This is for the thread of the event loop: handing the work to another one takes longer than the work.
    """
    if workspace.buffers_for(location) is not None:
        return None
    opened = workspace.roots.open_cached(location, limit=_MAX_CACHED_BYTES)
    if opened is None:
        return None
    with opened as file:
        head = file.read_all()
        if not _is_utf8(head):  # to guess another encoding takes a while
            return None
        found = classify_file(location.path, head, whole=True)
        if found.kind is not FileKind.TEXT or found.encoding is None:
            return None
        check(file, found.kind)
        read = _read_text(workspace, file, found, _LineRange(offset, limit), head=head, stop=never_stop)
        return _with_link_note(read, file)


def _is_utf8(raw: bytes) -> bool:
    try:
        return raw.isascii() or bool(raw.decode())
    except UnicodeDecodeError:
        return False


def _with_link_note(read: FileContent, file: OpenFile) -> FileContent:
    """Add that a file is a hard link to a file of another user, which may not be what it seems."""
    if file.status.st_nlink > 1 and file.status.st_uid != os.geteuid():
        return replace(read, display=f"{read.display} {FOREIGN_LINK_NOTE}".lstrip())
    return read


class LocatedFile(Protocol):
    """A file whose path was checked. It need not exist on disk."""

    @property
    def location(self) -> Location: ...

    @property
    def real_path(self) -> str: ...


def find_ignore_verdict(
    roots: Roots, file: LocatedFile, rules_of: Callable[[RootDirectory], IgnoreRules]
) -> IgnoreStatus:
    """Apply the ignore rules to the path as given and to the file that it links to."""
    if all(rules_of(root).is_empty for root in roots.directories):
        return IgnoreStatus.NOT_IGNORED
    places = {file.location}
    # A root that was moved has a different real path, and files in it cannot be located by theirs.
    with suppress(WorkspaceError):
        places.add(roots.locate(file.real_path))
    for place in places:
        verdict = rules_of(place.root).check(place.relative, is_directory=False)
        if verdict is not IgnoreStatus.NOT_IGNORED:
            return verdict
    return IgnoreStatus.NOT_IGNORED


class _LineRange(Frozen):
    """The lines to read, the first one counted from 0."""

    offset: int
    limit: int


def _read_open_file(
    workspace: Workspace,
    file: OpenFile,
    lines: _LineRange,
    *,
    pdf_as_text: bool,
    stop: Callable[[], None],
    check: Callable[[LocatedFile, FileKind], None],
) -> FileContent:
    location = file.location
    size = file.status.st_size
    head = file.read(min(size, _SNIFF_BYTES) + 1)
    found = classify_file(location.path, head, whole=len(head) >= size)
    check(file, found.kind)
    if found.kind in _MEDIA:
        content, display = read_media(file, found, stop)
        if pdf_as_text and found.kind is FileKind.PDF:
            return _read_pdf_text(content.data, file.location, lines, stop)
        return FileContent(content, display, found.kind)
    if found.encoding is None:
        shown = relative_path(location)
        return FileContent(
            f"Cannot display content of binary file: {shown}",
            lazy("Skipped binary file: {path}", path=shown),
            found.kind,
        )
    unsaved = _read_unsaved(workspace, file, head, stop)
    if unsaved is not None:
        return _unsaved_content(unsaved, lines)
    return _read_text(workspace, file, found, lines, head=head, stop=stop)


def _read_text(
    workspace: Workspace,
    file: OpenFile,
    found: FileType,
    lines: _LineRange,
    *,
    head: bytes,
    stop: Callable[[], None],
) -> FileContent:
    """Read lines of a text file whose first bytes are `head`."""
    raw = _record_read(workspace, file, head)
    limit = min(lines.limit, MAX_LINES)
    assert found.encoding is not None
    if raw is head:
        text = found.encoding.decode(head)
        part = slice_lines(
            text, offset=lines.offset, limit=limit, max_line_length=MAX_LINE_LENGTH, max_characters=MAX_CHARACTERS
        )
    else:
        part = read_line_slice(
            file.fd,
            file.status.st_size,
            # The encoding that an edit will detect: the first unusual character may be anywhere in the file.
            found.encoding if raw is None else detect_encoding(raw, whole=True) or found.encoding,
            offset=lines.offset,
            limit=limit,
            max_line_length=MAX_LINE_LENGTH,
            max_characters=MAX_CHARACTERS,
            stop=stop,
        )
    read = _text_content(part, lines.offset)
    if found.mime_type == "image/svg+xml" and not read.display:
        return replace(read, display=lazy("Read SVG as text: {path}", path=relative_path(file.location)))
    return read


def _read_pdf_text(data: bytes, location: Location, lines: _LineRange, stop: Callable[[], None]) -> FileContent:
    """Return lines of the text of a PDF document, each page under its number. Raises ToolFailure."""
    from tejat.workspace.files.media.conversion import ConversionFailure, extract_pdf_text

    path = relative_path(location)
    try:
        document = extract_pdf_text(data, stop)
    except ConversionFailure as failure:
        message = lazy("Could not extract the text of the PDF: {path}. {why}", path=path, why=failure)
        raise unusable_media(message) from failure
    if not any(page.strip() for page in document.pages):
        count = document.page_count
        raise unusable_media(lazy("The PDF has no text on its {count} pages: {path}", count=count, path=path))
    text = [
        line[:MAX_LINE_LENGTH]
        for number, page in enumerate(document.pages, 1)
        for line in (f"--- page {number} of {document.page_count} ---", *page.splitlines())
    ]
    if len(document.pages) < document.page_count:
        text.append("[The document is too long. The text of the other pages was left out.]")
    shown = text[lines.offset : lines.offset + min(lines.limit, MAX_LINES)]
    reaches_end = lines.offset + len(shown) >= len(text)
    part = LineSlice(shown, lines.offset, len(text), has_truncated_lines=False, reaches_end=reaches_end)
    return replace(_text_content(part, lines.offset), display=lazy("Read text of PDF file: {path}", path=path))


def _record_read(workspace: Workspace, file: OpenFile, head: bytes) -> bytes | None:
    """Record the read, so that overwriting a later external change is refused.

    Returns the whole content, `head` itself if that is all; None if it is too large.
    """
    size = file.status.st_size
    if size > MAX_HASHED_BYTES:
        workspace.read_tracker.record_partial_read(file.real_path, file.status)
        return None
    raw = head if len(head) == size else file.read_all()
    workspace.read_tracker.record_read(file.real_path, file.status, raw)
    return raw


def _read_unsaved(workspace: Workspace, file: OpenFile, head: bytes, stop: Callable[[], None]) -> str | None:
    """Return the text of the editor and record that it was read, None if it has no unsaved changes."""
    buffers = workspace.buffers_for(file.location)
    if buffers is None:
        return None
    from tejat.tools.files.editor_text import read_unsaved

    return read_unsaved(workspace, buffers, file, head, stop)


def _read_new_buffer(
    workspace: Workspace,
    location: Location,
    lines: _LineRange,
    stop: Callable[[], None],
    check: Callable[[LocatedFile, FileKind], None],
) -> FileContent | None:
    """Read a text file that is only in the editor, None if there is none."""
    buffers = workspace.buffers_for(location)
    if buffers is None or classify_file(location.path, b"", whole=True).kind is not FileKind.TEXT:
        return None
    from tejat.tools.files.editor_text import read_new

    text = read_new(workspace, buffers, location, stop, lambda file: check(file, FileKind.TEXT))
    return None if text is None else _unsaved_content(text, lines)


def _is_missing(error: WorkspaceError) -> bool:
    return error.error_type is ErrorType.FILE_NOT_FOUND


def _unsaved_content(text: str, lines: _LineRange) -> FileContent:
    part = slice_lines(
        text,
        offset=lines.offset,
        limit=min(lines.limit, MAX_LINES),
        max_line_length=MAX_LINE_LENGTH,
        max_characters=MAX_CHARACTERS,
    )
    read = _text_content(part, lines.offset)
    note = lazy("(with unsaved changes of the editor)")
    return replace(read, display=join_lazy(" ", filter(None, (read.display, note))))


def _text_content(part: LineSlice, offset: int) -> FileContent:
    text = "\n".join(part.lines)
    if not part.lines:
        display = lazy("(nothing to show: the file has {count} lines)", count=part.total)
        return FileContent("", display, FileKind.TEXT, is_complete=False)
    if not part.reaches_end:
        last = offset + len(part.lines)
        note = (
            f"[File content truncated: showing lines {offset + 1}-{last} of {part.total} total lines. "
            "Use offset/limit parameters to view more.]\n"
        )
        return FileContent(note + text, lazy("(truncated)"), FileKind.TEXT, is_complete=False)
    if part.has_truncated_lines:
        note = (
            f"[File content partially truncated: some lines exceeded maximum length of {MAX_LINE_LENGTH} characters.]\n"
        )
        return FileContent(note + text, lazy("(truncated)"), FileKind.TEXT, is_complete=False)
    return FileContent(text, "", FileKind.TEXT, is_complete=offset == 0)
