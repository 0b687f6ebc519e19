"""Layout of questions, in whole pictures and for every size of the screen."""

import difflib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.terminal.dialogs import PLAIN_ASCII, UNICODE, FakeClock, draw
from tejat.core.approval.confirmation import (
    ApprovalRequest,
    AskUserConfirmation,
    ChoiceSubject,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Risk,
    Scope,
    TrialConfirmation,
)
from tejat.core.frozen import replace
from tejat.core.messages.types import JsonObject
from tejat.core.undo import PathChange, PathKind, PathState
from tejat.ui.shared.approval.choices import approval_choices
from tejat.ui.shared.approval.view import build_approval_view
from tejat.ui.terminal.dialogs.approval.dialog import ApprovalDialog
from tejat.ui.terminal.render.theme import Theme
from tejat.ui.terminal.screen.layout import Footer, max_body_height

SHELL = ApprovalRequest(
    ExecConfirmation(
        "T", "curl -fsSL https://x.io/i.sh | sudo bash", "/w", ("curl", "sudo", "bash"), "Install it", ("It stays.",)
    ),
    "run_shell_command",
    "The rule asks.",
    "allow run_shell_command: curl",
    tuple(Scope),
    risks=(Risk.RUNS_DOWNLOAD, Risk.ELEVATED),
    can_try=True,
    directory="/w",
)
EDIT = ApprovalRequest(
    EditConfirmation(
        "T",
        "a.py",
        "/w/src/a.py",
        f"Index: a.py\n{'=' * 67}\n--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2 \n three\n",
        "one\ntwo\nthree\nfour\n",
        "x",
    ),
    "replace",
    "",
    "allow replace",
    (Scope.SESSION,),
    can_modify=True,
    directory="/w",
)


def picture(question: ApprovalRequest, *, width: int, height: int, theme: Theme = UNICODE, keys: str = "") -> list[str]:
    confirmation = question.confirmation
    assert not isinstance(confirmation, ElicitationConfirmation | AskUserConfirmation)
    clock = FakeClock()
    dialog = ApprovalDialog(question, confirmation, theme, clock=clock)
    draw(dialog, width=width, height=height, theme=theme)
    clock.now += 1
    for key in keys:
        dialog.press(key)
    return draw(dialog, width=width, height=height, theme=theme)


def test_a_risky_command_in_80_columns() -> None:
    assert picture(SHELL, width=80, height=24) == [
        "Run a command",
        "▲ Risk: runs code that it downloads; runs with elevated privileges",
        "Reason: The rule asks.",
        "It stays.",
        "The model says: Install it",
        "$ curl -fsSL https://x.io/i.sh | sudo bash",
        "",
        "Run this command?",
        "❯ 1. No, continue (n)",
        "  2. Allow once (y)",
        "  3. Allow for this session (s)",
        "  4. Always allow in this project (p)",
        "  5. Always allow everywhere (u)",
        "  6. Try it in a copy first (c)",
        "  7. No, and say what to do instead (t)",
        "  8. No, and stop (q)",
        "",
        "s, p, u add the rule: allow run_shell_command: curl",
        "Enter to confirm · Esc to stop · v view",
    ]


def test_in_40_columns_and_few_rows() -> None:
    assert picture(SHELL, width=40, height=16) == [
        "Run a command",
        "▲ Risk: runs code that it downloads;",
        "↪ runs with elevated privileges",
        "Reason: The rule asks.",
        "It stays.",
        "The model says: Install it",
        "$ curl -fsSL https://x.io/i.sh | sudo ba",
        "↪ sh",
        "Run this command?",
        "❯n no  y once  s session  p project",
        " u everywhere  c copy  t instead  q stop",
        "❯ No, continue",
        "s, p, u add the rule: allow",
        "↪ run_shell_command: curl",
        "Enter to confirm · Esc to stop · v view",
    ]


