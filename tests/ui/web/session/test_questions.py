"""Questions for the page, and only replies that the question has."""

import pytest

from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    Outcome,
    Scope,
)
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.core.messages.json_fields import JsonFields
from tejat.ui.shared.approval.choices import approval_choices
from tejat.ui.web.session.questions import InvalidReply, question_to_json, reply_from_json

DIFF = "--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two\n"
EDIT = ApprovalRequest(
    EditConfirmation("Edit", "a.txt", "/p/a.txt", DIFF, "one\n", "two\n"),
    "replace",
    always="allow replace",
    scopes=(Scope.SESSION, Scope.USER),
    can_modify=True,
)
RUN = ApprovalRequest(ExecConfirmation("Run", "ls", "/p"), "run_shell_command")
OPTIONS = (QuestionOption("SQLite", "a file"), QuestionOption("Postgres", ""))
ASK = ApprovalRequest(
    AskUserConfirmation("Ask", (UserQuestion("Which?", "Database", QuestionType.CHOICE, OPTIONS),)), "ask_user"
)
FIELDS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer", "maximum": 3}},
    "required": ["name"],
}
FORM = ApprovalRequest(ElicitationConfirmation("Form", "server", "Please", FIELDS), "server")


def reply(request: ApprovalRequest, **fields: object) -> ApprovalReply:
    return reply_from_json(request, JsonFields(fields))


@pytest.mark.parametrize("request_", [EDIT, RUN])
def test_the_choices_are_those_of_the_terminal(request_: ApprovalRequest) -> None:
    shown = question_to_json(PendingQuestion("q1", request_, 1.0))
    choices = approval_choices(request_)
    found = shown["choices"]
    assert isinstance(found, list)
    assert [(each["letter"], each["label"]) for each in found if isinstance(each, dict)] == [
        (choice.letter, choice.label) for choice in choices
    ]
    for choice in choices:
        if isinstance(choice.outcome, ApprovalReply):
            assert reply(request_, choice=choice.letter) == choice.outcome


def test_feedback_goes_with_a_no() -> None:
    assert reply(EDIT, choice="t", feedback=" Use English. ") == ApprovalReply(Outcome.CANCEL, feedback="Use English.")
    assert reply(EDIT, choice="t") == ApprovalReply(Outcome.CANCEL)


def test_an_edited_proposal_is_sent_only_if_it_changed() -> None:
    assert question_to_json(PendingQuestion("q", EDIT, 1.0))["editable"] == "two\n"
    assert reply(EDIT, choice="e", content="mine\n") == ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="mine\n")
    with pytest.raises(InvalidReply, match="No changes made"):
        reply(EDIT, choice="e", content="two\n")


@pytest.mark.parametrize("choice", ["e", "s", "u", "x", "", "yes", "Y"])
def test_what_a_question_does_not_offer_is_refused(choice: str) -> None:
    with pytest.raises(InvalidReply):
        reply(RUN, choice=choice)


def test_missing_and_wrong_fields_are_refused() -> None:
    for request in (EDIT, ASK, FORM):
        with pytest.raises(ValueError, match="missing"):
            reply(request)
    with pytest.raises(ValueError, match="choice"):
        reply(RUN, choice=1)


def test_answers_to_the_model() -> None:
    assert reply(ASK, accept=True, answers={"answer_1": "Postgres"}).answers == {"0": "Postgres"}
    assert reply(ASK, accept=True, answers={"other_1": "MySQL"}).answers == {"0": "MySQL"}
    assert reply(ASK, accept=True, answers={}).answers == {}
    assert reply(ASK, accept=False) == ApprovalReply(Outcome.CANCEL)


def test_answers_to_a_server_are_checked() -> None:
    assert reply(FORM, accept=True, answers={"name": "x", "count": 2}).answers == {"name": "x", "count": 2}
    assert reply(FORM, accept=False) == ApprovalReply(Outcome.CANCEL)
    for wrong in ({}, {"name": "x", "count": 9}, {"name": "x", "count": "many"}):
        with pytest.raises(InvalidReply):
            reply(FORM, accept=True, answers=wrong)
