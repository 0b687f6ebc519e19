"""The view of a whole call inside its question."""

import pytest

from support.terminal.dialogs import UNICODE
from tejat.core.approval.confirmation import ApprovalRequest, EditConfirmation, ExecConfirmation
from tejat.ui.shared.approval.view import ApprovalView, build_approval_view
from tejat.ui.shared.diff.rows import build_file_rows
from tejat.ui.terminal.dialogs.approval.call_viewer import CallViewer, ViewerAction

OLD = "".join(f"line {number}\n" for number in range(1, 31))
DIFF = f"Index: a\n{'=' * 67}\n--- a\n+++ a\n@@ -15,1 +15,2 @@\n-line 15\n+fifteen\n+and more\n"
EDIT = EditConfirmation("T", "a", "/w/a", DIFF, OLD, "x")
COMMAND = ExecConfirmation("T", "\n".join(f"echo {number}" for number in range(1, 31)), "/w")


def view_of(confirmation: EditConfirmation | ExecConfirmation) -> ApprovalView:
    return build_approval_view(ApprovalRequest(confirmation, "tool", directory="/w"), confirmation)


def drawn(viewer: CallViewer, *, width: int = 80, height: int = 10) -> list[str]:
    return [row.plain.rstrip() for row in viewer.view(width=width, height=height)]


def test_a_change_with_its_path_and_the_rules() -> None:
    viewer = CallViewer(view_of(EDIT), UNICODE, rules=("s adds the rule: allow replace",))
    assert drawn(viewer) == [
        "Edit a +2 -1",
        "File: /w/a",
        "15 - line 15",
        "15 + fifteen",
        "16 + and more",
        "s adds the rule: allow replace",
        "Rows 1-6 of 6 · q to close · v pager",
    ]
    assert viewer.changes == {0, 1, 2}
    assert viewer.has_reached_end


def test_scrolling() -> None:
    viewer = CallViewer(view_of(COMMAND), UNICODE)
    assert drawn(viewer)[:2] == ["Run a command", "$ echo 1"]
    assert not viewer.has_reached_end
    viewer.press("down")
    assert drawn(viewer)[0] == "$ echo 1"
    viewer.press(" ")
    assert drawn(viewer)[0] == "> echo 9"
    viewer.press("pageup")
    assert drawn(viewer)[0] == "$ echo 1"
    viewer.press("end")
    assert drawn(viewer)[-2:] == ["> echo 30", "Rows 23-31 of 31 · q to close · Space to scroll · v pager"]
    assert viewer.has_reached_end


@pytest.mark.parametrize(
    ("key", "action"),
    [
        ("q", ViewerAction.CLOSE),
        ("Q", ViewerAction.CLOSE),
        ("escape", ViewerAction.CLOSE),
        ("v", ViewerAction.PAGER),
        ("enter", None),
        ("y", None),
        ("m", None),
    ],
)
def test_keys(key: str, action: ViewerAction | None) -> None:
    viewer = CallViewer(view_of(COMMAND), UNICODE)
    drawn(viewer)
    assert viewer.press(key) == action


def test_the_whole_file() -> None:
    viewer = CallViewer(view_of(EDIT), UNICODE, whole_file=build_file_rows(OLD, DIFF), shows_whole_file=True)
    rows = drawn(viewer, height=40)
    assert rows[2] == " 1   line 1"
    assert rows[-2] == "31   line 30"
    assert rows[-1] == "Rows 1-34 of 34 · q to close · m changes only · v pager"
    assert viewer.changes == {0, 1, 2}
    viewer.press("m")
    assert drawn(viewer, height=40)[2] == "15 - line 15"


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (12, 3), (6, 1)])
def test_any_size(size: tuple[int, int]) -> None:
    width, height = size
    viewer = CallViewer(view_of(EDIT), UNICODE, whole_file=build_file_rows(OLD, DIFF))
    assert len(drawn(viewer, width=width, height=height)) <= height
