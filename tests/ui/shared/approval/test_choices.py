"""What may be answered, in which order, and what it would remember."""

import pytest

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    Outcome,
    Risk,
    Scope,
    TrialConfirmation,
)
from tejat.core.frozen import replace
from tejat.ui.shared.approval.choices import ChoiceAction, always_note, approval_choices, rule_labels

SHELL = ApprovalRequest(
    ExecConfirmation("T", "git log", "/w", ("git",)),
    "run_shell_command",
    always="allow x: git\nlog",
    scopes=tuple(Scope),
)
EDIT = ApprovalRequest(EditConfirmation("T", "a", "/w/a", "+x", None, "x"), "write_file", can_modify=True)
SERVER = ApprovalRequest(
    McpConfirmation("T", "srv", "do", "Do"),
    "do",
    always="allow do of server srv",
    scopes=tuple(Scope),
    always_server="allow * of server srv",
)
SKILL = ApprovalRequest(
    InfoConfirmation("T", "x"), "activate_skill", always="the skill", scopes=tuple(Scope), tool_rules="allow write_file"
)
TRIAL_RUN = TrialConfirmation("T", "make", "/w", (), "", "", 0)
TRIAL = ApprovalRequest(TRIAL_RUN, "run_shell_command")


def describe_choices(question: ApprovalRequest) -> list[str]:
    return [f"{choice.letter} {choice.keyword}: {choice.label}" for choice in approval_choices(question)]


def test_a_skill_with_tools() -> None:
    shown = describe_choices(SKILL)[:3]
    assert shown[:2] == ["y yes: Allow once", "w with: Allow once, with its tools for this session"]
    of_agent = describe_choices(replace(SKILL, agent="a#1"))
    assert of_agent[1] == "w with: Allow once, with its tools for this run of a#1"
    labels = rule_labels(approval_choices(SKILL))
    assert labels == ["w adds the rule: allow write_file", "s, p, u add the rule: the skill"]


def test_a_command() -> None:
    assert describe_choices(SHELL) == [
        "y yes: Allow once",
        "s session: Allow for this session",
        "p project: Always allow in this project",
        "u user: Always allow everywhere",
        "n no: No, continue",
        "t tell: No, and say what to do instead",
        "q stop: No, and stop",
    ]


def test_sandboxed_commands() -> None:
    question = replace(SHELL, can_allow_sandboxed=True)
    assert describe_choices(question)[4] == "b sandboxed: Run sandboxed commands without asking"


def test_a_tool_of_a_server() -> None:
    assert describe_choices(SERVER)[1:3] == [
        "s session: Allow this tool for this session",
        "a all: Allow all tools of this server for this session",
    ]
    assert [choice.letter for choice in approval_choices(replace(SERVER, always_server=None))] == list("yspuntq")


def test_each_rule_once_with_the_choices_that_add_it() -> None:
    assert rule_labels(approval_choices(SHELL)) == ["s, p, u add the rule: allow x: git<U+000A>log"]
    assert rule_labels(approval_choices(SERVER)) == [
        "s, p, u add the rule: allow do of server srv",
        "a adds the rule: allow * of server srv",
    ]
    assert rule_labels(approval_choices(EDIT)) == []


@pytest.mark.parametrize(
    ("question", "letters"),
    [
        (SHELL, "yspuntq"),
        (replace(SHELL, scopes=(Scope.SESSION,)), "ysntq"),
        (replace(SHELL, always=None), "yntq"),
        (replace(SHELL, can_try=True), "yspucntq"),
        (replace(SHELL, can_allow_sandboxed=True, can_try=True), "yspubcntq"),
        (EDIT, "yentq"),
        (replace(EDIT, can_modify=False), "yntq"),
        (SERVER, "ysapuntq"),
        (TRIAL, "yrntq"),
        (ApprovalRequest(replace(TRIAL_RUN, obstacles=("x",)), "t"), "rntq"),
    ],
)
@pytest.mark.parametrize("risks", [(), (Risk.USES_NETWORK,), tuple(Risk)])
def test_what_there_is_to_choose_and_no_first_where_there_is_a_risk(
    question: ApprovalRequest, letters: str, risks: tuple[Risk, ...]
) -> None:
    expected = f"n{letters.replace('n', '')}" if risks else letters
    assert "".join(choice.letter for choice in approval_choices(replace(question, risks=risks))) == expected


