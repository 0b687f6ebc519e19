"""The row at the bottom."""

import pytest
from rich.text import Text

from tejat.core.frozen import replace
from tejat.core.ui.status import SandboxState, ServerCounts, Status, StatusItem, StatusLineOptions
from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, StyleRole, Theme
from tejat.ui.terminal.views.status_line import render_status_line

FULL = Status(
    model="gemini-2.5-pro",
    mode="yolo",
    folder="~/project",
    branch="main",
    context_used=0.314,
    tokens=123_456,
    cached_tokens=61_728,
    cost=0.25,
    servers=ServerCounts(3, 2, 1),
    is_trusted=False,
    sandbox=SandboxState.FILES_AND_NETWORK,
)


def shown(
    status: Status,
    *,
    width: int = 200,
    theme: Theme | None = None,
    is_working: bool = False,
    options: StatusLineOptions | None = None,
) -> str:
    used = theme or Theme()
    line = render_status_line(status, used, width=width, is_working=is_working, options=options)
    (row,) = render_rows(line, used, width=width)
    assert sum(cell.width for cell in row) <= width
    return "".join(cell.text for cell in row)


def test_all_of_it() -> None:
    assert shown(FULL) == (
        "not trusted · YOLO: no approvals · gemini-2.5-pro · ~/project · main · $0.25 · 1 MCP server failed · "
        "sandbox: files and network"
    )


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (110, "not trusted · YOLO: no approvals · gemini-2.5-pro · ~/project · main · $0.25 · 1 MCP server failed"),
        (95, "not trusted · YOLO: no approvals · gemini-2.5-pro · ~/project · $0.25 · 1 MCP server failed"),
        (85, "not trusted · YOLO: no approvals · gemini-2.5-pro · ~/project · 1 MCP server failed"),
        (80, "not trusted · YOLO: no approvals · gemini-2.5-pro · ~/project"),
        (40, "YOLO: no approvals · gemini-2.5-pro"),
        (20, "YOLO: no approvals"),
        (10, "YOLO: no …"),
        (1, "…"),
    ],
)
def test_what_matters_less_goes_first(width: int, expected: str) -> None:
    assert shown(FULL, width=width) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            StatusLineOptions((StatusItem.BRANCH, StatusItem.QUOTA, StatusItem.MODEL, StatusItem.CHANGES)),
            "main · gemini-2.5-pro · +3 -1",
        ),
        (StatusLineOptions((StatusItem.HOST, StatusItem.SESSION, StatusItem.MEMORY)), "box · a1b2 · 52 MB"),
        (StatusLineOptions((StatusItem.CONTEXT, StatusItem.TOKENS)), "context 31% full · 123k tokens, 50 % cached"),
        (StatusLineOptions(()), ""),
        (
            StatusLineOptions(hidden=frozenset({StatusItem.MODEL, StatusItem.SANDBOX, StatusItem.CONTEXT})),
            "~/project · main · $0.25 · 1 MCP server failed",
        ),
        (StatusLineOptions(is_hidden=True), ""),
    ],
)
def test_chosen_items(options: StatusLineOptions, expected: str) -> None:
    status = replace(FULL, session_id="a1b2", host="box", memory=52_400_000, line_changes=(3, 1))
    row = shown(status, options=options)
    assert row == " · ".join(filter(None, ("not trusted · YOLO: no approvals", expected)))


def test_a_missing_sandbox_and_the_mode_are_never_hidden() -> None:
    status = replace(FULL, sandbox=SandboxState.NONE, is_trusted=True)
    assert shown(status, options=StatusLineOptions(is_hidden=True)) == "no sandbox · YOLO: no approvals"


def test_a_missing_sandbox_comes_first_and_stays_longest() -> None:
    status = replace(FULL, sandbox=SandboxState.NONE)
    assert shown(status).startswith("no sandbox · not trusted · YOLO: no approvals · gemini-2.5-pro · ")
    assert shown(status, width=31) == "no sandbox · YOLO: no approvals"
    assert shown(status, width=30) == "no sandbox"
    theme = Theme()
    line = render_status_line(status, theme, width=200, is_vi_navigation=True)
    warning = Text("no sandbox", theme.style(StyleRole.WARNING))
    (row,), (expected,) = (render_rows(shown_text, theme, width=200) for shown_text in (line, warning))
    assert row[: len(expected)] == expected


def test_little_is_said_of_what_is_usual() -> None:
    usual = Status(model="m", mode="default", folder="~")
    assert shown(usual) == "m · ~"
    assert shown(usual, is_working=True) == "● m · ~"
    assert (
        shown(replace(usual, folder="/home/adam"), theme=Theme(glyphs=ASCII_GLYPHS), is_working=True)
        == "* m | /home/adam"
    )
    assert shown(replace(usual, servers=ServerCounts(2, 1))) == "m · ~ · MCP servers 1/2"
    assert shown(replace(usual, servers=ServerCounts(2, 2))) == "m · ~"
    assert shown(replace(usual, servers=ServerCounts(3, 1, 2))) == "m · ~ · 2 MCP servers failed"
    assert shown(replace(usual, mode="plan")) == "plan: read-only · m · ~"
    assert shown(replace(usual, mode="auto_edit")) == "auto-edit · m · ~"
    assert shown(replace(usual, sandbox=SandboxState.FILES)) == "m · ~ · sandbox: files only"


@pytest.mark.parametrize(
    ("used", "expected"), [(0.0, ""), (0.49, ""), (0.5, " · context 50% full"), (0.91, " · context 91% full")]
)
def test_the_context_is_shown_when_it_matters(used: float, expected: str) -> None:
    usual = Status(model="m", mode="default", folder="~", context_used=used)
    assert shown(usual) == f"m · ~{expected}"
    hidden = StatusLineOptions(hidden=frozenset({StatusItem.CONTEXT}))
    assert shown(usual, options=hidden) == "m · ~"


def test_a_full_window_outlives_the_folder() -> None:
    status = Status(model="m", mode="default", folder="/a/long/enough/path", context_used=0.95)
    assert shown(status, width=22) == "m · context 95% full"


@pytest.mark.parametrize("name", ["model", "mode", "folder", "branch"])
def test_hostile_names(name: str) -> None:
    status = replace(FULL, **{name: "a\x1b]0;x\x07\n\u202eb" + "長" * 500})
    assert shown(status).isprintable()
    assert "<U+001B>" in shown(status) or name == "folder"  # of a path the end is shown
    for width in (80, 40, 20, 3):
        shown(status, width=width)
