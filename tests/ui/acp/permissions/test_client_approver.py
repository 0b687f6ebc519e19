"""Approvals by the user of a client: only a clear yes to what was shown is one."""

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import pytest

from support.acp_client import Answer, AnsweringClient, Json, choose, fill_in
from support.acp_updates import texts
from support.interactive import InteractiveEnv
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    ModelChangeConfirmation,
    Outcome,
    PlanConfirmation,
    Scope,
)
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion, UserUnavailable
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.ui.acp.permissions.client_approver import ClientApprover
from tejat.ui.jsonrpc.peer import PeerError

SHELL = ApprovalRequest(
    ExecConfirmation("T", "npm test", "/w", ("npm",)),
    "run_shell_command",
    always="allow run_shell_command(npm test)",
    scopes=(Scope.SESSION, Scope.PROJECT, Scope.USER),
    directory="/w",
)
NO, STOP = ApprovalReply(Outcome.CANCEL), ApprovalReply(Outcome.STOP)
OPTIONS = (QuestionOption("SQLite", "one file"), QuestionOption("Post\x1bgres"))
CHOICE = UserQuestion("Which *database*?", "Database", QuestionType.CHOICE, OPTIONS)
SEVERAL = UserQuestion("Which checks?", "Checks", QuestionType.CHOICE, OPTIONS, is_multiple=True)
TEXT = UserQuestion("What name?", "Name")
YESNO = UserQuestion("Deploy?", "Deploy", QuestionType.YESNO)
SECRET = UserQuestion("What is your password?", "Password")


def asking(*questions: UserQuestion) -> ApprovalRequest:
    return ApprovalRequest(AskUserConfirmation("The model asks", questions), "ask_user")


def failing(_method: str, _params: Json) -> Json:
    raise PeerError("gone\nfishing", -32603)


class TestPermission:
    @pytest.mark.parametrize(
        ("keyword", "reply"),
        [
            ("yes", ApprovalReply(Outcome.PROCEED_ONCE)),
            ("session", ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)),
            ("project", ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT)),
            ("no", NO),
            ("stop", STOP),
        ],
    )
    def test_the_chosen_option_is_the_answer(self, keyword: str, reply: ApprovalReply) -> None:
        client = AnsweringClient(choose(keyword))
        assert client.ask(SHELL) == reply
        ((method, params),) = client.requests
        assert (method, params["sessionId"]) == ("session/request_permission", "s1")
        assert params["toolCall"]["kind"] == "execute"
        assert texts(params["toolCall"]["content"])[1] == "```sh\nnpm test\n```"
        names = [option["name"] for option in params["options"]]
        assert "Always allow in this project: allow run_shell_command(npm test)" in names

    def test_ids_of_options_differ_in_each_request(self) -> None:
        client = AnsweringClient(choose("yes"))
        client.ask(SHELL)
        client.ask(SHELL)
        first, second = ({option["optionId"] for option in params["options"]} for _, params in client.requests)
        assert first.isdisjoint(second)

    def test_an_answer_to_another_request_is_a_no(self) -> None:
        ids: list[str] = []

        def answer(_method: str, params: Json) -> Json:
            ids.append(params["options"][0]["optionId"])
            return {"outcome": {"outcome": "selected", "optionId": ids[0]}}

        client = AnsweringClient(answer)
        assert client.ask(SHELL) == ApprovalReply(Outcome.PROCEED_ONCE)
        assert client.ask(SHELL) == NO
        assert "was not offered" in client.text_of("agent_thought_chunk")

    @pytest.mark.parametrize("chosen", ["yes", "allow", ":yes", "", "proceed_once"])
    def test_an_id_that_was_not_offered_is_a_no(self, chosen: str) -> None:
        client = AnsweringClient(lambda *_: {"outcome": {"outcome": "selected", "optionId": chosen}})
        assert client.ask(SHELL) == NO

    def test_a_cancelled_request_stops_the_turn(self) -> None:
        client = AnsweringClient(lambda *_: {"outcome": {"outcome": "cancelled"}})
        assert client.ask(SHELL) == STOP
        assert client.sent[-1]["status"] == "failed"

    def test_a_client_that_fails_has_not_approved_and_the_user_learns_why(self) -> None:
        client = AnsweringClient(failing)
        assert client.ask(SHELL) == NO
        notice = "Warning: Your editor could not ask you, so the answer is no: gone fishing\n\n"
        assert client.text_of("agent_thought_chunk") == notice

    def test_other_subjects(self) -> None:
        change = ApprovalRequest(ModelChangeConfirmation("T", "a", "b", "Busy."), "")
        assert AnsweringClient(choose("retry")).ask(change) == ApprovalReply(Outcome.TRY_AGAIN)
        plan = ApprovalRequest(PlanConfirmation("T", "/p/plan.md", "# Plan"), "exit_plan_mode")
        client = AnsweringClient(choose("auto"))
        assert client.ask(plan) == ApprovalReply(Outcome.PROCEED_AUTO_EDIT)
        assert client.requests[0][1]["toolCall"]["kind"] == "switch_mode"
        assert AnsweringClient(choose("no")).ask(plan) == NO