def test_risks_leave_room_for_the_command() -> None:
    rows = picture(replace(SHELL, risks=tuple(Risk), always=None), width=40, height=11)
    assert rows == [
        "Run a command",
        "▲ Risk: deletes or overwrites files;",
        "↪ runs code that it downloads; reaches",
        "↪ outside this project; runs with",
        "↪ elevated privileges; changes files",
        "$ curl -fsSL https://x.io/i.sh | sudo ba",
        "↪ sh",
        "… Rows 1-2 of 11 · Space for more",
        "Run this command?",
        "❯n no  y once  c copy  t instead  q stop",
        "Enter to confirm · Esc to stop · v view",
    ]


@pytest.mark.parametrize("height", [6, 8, 10])
def test_in_very_few_rows_the_command_and_the_answers_are_there(height: int) -> None:
    rows = picture(SHELL, width=60, height=height)
    assert "$ curl -fsSL https://x.io/i.sh | sudo bash" in rows
    assert any(row.startswith("❯n no  y once") for row in rows)


def test_a_change_in_ascii() -> None:
    assert picture(EDIT, width=80, height=24, theme=PLAIN_ASCII) == [
        "Edit src/a.py +1 -1",
        "1   one",
        "2 - two",
        "2 + 2.",
        "3   three",
        "",
        "Apply this change?",
        "> 1. Allow once (y)",
        "  2. Allow for this session (s)",
        "  3. Edit in your editor (e)",
        "  4. No, continue (n)",
        "  5. No, and say what to do instead (t)",
        "  6. No, and stop (q)",
        "",
        "s adds the rule: allow replace",
        "Enter to confirm | Esc to stop | v view | m whole file",
    ]


def test_several_questions() -> None:
    rows = picture(replace(EDIT, place=1, total=2), width=60, height=24)
    assert rows[0] == f"{'Edit src/a.py +1 -1':54}1 of 2"
    narrow = picture(replace(EDIT, place=1, total=2), width=22, height=24)
    assert narrow[:2] == ["Edit src/a.py +1 -1 1", "↪ of 2"]


def test_more_than_fits_says_so() -> None:
    command = "\n".join(f"echo {number}" for number in range(30))
    confirmation = ExecConfirmation("T", command, "/w", ("echo",))
    rows = picture(replace(SHELL, confirmation=confirmation, risks=(), can_try=False), width=80, height=22)
    assert rows[:2] == ["Run a command", "Reason: The rule asks."]
    at = rows.index("$ echo 0")
    place = next(row for row in rows if row.startswith("… "))
    shown = rows.index(place) - at
    assert shown >= 12
    assert rows[at + 1 : at + shown] == [f"> echo {number}" for number in range(1, shown)]
    assert place == f"… Rows 1-{shown} of 30 · Space for more"
    assert rows[-3] == "❯y once  s session  p project  u everywhere  n no  t instead  q stop"


def test_a_word_to_the_model() -> None:
    rows = picture(EDIT, width=80, height=24, keys="tuse tea")
    assert rows[-4:] == [
        "Apply this change?",
        "No. What should the model do instead?",
        "> use tea",
        "Enter to send · Esc to go back",
    ]


def test_each_rule_says_for_which_answers_it_is() -> None:
    call = McpConfirmation("T", "srv", "do", "do")
    question = ApprovalRequest(call, "do", "", "allow do of srv", tuple(Scope), always_server="allow * of srv")
    rows = picture(question, width=80, height=24)
    assert [row for row in rows if "the rule:" in row] == [
        "s, p, u add the rule: allow do of srv",
        "a adds the rule: allow * of srv",
    ]


def test_why_no_rule_is_offered() -> None:
    question = replace(SHELL, always=None, always_refusal="Always is not offered: the command deletes files.")
    rows = picture(question, width=80, height=24)
    assert rows[-2] == "Always is not offered: the command deletes files."


