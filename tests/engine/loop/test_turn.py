"""The loop: how a conversation goes on, and every way in which it ends; whatever happens, it can go on afterwards."""

import asyncio
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from support.agent_run import (
    PRICE,
    SYSTEM,
    USAGE,
    AgentRun,
    RecordingModel,
    agent_run,
    call_answer,
    comparable,
    failed_answer,
    text_answer,
)
from support.approver import NO, YES, FakeApprover
from support.note_tool import NoteTool
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    Compressed,
    EndReason,
    LoopDetected,
    RequestFailed,
    Retrying,
    TextStreamed,
)
from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, Text
from tejat.core.model import FailureKind, FinishReason, ModelRequest, Usage
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.engine.calls.batch_call import CANCELLED_BY_TIMEOUT
from tejat.engine.loop.budget import BudgetLimits
from tejat.engine.loop.turn import RunOutcome
from tejat.models.scripted.script_file import ScriptedCall

TURN_LIMIT_REACHED = (
    "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in "
    "settings.json."
)

FINISHED = RunOutcome(EndReason.FINISHED)
PROMPT = ("user", (Text("go"),))


def note_of(text: str, number: int) -> FunctionCall:
    return FunctionCall("note", {"text": text}, f"tejat-{number}")


def result_of(text: str, number: int, name: str = "note") -> FunctionResponse:
    return FunctionResponse(name, {"output": f"wrote {text}"}, f"tejat-{number}")


class TestGoingOn:
    def test_words_alone(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, text_answer("Hello there.")) as here:
            assert here.run() == FINISHED
            assert here.history == [PROMPT, ("model", (Text("Hello there."),))]
            assert here.conversation.answer_texts == ["Hello there."]
            assert [type(event) for event in here.events] == [TextStreamed, TextStreamed, Answered]
            (request,) = here.model.requests
            assert (request.system, [tool.name for tool in request.tools]) == (SYSTEM, ["note"])
            assert here.record_kinds() == ["session", "prompt", "answer"]

    def test_several_calls_are_answered_together_and_in_order(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, call_answer("a", "b", say="Both."), text_answer("Done.")) as here:
            assert here.run() == FINISHED
            assert here.history == [
                PROMPT,
                ("model", (Text("Both."), note_of("a", 1), note_of("b", 2))),
                ("user", (result_of("a", 1), result_of("b", 2))),
                ("model", (Text("Done."),)),
            ]
            assert here.conversation.answer_texts == ["Both.", "Done."]
            assert here.model.asked == [here.history[:1], here.history[:3]]
            assert here.conversation.budget.turns == 2
            assert here.conversation.budget.usage == USAGE + USAGE

    def test_calls_over_several_answers(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, call_answer("a"), call_answer("b"), call_answer("c"), text_answer("Done.")) as here:
            assert here.run() == FINISHED
            assert [text for text, _ in here.note.written] == ["a", "b", "c"]
            assert [len(asked) for asked in here.model.asked] == [1, 3, 5, 7]

    def test_nothing_more_to_say_after_results_is_an_end(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, call_answer("a", say="I write."), text_answer(""), text_answer("Again.")) as here:
            assert here.run() == FINISHED
            results = ("user", (result_of("a", 1),))
            assert here.history == [PROMPT, ("model", (Text("I write."), note_of("a", 1))), results]
            assert (len(here.model.requests), here.conversation.answer_texts) == (2, ["I write."])
            assert here.run("two") == FINISHED
            assert here.history[-2:] == [
                ("user", (result_of("a", 1), Text("two"))),
                ("model", (Text("Again."),)),
            ]

    def test_nothing_to_say_to_a_prompt_is_none(self, tmp_path: Path) -> None:
        answers = [call_answer("a"), text_answer(""), text_answer("\u200b")]
        with agent_run(tmp_path, *answers) as here:
            assert here.run() == FINISHED
            assert here.run("two").reason is EndReason.EMPTY
            assert len(here.model.requests) == 3
            assert not here.model.requests[-1].allows_silence

    def test_an_unknown_tool_is_told_to_the_model(self, tmp_path: Path) -> None:
        call = ScriptedCall("notes", {"text": "a"}, expected=('Did you mean "note"?',), must_fail=True)
        with agent_run(tmp_path, call_answer(call), text_answer("I see.")) as here:
            assert here.run() == FINISHED
            (finished,) = here.events_of(CallFinished)
            assert isinstance(finished, CallFinished)
            assert finished.result.error is not None
            assert (finished.state, finished.result.error.type) == (CallState.ERROR, ErrorType.TOOL_NOT_REGISTERED)

    def test_wrong_arguments_are_told_to_the_model(self, tmp_path: Path) -> None:
        call = ScriptedCall("note", {"text": 5}, expected=("params/text must be string",), must_fail=True)
        with agent_run(tmp_path, call_answer(call), text_answer("I see.")) as here:
            assert here.run() == FINISHED
            assert here.note.written == []

    def test_one_prompt_after_the_other(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, call_answer("a"), text_answer("Done."), text_answer("And again.")) as here:
            assert (here.run("one"), here.run("two")) == (FINISHED, FINISHED)
            assert here.history[-2:] == [("user", (Text("two"),)), ("model", (Text("And again."),))]
            assert here.conversation.answer_texts == ["And again."]
            assert here.record_kinds() == ["session", "prompt", "answer", "response", "answer", "prompt", "answer"]

    def test_what_is_asked_is_legal_after_ids_that_a_model_gave_twice(self, tmp_path: Path) -> None:
        twice = [ScriptedCall("note", {"text": text}, id="same") for text in "ab"]
        with agent_run(tmp_path, call_answer(*twice), call_answer(twice[0]), text_answer("Done.")) as here:
            assert here.run() == FINISHED
            assert [text for text, _ in here.note.written] == ["a", "b", "a"]