class TestFeedback:
    EDIT = ApprovalRequest(EditConfirmation("T", "a", "/w/a", "@@ -1 +1 @@\n-a\n+b", "a", "b"), "replace", call_index=0)
    CALL = FunctionCall("replace", {"file_path": "a"}, "c1")

    def ask(self, answer: Answer) -> tuple[ApprovalReply, AnsweringClient]:
        client = AnsweringClient(answer, shows_forms=True)
        client.handle(StateChanged(0, self.CALL, CallState.AWAITING_APPROVAL))
        return client.ask(self.EDIT), client

    def test_the_user_says_what_to_do_instead_in_a_form(self) -> None:
        reply, client = self.ask(fill_in({"message": " use b.py "}))
        assert reply == ApprovalReply(Outcome.CANCEL, feedback="use b.py")
        method, params = client.requests[1]
        assert (method, params["toolCallId"]) == ("elicitation/create", client.updates.call_id_for("", 0))
        assert list(params["requestedSchema"]["properties"]) == ["message"]

    @pytest.mark.parametrize("content", [None, {}, {"message": "  "}, {"message": 5}])
    def test_without_words_it_is_a_plain_no(self, content: Json | None) -> None:
        assert self.ask(fill_in(content))[0] == NO

    def test_a_form_that_fails_leaves_the_no(self) -> None:
        def answer(method: str, params: Json) -> Json:
            return failing(method, params) if method == "elicitation/create" else choose("tell")(method, params)

        reply, client = self.ask(answer)
        assert (reply, client.text_of("agent_thought_chunk")) == (NO, "")