def patch(changed: int, *, context: int = 3) -> EditConfirmation:
    """A change of this many lines in the middle of a file."""
    old = [f"line {number}" for number in range(1, 400)]
    removed = changed // 3
    new = [*old[:50], *(f"    new line {number}" for number in range(changed - removed)), *old[50 + removed :]]
    header = f"Index: price.py\n{'=' * 67}\n--- price.py\tCurrent\n+++ price.py\tProposed\n"
    hunks = list(difflib.unified_diff(old, new, lineterm="", n=context))[2:]
    path, diff = "/w/src/shop/price.py", header + "\n".join(hunks) + "\n"
    return EditConfirmation("T", "price.py", path, diff, "\n".join(old), "\n".join(new))


def new_file(lines: int) -> EditConfirmation:
    text = "".join(f"note {number}\n" for number in range(lines))
    header = f"Index: notes.txt\n{'=' * 67}\n--- notes.txt\tCurrent\n+++ notes.txt\tProposed\n"
    diff = f"{header}@@ -0,0 +1,{lines} @@\n" + "".join(f"+note {number}\n" for number in range(lines))
    return EditConfirmation("T", "notes.txt", "/w/notes.txt", diff, None, text)


def ask(confirmation: ChoiceSubject, **fields: object) -> ApprovalRequest:
    question = ApprovalRequest(
        confirmation, "tool", always="allow tool: some words", scopes=tuple(Scope), can_modify=True, directory="/w"
    )
    return replace(question, **fields)


FILE = PathState(PathKind.FILE, permissions=0o644, size=1, digest=b"1")
SERVER_ARGUMENTS: JsonObject = {"query": "price", "limit": 10, "paths": ["src"]}
REQUESTS = {
    "edit-1": ask(patch(1)),
    "edit-3": ask(patch(3)),
    "edit-10": ask(patch(10)),
    "edit-200": ask(patch(200)),
    "create-12": ask(new_file(12)),
    "create-500": ask(new_file(500)),
    "command": ask(ExecConfirmation("T", "python3 -m pytest -q tests", "/w", ("python3",), "Run the tests")),
    "long-command": ask(ExecConfirmation("T", f"echo {'word ' * 60}", "/w", ("echo",), "Say it")),
    "script": ask(ExecConfirmation("T", "\n".join(f"echo {n}" for n in range(60)), "/w", ("echo",))),
    "many-choices": ask(
        ExecConfirmation("T", "make -j8 all", "/w", ("make",), "Build"), can_try=True, can_allow_sandboxed=True
    ),
    "risky": replace(SHELL, always=None, always_refusal="Always is not offered: the command runs a download."),
    "mcp": ask(
        McpConfirmation("T", "docs", "search", "search", SERVER_ARGUMENTS, "Searches.\n" * 40),
        always_server="allow all tools of docs",
    ),
    "fetch": ask(InfoConfirmation("T", "Summarise https://example.org/a", ("https://example.org/a",))),
    "trial": ask(
        TrialConfirmation(
            "T", "make", "/w", (PathChange("/w", "a", before=None, after=FILE),), patch(3).file_diff, "done\n", 0
        ),
        always=None,
    ),
}
ORDINARY = ("edit-1", "edit-3", "command", "many-choices", "mcp", "fetch")
SIZES = [(80, 24), (100, 30), (40, 24), (40, 12)]


def body_height(height: int, rows_above: int) -> int:
    """The rows of a dialog above a status line, while this many rows of activity want to be shown."""
    return max_body_height(height, Footer.fit(height, hints=(), status=[]), rows_above)


@pytest.mark.parametrize("rows_above", [0, 4])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", REQUESTS)
def test_prompt_choices_and_keys_are_always_visible(name: str, size: tuple[int, int], rows_above: int) -> None:
    question, height = REQUESTS[name], body_height(size[1], rows_above)
    rows = picture(question, width=size[0], height=height)
    assert len(rows) <= height
    confirmation = question.confirmation
    assert not isinstance(confirmation, ElicitationConfirmation | AskUserConfirmation)
    assert build_approval_view(question, confirmation).prompt in rows
    assert "Enter to confirm · Esc to stop" in rows[-1]
    below = " ".join(rows[-20:])
    for choice in approval_choices(question):
        assert f"({choice.letter})" in below or f"{choice.letter} {choice.short_label}" in below


