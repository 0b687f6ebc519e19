"""The answers to every kind of question."""

import pytest

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    Outcome,
    PlanConfirmation,
    Risk,
    Scope,
)
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.notebook.reply_form import ReplyAction, ReplyInput, reply_actions

EXEC = ExecConfirmation("Run", "ls", "/")
FIELDS = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 1},
        "size": {"type": "string", "enum": ["s", "m"], "default": "m"},
    },
    "required": ["name"],
}
SERVER = ApprovalRequest(ElicitationConfirmation("t", "server", "Who?", FIELDS), "")
OPTIONS = (QuestionOption("SQLite"), QuestionOption("Other"))
QUESTIONS = (
    UserQuestion("Which database?", "Database", QuestionType.CHOICE, OPTIONS),
    UserQuestion("Why?", "Reason", placeholder="a word"),
)
MODEL = ApprovalRequest(AskUserConfirmation("t", QUESTIONS), "ask_user")


def action(request: ApprovalRequest, key: str) -> ReplyAction:
    (found,) = [each for each in reply_actions(request) if each.key == key]
    return found


class TestChoices:
    def test_yes_and_no(self) -> None:
        request = ApprovalRequest(EXEC, "run_shell_command", always="allow ls", scopes=(Scope.SESSION,))
        assert action(request, "y").make_reply([]) == ApprovalReply(Outcome.PROCEED_ONCE)
        assert action(request, "n").make_reply([]) == ApprovalReply(Outcome.CANCEL)
        assert action(request, "s").make_reply([]).outcome is Outcome.PROCEED_ALWAYS
        assert [each.approves for each in reply_actions(request)[:2]] == [True, True]

    def test_what_is_risky_begins_with_no(self) -> None:
        request = ApprovalRequest(EXEC, "run_shell_command", risks=(Risk.DELETES,))
        assert reply_actions(request)[0].key == "n"

    def test_a_message_is_needed_for_an_objection(self) -> None:
        tell = action(ApprovalRequest(EXEC, "run_shell_command"), "t")
        assert tell.inputs == (ReplyInput("Message", placeholder="What to do instead"),)
        assert tell.make_reply([" Use git. "]) == ApprovalReply(Outcome.CANCEL, feedback="Use git.")
        with pytest.raises(ValueError, match="Enter a message"):
            tell.make_reply(["  "])


def edit_request(new: str | None, *, can_modify: bool = True) -> ApprovalRequest:
    return ApprovalRequest(EditConfirmation("Edit", "a", "/a", "", "old", new), "replace", can_modify=can_modify)


class TestEdit:
    def test_the_proposal_is_edited(self) -> None:
        edit = action(edit_request("one\ntwo\n"), "e")
        assert edit.inputs == (ReplyInput("Edit before approving", initial="one\ntwo\n"),)
        assert edit.needs_editor
        assert not edit.approves  # it is shown again
        reply = edit.make_reply(["one\nthree\n"])
        assert reply == ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="one\nthree\n")
        with pytest.raises(ValueError, match="No changes made"):
            edit.make_reply(["one\ntwo\n"])

    @pytest.mark.parametrize("typed", ["one\nthree\n", "one\r\nthree\r\n"])
    def test_line_endings_stay_as_they_are(self, typed: str) -> None:
        edit = action(edit_request("one\r\ntwo\r\n"), "e")
        assert edit.inputs[0].initial == "one\ntwo\n"
        assert edit.make_reply([typed]).new_content == "one\r\nthree\r\n"
        with pytest.raises(ValueError, match="No changes made"):
            edit.make_reply(["one\ntwo\n"])

    @pytest.mark.parametrize("new", [None, "one\r\ntwo\n", "one\rtwo"])
    def test_what_a_text_area_cannot_hold_is_not_offered(self, new: str | None) -> None:
        assert "e" not in [each.key for each in reply_actions(edit_request(new))]

    def test_only_where_the_terminal_offers_it(self) -> None:
        assert "e" not in [each.key for each in reply_actions(edit_request("new", can_modify=False))]

    def test_plans(self) -> None:
        plan = PlanConfirmation("Plan", "/plan.md", "# Plan")
        assert action(ApprovalRequest(plan, "exit_plan_mode"), "e").make_reply(["# Other"]).new_content == "# Other"


class TestQuestionsOfTheModel:
    def test_answers_by_position(self) -> None:
        send = action(MODEL, "s")
        assert send.inputs == (ReplyInput("Database", ("SQLite", "Other")), ReplyInput("Reason", (), "a word"))
        assert send.make_reply(["1", ""]) == ApprovalReply(Outcome.PROCEED_ONCE, answers={"0": "SQLite"})
        assert send.make_reply(["MySQL", "speed"]).answers == {"0": "MySQL", "1": "speed"}

    def test_dismissed(self) -> None:
        assert action(MODEL, "d").make_reply([]) == ApprovalReply(Outcome.CANCEL)


class TestQuestionsOfServers:
    def test_fields(self) -> None:
        accept = action(SERVER, "a")
        assert [each.label for each in accept.inputs] == [
            "name (text)",
            "age (a whole number, optional)",
            'size (one of these, default "m")',
        ]
        assert accept.make_reply(["Ada", "", ""]).answers == {"name": "Ada", "size": "m"}
        assert accept.make_reply(["Ada", "36", "s"]).answers == {"name": "Ada", "age": 36, "size": "s"}
        with pytest.raises(ValueError, match="age: Enter a value of at least 1"):
            accept.make_reply(["Ada", "0", ""])

    def test_declined(self) -> None:
        assert action(SERVER, "d").make_reply([]) == ApprovalReply(Outcome.CANCEL)

    def test_an_address(self) -> None:
        request = ApprovalRequest(ElicitationConfirmation("t", "server", "Log in.", url="https://example.com"), "")
        assert action(request, "a").make_reply([]) == ApprovalReply(Outcome.PROCEED_ONCE, answers={})

    def test_what_cannot_be_answered_can_only_be_declined(self) -> None:
        request = ApprovalRequest(ElicitationConfirmation("t", "server", "Log in.", url="file:///etc"), "")
        assert [each.key for each in reply_actions(request)] == ["d"]
