"""What a command did in a copy, as lines for a person: each change, the end, the output, the diff, nothing hidden."""

import pytest

from tejat.core.confirm import Question, TrialConfirmation
from tejat.core.undo import Change, Node, NodeKind
from tejat.core.value import replace
from tejat.frontends.questions.lines import Line, LineKind
from tejat.frontends.questions.sheet import Fact, FactKind, sheet_of

FILE = Node(NodeKind.FILE, permissions=0o644, size=1, digest=b"1")
OTHER = Node(NodeKind.FILE, permissions=0o600, size=20, digest=b"2")
HOSTILE = "a\x1b[2J\u202e\nb"
SHOWN = "a<U+001B>[2J<U+202E><U+000A>b"
RULE = "=" * 67

TRIAL = TrialConfirmation(
    title="T",
    command="make\nall",
    directory="/w",
    changes=(
        Change("/w", "a", before=OTHER, after=FILE),
        Change("/w", "d", before=None, after=Node(NodeKind.DIRECTORY, permissions=0o755)),
        Change("/w", HOSTILE, before=None, after=Node(NodeKind.LINK, target=HOSTILE)),
        Change("/w", "m", before=FILE, after=replace(FILE, permissions=0o755)),
        Change("/w", "r", before=FILE, after=None),
    ),
    diff=f"Index: /w/a\n{RULE}\n--- /w/a\tBefore\n+++ /w/a\tAfter\n@@ -1,1 +1,1 @@\n-x\n+y \x1b[2J\n",
    output="said\x1b[2J\n",
    exit_code=3,
)


def test_all_of_it_is_shown() -> None:
    sheet = sheet_of(Question(TRIAL, "run_shell_command", directory="/elsewhere"), TRIAL)
    assert sheet.heading == "The command changed 5 files in the copy"
    assert sheet.asked == "Keep these changes?"
    assert sheet.must_be_seen
    assert sheet.facts == (
        Fact(FactKind.NOTE, "Exit code: 3"),
        Fact(FactKind.PLAIN, "Asked by: run_shell_command, a built-in tool"),
        Fact(FactKind.PLAIN, "Folder: /w"),
    )
    assert sheet.body == (
        Line(LineKind.COMMAND, "make"),
        Line(LineKind.COMMAND_GOES_ON, "all"),
        Line(LineKind.LABEL, "It printed:"),
        Line(LineKind.SAID, "said<U+001B>[2J"),
        Line(LineKind.LABEL, "What it changed:"),
        Line(LineKind.SAID, "changed: /w/a (file of 1 byte, 0644; before: file of 20 bytes, 0600)"),
        Line(LineKind.SAID, "created: /w/d (directory, 0755)"),
        Line(LineKind.SAID, f"created: /w/{SHOWN} (link to {SHOWN})"),
        Line(LineKind.SAID, "permissions of /w/m: 0644, then 0755"),
        Line(LineKind.SAID, "removed: /w/r (file of 1 byte, 0644)"),
        Line(LineKind.LABEL, "As a diff:"),
        Line(LineKind.HUNK, "/w/a"),
        Line(LineKind.HUNK, "@@ -1,1 +1,1 @@"),
        Line(LineKind.REMOVED, "-x"),
        Line(LineKind.ADDED, "+y <U+001B>[2J"),
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
    sheet = sheet_of(Question(trial, "t"), trial)
    assert (sheet.heading, sheet.asked) == (heading, asked)


@pytest.mark.parametrize(
    ("code", "told"),
    [(0, "Exit code: 0"), (-9, "It was ended by signal 9."), (None, "It did not come to its end.")],
)
def test_ends(code: int | None, told: str) -> None:
    trial = replace(TRIAL, exit_code=code)
    assert sheet_of(Question(trial, "t"), trial).facts[0] == Fact(FactKind.NOTE, told)


def test_what_stands_in_the_way_comes_first() -> None:
    trial = replace(TRIAL, obstacles=(HOSTILE,))
    assert sheet_of(Question(trial, "t"), trial).facts[0] == Fact(FactKind.WARNING, f"It cannot be kept: {SHOWN}")


def test_a_word_that_mixes_alphabets_is_pointed_out() -> None:
    trial = replace(TRIAL, changes=(), diff="+p\u0430y\n")
    told = "Look closely, this word mixes alphabets: p\u0430y = p<U+0430>y"
    assert sheet_of(Question(trial, "t"), trial).facts[0] == Fact(FactKind.WARNING, told)