class TestQuestionsOfTheModel:
    def test_a_client_with_forms_shows_them_in_one(self) -> None:
        content = {"answer_1": "Post<U+001B>gres", "answer_2": ["SQLite"], "other_2": "mine", "answer_3": "blog"}
        client = AnsweringClient(fill_in(content), shows_forms=True)
        reply = client.ask(asking(CHOICE, SEVERAL, TEXT, YESNO))
        assert reply == ApprovalReply(
            Outcome.PROCEED_ONCE, answers={"0": "Post\x1bgres", "1": "SQLite, mine", "2": "blog"}
        )
        ((method, params),) = client.requests
        assert (method, params["message"].split("\n")[1:3]) == (
            "elicitation/create",
            ["1. Database", "> Which *database*?"],
        )

    def test_a_declined_form_dismisses_them(self) -> None:
        assert AnsweringClient(fill_in(None), shows_forms=True).ask(asking(TEXT)) == NO

    def test_a_credential_is_never_asked_for_in_a_form(self) -> None:
        client = AnsweringClient(fill_in({"answer_1": "blog"}), shows_forms=True)
        assert client.ask(asking(SECRET, TEXT)) == ApprovalReply(Outcome.PROCEED_ONCE, answers={"1": "blog"})
        assert list(client.requests[0][1]["requestedSchema"]["properties"]) == ["answer_1"]
        with pytest.raises(UserUnavailable):
            client.ask(asking(SECRET))

    def test_a_client_without_forms_gets_choices_one_by_one(self) -> None:
        client = AnsweringClient(choose("1"))
        reply = client.ask(asking(TEXT, CHOICE, SEVERAL, YESNO))
        assert reply == ApprovalReply(Outcome.PROCEED_ONCE, answers={"1": "Post\x1bgres", "3": "No"})
        (_, first), (_, second) = client.requests
        assert [option["name"] for option in first["options"]] == ["SQLite: one file", "Post<U+001B>gres", "No answer"]
        assert [option["kind"] for option in second["options"]] == ["allow_once", "allow_once", "reject_once"]
        assert texts(first["toolCall"]["content"]) == [
            "The model asks. Your answers go to the model and permit nothing.\n\n**Database**",
            "```\nWhich *database*?\n```",
        ]

    def test_no_answer_and_wrong_answers_are_left_out(self) -> None:
        assert AnsweringClient(choose("skip")).ask(asking(CHOICE)) == ApprovalReply(Outcome.PROCEED_ONCE, answers={})
        client = AnsweringClient(lambda *_: {"outcome": {"outcome": "selected", "optionId": "x:0"}})
        assert client.ask(asking(CHOICE)) == ApprovalReply(Outcome.PROCEED_ONCE, answers={})

    def test_a_cancelled_question_stops_the_turn(self) -> None:
        client = AnsweringClient(lambda *_: {"outcome": {"outcome": "cancelled"}})
        assert client.ask(asking(CHOICE, YESNO)) == STOP
        assert len(client.requests) == 1

    def test_questions_that_cannot_be_shown_are_not_answered(self) -> None:
        client = AnsweringClient(choose("yes"))
        with pytest.raises(UserUnavailable):
            client.ask(asking(TEXT, SEVERAL))
        assert client.requests == []

    def test_a_client_that_fails_dismisses_them(self) -> None:
        assert AnsweringClient(failing).ask(asking(CHOICE)) == NO


def elicit(**more: Any) -> ApprovalRequest:
    return ApprovalRequest(ElicitationConfirmation("T", "srv", "Who are\x1b you?", **more), "")