class TestEnds:
    def test_when_the_answer_was_cut_at_the_most_tokens(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, replace(text_answer("Half of"), finish=FinishReason.MAX_TOKENS)) as here:
            assert here.run() == RunOutcome(EndReason.TRUNCATED, "Response truncated due to token limits.")
            assert here.history[-1] == ("model", (Text("Half of"),))

    def test_when_the_model_stopped_for_a_reason_of_its_own(self, tmp_path: Path) -> None:
        answer = replace(text_answer("Well."), finish=FinishReason.OTHER, detail="LANGUAGE")
        with agent_run(tmp_path, answer, replace(answer, detail="")) as here:
            assert here.run() == RunOutcome(EndReason.FINISHED, "The model stopped early: LANGUAGE.")
            assert here.run() == RunOutcome(EndReason.FINISHED, "The model stopped early: no reason given.")

    def test_when_the_user_stops_it_at_a_question(self, tmp_path: Path) -> None:
        """What ran before stays done, the rest is answered as cancelled, and the next prompt can follow."""
        asking = NoteTool("asking")
        four = [ScriptedCall("note", {"text": "a"}), *(ScriptedCall("asking", {"text": text}) for text in "bcd")]
        approver = FakeApprover([YES, ApprovalReply(Outcome.STOP)])
        with agent_run(tmp_path, call_answer(*four), text_answer("Well."), tools=[asking], approver=approver) as here:
            assert here.run() == RunOutcome(EndReason.INTERRUPTED, "Operation cancelled.")
            assert [text for text, _ in asking.written] == ["b"]
            assert len(approver.questions) == 2
            states = [event.state for event in here.events if isinstance(event, CallFinished)]
            assert states == [CallState.SUCCESS, CallState.SUCCESS, CallState.CANCELLED, CallState.CANCELLED]
            role, responses = here.history[-1]
            assert (role, len(responses)) == ("user", 4)
            assert here.run() == FINISHED

    def test_not_when_every_call_was_rejected_by_the_user(self, tmp_path: Path) -> None:
        """The model is told, and may do something else."""
        asking = NoteTool("asking")
        both = [ScriptedCall("asking", {"text": text}) for text in "ab"]
        with agent_run(
            tmp_path,
            call_answer(*both),
            text_answer("I see."),
            tools=[asking],
            approver=FakeApprover([NO, NO]),
        ) as here:
            assert here.run() == FINISHED
            told = {"error": "[Operation Cancelled] Reason: User did not allow tool call."}
            assert here.history[-2] == (
                "user",
                (FunctionResponse("asking", told, "tejat-1"), FunctionResponse("asking", told, "tejat-2")),
            )
            assert here.history[-1] == ("model", (Text("I see."),))
            assert asking.written == []

    def test_not_when_the_user_told_the_model_what_to_do_instead(self, tmp_path: Path) -> None:
        asking = NoteTool("asking")
        both = [ScriptedCall("asking", {"text": text}) for text in "ab"]
        approver = FakeApprover([ApprovalReply(Outcome.CANCEL, feedback="use c"), NO])
        with agent_run(tmp_path, call_answer(*both), text_answer("I see."), tools=[asking], approver=approver) as here:
            assert here.run() == FINISHED
            assert "They said: use c" in str(here.history[-2])
            assert len(here.model.requests) == 2

    def test_not_when_one_of_them_was_allowed(self, tmp_path: Path) -> None:
        asking = NoteTool("asking")
        both = [ScriptedCall("asking", {"text": text}) for text in "ab"]
        with agent_run(
            tmp_path, call_answer(*both), text_answer("Done."), tools=[asking], approver=FakeApprover([NO, YES])
        ) as here:
            assert here.run() == FINISHED
            assert [text for text, _ in asking.written] == ["b"]

    def test_when_a_tool_says_that_there_is_no_sense_in_going_on(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, call_answer("fail the work", "b"), text_answer("Never said.")) as here:
            assert here.run() == RunOutcome(EndReason.TOOL_STOPPED, "disk full")
            assert here.history[-1] == (
                "user",
                (FunctionResponse("note", {"error": "disk full"}, "tejat-1"), result_of("b", 2)),
            )
            assert len(here.model.requests) == 1

    @pytest.mark.parametrize("kind", FailureKind)
    def test_when_the_model_fails_and_the_prompt_can_be_asked_again(self, tmp_path: Path, kind: FailureKind) -> None:
        with agent_run(tmp_path, failed_answer(kind), text_answer("Here I am.")) as here:
            reason = OWN_REASONS.get(kind, EndReason.MODEL_FAILED)
            assert here.run() == RunOutcome(reason, f"It failed: {kind}.", kind)
            (failed,) = here.events_of(RequestFailed)
            assert isinstance(failed, RequestFailed)
            assert replace(failed, seconds=0.0) == RequestFailed(kind, f"It failed: {kind}.", 0.0)
            assert here.history == []
            assert here.run("again") == FINISHED
            assert here.history == [("user", (Text("again"),)), ("model", (Text("Here I am."),))]

    @pytest.mark.parametrize("kind", FailureKind)
    def test_when_it_fails_later_and_results_are_kept(self, tmp_path: Path, kind: FailureKind) -> None:
        with agent_run(
            tmp_path, call_answer("a"), failed_answer(kind, say="Half a"), text_answer("Here I am.")
        ) as here:
            assert here.run().failure is kind
            assert here.history == [PROMPT, ("model", (note_of("a", 1),)), ("user", (result_of("a", 1),))]
            assert here.run("again") == FINISHED
            assert here.history[2:] == [
                ("user", (result_of("a", 1), Text("again"))),
                ("model", (Text("Here I am."),)),
            ]


