"""Something typed before is found by any part of it."""

from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.history_search import HistorySearchDialog
from tejat.ui.terminal.render.rich_output import render_ansi
from tejat.ui.terminal.render.theme import Theme

ENTRIES = ["show the log", "fix\nit", "Show it", "fix\nit", "hidden \u202etxt"]


def drawn(dialog: HistorySearchDialog, *, width: int = 60, height: int = 20) -> list[str]:
    theme = Theme()
    return [
        line.rstrip() for line in render_ansi(dialog.view(width=width, height=height), theme, width=width).splitlines()
    ]


def plain(rows: list[str]) -> list[str]:
    return [row.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "").rstrip() for row in rows]


def test_the_newest_comes_first_and_each_once() -> None:
    assert plain(drawn(HistorySearchDialog(ENTRIES, Theme()))) == [
        "❯ hidden <U+202E>txt",
        "  fix it",
        "  Show it",
        "  show the log",
        "Search:",
        "Enter to use · Esc to cancel · Ctrl-R or Down for older",
    ]


def test_what_is_typed_leaves_what_has_it() -> None:
    dialog = HistorySearchDialog(ENTRIES, Theme())
    assert [dialog.press(key) for key in "show"] == [None] * 4
    assert plain(drawn(dialog))[:3] == ["❯ Show it", "  show the log", "Search: show"]
    dialog.press("c-r")
    assert dialog.press("enter") == DialogResult("show the log")
    for _ in "show":
        dialog.press("backspace")
    for key in ("S", "down", "down", "up", "up", "up"):
        dialog.press(key)
    assert dialog.press("tab") == DialogResult("Show it")


def test_nothing_found_is_said_and_can_be_left() -> None:
    dialog = HistorySearchDialog(ENTRIES, Theme())
    dialog.press("q")
    assert plain(drawn(dialog)) == ["Search: q", "No matches · Esc to cancel"]
    assert [dialog.press(key) for key in ("escape", "c-c", "enter")] == [DialogResult(None)] * 3


def test_a_small_terminal_has_room_for_what_is_typed() -> None:
    dialog = HistorySearchDialog([f"entry {number}" for number in range(30)], Theme())
    for _ in range(5):
        dialog.press("down")
    assert plain(drawn(dialog, width=20, height=4)) == [
        "  entry 25",
        "❯ entry 24",
        "Search:",
        "Enter to use",
    ]
    assert dialog.caret(width=20, height=4) == (8, 2)
    assert plain(drawn(dialog, width=20, height=1)) == ["Search:"]
