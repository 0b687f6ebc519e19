"""Trial runs as display lines: changes, exit status, output and diff, with nothing hidden."""

import pytest

from tejat.core.approval.confirmation import ApprovalRequest, TrialConfirmation
from tejat.core.frozen import replace
from tejat.core.undo import PathChange, PathKind, PathState
from tejat.ui.shared.approval.choices import approval_choices
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind
from tejat.ui.shared.approval.trial import change_list
from tejat.ui.shared.approval.view import Fact, FactKind, build_approval_view
from tejat.ui.shared.diff.rows import DiffRowKind

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
    assert sheet.heading == "Trial run in a copy: 5 files changed"
    assert sheet.prompt == "Keep these changes?"
    assert sheet.must_be_viewed
    assert sheet.facts == (
        Fact(FactKind.NOTE, "Exit code: 3"),
        Fact(FactKind.PLAIN, "Folder: /w"),
    )
    assert sheet.body == (
        DisplayLine(DisplayLineKind.COMMAND, "make"),
        DisplayLine(DisplayLineKind.COMMAND_CONTINUATION, "all"),
        DisplayLine(DisplayLineKind.LABEL, "Output:"),
        DisplayLine(DisplayLineKind.QUOTED, "said<U+001B>[2J"),
        DisplayLine(DisplayLineKind.LABEL, "Changed files:"),
        DisplayLine(DisplayLineKind.QUOTED, "changed: /w/a (file of 1 byte, 0644; was: file of 20 bytes, 0600)"),
        DisplayLine(DisplayLineKind.QUOTED, "created: /w/d (directory, 0755)"),
        DisplayLine(DisplayLineKind.QUOTED, f"created: /w/{SHOWN} (link to {SHOWN})"),
        DisplayLine(DisplayLineKind.QUOTED, "permissions: /w/m (0644 to 0755)"),
        DisplayLine(DisplayLineKind.QUOTED, "removed: /w/r (file of 1 byte, 0644)"),
    )
    assert [(row.kind, row.text) for row in sheet.diff] == [
        (DiffRowKind.FILE, "/w/a"),
        (DiffRowKind.REMOVED, "x"),
        (DiffRowKind.ADDED, "y <U+001B>[2J"),
    ]


def test_paths_are_relative_to_the_project() -> None:
    sheet = build_approval_view(ApprovalRequest(TRIAL, "run_shell_command", directory="/w"), TRIAL)
    assert [fact.text for fact in sheet.facts] == ["Exit code: 3"]
    assert sheet.body[-1].text == "removed: r (file of 1 byte, 0644)"


@pytest.mark.parametrize(
    ("trial", "heading", "asked"),
    [
        (
            replace(TRIAL, changes=TRIAL.changes[:1]),
            "Trial run in a copy: 1 file changed",
            "Keep these changes?",
        ),
        (replace(TRIAL, changes=()), "Trial run in a copy: no changes", "Continue with this result?"),
        (
            replace(TRIAL, changes=(), obstacles=("x",)),
            "Trial run in a copy",
            "This result cannot be kept. What next?",
        ),
    ],
)
def test_headings(trial: TrialConfirmation, heading: str, asked: str) -> None:
    sheet = build_approval_view(ApprovalRequest(trial, "t"), trial)
    assert (sheet.heading, sheet.prompt) == (heading, asked)


@pytest.mark.parametrize(
    ("code", "told"),
    [(0, "Exit code: 0"), (-9, "Ended by signal 9"), (None, "The command did not finish.")],
)
def test_ends(code: int | None, told: str) -> None:
    trial = replace(TRIAL, exit_code=code)
    assert build_approval_view(ApprovalRequest(trial, "t"), trial).facts[0] == Fact(FactKind.NOTE, told)


def test_what_stands_in_the_way_comes_first() -> None:
    trial = replace(TRIAL, obstacles=(HOSTILE,))
    assert build_approval_view(ApprovalRequest(trial, "t"), trial).facts[0] == Fact(
        FactKind.WARNING, f"Cannot be kept: {SHOWN}"
    )


def test_a_word_that_mixes_alphabets_is_pointed_out() -> None:
    trial = replace(TRIAL, changes=(), diff="+p\u0430y\n")
    told = "Mixed alphabets: p\u0430y = p<U+0430>y"
    assert build_approval_view(ApprovalRequest(trial, "t"), trial).facts[0] == Fact(FactKind.WARNING, told)


class TestAgents:
    """The changes of a sub-agent in a copy."""

    AGENT = replace(TRIAL, agent="generalist#1", command="Tidy up.", output="Tidied.", exit_code=None)

    def test_the_question_names_the_agent_and_its_result(self) -> None:
        view = build_approval_view(ApprovalRequest(self.AGENT, "invoke_agent", directory="/w"), self.AGENT)
        assert view.heading == f"generalist#1 changed {len(TRIAL.changes)} files in a copy"
        lines = [line.text for line in view.body]
        assert lines[:2] == ["Result:", "Tidied."]
        assert not any("did not finish" in fact.text for fact in view.facts)

    def test_a_part_can_be_kept_and_the_agent_sent_back(self) -> None:
        choices = approval_choices(ApprovalRequest(self.AGENT, "invoke_agent", agent="generalist#1", can_modify=True))
        assert [choice.keyword for choice in choices] == ["yes", "part", "no", "tell", "agent", "stop"]
        assert "Send generalist#1 back to work, with a message" in [choice.label for choice in choices]

    def test_what_cannot_be_kept_cannot_be_kept_in_part(self) -> None:
        blocked = replace(self.AGENT, obstacles=("It is too large.",))
        choices = approval_choices(ApprovalRequest(blocked, "invoke_agent", agent="generalist#1", can_modify=True))
        assert [choice.keyword for choice in choices] == ["no", "tell", "agent", "stop"]

    def test_the_list_to_choose_from_has_every_path(self) -> None:
        plain = replace(self.AGENT, changes=TRIAL.changes[:2])
        assert change_list(plain) == "/w/a\n/w/d\n"