OWN_REASONS = {
    FailureKind.BLOCKED: EndReason.BLOCKED,
    FailureKind.EMPTY: EndReason.EMPTY,
    FailureKind.MALFORMED_CALL: EndReason.MALFORMED_CALL,
    FailureKind.CONTEXT_FULL: EndReason.CONTEXT_FULL,
    FailureKind.OVER_BUDGET: EndReason.COST_LIMIT,
}


class TestLimits:
    """Looked at before each request: the one that would exceed a limit is not sent."""

    ANSWERS = tuple(call_answer(letter) for letter in "abcdef")

    @pytest.mark.parametrize("turns", [1, 3])
    def test_turns(self, tmp_path: Path, turns: int) -> None:
        with agent_run(tmp_path, *self.ANSWERS, limits=BudgetLimits(turns=turns)) as here:
            assert here.run() == RunOutcome(EndReason.TURN_LIMIT, TURN_LIMIT_REACHED)
            assert len(here.model.requests) == turns
            assert len(here.note.written) == turns
            assert here.history[-1] == ("user", (result_of("abc"[turns - 1], turns),))

    @pytest.mark.parametrize("tokens", [1, 20, 40, 60, 80, 100])
    def test_tokens(self, tmp_path: Path, tokens: int) -> None:
        """No request is sent that would exceed the limit, and none is held back that would not."""
        with agent_run(tmp_path, *self.ANSWERS, limits=BudgetLimits(tokens=tokens)) as here:
            first = self.first_size(here)
            assert here.run().reason is EndReason.TOKEN_LIMIT
            requests, used = len(here.model.requests), here.conversation.budget.usage.total
            assert used == 15 * requests
            assert used + here.conversation.tokens > tokens
            assert (requests == 0) == (first > tokens)
            assert used <= tokens

    def first_size(self, here: AgentRun) -> int:
        """The tokens of the first request, as they are estimated."""
        here.conversation.start_prompt(user_message("go"), "go")
        tokens = here.conversation.tokens
        here.conversation.withdraw_prompt()
        return tokens

    def test_the_message_about_tokens(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, *self.ANSWERS, limits=BudgetLimits(tokens=1)) as here:
            size = self.first_size(here)
            assert here.run() == RunOutcome(
                EndReason.TOKEN_LIMIT,
                f"The next request (about {size} tokens) would exceed the limit of 1 tokens (0 used).",
            )
            assert here.history == []

    @pytest.mark.parametrize("cost", [0.00001, 0.00002, 0.00005, 0.0001])
    def test_money(self, tmp_path: Path, cost: float) -> None:
        with agent_run(tmp_path, *self.ANSWERS, limits=BudgetLimits(cost=cost)) as here:
            first = self.first_size(here)
            assert here.run().reason is EndReason.COST_LIMIT
            spent, least = here.conversation.budget.cost, here.conversation.tokens * PRICE.cached / 1_000_000
            assert spent is not None
            assert spent == pytest.approx(len(here.model.requests) * 0.00002)
            assert spent + least > cost
            assert (spent == 0) == (first * PRICE.cached / 1_000_000 > cost)

    def test_time_that_is_over_before_a_request(self, tmp_path: Path) -> None:
        times = iter([0.0, 1.0, 2.0, 3.0])
        here: AgentRun
        with agent_run(
            tmp_path, *self.ANSWERS, limits=BudgetLimits(seconds=2.5), clock=lambda: next(times, 9.0)
        ) as here:
            assert here.run() == RunOutcome(EndReason.TIME_LIMIT, "Reached the time limit of 2.5 seconds.")
            assert len(here.model.requests) < len(self.ANSWERS)

    def test_time_that_is_over_while_the_model_answers_keeps_what_it_said(self, tmp_path: Path) -> None:
        answer = text_answer("one two three", pause=0.1)
        with agent_run(tmp_path, answer, text_answer("Done."), limits=BudgetLimits(seconds=0.25)) as here:
            assert here.run() == RunOutcome(EndReason.TIME_LIMIT, "Reached the time limit of 0.25 seconds.")
            said = "".join(event.text for event in here.events if isinstance(event, TextStreamed))
            assert said in ("one ", "one two ")
            assert here.history == [
                PROMPT,
                ("model", (Text(f"{said}\n\n[This answer was cut short: time limit reached]"),)),
            ]

    def test_time_that_is_over_before_a_word_takes_the_prompt_back(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, text_answer("one", pause=30), limits=BudgetLimits(seconds=0.05)) as here:
            assert here.run().reason is EndReason.TIME_LIMIT
            assert here.history == []

    def test_time_that_is_over_while_a_call_runs(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, call_answer("wait", "b"), limits=BudgetLimits(seconds=1)) as here:
            assert here.run().reason is EndReason.TIME_LIMIT
            response = here.history[-1][1][0]
            assert isinstance(response, FunctionResponse)
            assert response.response == {"error": CANCELLED_BY_TIMEOUT}
            assert {event.result.llm_content for event in here.events if isinstance(event, CallFinished)} == {
                CANCELLED_BY_TIMEOUT
            }

    def test_a_prompt_that_no_request_is_left_for_is_taken_back(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, text_answer("One."), text_answer("Never said."), limits=BudgetLimits(turns=1)) as here:
            assert here.run() == FINISHED
            before = here.history
            assert here.run("again").reason is EndReason.TURN_LIMIT
            assert here.history == before

    def test_a_summary_counts_before_the_next_request(self, tmp_path: Path) -> None:
        long = [user_message("old"), model_message("word " * 4000)]
        summary = text_answer("<state_snapshot>short</state_snapshot>", purpose="compression", usage=Usage(prompt=900))
        limits = BudgetLimits(tokens=800)
        with agent_run(tmp_path, summary, text_answer("Never said."), window=4000, history=long, limits=limits) as here:
            assert here.run().reason is EndReason.TOKEN_LIMIT
            assert [request.purpose for request in here.model.requests] == ["compression"]


