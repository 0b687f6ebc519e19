"""Approval views as plain text, for a pager."""

from collections.abc import Iterator

from tejat.core.i18n import _
from tejat.ui.shared.approval.view import ApprovalView
from tejat.ui.shared.diff.text_lines import diff_text_lines


def approval_text_lines(view: ApprovalView) -> Iterator[str]:
    """Yield heading, facts, the whole call and what a server says about it."""
    yield " ".join((view.heading, *view.counts))
    if view.file_path:
        yield _("File: {path}", path=view.file_path)
    yield from (fact.text for fact in view.facts)
    yield ""
    yield from (f"{line.prefix}{line.text}" for line in view.body)
    yield from diff_text_lines(view.diff)
    yield from (f"{line.prefix}{line.text}" for line in view.server_notes)