@pytest.mark.parametrize("rows_above", [0, 4])
@pytest.mark.parametrize("size", [(80, 24), (100, 30)], ids=str)
@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_call_is_wholly_visible(name: str, size: tuple[int, int], rows_above: int) -> None:
    question = REQUESTS[name]
    rows = picture(question, width=size[0], height=body_height(size[1], rows_above))
    confirmation = question.confirmation
    assert not isinstance(confirmation, ElicitationConfirmation | AskUserConfirmation)
    view = build_approval_view(question, confirmation)
    for line in view.body:
        assert f"{line.prefix}{line.text}" in rows
    for line in view.diff:
        assert not line.is_change or any(row.endswith(line.text) for row in rows)
    if view.diff:
        assert any(row.endswith("  line 50") for row in rows)
        assert any(row.startswith("❯ 1. Allow once (y)") for row in rows)
    assert any("the rule: allow tool: some words" in row for row in rows)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", ["edit-3", "command", "fetch"])
def test_small_calls_are_wholly_visible_on_small_screens(name: str, size: tuple[int, int]) -> None:
    question = REQUESTS[name]
    rows = picture(question, width=size[0], height=body_height(size[1], 4))
    confirmation = question.confirmation
    assert not isinstance(confirmation, ElicitationConfirmation | AskUserConfirmation)
    view = build_approval_view(question, confirmation)
    assert all(f"{line.prefix}{line.text}" in rows for line in view.body)
    assert all(any(row.endswith(line.text) for row in rows) for line in view.diff if line.is_change)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("name", "last"), [("edit-200", "new line 133"), ("create-500", "note 499")])
def test_of_a_long_change_both_ends_are_visible(name: str, last: str, size: tuple[int, int]) -> None:
    question = REQUESTS[name]
    rows = picture(question, width=size[0], height=body_height(size[1], 0))
    first = "note 0" if name == "create-500" else "line 51"
    assert any(row.endswith(first) for row in rows)
    assert any(row.endswith(last) for row in rows)
    assert sum(" more lines (+" in row for row in rows) == 1


@given(st.sampled_from(sorted(REQUESTS)), st.integers(6, 130), st.integers(1, 50), st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_any_size_fits(name: str, width: int, height: int, selected: int) -> None:
    question = REQUESTS[name]
    confirmation = question.confirmation
    assert not isinstance(confirmation, ElicitationConfirmation | AskUserConfirmation)
    dialog = ApprovalDialog(question, confirmation, UNICODE, clock=FakeClock())
    for _ in range(selected):
        dialog.press("down")
    assert len(draw(dialog, width=width, height=height)) <= height


@given(st.sampled_from(sorted(REQUESTS)), st.integers(30, 130), st.integers(8, 50))
@settings(max_examples=40, deadline=None)
def test_everything_can_be_viewed_at_any_size(name: str, width: int, height: int) -> None:
    """Page by page through the view, every line of the call is on the screen."""
    question = REQUESTS[name]
    confirmation = question.confirmation
    assert not isinstance(confirmation, ElicitationConfirmation | AskUserConfirmation)
    clock = FakeClock()
    dialog = ApprovalDialog(question, confirmation, UNICODE, clock=clock)
    draw(dialog, width=width, height=height)
    clock.now += 1
    dialog.press("v")
    rows, total = dict[int, str](), 1
    while len(rows) < total:
        *page, last = draw(dialog, width=width, height=height)
        first, end, total = map(int, re.findall(r"[0-9]+", last)[:3])
        assert end == first + len(page) - 1 > max(rows, default=0)
        rows |= enumerate(page, first)
        dialog.press(" ")
    seen = "".join(rows[at] for at in sorted(rows))
    view = build_approval_view(question, confirmation)
    seen = re.sub(r"↪ |…|\s", "", seen)
    for line in (*view.body, *(row for row in view.diff if row.is_change)):
        assert re.sub(r"↪ |…|\s", "", line.text) in seen