class TestLoops:
    def test_the_model_is_told_once_and_then_it_ends(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, *[call_answer("same") for _ in range(20)]) as here:
            told = "note was called 5 times in a row with the same arguments and result."
            assert here.run() == RunOutcome(EndReason.LOOP, f"The model was stuck in a loop: {told}")
            assert here.events_of(LoopDetected) == [
                LoopDetected(told, ends_run=False),
                LoopDetected(told, ends_run=True),
            ]
            assert len(here.model.requests) == 10
            (warning,) = [part for _, parts in here.history for part in parts[1:] if isinstance(part, Text)]
            assert warning.text.startswith(f"System: Potential loop detected. Details: {told}")

    def test_the_next_prompt_begins_anew(self, tmp_path: Path) -> None:
        with agent_run(
            tmp_path,
            *[call_answer("same") for _ in range(5)],
            text_answer("Oh."),
            *[call_answer("same")] * 5,
            text_answer("!"),
        ) as here:
            assert (here.run(), here.run()) == (FINISHED, FINISHED)
            assert [event.ends_run for event in here.events_of(LoopDetected) if isinstance(event, LoopDetected)] == [
                False
            ] * 2

    def test_words_that_go_in_circles_are_cut_off_and_told(self, tmp_path: Path) -> None:
        endless = "I will now look at the very same file once more. " * 40
        with agent_run(tmp_path, text_answer(endless), text_answer("I am sorry.")) as here:
            assert here.run() == FINISHED
            (found,) = here.events_of(LoopDetected)
            assert isinstance(found, LoopDetected)
            assert not found.ends_run
            assert [role for role, _ in here.history] == ["user", "model", "user", "model"]
            (partial,) = here.history[1][1]
            assert isinstance(partial, Text)
            assert partial.text.endswith("[This answer was cut short: it repeated itself]")
            assert len(partial.text) < len(endless)

    def test_words_that_go_in_circles_again_end_it(self, tmp_path: Path) -> None:
        endless = "I will now look at the very same file once more. " * 40
        with agent_run(tmp_path, text_answer(endless), text_answer(endless), text_answer("Fresh.")) as here:
            assert here.run().reason is EndReason.LOOP
            assert here.run("again") == FINISHED


