"""A change to one file: worked out, shown, and made exactly as shown; shared by `write_file` and `replace`."""

import hashlib
import os
from collections.abc import Callable, Sequence

from tejat.core.confirm import EditConfirmation
from tejat.core.display import DiffStat, FileDiff
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.tool import ToolContext
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.workspace.diff import Patch, create_patch, diff_stat, patch_of_edits
from tejat.workspace.encoding import UTF_8, detect
from tejat.workspace.replace_file import Original, Written, replace_file
from tejat.workspace.roots import Location
from tejat.workspace.splice import Spliced, TextEdit, TextFile
from tejat.workspace.workspace import Workspace

MOST_SHOWN_BYTES = 2**20
"""Contents larger than this are not carried in diffs and confirmations; the patch is."""

MOST_TOLD = 10_000
"""Characters of a patch that a failure may bring along."""

MOST_CHANGED_BYTES = 256 * 2**20
"""A change holds the old file and the new one in memory, so a file larger than this is refused."""


@value
class CurrentFile:
    """What is on disk now where a change is to be made. `text` is None for a binary file, `original` for no file."""

    location: Location
    real_path: str
    original: Original | None
    text: TextFile | None


@value
class FileChange:
    """A change that was worked out and not yet made.

    `before` and `after` are the contents as shown, None, as is `stat`, when they are large. `note` is told to the model
    where this is not quite the change that it asked for.
    """

    current: CurrentFile
    pieces: Sequence[bytes | memoryview]
    patch: Patch
    before: str | None = None
    after: str | None = None
    stat: DiffStat | None = None
    replacements: int = 0
    note: str = ""

    @property
    def is_new_file(self) -> bool:
        return self.current.original is None

    @property
    def name(self) -> str:
        return os.path.basename(self.current.location.path)

    @property
    def digest(self) -> str:
        """The hash of what would be written and where."""
        state = hashlib.sha256(os.fsencode(self.current.real_path) + b"\0")
        for piece in self.pieces:
            state.update(piece)
        return state.hexdigest()

    def confirmation(self, title: str) -> EditConfirmation:
        return EditConfirmation(
            title=title,
            file_name=self.name,
            file_path=self.current.location.path,
            file_diff=self.patch.text,
            original_content=None if self.is_new_file else self.before,
            new_content=self.after,
            diff_stat=self.stat,
            digest=self.digest,
            proposal=self,
        )

    def display(self, old_header: str, new_header: str) -> FileDiff:
        return FileDiff(
            file_name=self.name,
            file_path=self.current.location.path,
            file_diff=self.patch.text_with(old_header=old_header, new_header=new_header),
            is_new_file=self.is_new_file,
            original_content=None if self.is_new_file else self.before,
            new_content=self.after,
            diff_stat=self.stat,
        )


def look(workspace: Workspace, location: Location) -> CurrentFile:
    """What a change at this location would meet. Changes nothing.

    Raises WorkspaceError, STALE_FILE among its kinds when the file changed since the session last saw it; its message
    tells what has changed if that is still known.
    """
    real_path = _real_path(workspace, location)
    try:
        with workspace.roots.open_file(location) as file:
            if file.status.st_size > MOST_CHANGED_BYTES:
                raise _too_large(location.path, file.status.st_size)
            raw = file.read_all()
            status = os.fstat(file.fd)
    except WorkspaceError as error:
        if error.error_type is not ErrorType.FILE_NOT_FOUND:
            raise
        return CurrentFile(location, real_path, None, TextFile(b"", UTF_8))
    try:
        workspace.records.check(real_path, status, raw)
    except WorkspaceError as error:
        raise _telling_changes(error, location, workspace.records.last_seen(real_path), raw) from error
    encoding = detect(raw, whole=True)
    text = None if encoding is None else TextFile(raw, encoding)
    return CurrentFile(location, real_path, Original(raw, status), text)


def rewriting(current: CurrentFile, content: str, *, proposed: str | None = None) -> FileChange:
    """The whole content replaced, in the file's own encoding and line endings. Raises UnencodableCharacter.

    A new file, and one that was not text, is UTF-8 and exactly as given.
    """
    if current.original is None or current.text is None:
        raw = UTF_8.encode_new(content)
        before = "" if current.original is None else "[binary content]\n"
        return _change(current, [raw], before, content, proposed)
    spliced = current.text.rewrite(content)
    before, after = _as_lines(current.text), _as_lines(TextFile(b"".join(spliced.pieces), current.text.encoding))
    return _change(current, spliced.pieces, before, after, proposed)


def editing(
    current: CurrentFile, text: TextFile, edits: list[TextEdit], *, proposed: str | None = None
) -> FileChange | None:
    """Some places of a text file replaced; None when that would change nothing. Raises UnencodableCharacter."""
    spliced = text.splice(edits)
    if not spliced.edits:
        return None
    small = max(len(text.raw), spliced.size) <= MOST_SHOWN_BYTES
    if text.encoding.is_wide or small:
        before, after = _as_lines(text), _as_lines(TextFile(b"".join(spliced.pieces), text.encoding))
        return _change(current, spliced.pieces, before, after, proposed, replacements=len(edits))
    return FileChange(current, spliced.pieces, _patch_of(current, text, spliced), replacements=len(edits))


