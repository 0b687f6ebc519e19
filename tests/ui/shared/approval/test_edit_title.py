"""Headings of file changes."""

import pytest

from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.tools.display import DiffStat
from tejat.ui.shared.approval.edit_title import count_changed_lines, edit_counts, edit_heading

PATCH = (
    "Index: a\n====\n--- a\tCurrent\n+++ a\tProposed\n"
    "@@ -2,3 +2,3 @@\n two\n-three\n+THREE  \t\n four\n"
    "@@ -8,1 +8,1 @@\n-eight\n+8\n\\ No newline at end of file\n"
)
NEW = "@@ -0,0 +1,2 @@\n+a\n+b\n"
TOO_LARGE = "[The diff is too large to show]\n"


def change(
    patch: str, old: str | None = "x", new: str | None = "x", *, path: str = "/w/a", stat: DiffStat | None = None
) -> EditConfirmation:
    return EditConfirmation("T", "a", path, patch, old, new, stat)


@pytest.mark.parametrize(
    ("confirmation", "heading"),
    [
        (change(PATCH), "Edit a +2 -2"),
        (change(NEW, None), "Create a +2"),
        (change(NEW, None, None), "Create a +2"),
        (change(PATCH, path="/w/src/\x1b/a"), "Edit src/<U+001B>/a +2 -2"),
        (change(PATCH, path="/etc/a"), "Edit /etc/a +2 -2"),
        (change(PATCH, path="/home/ada/a"), "Edit ~/a +2 -2"),
        (change(TOO_LARGE, stat=DiffStat(7, 3, 1, 1)), "Edit a +7 -3"),
        (change(TOO_LARGE), "Edit a"),
        (change("+x", None), "Create a"),
    ],
)
def test_verb_path_and_counts(monkeypatch: pytest.MonkeyPatch, confirmation: EditConfirmation, heading: str) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert " ".join((edit_heading(confirmation, folder="/w"), *edit_counts(confirmation))) == heading


@pytest.mark.parametrize(("patch", "counts"), [(PATCH, (2, 2)), ("@@ -5,1 +5,0 @@\n-b\n", (0, 1)), (TOO_LARGE, None)])
def test_counts_of_changed_lines(patch: str, counts: tuple[int, int] | None) -> None:
    assert count_changed_lines(change(patch)) == counts