class TestCancelled:
    def test_while_the_model_speaks(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, text_answer("one two three")) as here:
            here.run_and_cancel("go", lambda event: event == TextStreamed("two "))
            assert here.history == [
                PROMPT,
                ("model", (Text("one two \n\n[This answer was cut short: interrupted]"),)),
            ]
            here.switch_model(text_answer("Fine."))
            assert here.run("again") == FINISHED

    def test_while_calls_run(self, tmp_path: Path) -> None:
        def runs(event: AgentEvent) -> bool:
            return isinstance(event, StateChanged) and event.state is CallState.EXECUTING and event.index == 1

        with agent_run(tmp_path, call_answer("a", "wait", "c")) as here:
            here.run_and_cancel("go", runs)
            (_, responses) = here.history[-1]
            assert responses[0] == result_of("a", 1)
            assert [isinstance(part, FunctionResponse) and "error" in part.response for part in responses] == [
                False,
                True,
                True,
            ]
            here.switch_model(text_answer("Fine."))
            assert here.run("again") == FINISHED

    def test_while_it_waits_for_another_attempt(self, tmp_path: Path) -> None:
        failing = replace(failed_answer(FailureKind.RATE_LIMITED, say="Void."), retry_after=60.0)
        with agent_run(tmp_path, failing, text_answer("Never said."), attempts=3) as here:
            here.run_and_cancel("go", lambda event: isinstance(event, Retrying))
            assert here.history == []
            here.switch_model(text_answer("Fine."))
            assert here.run("again") == FINISHED

    def test_before_it_began(self, tmp_path: Path) -> None:
        async def main(here: AgentRun) -> None:
            task = asyncio.ensure_future(here.answer("go"))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        with agent_run(tmp_path, text_answer("Fine.")) as here:
            asyncio.run(main(here))
            assert here.history == []
            assert here.run("again") == FINISHED

    def test_at_any_event_of_a_long_run(self, tmp_path: Path) -> None:
        """Wherever it is cut, the history is legal, the journal tells the same, and the next run works."""
        number = total = 0
        while number <= total:
            directory = tmp_path / str(number)
            directory.mkdir()
            with a_long_run(directory) as here:
                here.run_and_cancel("go", lambda _, here=here, number=number: len(here.events) == number)
                if number == 0:
                    total = len(here.events)
                    assert here.events_of(Compressed)
                    assert here.events_of(Retrying)
                    assert here.events_of(LoopDetected)
                model = here.switch_model(text_answer("Fine."))
                assert here.run("again") == FINISHED
                assert model.asked == [here.history[:-1]]
            number += 1
        assert total > 30