def make(
    workspace: Workspace,
    location: Location,
    context: ToolContext,
    work_out: Callable[[], FileChange],
    stop: Callable[[], None],
) -> tuple[FileChange, Written]:
    """Make the change that was approved, or else the one that `work_out` finds now.

    The file is held meanwhile, so that of two changes made at once both land. Raises WorkspaceError, STALE_FILE if the
    file has moved on since the change was worked out; ToolFailure if the person approved something else than what would
    be written; and whatever `work_out` raises.
    """
    real_path = _real_path(workspace, location)
    with workspace.records.lock(real_path):
        approved = context.approved.proposal if context.approved else None
        change = approved if isinstance(approved, FileChange) else work_out()
        if context.approved is not None and context.approved.digest != change.digest:
            raise _not_what_was_approved(location.path)
        current = change.current
        if current.real_path != real_path:
            raise _led_elsewhere(location.path)
        written = replace_file(workspace.roots, location, change.pieces, expected=current.original, stop=stop)
        workspace.records.wrote(current.real_path, written.status, change.pieces)
    return change, written


def side_effects(written: Written) -> str:
    """What the model should know besides that it worked, as further sentences."""
    if written.broke_hard_link:
        return " The file had other hard links; they still hold the old content."
    return ""


def _real_path(workspace: Workspace, location: Location) -> str:
    """One name for the file, whatever links lead to it, even if it does not exist yet."""
    with workspace.roots.open_parent(location, create=False) as parent:
        return os.path.join(parent.location.root.real_path, parent.location.relative)


def _telling_changes(error: WorkspaceError, location: Location, seen: bytes | None, now: bytes) -> WorkspaceError:
    before = None if seen is None else detect(seen, whole=True)
    after = detect(now, whole=True)
    if seen is None or before is None or after is None:
        return error
    name = os.path.basename(location.path)
    patch = create_patch(name, before.decode(seen), after.decode(now), old_header="Last read", new_header="Now")
    if len(patch.text) > MOST_TOLD:
        return error
    told = f"{error.message}\nWhat has changed since:\n{patch.text}"
    return WorkspaceError(told, error.error_type, path=error.path, display=error.display)


def _too_large(path: str, size: int) -> WorkspaceError:
    limit = MOST_CHANGED_BYTES // 2**20
    message = phrase(
        "File is too large to be changed: {path} ({size:.2f}MB, at most {limit}MB)",
        path=path,
        size=size / 2**20,
        limit=limit,
    )
    return WorkspaceError(message, ErrorType.FILE_TOO_LARGE, path=path)


def _not_what_was_approved(path: str) -> ToolFailure:
    message = phrase("What was approved is not what would be written, so nothing was written: {path}", path=path)
    return ToolFailure(message, ErrorType.EXECUTION_FAILED)


def _led_elsewhere(path: str) -> WorkspaceError:
    message = phrase(
        "The path has come to mean another file, so nothing was written: {path}. Read it again first.", path=path
    )
    return WorkspaceError(message, ErrorType.STALE_FILE, path=path)


def _change(
    current: CurrentFile,
    pieces: Sequence[bytes | memoryview],
    before: str,
    after: str,
    proposed: str | None,
    *,
    replacements: int = 0,
) -> FileChange:
    """A change with both contents at hand. `proposed` is what the model wanted where the person changed it."""
    name = os.path.basename(current.location.path)
    patch = create_patch(name, before, after, old_header="Current", new_header="Proposed")
    if max(len(before), len(after)) > MOST_SHOWN_BYTES:
        return FileChange(current, pieces, patch, replacements=replacements)
    stat = diff_stat(before, after if proposed is None else proposed, after)
    return FileChange(current, pieces, patch, before, after, stat, replacements)


def _as_lines(text: TextFile) -> str:
    """The text for people: where all lines end alike the kind of line end is not shown, where they differ it is."""
    shown = text.text
    if "\r" not in shown:
        return shown
    if "\n" not in shown:
        return shown.replace("\r", "\n")
    alike = shown.count("\r\n") == shown.count("\n") == shown.count("\r")
    return shown.replace("\r\n", "\n") if alike else shown


def _patch_of(current: CurrentFile, text: TextFile, spliced: Spliced) -> Patch:
    def decode(raw: bytes) -> str:
        shown = text.encoding.decode(raw)
        return shown.replace("\r\n", "\n") if text.line_ending == "\r\n" else shown

    name = os.path.basename(current.location.path)
    return patch_of_edits(name, text.raw, spliced.edits, decode=decode, old_header="Current", new_header="Proposed")
