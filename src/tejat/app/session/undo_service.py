"""Undo of file changes for `/undo`, `/restore` and `/rewind`."""

from collections.abc import Iterable, Sequence

from tejat.app.session.manager import SessionManager
from tejat.core.frozen import frozen
from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.messages.history import Message, user_message
from tejat.core.text.time_format import format_time
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone
from tejat.core.undo import ChangeKind, PathProblem, UndoEntry
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.workspace.threads.offload import run_blocking

_MAX_PATHS = 20
_MAX_DESCRIPTION = 100


@frozen
class UndoOutcome:
    """The restored paths, and a report about all."""

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
        entries = await run_blocking(lambda _: self._journal.entries())
        return [entry for entry in entries if entry.undone_by is None and entry.undoes is None]

    async def entries_for_messages(self, messages: Iterable[Message]) -> list[UndoEntry]:
        """Undoable entries of calls in these messages of the session."""
        session_id = self._manager.session.session_id
        calls = {call.id for message in messages for call in message.calls}
        return [entry for entry in await self.undoable_entries() if entry.session == session_id and entry.call in calls]

    async def undo(self, entries: Sequence[UndoEntry]) -> UndoOutcome:
        """Undo entries in this order, up to the first that cannot be undone."""
        paths: list[str] = []
        blocks: list[ReportBlock] = []
        for entry in entries:
            restored = await run_blocking(lambda _unused, entry=entry: self._journal.restore(entry.id))
            paths += restored.restored
            if restored.left_in_place:
                blocks.append(_remark_table(restored.left_in_place))
            if restored.refused:
                message = _("{what} was not put back. Nothing of it was touched, because:", what=entry_title(entry))
                blocks += [Paragraph(message, Tone.BAD), _remark_table(restored.refused)]
                return UndoOutcome(tuple(paths), tuple(blocks), is_complete=False)
        done = ngettext("Put back {count} path.", "Put back {count} paths.", len(paths))
        return UndoOutcome(tuple(paths), (Paragraph(done, Tone.GOOD), *blocks), True)

    def notify_model(self, paths: Sequence[str]) -> None:
        """Tell the model with the next prompt that its changes were undone."""
        if paths:
            named = "\n".join(f"  - {path}" for path in paths[:_MAX_PATHS])
            more = f"\n  - and {len(paths) - _MAX_PATHS} more" if len(paths) > _MAX_PATHS else ""
            text = f"I have taken back what your calls changed. These are as they were before:\n{named}{more}"
            self._manager.session.add_note(user_message(text), "")


def undo_plan(entries: Sequence[UndoEntry]) -> Report:
    """A report of what undoing these entries would do."""
    blocks: list[ReportBlock] = []
    for entry in entries:
        blocks.append(Paragraph(entry_title(entry), Tone.STRONG))
        shown = entry.changes[:_MAX_PATHS]
        blocks.append(ReportTable(tuple((translate(_UNDO_ACTIONS[each.kind]), each.full_path) for each in shown)))
        if len(entry.changes) > _MAX_PATHS:
            blocks.append(Paragraph(_("… and {count} more", count=f"{len(entry.changes) - _MAX_PATHS:,}"), Tone.QUIET))
        if entry.skipped:
            blocks += [Paragraph(_("This can't be undone:"), Tone.WARNING), _remark_table(entry.skipped)]
    return Report(_("What would be put back"), tuple(blocks))


def undo_list(entries: Sequence[UndoEntry], heading: str) -> Report:
    rows = tuple(
        (entry.id, format_time(entry.time), entry.tool, _short_description(entry), _summary(entry)) for entry in entries
    )
    headings = (_("Id"), _("When"), _("Tool"), _("About"), _("Changes"))
    return Report(heading, (ReportTable(rows, headings),))


def entry_title(entry: UndoEntry) -> str:
    return f"{entry.id} {entry.tool}: {_short_description(entry)}"


def _short_description(entry: UndoEntry) -> str:
    what = " ".join(entry.summary.split())
    return what if len(what) <= _MAX_DESCRIPTION else f"{what[:_MAX_DESCRIPTION]}…"


def _summary(entry: UndoEntry) -> str:
    verbs = [change.kind for change in entry.changes]
    counts = [_count_label(verb, verbs.count(verb)) for verb in ChangeKind if verb in verbs]
    return ", ".join(counts) or _("nothing that can be undone")


def _count_label(verb: ChangeKind, count: int) -> str:
    match verb:
        case ChangeKind.CREATED:
            return _("{count} created", count=f"{count:,}")
        case ChangeKind.REMOVED:
            return _("{count} removed", count=f"{count:,}")
        case ChangeKind.CHANGED:
            return _("{count} changed", count=f"{count:,}")
        case ChangeKind.PERMISSIONS:
            return _("{count} with other permissions", count=f"{count:,}")


_UNDO_ACTIONS = {
    ChangeKind.CREATED: lazy("remove"),
    ChangeKind.REMOVED: lazy("bring back"),
    ChangeKind.CHANGED: lazy("put back the old content of"),
    ChangeKind.PERMISSIONS: lazy("put back the permissions of"),
}


def _remark_table(remarks: Sequence[PathProblem]) -> ReportBlock:
    rows = tuple((remark.path, remark.reason) for remark in remarks[:_MAX_PATHS])
    more = ((_("… and {count} more", count=f"{len(remarks) - _MAX_PATHS:,}"), ""),)
    return ReportTable(rows + more if len(remarks) > _MAX_PATHS else rows)
