"""Approvals through the client, in every protocol revision."""

import asyncio
from typing import ClassVar

import pytest

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    Outcome,
)
from tejat.core.approval.user_question import UserQuestion, UserUnavailable
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.types import JsonObject
from tejat.ui.mcp_server.approval_form import ALLOW_ONCE, ApprovalForm, build_approval_form
from tejat.ui.mcp_server.client_approver import (
    ApprovalChannel,
    ChannelApprover,
    ElicitationChannel,
    InputRequiredChannel,
    NoApprovalChannel,
    PendingApprovals,
    current_channel,
)

QUESTION = ApprovalRequest(ExecConfirmation("Run it?", "ls", "/", digest="1"), "run_shell_command", reason="Why not.")
CALL: JsonObject = {"name": "run_shell_command", "arguments": {"command": "ls"}}
YES: JsonObject = {"action": "accept", "content": {"decision": ALLOW_ONCE}}
GO, STOP = ApprovalReply(Outcome.PROCEED_ONCE), ApprovalReply(Outcome.CANCEL)


def test_whoever_made_the_call_is_asked() -> None:
    class Always:
        def __init__(self, answer: ApprovalReply) -> None:
            self.answer = answer

        async def ask(self, question: ApprovalRequest) -> ApprovalReply:
            await asyncio.sleep(0)
            assert question is QUESTION
            return self.answer

    async def call(who: ApprovalChannel) -> ApprovalReply:
        current_channel.set(who)
        return await approver.ask(QUESTION)

    async def main() -> list[ApprovalReply]:
        return list(await asyncio.gather(call(Always(GO)), call(Always(STOP)), call(Always(GO))))

    approver = ChannelApprover()
    assert asyncio.run(main()) == [GO, STOP, GO]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (QUESTION, " Why not."),
        (
            ApprovalRequest(InfoConfirmation("t", "p"), "run_shell_command", always="allow it"),
            " Add a rule to allow it: allow it",
        ),
    ],
)
def test_nobody_is_asked_where_nobody_can_be(question: ApprovalRequest, words: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        asyncio.run(NoApprovalChannel().ask(question))
    assert caught.value.error_type is ErrorType.POLICY_VIOLATION
    assert caught.value.message == (
        '"run_shell_command" needs approval, but this client cannot ask its user: it did not declare elicitation in '
        f"form mode.{words}"
    )


@pytest.mark.parametrize(("result", "answer"), [(YES, GO), ({}, STOP), (None, STOP)])
def test_asked_while_the_call_waits(result: JsonObject | None, answer: ApprovalReply) -> None:
    async def elicit(form: ApprovalForm) -> JsonObject | None:
        await asyncio.sleep(0)
        assert form == build_approval_form(QUESTION)
        return result

    assert asyncio.run(ElicitationChannel(elicit).ask(QUESTION)) == answer


class TestReturning:
    def ask(
        self,
        questions: PendingApprovals,
        question: ApprovalRequest = QUESTION,
        *,
        call: JsonObject = CALL,
        state: str | None = None,
        answer: JsonObject | None = None,
    ) -> tuple[ApprovalReply, str | None]:
        """What is answered, and the state of the question that is asked instead."""
        who = InputRequiredChannel(questions, call, state=state, answer=answer)
        given = asyncio.run(who.ask(question))
        return given, None if who.pending is None else who.pending[0]

    def test_the_answer_counts_once(self) -> None:
        questions = PendingApprovals()
        answer, state = self.ask(questions)
        assert (answer, state is None) == (STOP, False)
        assert self.ask(questions, state=state, answer=YES) == (GO, None)
        again, other = self.ask(questions, state=state, answer=YES)
        assert again == STOP
        assert other not in (None, state)

    def test_a_second_question_of_the_same_call_is_another_one(self) -> None:
        questions = PendingApprovals()
        _, state = self.ask(questions)
        who = InputRequiredChannel(questions, CALL, state=state, answer=YES)
        assert [asyncio.run(who.ask(QUESTION)) for _ in range(2)] == [GO, STOP]
        assert who.pending is not None

    @pytest.mark.parametrize(
        "question",
        [
            ApprovalRequest(ExecConfirmation("Run it?", "ls", "/", digest="2"), "run_shell_command", reason="Why not."),
            ApprovalRequest(ExecConfirmation("Run it?", "rm", "/", digest="1"), "run_shell_command", reason="Why not."),
            ApprovalRequest(
                ExecConfirmation("Run it?", "ls", "/", digest="1"), "x", reason="Why not.", always="allow it"
            ),
        ],
    )
    def test_a_yes_is_for_what_was_shown(self, question: ApprovalRequest) -> None:
        questions = PendingApprovals()
        _, state = self.ask(questions)
        answer, other = self.ask(questions, question, state=state, answer=YES)
        assert answer == STOP
        assert other is not None

    def test_a_yes_is_for_the_call_that_was_made(self) -> None:
        questions = PendingApprovals()
        _, state = self.ask(questions)
        assert self.ask(questions, call={**CALL, "arguments": {}}, state=state, answer=YES)[0] == STOP

    @pytest.mark.parametrize("state", [None, "", "forged"])
    def test_without_the_state_there_is_no_answer(self, state: str | None) -> None:
        questions = PendingApprovals()
        self.ask(questions)
        assert self.ask(questions, state=state, answer=YES)[0] == STOP

    def test_a_state_without_an_answer_is_used_up(self) -> None:
        questions = PendingApprovals()
        _, state = self.ask(questions)
        assert self.ask(questions, state=state)[0] == STOP
        assert self.ask(questions, state=state, answer=YES)[0] == STOP

    def test_what_is_too_old_is_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        questions = PendingApprovals()
        monkeypatch.setattr("tejat.ui.mcp_server.client_approver._PENDING_SECONDS", -1.0)
        _, state = self.ask(questions)
        assert self.ask(questions, state=state, answer=YES)[0] == STOP

    def test_no_more_than_so_many_are_kept(self) -> None:
        questions = PendingApprovals()
        states = [questions.register(f"mark {number}") for number in range(300)]
        kept = [questions.take(state) for state in states]
        assert kept == [None] * 44 + [f"mark {number}" for number in range(44, 300)]

    def test_the_question_of_another_server_is_refused(self) -> None:
        with pytest.raises(ToolFailure):
            self.ask(PendingApprovals(), ApprovalRequest(ElicitationConfirmation("Who?", "srv", "Your key?"), "tool"))


class TestQuestionsOfTheModel:
    ASKED = ApprovalRequest(AskUserConfirmation("The model asks", (UserQuestion("Who?", "Name"),)), "ask_user")
    CALL: ClassVar[JsonObject] = {"name": "ask_user", "arguments": {}}
    FILLED: ClassVar[JsonObject] = {"action": "accept", "content": {"answer_1": "Ada", "decision": ALLOW_ONCE}}
    ANSWERED = ApprovalReply(Outcome.PROCEED_ONCE, answers={"0": "Ada"})

    def test_in_a_form_while_the_call_waits(self) -> None:
        forms: list[ApprovalForm] = []

        async def elicit(form: ApprovalForm) -> JsonObject | None:
            forms.append(form)
            return self.FILLED

        assert asyncio.run(ElicitationChannel(elicit).ask(self.ASKED)) == self.ANSWERED
        assert "> Who?" in forms[0].message

    def test_as_the_result_of_a_call_that_is_repeated(self) -> None:
        pending = PendingApprovals()
        first = InputRequiredChannel(pending, self.CALL, state=None, answer=None)
        assert asyncio.run(first.ask(self.ASKED)) == STOP
        assert first.pending is not None
        again = InputRequiredChannel(pending, self.CALL, state=first.pending[0], answer=self.FILLED)
        assert asyncio.run(again.ask(self.ASKED)) == self.ANSWERED

    def test_a_client_that_cannot_ask(self) -> None:
        with pytest.raises(UserUnavailable):
            asyncio.run(NoApprovalChannel().ask(self.ASKED))