@pytest.mark.parametrize(
    ("question", "letter", "outcome"),
    [
        (SHELL, "y", ApprovalReply(Outcome.PROCEED_ONCE)),
        (SHELL, "s", ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)),
        (SHELL, "p", ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT)),
        (SHELL, "u", ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.USER)),
        (SHELL, "n", ApprovalReply(Outcome.CANCEL)),
        (SHELL, "t", ChoiceAction.GIVE_FEEDBACK),
        (SHELL, "q", ApprovalReply(Outcome.STOP)),
        (replace(SHELL, can_try=True), "c", ApprovalReply(Outcome.TRY_IN_COPY)),
        (EDIT, "e", ChoiceAction.MODIFY),
        (SERVER, "s", ApprovalReply(Outcome.PROCEED_ALWAYS_TOOL, scope=Scope.SESSION)),
        (SERVER, "a", ApprovalReply(Outcome.PROCEED_ALWAYS_SERVER, scope=Scope.SESSION)),
        (SKILL, "w", ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=Scope.SESSION)),
        (replace(SKILL, agent="a#1"), "w", ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=Scope.RUN)),
        (TRIAL, "y", ApprovalReply(Outcome.PROCEED_ONCE)),
        (TRIAL, "r", ApprovalReply(Outcome.RUN_FOR_REAL)),
    ],
)
def test_what_comes_of_each(question: ApprovalRequest, letter: str, outcome: ApprovalReply | ChoiceAction) -> None:
    (choice,) = (choice for choice in approval_choices(question) if choice.letter == letter)
    assert choice.outcome == outcome


def test_which_of_them_run_something() -> None:
    question = replace(SHELL, can_try=True, can_modify=True)
    assert "".join(choice.letter for choice in approval_choices(question) if choice.approves) == "yspuc"


@pytest.mark.parametrize("confirmation", [SHELL.confirmation, EDIT.confirmation, SERVER.confirmation, TRIAL_RUN])
def test_letters_words_and_numbers_mean_one_thing_each(confirmation: Confirmation) -> None:
    question = ApprovalRequest(
        confirmation,
        "t",
        always="r",
        always_server="r",
        scopes=tuple(Scope),
        can_modify=True,
        can_try=True,
        can_allow_sandboxed=True,
        tool_rules="r",
        agent="a#1",
    )
    names = [name for choice in approval_choices(question) for name in (choice.letter, choice.keyword)]
    assert len(set(names)) == len(names)
    assert not {"m", "v", "more"} & set(names)


def test_another_model_after_a_failure() -> None:
    change = ModelChangeConfirmation("Switch the model", "pro", "flash", "No quota.")
    found = [(choice.letter, choice.label, choice.outcome) for choice in approval_choices(ApprovalRequest(change, ""))]
    assert found == [
        ("y", "Switch to flash for this session", ApprovalReply(Outcome.PROCEED_ONCE)),
        ("r", "Retry pro", ApprovalReply(Outcome.TRY_AGAIN)),
        ("q", "Stop", ApprovalReply(Outcome.STOP)),
    ]


@pytest.mark.parametrize(
    ("outcome", "scope", "note"),
    [
        (Outcome.PROCEED_ONCE, None, ""),
        (Outcome.CANCEL, None, ""),
        (Outcome.PROCEED_ALWAYS, Scope.SESSION, "Rule added for this session: allow x."),
        (Outcome.PROCEED_ALWAYS_SERVER, Scope.SESSION, "Rule added for this session: allow all."),
        (Outcome.PROCEED_ALWAYS_AND_SAVE, Scope.PROJECT, "Rule added for this project: allow x."),
        (Outcome.PROCEED_ALWAYS_AND_SAVE, Scope.USER, "Rule added for all projects: allow x."),
        (Outcome.PROCEED_WITH_TOOLS, Scope.SESSION, "Rule added for this session: allow these."),
        (
            Outcome.PROCEED_ALWAYS_SANDBOXED,
            None,
            "Sandboxed commands that only read, test or build now run without asking.",
        ),
    ],
)
def test_an_always_says_what_it_added_and_where_to_revoke_it(outcome: Outcome, scope: Scope | None, note: str) -> None:
    question = replace(SERVER, always="allow x", always_server="allow all", tool_rules="allow these")
    assert always_note(question, ApprovalReply(outcome, scope=scope)) == (note and f"{note} /permissions to revoke.")


def test_a_long_rule_is_shortened_in_the_note() -> None:
    question = replace(SHELL, always=f"allow {'x' * 500}")
    note = always_note(question, ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION))
    assert note.endswith("xxx.... /permissions to revoke.")
    assert len(note) < 180
