"""Questions have the text of the terminal, all of it, and no buttons."""

import pytest

from support.html_checks import HOSTILE_TEXTS, HtmlCheck, text_of
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    ApprovalSubject,
    AskUserConfirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    Outcome,
    PlanConfirmation,
    Risk,
    Scope,
    TrialConfirmation,
)
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.core.undo import PathChange, PathKind, PathState
from tejat.ui.html.question import render_question, reply_label
from tejat.ui.shared.approval.text import approval_text_lines
from tejat.ui.shared.approval.view import build_approval_view

DIFF = "@@ -1 +1 @@\n-old = 1\n+new = 2\n"


def subjects(text: str) -> list[ApprovalSubject]:
    """One of every kind, with this text wherever it can come from outside."""
    question = UserQuestion(text, text, QuestionType.CHOICE, (QuestionOption(text, text), QuestionOption("b")))
    change = PathChange("/w", text, None, PathState(PathKind.FILE, 0o644, 3, b"x"))
    return [
        EditConfirmation(text, text, f"/w/{text}", DIFF.replace("new", text.replace("\n", " ")), "old = 1\n", text),
        ExecConfirmation(text, text, "/w", (text, "b"), text, (text,)),
        TrialConfirmation(text, text, "/w", (change,), DIFF, text, 1, (text,)),
        McpConfirmation(text, text, text, "x" + text, {"a": text}, text, {"properties": {"a": {"type": text}}}),
        InfoConfirmation(text, text, (text,)),
        ModelChangeConfirmation(text, text, text, text),
        PlanConfirmation(text, f"/w/{text}", text, note=text),
        ElicitationConfirmation(text, text, text, {"type": "object", "properties": {"a": {"type": "string"}}}),
        ElicitationConfirmation(text, text, text, url=f"https://x.example/{text}"),
        ElicitationConfirmation(text, text, text, url=text),
        AskUserConfirmation(text, (question, UserQuestion(text, text))),
    ]


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_questions_of_every_kind_stay_text(text: str) -> None:
    for subject in subjects(text):
        request = ApprovalRequest(subject, text, text, text, tuple(Scope), note=text, agent=text, agent_task=text)
        check = HtmlCheck(render_question(request))
        assert check.problems == []
        assert not {"button", "input", "select", "textarea"} & {tag for tag, _attributes in check.tags}


def test_the_text_is_that_of_the_terminal() -> None:
    for subject in subjects("some text")[:7]:
        request = ApprovalRequest(
            subject,
            "tool",
            "No rule allows it.",
            "tool(x)",
            (Scope.SESSION, Scope.PROJECT),
            risks=(Risk.DELETES,),
            directory="/w",
            place=1,
            total=2,
        )
        assert not isinstance(subject, ElicitationConfirmation | AskUserConfirmation)
        view = build_approval_view(request, subject)
        shown = " ".join(text_of(render_question(request)).split())
        lines = [line for line in approval_text_lines(view) if not line[:4].strip().isdigit()]
        for line in (*lines, view.prompt, view.position):
            if not (view.diff and line.lstrip("0123456789 ").startswith(("+", "-"))) and not view.is_markdown:
                assert " ".join(line.split()) in shown
        for fact in view.facts:
            assert fact.text in shown


def test_the_change_and_the_rules_are_shown() -> None:
    edit = EditConfirmation("T", "a.py", "/w/a.py", DIFF, "old = 1\n", "new = 2\n")
    request = ApprovalRequest(edit, "replace", always="replace(a.py)", scopes=(Scope.SESSION, Scope.PROJECT))
    shown = render_question(request)
    text = text_of(shown)
    assert "s, p add the rule: replace(a.py)" in text
    assert '<tr class="added">' in shown
    assert "Edit /w/a.py +1 -1" in text
    assert "Apply this change?" in text
    refused = ApprovalRequest(edit, "replace", always_refusal="No rule can be that wide.")
    assert "No rule can be that wide." in text_of(render_question(refused))


def test_whether_all_of_it_must_be_seen() -> None:
    command = ApprovalRequest(ExecConfirmation("T", "make", "/w"), "run_shell_command")
    edit = ApprovalRequest(EditConfirmation("T", "a", "/w/a", DIFF, "a", "b"), "replace")
    assert 'data-must-be-viewed="true"' in render_question(command)
    assert "data-must-be-viewed" not in render_question(edit)


@pytest.mark.parametrize(
    "hidden",
    [
        "[x]: https://evil.example 'secret'",
        "[a](https://x.example 'a title')",
        "```sh and more words\nx\n```",
        "| a |\n|---|\n| b | surplus |",
        "> " * 30 + "deep",
    ],
)
def test_a_plan_hides_nothing(hidden: str) -> None:
    plan = PlanConfirmation("T", "/p/plan.md", f"# Plan\n\n{hidden}\n")
    text = text_of(render_question(ApprovalRequest(plan, "exit_plan_mode")))
    for line in hidden.split("\n"):
        assert line.strip() in text


def test_an_ordinary_plan_is_rendered() -> None:
    plan = PlanConfirmation("T", "/p/plan.md", "# Plan\n\n1. **Read** the code\n")
    assert "<strong>Read</strong>" in render_question(ApprovalRequest(plan, "exit_plan_mode"))


def test_a_huge_action_is_cut_with_a_warning() -> None:
    request = ApprovalRequest(ExecConfirmation("T", "echo " + "x" * 5_000_000, "/w"), "run_shell_command")
    shown = render_question(request)
    assert len(shown) < 1_000_000
    assert "Part of this is not shown. Approve it only if you know all of it." in text_of(shown)


@pytest.mark.parametrize(
    ("subject", "reply", "label"),
    [
        (ExecConfirmation("T", "make", "/w"), None, "Not answered"),
        (ExecConfirmation("T", "make", "/w"), ApprovalReply(Outcome.PROCEED_ONCE), "Allow once"),
        (
            ExecConfirmation("T", "make", "/w"),
            ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT),
            "Always allow in this project",
        ),
        (
            ExecConfirmation("T", "make", "/w"),
            ApprovalReply(Outcome.CANCEL, feedback="Use\nninja."),
            "No, and say what to do instead: Use<U+000A>ninja.",
        ),
        (ExecConfirmation("T", "make", "/w"), ApprovalReply(Outcome.CANCEL), "No, continue"),
        (ExecConfirmation("T", "make", "/w"), ApprovalReply(Outcome.MODIFY_WITH_EDITOR, "x"), "Edit in your editor"),
        (ElicitationConfirmation("T", "s", "m"), ApprovalReply(Outcome.CANCEL), "Declined"),
        (
            ElicitationConfirmation("T", "s", "m"),
            ApprovalReply(Outcome.PROCEED_ONCE, answers={"a": "b"}),
            'Answers: {"a":"b"}',
        ),
        (AskUserConfirmation("T", (UserQuestion("q", "Colour"),)), ApprovalReply(Outcome.CANCEL), "Dismissed"),
        (
            AskUserConfirmation("T", (UserQuestion("q", "Colour"), UserQuestion("r", "Size"))),
            ApprovalReply(Outcome.PROCEED_ONCE, answers={"0": "red"}),
            "Colour → red; Size → (no answer)",
        ),
    ],
)
def test_how_it_was_answered(subject: ApprovalSubject, reply: ApprovalReply | None, label: str) -> None:
    request = ApprovalRequest(subject, "tool", always="tool(x)", scopes=(Scope.SESSION, Scope.PROJECT))
    assert reply_label(request, reply) == label
