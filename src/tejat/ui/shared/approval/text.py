"""Approval views as plain text, for a pager."""

from collections.abc import Iterator

from tejat.core.i18n import _
from tejat.ui.shared.approval.view import ApprovalView
from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind, gap_label


def approval_text_lines(view: ApprovalView) -> Iterator[str]:
    """Yield heading, facts, the whole call and what a server says about it."""
    yield " ".join((view.heading, *view.counts))
    if view.file_path:
        yield _("File: {path}", path=view.file_path)
    yield from (fact.text for fact in view.facts)
    yield ""
    yield from (f"{line.prefix}{line.text}" for line in view.body)
    digits = len(str(max((row.number or 0 for row in view.diff), default=0)))
    yield from (_diff_line(row, digits) for row in view.diff)
    yield from (f"{line.prefix}{line.text}" for line in view.server_notes)


def _diff_line(row: DiffRow, digits: int) -> str:
    if row.kind is DiffRowKind.FILE:
        return row.text
    text = gap_label(row) if row.kind is DiffRowKind.GAP else row.text
    return f"{row.number or '':>{digits}} {_SIGNS.get(row.kind, ' ')} {text}"


_SIGNS = {DiffRowKind.ADDED: "+", DiffRowKind.REMOVED: "-", DiffRowKind.GAP: "~"}
