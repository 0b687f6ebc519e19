"""Trial runs as display lines: changes, exit status, output and diff, with nothing hidden."""

import pytest

from tejat.core.approval.confirmation import ApprovalRequest, TrialConfirmation
from tejat.core.frozen import replace
from tejat.core.undo import PathChange, PathKind, PathState
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind
from tejat.ui.shared.approval.view import Fact, FactKind, build_approval_view

FILE = PathState(PathKind.FILE, permissions=0o644, size=1, digest=b"1")
OTHER = PathState(PathKind.FILE, permissions=0o600, size=20, digest=b"2")
HOSTILE = "a\x1b[2J\u202e\nb"
SHOWN = "a<U+001B>[2J<U+202E><U+000A>b"
RULE = "=" * 67

TRIAL = TrialConfirmation(
    title="T",
    command="make\nall",
    directory="/w",
    changes=(
        PathChange("/w", "a", before=OTHER, after=FILE),
        PathChange("/w", "d", before=None, after=PathState(PathKind.DIRECTORY, permissions=0o755)),
        PathChange("/w", HOSTILE, before=None, after=PathState(PathKind.LINK, target=HOSTILE)),
        PathChange("/w", "m", before=FILE, after=replace(FILE, permissions=0o755)),
        PathChange("/w", "r", before=FILE, after=None),
    ),
    diff=f"Index: /w/a\n{RULE}\n--- /w/a\tBefore\n+++ /w/a\tAfter\n@@ -1,1 +1,1 @@\n-x\n+y \x1b[2J\n",
    output="said\x1b[2J\n",
    exit_code=3,
)


def test_all_of_it_is_shown() -> None:
    sheet = build_approval_view(ApprovalRequest(TRIAL, "run_shell_command", directory="/elsewhere"), TRIAL)
    assert sheet.heading == "The command changed 5 files in the copy"
    assert sheet.prompt == "Keep these changes?"
    assert sheet.must_be_viewed
    assert sheet.facts == (
        Fact(FactKind.NOTE, "Exit code: 3"),
        Fact(FactKind.PLAIN, "Asked by: run_shell_command, a built-in tool"),
        Fact(FactKind.PLAIN, "Folder: /w"),
    )
    assert sheet.body == (
        DisplayLine(DisplayLineKind.COMMAND, "make"),
        DisplayLine(DisplayLineKind.COMMAND_CONTINUATION, "all"),
        DisplayLine(DisplayLineKind.LABEL, "It printed:"),
        DisplayLine(DisplayLineKind.QUOTED, "said<U+001B>[2J"),
        DisplayLine(DisplayLineKind.LABEL, "What it changed:"),
        DisplayLine(DisplayLineKind.QUOTED, "changed: /w/a (file of 1 byte, 0644; before: file of 20 bytes, 0600)"),
        DisplayLine(DisplayLineKind.QUOTED, "created: /w/d (directory, 0755)"),
        DisplayLine(DisplayLineKind.QUOTED, f"created: /w/{SHOWN} (link to {SHOWN})"),
        DisplayLine(DisplayLineKind.QUOTED, "permissions of /w/m: 0644, then 0755"),
        DisplayLine(DisplayLineKind.QUOTED, "removed: /w/r (file of 1 byte, 0644)"),
        DisplayLine(DisplayLineKind.LABEL, "As a diff:"),
        DisplayLine(DisplayLineKind.HUNK, "/w/a"),
        DisplayLine(DisplayLineKind.HUNK, "@@ -1,1 +1,1 @@"),
        DisplayLine(DisplayLineKind.REMOVED, "-x"),
        DisplayLine(DisplayLineKind.ADDED, "+y <U+001B>[2J"),
    )


@pytest.mark.parametrize(
    ("trial", "heading", "asked"),
    [
        (
            replace(TRIAL, changes=TRIAL.changes[:1]),
            "The command changed 1 file in the copy",
            "Keep these changes?",
        ),
        (replace(TRIAL, changes=()), "The command changed nothing in the copy", "Go on with this result?"),
        (
            replace(TRIAL, changes=(), obstacles=("x",)),
            "The command was run in a copy",
            "This cannot be kept. What now?",
        ),
    ],
)
def test_headings(trial: TrialConfirmation, heading: str, asked: str) -> None:
    sheet = build_approval_view(ApprovalRequest(trial, "t"), trial)
    assert (sheet.heading, sheet.prompt) == (heading, asked)


@pytest.mark.parametrize(
    ("code", "told"),
    [(0, "Exit code: 0"), (-9, "It was ended by signal 9."), (None, "It did not come to its end.")],
)
def test_ends(code: int | None, told: str) -> None:
    trial = replace(TRIAL, exit_code=code)
    assert build_approval_view(ApprovalRequest(trial, "t"), trial).facts[0] == Fact(FactKind.NOTE, told)


def test_what_stands_in_the_way_comes_first() -> None:
    trial = replace(TRIAL, obstacles=(HOSTILE,))
    assert build_approval_view(ApprovalRequest(trial, "t"), trial).facts[0] == Fact(
        FactKind.WARNING, f"It cannot be kept: {SHOWN}"
    )


def test_a_word_that_mixes_alphabets_is_pointed_out() -> None:
    trial = replace(TRIAL, changes=(), diff="+p\u0430y\n")
    told = "Look closely, this word mixes alphabets: p\u0430y = p<U+0430>y"
    assert build_approval_view(ApprovalRequest(trial, "t"), trial).facts[0] == Fact(FactKind.WARNING, told)
