"""What may be answered, in which order, and what it would remember."""

import pytest

from tejat.core.confirm import (
    Answer,
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    McpConfirmation,
    Outcome,
    Question,
    Risk,
    Scope,
    TrialConfirmation,
)
from tejat.core.value import replace
from tejat.frontends.questions.choices import Act, choices_of

SHELL = Question(
    ExecConfirmation("T", "git log", "/w", ("git",)),
    "run_shell_command",
    always="allow x: git\nlog",
    scopes=tuple(Scope),
)
EDIT = Question(EditConfirmation("T", "a", "/w/a", "+x", None, "x"), "write_file", can_modify=True)
SERVER = Question(
    McpConfirmation("T", "srv", "do", "Do"),
    "do",
    always="allow do of server srv",
    scopes=tuple(Scope),
    always_server="allow * of server srv",
)
TRIAL_RUN = TrialConfirmation("T", "make", "/w", (), "", "", 0)
TRIAL = Question(TRIAL_RUN, "run_shell_command")


def told(question: Question) -> list[str]:
    return [f"{choice.letter} {choice.word}: {choice.told}" for choice in choices_of(question)]


def test_a_command() -> None:
    assert told(SHELL) == [
        "y yes: Allow once",
        "s session: Allow for this session: allow x: git<U+000A>log",
        "p project: Allow always in this project (saved): allow x: git<U+000A>log",
        "u user: Allow always for me, in all projects (saved): allow x: git<U+000A>log",
        "n no: No",
        "t tell: No, and tell the model what to do instead",
        "q stop: No, and stop this turn",
    ]


def test_a_tool_of_a_server() -> None:
    assert told(SERVER)[1:3] == [
        "s session: Allow tool for this session: allow do of server srv",
        "a all: Allow all server tools for this session: allow * of server srv",
    ]
    assert [choice.letter for choice in choices_of(replace(SERVER, always_server=None))] == list("yspuntq")


@pytest.mark.parametrize(
    ("question", "letters"),
    [
        (SHELL, "yspuntq"),
        (replace(SHELL, scopes=(Scope.SESSION,)), "ysntq"),
        (replace(SHELL, always=None), "yntq"),
        (replace(SHELL, can_try=True), "yspucntq"),
        (EDIT, "yentq"),
        (replace(EDIT, can_modify=False), "yntq"),
        (SERVER, "ysapuntq"),
        (TRIAL, "yrntq"),
        (Question(replace(TRIAL_RUN, obstacles=("x",)), "t"), "rntq"),
    ],
)
@pytest.mark.parametrize("risks", [(), (Risk.USES_NETWORK,), tuple(Risk)])
def test_what_there_is_to_choose_and_no_first_where_there_is_a_risk(
    question: Question, letters: str, risks: tuple[Risk, ...]
) -> None:
    expected = f"n{letters.replace('n', '')}" if risks else letters
    assert "".join(choice.letter for choice in choices_of(replace(question, risks=risks))) == expected


@pytest.mark.parametrize(
    ("question", "letter", "outcome"),
    [
        (SHELL, "y", Answer(Outcome.PROCEED_ONCE)),
        (SHELL, "s", Answer(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)),
        (SHELL, "p", Answer(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT)),
        (SHELL, "u", Answer(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.USER)),
        (SHELL, "n", Answer(Outcome.CANCEL)),
        (SHELL, "t", Act.TELL),
        (SHELL, "q", Answer(Outcome.STOP)),
        (replace(SHELL, can_try=True), "c", Answer(Outcome.TRY_IN_COPY)),
        (EDIT, "e", Act.MODIFY),
        (SERVER, "s", Answer(Outcome.PROCEED_ALWAYS_TOOL, scope=Scope.SESSION)),
        (SERVER, "a", Answer(Outcome.PROCEED_ALWAYS_SERVER, scope=Scope.SESSION)),
        (TRIAL, "y", Answer(Outcome.PROCEED_ONCE)),
        (TRIAL, "r", Answer(Outcome.RUN_FOR_REAL)),
    ],
)
def test_what_comes_of_each(question: Question, letter: str, outcome: Answer | Act) -> None:
    (choice,) = (choice for choice in choices_of(question) if choice.letter == letter)
    assert choice.outcome == outcome


def test_which_of_them_run_something() -> None:
    question = replace(SHELL, can_try=True, can_modify=True)
    assert "".join(choice.letter for choice in choices_of(question) if choice.runs_something) == "yspuc"


@pytest.mark.parametrize("confirmation", [SHELL.confirmation, EDIT.confirmation, SERVER.confirmation, TRIAL_RUN])
def test_letters_words_and_numbers_mean_one_thing_each(confirmation: Confirmation) -> None:
    question = Question(
        confirmation, "t", always="r", always_server="r", scopes=tuple(Scope), can_modify=True, can_try=True
    )
    names = [name for choice in choices_of(question) for name in (choice.letter, choice.word)]
    assert len(set(names)) == len(names)
    assert not {"m", "v", "more"} & set(names)