class TestElicitations:
    FIELDS: ClassVar[Json] = {
        "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer"}},
        "required": ["name"],
    }

    def test_the_form_of_a_server_says_who_asks(self) -> None:
        client = AnsweringClient(fill_in({"name": "Ada", "age": 3, "more": 1}), shows_forms=True)
        reply = client.ask(elicit(fields=self.FIELDS))
        assert reply == ApprovalReply(Outcome.PROCEED_ONCE, answers={"name": "Ada", "age": 3})
        assert client.requests[0][1]["message"] == "Question from the MCP server srv:\n\nWho are<U+001B> you?"

    def test_wrong_answers_are_asked_for_again(self) -> None:
        client = AnsweringClient(fill_in({"age": 3}, {"name": "A"}, {"name": "Ada"}), shows_forms=True)
        assert client.ask(elicit(fields=self.FIELDS)).answers == {"name": "Ada"}
        messages = [params["message"].split("\n\n")[2:] for _, params in client.requests]
        assert messages == [[], ["name: an answer is required."], ["name: Enter at least 2 characters."]]

    def test_but_not_forever(self) -> None:
        client = AnsweringClient(fill_in({}, {}, {}), shows_forms=True)
        assert client.ask(elicit(fields=self.FIELDS)) == NO
        assert "an answer is required" in client.text_of("agent_thought_chunk")

    @pytest.mark.parametrize("content", [None])
    def test_a_declined_form_is_a_no(self, content: Json | None) -> None:
        assert AnsweringClient(fill_in(content), shows_forms=True).ask(elicit(fields=self.FIELDS)) == NO

    @pytest.mark.parametrize(
        ("request_", "reason"),
        [
            (elicit(fields={"properties": {"password": {"type": "string"}}}), "password looks like a credential"),
            (elicit(fields={"properties": {"a": {"type": "object"}}}), "nobody could type in"),
            (elicit(url="file:///etc/passwd"), "the URL is not a web page"),
        ],
    )
    def test_what_must_not_be_asked_is_declined_with_a_notice(self, request_: ApprovalRequest, reason: str) -> None:
        client = AnsweringClient(fill_in(), shows_forms=True, opens_urls=True)
        assert client.ask(request_) == NO
        assert client.requests == []
        assert reason in client.text_of("agent_thought_chunk")

    def test_a_client_without_forms_declines_with_a_notice(self) -> None:
        client = AnsweringClient(choose("yes"))
        assert client.ask(elicit(fields=self.FIELDS)) == NO
        assert "your editor cannot show forms" in client.text_of("agent_thought_chunk")

    @pytest.mark.parametrize(
        ("answer", "reply"),
        [(lambda *_: {"action": "accept"}, ApprovalReply(Outcome.PROCEED_ONCE, answers={})), (fill_in(None), NO)],
    )
    def test_a_web_page_is_opened_by_the_client(self, answer: Answer, reply: ApprovalReply) -> None:
        client = AnsweringClient(answer, opens_urls=True)
        assert client.ask(elicit(url="https://a/?x=1")) == reply
        assert client.requests[0][1]["url"] == "https://a/?x=1"

    @pytest.mark.parametrize(
        ("keyword", "reply"), [("yes", ApprovalReply(Outcome.PROCEED_ONCE, answers={})), ("no", NO)]
    )
    def test_a_client_that_cannot_open_it_shows_it(self, keyword: str, reply: ApprovalReply) -> None:
        client = AnsweringClient(choose(keyword))
        assert client.ask(elicit(url="https://a/")) == reply
        assert texts(client.requests[0][1]["toolCall"]["content"])[1] == "```\nhttps://a/\n```"


WRITE = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "echo one > a.txt" }
[[answer.call]]
name = "write_file"
args = { file_path = "${root}/b.txt", content = "two" }
[[answer]]
say = "Done."
"""


class TestSessions:
    """The whole way: a scripted model, real tools, and a client that answers."""

    def run(self, tmp_path: Path, answer: Answer, script: str = WRITE) -> tuple[AnsweringClient, list[Any], Path]:
        env = InteractiveEnv(tmp_path)
        client = AnsweringClient(answer)

        async def main() -> list[Any]:
            approver = ClientApprover(client, "s1", client.updates)
            async with env.open_runner(script=script, approver=approver) as runner:
                runner.interactive.subscribe(client.updates.handle_event)
                await runner.prompt("go")
                return runner.events

        return client, asyncio.run(main()), env.project

    def test_requests_name_the_tool_calls_that_were_announced(self, tmp_path: Path) -> None:
        client, _, project = self.run(tmp_path, choose("yes"))
        announced = {each["toolCallId"]: each for each in client.sent if each["sessionUpdate"] == "tool_call"}
        asked = [params["toolCall"]["toolCallId"] for _, params in client.requests]
        assert asked == list(announced)
        assert [each["title"] for each in announced.values()] == ["echo one > a.txt", f"Write {project}/b.txt"]
        ends = {each["toolCallId"]: each["status"] for each in client.sent if each.get("status") == "completed"}
        assert list(ends) == asked
        assert (project / "b.txt").read_text() == "two"

    def test_a_no_lets_the_turn_continue(self, tmp_path: Path) -> None:
        client, events, _ = self.run(tmp_path, choose("no"))
        assert [event.was_rejected for event in events if isinstance(event, CallFinished)] == [True, True]
        assert "Done." in client.text_of("agent_message_chunk")

    def test_a_cancelled_request_ends_the_turn(self, tmp_path: Path) -> None:
        client, _, project = self.run(tmp_path, lambda *_: {"outcome": {"outcome": "cancelled"}})
        assert len(client.requests) == 1
        assert not (project / "b.txt").exists()
        assert client.text_of("agent_message_chunk") == ""