def a_long_run(directory: Path) -> AbstractContextManager[AgentRun]:
    long = [user_message("old"), model_message("word " * 4000), user_message("older"), model_message("yes")]
    return agent_run(
        directory,
        text_answer("<state_snapshot>short</state_snapshot>", purpose="compression"),
        failed_answer(FailureKind.UNAVAILABLE, say="Void."),
        call_answer("a", "b", say="Both."),
        call_answer(ScriptedCall("unknown", {})),
        *[call_answer("same")] * 5,
        text_answer("Well, done."),
        attempts=2,
        window=4000,
        history=long,
    )


def test_a_model_that_fails_between_two_prompts_harms_neither(tmp_path: Path) -> None:
    with agent_run(tmp_path, text_answer("One."), failed_answer(FailureKind.NETWORK), text_answer("Three.")) as here:
        assert [here.run(prompt).reason for prompt in ("1", "2", "3")] == [
            EndReason.FINISHED,
            EndReason.MODEL_FAILED,
            EndReason.FINISHED,
        ]
        assert here.model.asked[-1] == [
            ("user", (Text("1"),)),
            ("model", (Text("One."),)),
            ("user", (Text("3"),)),
        ]


def test_the_watched_model_insists_on_a_legal_history() -> None:
    """Or else the tests above would prove less than they say."""
    model = RecordingModel([text_answer("x")])

    async def main() -> None:
        async for _ in model.stream(ModelRequest([model_message("I begin.")])):
            pass

    with pytest.raises(AssertionError):
        asyncio.run(main())
    assert comparable([user_message("a")]) == [("user", (Text("a"),))]
