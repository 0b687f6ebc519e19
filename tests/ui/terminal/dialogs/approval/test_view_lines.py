"""Lines of an approval view with styles."""

from support.terminal.dialogs import UNICODE
from tejat.core.approval.confirmation import ApprovalRequest, EditConfirmation, McpConfirmation, Risk
from tejat.ui.shared.approval.view import build_approval_view
from tejat.ui.terminal.dialogs.approval.content_rows import TextLine
from tejat.ui.terminal.dialogs.approval.view_lines import (
    call_lines,
    fact_lines,
    heading_line,
    heading_rows,
    server_note_lines,
)
from tejat.ui.terminal.render.theme import ColourDepth, StyleRole, Theme

EDIT = EditConfirmation("T", "a", "/w/a", "@@ -1,1 +1,2 @@\n-a\n+b\n+c\n", "a\n", "b\nc\n")
CALL = McpConfirmation("T", "srv", "do", "do", {"a": 1}, "Does it.")


def test_a_heading_with_coloured_counts_and_the_position_at_the_right() -> None:
    view = build_approval_view(ApprovalRequest(EDIT, "t", directory="/w", place=2, total=3), EDIT)
    theme = Theme(colour_depth=ColourDepth.TRUE_COLOUR)
    (row,) = heading_rows(view, theme, width=30)
    assert row.plain == f"{'Edit a +2 -1':24}2 of 3"
    styles = {row.plain[span.start : span.end].strip(): span.style for span in row.spans}
    assert styles["+2"] == theme.style(StyleRole.ADDED)
    assert styles["-1"] == theme.style(StyleRole.REMOVED)
    assert [each.plain for each in heading_rows(view, theme, width=16)] == ["Edit a +2 -1 2 ", "↪ of 3"]
    assert heading_line(view).text == "Edit a +2 -1"


def test_warnings_have_a_sign() -> None:
    view = build_approval_view(ApprovalRequest(EDIT, "t", note="Changed.", risks=(Risk.NO_UNDO,)), EDIT)
    assert [(line.prefix, line.text, line.role) for line in fact_lines(view, UNICODE)] == [
        ("▲ ", "Risk: cannot be undone", StyleRole.RISK),
        ("", "Changed.", StyleRole.WARNING),
    ]


def test_third_party_text_keeps_its_prefix() -> None:
    view = build_approval_view(ApprovalRequest(CALL, "t"), CALL)
    lines = (*call_lines(view), *server_note_lines(view))
    shown = [line.rows(80, Theme())[0] for line in lines if isinstance(line, TextLine)]
    assert shown == ["Arguments:", "> {", '>   "a": 1', "> }", "Description from the server:", "> Does it."]
