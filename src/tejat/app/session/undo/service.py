"""Undo of file changes for `/undo`, `/restore` and `/rewind`."""

from collections.abc import Iterable, Sequence

from tejat.app.session.manager import SessionManager
from tejat.app.session.undo.text import (
    MAX_PATHS,
    change_counts,
    is_by_product,
    more_text,
    relative_path,
    summary_text,
    undo_action,
    undoable_entries,
)
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.core.messages.history import Message, user_message
from tejat.core.text.time_format import format_time
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone
from tejat.core.undo import (
    DEFAULT_SCOPE,
    ForeignChange,
    PathProblem,
    RestoreResult,
    RestoreScope,
    UndoEntry,
    net_changes,
)
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.workspace.threads.offload import run_blocking


class UndoOutcome(Frozen):
    """The restored paths, and a report about all. `is_complete`: nothing was refused."""

    paths: tuple[str, ...]
    blocks: tuple[ReportBlock, ...]
    is_complete: bool


class UndoService:
    """The undo log of the session's project. Every method raises OSError."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager

    @property
    def _journal(self) -> UndoRecorder:
        """Raises UsageError."""
        return self._manager.toolset.services.undo

    async def undoable_entries(self) -> list[UndoEntry]:
        """Entries that were not undone yet, newest first."""
        return undoable_entries(await run_blocking(lambda _: self._journal.entries()))

    async def entries_for_messages(self, messages: Iterable[Message]) -> list[UndoEntry]:
        """Undoable entries of calls in these messages of the session."""
        session_id = self._manager.session.session_id
        calls = {call.id for message in messages for call in message.calls}
        return [entry for entry in await self.undoable_entries() if entry.session == session_id and entry.call in calls]

    async def session_entries(self) -> list[UndoEntry]:
        """Undoable entries of the current session, newest first."""
        session_id = self._manager.session.session_id
        return [entry for entry in await self.undoable_entries() if entry.session == session_id]

    async def diff(self, entries: Sequence[UndoEntry]) -> list[str]:
        """What entries, newest first, changed all together: a diff per path, or one line if it is not text."""
        changes = [change for change in net_changes(entries) if not is_by_product(change.path)]
        return await run_blocking(lambda _: self._journal.render(changes))

    async def undo(self, entries: Sequence[UndoEntry], scope: RestoreScope = DEFAULT_SCOPE) -> UndoOutcome:
        """Undo entries in this order, up to the first that cannot be undone."""
        paths: list[str] = []
        blocks: list[ReportBlock] = []
        tone = Tone.GOOD
        for entry in entries:
            result = await run_blocking(lambda _unused, entry=entry: self._journal.restore(entry.id, scope))
            paths += result.restored
            blocks += _remark_blocks(result)
            tone = tone if result.is_complete else Tone.WARNING
            if result.refused:
                message = _("{what} was not undone. Nothing was changed, because:", what=entry_title(entry))
                blocks += [Paragraph(message, Tone.BAD), _remark_table(result.refused)]
                return UndoOutcome(tuple(paths), tuple(blocks), is_complete=False)
        done = ngettext("Restored {count} path.", "Restored {count} paths.", len(paths))
        return UndoOutcome(tuple(paths), (Paragraph(done, tone), *blocks), is_complete=True)

    def notify_model(self, paths: Sequence[str]) -> None:
        """Tell the model with the next prompt that its changes were undone."""
        if paths:
            named = "\n".join(f"  - {path}" for path in paths[:MAX_PATHS])
            more = f"\n  - and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else ""
            text = f"I have taken back what your calls changed. These are as they were before:\n{named}{more}"
            self._manager.session.add_note(user_message(text), "")


def undo_plan(entries: Sequence[UndoEntry], folder: str, session_id: str | None = None) -> Report:
    """A report of what undoing these entries would do, with paths relative to `folder`.

    With a session, the entries of other sessions are marked.
    """
    blocks: list[ReportBlock] = []
    for entry in entries:
        blocks.append(Paragraph(entry_title(entry, folder), Tone.STRONG))
        if session_id is not None and entry.session != session_id:
            note = _("This call was made in another session ({when}).", when=format_time(entry.time))
            blocks.append(Paragraph(note, Tone.WARNING))
        changes = entry.own_changes
        rows = tuple(
            (undo_action(change.kind), relative_path(change.full_path, folder)) for change in changes[:MAX_PATHS]
        )
        blocks.append(ReportTable(rows))
        if len(changes) > MAX_PATHS:
            blocks.append(Paragraph(more_text(len(changes)), Tone.QUIET))
        if entry.foreign:
            title = _("Changed since then, possibly by other programs:")
            blocks += [Paragraph(title, Tone.WARNING), _remark_table(entry.foreign)]
        if entry.skipped:
            blocks += [Paragraph(_("Cannot be undone:"), Tone.WARNING), _remark_table(entry.skipped)]
    return Report(_("Changes to undo"), tuple(blocks))


def undo_list(entries: Sequence[UndoEntry], folder: str, heading: str) -> Report:
    rows = tuple(
        (entry.id, format_time(entry.time), entry.tool, summary_text(entry, folder), change_counts(entry))
        for entry in entries
    )
    headings = (_("Id"), _("When"), _("Tool"), _("About"), _("Changes"))
    return Report(heading, (ReportTable(rows, headings),))


def entry_title(entry: UndoEntry, folder: str = "") -> str:
    return f"{entry.id} {entry.tool}: {summary_text(entry, folder)}"


def _remark_blocks(result: RestoreResult) -> list[ReportBlock]:
    """The remarks about a restore, without its refusals."""
    blocks: list[ReportBlock] = []
    if result.left_in_place:
        blocks.append(_remark_table(result.left_in_place))
    if result.left_out:
        title = _("Not undone, because other programs may have changed it:")
        blocks += [Paragraph(title), _remark_table(result.left_out)]
    if result.lost:
        blocks += [Paragraph(_("Cannot be undone:"), Tone.WARNING), _remark_table(result.lost)]
    if result.unrecorded:
        message = _("This undo cannot be undone: {why}", why=result.unrecorded)
        blocks.append(Paragraph(message, Tone.WARNING))
    return blocks


def _remark_table(remarks: Sequence[PathProblem | ForeignChange]) -> ReportBlock:
    rows = tuple((remark.path, remark.reason) for remark in remarks[:MAX_PATHS])
    return ReportTable((*rows, (more_text(len(remarks)), "")) if len(remarks) > MAX_PATHS else rows)
