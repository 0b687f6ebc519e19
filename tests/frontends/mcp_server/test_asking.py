"""Who answers for the person, whatever revision the client speaks."""

import asyncio

import pytest

from tejat.core.confirm import Answer, ElicitationConfirmation, ExecConfirmation, InfoConfirmation, Outcome, Question
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.types import JsonObject
from tejat.frontends.mcp_server.asking import (
    AskedCaller,
    Caller,
    ClientApprover,
    OpenQuestions,
    ReturningCaller,
    SilentCaller,
    caller,
)
from tejat.frontends.mcp_server.questions import ONCE, Form, form_of

QUESTION = Question(ExecConfirmation("Run it?", "ls", "/", digest="1"), "run_shell_command", reason="Why not.")
CALL: JsonObject = {"name": "run_shell_command", "arguments": {"command": "ls"}}
YES: JsonObject = {"action": "accept", "content": {"decision": ONCE}}
GO, STOP = Answer(Outcome.PROCEED_ONCE), Answer(Outcome.CANCEL)


def test_whoever_made_the_call_is_asked() -> None:
    class Always:
        def __init__(self, answer: Answer) -> None:
            self.answer = answer

        async def ask(self, question: Question) -> Answer:
            await asyncio.sleep(0)
            assert question is QUESTION
            return self.answer

    async def call(who: Caller) -> Answer:
        caller.set(who)
        return await approver.ask(QUESTION)

    async def main() -> list[Answer]:
        return list(await asyncio.gather(call(Always(GO)), call(Always(STOP)), call(Always(GO))))

    approver = ClientApprover()
    assert asyncio.run(main()) == [GO, STOP, GO]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (QUESTION, " Why not."),
        (
            Question(InfoConfirmation("t", "p"), "run_shell_command", always="allow it"),
            " A rule that would allow it: allow it",
        ),
    ],
)
def test_nobody_is_asked_where_nobody_can_be(question: Question, words: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        asyncio.run(SilentCaller().ask(question))
    assert caught.value.error_type is ErrorType.POLICY_VIOLATION
    assert caught.value.message == (
        'Calling "run_shell_command" needs the confirmation of a person, and this client cannot ask one: it did not '
        f"declare elicitation in form mode.{words}"
    )


@pytest.mark.parametrize(("result", "answer"), [(YES, GO), ({}, STOP), (None, STOP)])
def test_asked_while_the_call_waits(result: JsonObject | None, answer: Answer) -> None:
    async def elicit(form: Form) -> JsonObject | None:
        await asyncio.sleep(0)
        assert form == form_of(QUESTION)
        return result

    assert asyncio.run(AskedCaller(elicit).ask(QUESTION)) == answer


class TestReturning:
    def ask(
        self,
        questions: OpenQuestions,
        question: Question = QUESTION,
        *,
        call: JsonObject = CALL,
        state: str | None = None,
        answer: JsonObject | None = None,
    ) -> tuple[Answer, str | None]:
        """What is answered, and the state of the question that is asked instead."""
        who = ReturningCaller(questions, call, state=state, answer=answer)
        given = asyncio.run(who.ask(question))
        return given, None if who.asked is None else who.asked[0]

    def test_the_answer_counts_once(self) -> None:
        questions = OpenQuestions()
        answer, state = self.ask(questions)
        assert (answer, state is None) == (STOP, False)
        assert self.ask(questions, state=state, answer=YES) == (GO, None)
        again, other = self.ask(questions, state=state, answer=YES)
        assert again == STOP
        assert other not in (None, state)

    def test_a_second_question_of_the_same_call_is_another_one(self) -> None:
        questions = OpenQuestions()
        _, state = self.ask(questions)
        who = ReturningCaller(questions, CALL, state=state, answer=YES)
        assert [asyncio.run(who.ask(QUESTION)) for _ in range(2)] == [GO, STOP]
        assert who.asked is not None

    @pytest.mark.parametrize(
        "question",
        [
            Question(ExecConfirmation("Run it?", "ls", "/", digest="2"), "run_shell_command", reason="Why not."),
            Question(ExecConfirmation("Run it?", "rm", "/", digest="1"), "run_shell_command", reason="Why not."),
            Question(ExecConfirmation("Run it?", "ls", "/", digest="1"), "x", reason="Why not.", always="allow it"),
        ],
    )
    def test_a_yes_is_for_what_was_shown(self, question: Question) -> None:
        questions = OpenQuestions()
        _, state = self.ask(questions)
        answer, other = self.ask(questions, question, state=state, answer=YES)
        assert answer == STOP
        assert other is not None

    def test_a_yes_is_for_the_call_that_was_made(self) -> None:
        questions = OpenQuestions()
        _, state = self.ask(questions)
        assert self.ask(questions, call={**CALL, "arguments": {}}, state=state, answer=YES)[0] == STOP

    @pytest.mark.parametrize("state", [None, "", "forged"])
    def test_without_the_state_there_is_no_answer(self, state: str | None) -> None:
        questions = OpenQuestions()
        self.ask(questions)
        assert self.ask(questions, state=state, answer=YES)[0] == STOP

    def test_a_state_without_an_answer_is_used_up(self) -> None:
        questions = OpenQuestions()
        _, state = self.ask(questions)
        assert self.ask(questions, state=state)[0] == STOP
        assert self.ask(questions, state=state, answer=YES)[0] == STOP

    def test_what_is_too_old_is_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        questions = OpenQuestions()
        monkeypatch.setattr("tejat.frontends.mcp_server.asking._OPEN_SECONDS", -1.0)
        _, state = self.ask(questions)
        assert self.ask(questions, state=state, answer=YES)[0] == STOP

    def test_no_more_than_so_many_are_kept(self) -> None:
        questions = OpenQuestions()
        states = [questions.ask(f"mark {number}") for number in range(300)]
        kept = [questions.close(state) for state in states]
        assert kept == [None] * 44 + [f"mark {number}" for number in range(44, 300)]

    def test_the_question_of_another_server_is_refused(self) -> None:
        with pytest.raises(ToolFailure):
            self.ask(OpenQuestions(), Question(ElicitationConfirmation("Who?", "srv", "Your key?"), "tool"))
