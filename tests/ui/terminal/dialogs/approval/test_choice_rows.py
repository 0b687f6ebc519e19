"""Choices as a list and side by side."""

import pytest

from support.terminal.dialogs import UNICODE
from tejat.core.approval.confirmation import ApprovalRequest, ExecConfirmation, Scope
from tejat.ui.shared.approval.choices import approval_choices
from tejat.ui.terminal.dialogs.approval.choice_rows import compact_rows, list_rows, rule_rows, selected_label_row

CHOICES = approval_choices(
    ApprovalRequest(
        ExecConfirmation("T", "make", "/w"), "t", always="allow t: make", scopes=tuple(Scope), can_allow_sandboxed=True
    )
)


def test_a_list_with_numbers_and_keys() -> None:
    assert [row.plain for row in list_rows(CHOICES, 1, UNICODE, width=80)] == [
        "  1. Allow once (y)",
        "❯ 2. Allow for this session (s)",
        "  3. Always allow in this project (p)",
        "  4. Always allow everywhere (u)",
        "  5. Run sandboxed commands without asking (b)",
        "  6. No, continue (n)",
        "  7. No, and say what to do instead (t)",
        "  8. No, and stop (q)",
    ]


def test_long_labels_are_wrapped() -> None:
    assert [row.plain for row in list_rows(CHOICES[4:5], 0, UNICODE, width=24)] == [
        "❯ 1. Run sandboxed",
        "     commands without",
        "     asking (b)",
    ]


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (
            80,
            [
                "❯y once  s session  p project  u everywhere  b sandboxed  n no  t instead",
                " q stop",
            ],
        ),
        (40, ["❯y once  s session  p project", " u everywhere  b sandboxed  n no", " t instead  q stop"]),
    ],
)
def test_side_by_side(width: int, rows: list[str]) -> None:
    assert [row.plain.rstrip() for row in compact_rows(CHOICES, 0, UNICODE, width=width)] == rows
    assert selected_label_row(CHOICES[0], UNICODE, width=width).plain == "❯ Allow once"


@pytest.mark.parametrize("width", range(4, 90, 7))
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    for rows in (
        compact_rows(CHOICES, 3, UNICODE, width=width),
        list_rows(CHOICES, 3, UNICODE, width=max(width, 8)),
        rule_rows(CHOICES, UNICODE, width=width),
    ):
        assert all(row.cell_len <= max(width, 8) for row in rows)
