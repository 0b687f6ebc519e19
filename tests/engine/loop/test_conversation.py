"""The steps of the loop: what enters the history and the journal, and what is done when a model cannot answer."""

import asyncio
from pathlib import Path

import pytest

from support.agent_run import (
    USAGE,
    AgentRun,
    RecordingModel,
    agent_run,
    call_answer,
    comparable,
    failed_answer,
    text_answer,
)
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    Compressed,
    CompressionStatus,
    EndReason,
    LoopDetected,
    ModelChanged,
    RequestFailed,
    Retrying,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.frozen import replace
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.tokens import estimate_declaration_tokens, estimate_message_tokens, estimate_text_tokens
from tejat.core.messages.types import FunctionCall, FunctionResponse, Text, Thought
from tejat.core.model import FailureKind, FinishReason, ModelFailure, ModelRequest, ModelResponse, Usage
from tejat.core.tools.call_events import CallFinished
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.loop.turn import RunOutcome
from tejat.engine.sessions.event_bus import EventBus
from tejat.models.scripted.script_file import ScriptedCall

FINISHED = RunOutcome(EndReason.FINISHED)
SUMMARY = text_answer("<state_snapshot>All was well.</state_snapshot>", purpose="compression")


def long_history() -> list[Message]:
    return [
        user_message("Mind the gap."),
        model_message("word " * 4000),
        user_message("And then?"),
        model_message("Nothing."),
    ]


class TestAnswers:
    def test_are_told_as_they_come_and_then_whole(self, tmp_path: Path) -> None:
        answer = replace(call_answer("a", say="I do."), think="Hm.")
        with agent_run(tmp_path, answer, text_answer("Done.")) as here:
            assert here.run() == FINISHED
            told = [event for event in here.events if isinstance(event, TextStreamed | ThoughtStreamed | Answered)]
            assert told[:3] == [ThoughtStreamed("Hm."), TextStreamed("I "), TextStreamed("do.")]
            whole = told[3]
            assert isinstance(whole, Answered)
            assert whole.seconds > 0
            message = here.conversation.history.messages[1]
            assert replace(whole, seconds=0.0) == Answered(
                ModelResponse(message, FinishReason.STOP, USAGE, model="scripted"), 0.0
            )
            call = FunctionCall("note", {"text": "a"}, "tejat-1")
            assert comparable([message]) == [("model", (Thought("Hm."), Text("I do."), call))]

    def test_count_for_the_next_request_as_the_service_counted(self, tmp_path: Path) -> None:
        with agent_run(
            tmp_path, text_answer("Hello.", usage=Usage(prompt=700, output=50, thoughts=20)), text_answer("x")
        ) as here:
            here.run("a long prompt indeed")
            assert here.conversation.tokens == 770
            later = user_message("and some more words")
            here.conversation.start_prompt(later, "")
            assert here.conversation.tokens == 770 + estimate_message_tokens([later])

    def test_are_estimated_where_the_service_does_not_count(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, text_answer("Hello.", usage=Usage())) as here:
            here.run("a prompt")
            tools = sum(map(estimate_declaration_tokens, here.conversation.template.declarations()))
            fixed = estimate_text_tokens(here.conversation.template.system) + tools
            messages = estimate_message_tokens(here.conversation.history.messages)
            assert here.conversation.tokens == fixed + messages > fixed > 0


class TestJournal:
    def test_every_step_is_in_it_before_it_is_told(self, tmp_path: Path) -> None:
        told: list[tuple[str, str]] = []

        def record_state(here: AgentRun, event: AgentEvent) -> None:
            if isinstance(event, Answered | CallFinished | Compressed):
                told.append(
                    (f"{type(event).__name__} {getattr(event, 'purpose', '')}".strip(), here.record_kinds()[-1])
                )

        answers = [SUMMARY, call_answer("a", "b"), text_answer("Done.")]
        with agent_run(tmp_path, *answers, window=4000, history=long_history()) as here:
            here.on_event = lambda event: record_state(here, event)
            assert here.run() == FINISHED
        assert told == [
            ("Answered compression", "prompt"),
            ("Compressed", "compressed"),
            ("Answered conversation", "answer"),
            ("CallFinished", "response"),
            ("CallFinished", "response"),
            ("Answered conversation", "answer"),
        ]

    def test_a_prompt_that_came_to_nothing_is_withdrawn_there_too(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, text_answer("One."), failed_answer(FailureKind.NETWORK)) as here:
            here.run()
            here.run("again")
            assert here.record_kinds() == ["session", "prompt", "answer", "prompt", "withdrawn"]

    def test_none_is_needed(self, tmp_path: Path) -> None:
        with agent_run(
            tmp_path, SUMMARY, call_answer("a"), text_answer("Done."), window=4000, history=long_history()
        ) as here:
            here.conversation.history_events = EventBus()
            assert here.run() == FINISHED
            assert not (tmp_path / "journals").exists()


class TestRetries:
    def test_what_was_streamed_before_is_void(self, tmp_path: Path) -> None:
        with agent_run(
            tmp_path, failed_answer(FailureKind.STREAM_CUT, say="Half of"), text_answer("All of it."), attempts=2
        ) as here:
            assert here.run() == FINISHED
            (retrying,) = here.events_of(Retrying)
            assert isinstance(retrying, Retrying)
            assert replace(retrying, wait=0.0) == Retrying(
                FailureKind.STREAM_CUT, "It failed: stream_cut.", attempt=1, max_attempts=2, wait=0.0
            )
            assert here.history[-1] == ("model", (Text("All of it."),))
            assert here.conversation.answer_texts == ["All of it."]

    def test_words_that_are_void_count_for_no_loop(self, tmp_path: Path) -> None:
        """Six times the same words, five times over, because the stream was cut each time."""
        words = "I will now look at the very same file once more. " * 6
        cut = [failed_answer(FailureKind.STREAM_CUT, say=words)] * 4
        with agent_run(tmp_path, *cut, text_answer(words), attempts=5) as here:
            assert here.run() == FINISHED
            assert here.events_of(LoopDetected) == []

    def test_the_same_words_in_one_stream_are_a_loop(self, tmp_path: Path) -> None:
        """Or else the test above would prove nothing."""
        with agent_run(
            tmp_path, text_answer("I will now look at the very same file once more. " * 30), text_answer("Oh.")
        ) as here:
            here.run()
            assert len(here.events_of(LoopDetected)) == 1

    def test_a_guard_that_is_off_lets_it_go_on(self, tmp_path: Path) -> None:
        words = "I will now look at the very same file once more. " * 30
        with agent_run(tmp_path, text_answer(words), guard=LoopDetector(enabled=False)) as here:
            assert here.run() == FINISHED
            assert here.events_of(LoopDetected) == []

    def test_what_was_cut_off_before_the_next_attempt_is_not_kept(self, tmp_path: Path) -> None:
        with agent_run(
            tmp_path, failed_answer(FailureKind.STREAM_CUT, say="Half of"), text_answer("x", pause=30), attempts=2
        ) as here:
            here.run_and_cancel("go", lambda event: isinstance(event, Retrying))
            assert here.history == []


class TestRoom:
    def test_is_made_near_the_limit_before_anything_is_asked(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, SUMMARY, text_answer("Done."), window=4000, history=long_history()) as here:
            assert here.run() == FINISHED
            assert [request.purpose for request in here.model.requests] == ["compression", "conversation"]
            (compressed,) = here.events_of(Compressed)
            assert isinstance(compressed, Compressed)
            assert compressed.status is CompressionStatus.COMPRESSED
            assert compressed.after < compressed.before
            assert here.load_journal().usage == USAGE  # the journal counts what the conversation itself has used
            assert here.conversation.budget.usage == USAGE + USAGE
            kept = "An earlier request of the user, word for word:\n"
            assert here.history[0][1][1:] == (Text(f"{kept}Mind the gap."), Text(f"{kept}And then?"))
            assert here.history[1:] == [
                ("model", (Text("Nothing."),)),
                ("user", (Text("go"),)),
                ("model", (Text("Done."),)),
            ]

    def test_is_made_when_the_service_says_that_the_context_is_full(self, tmp_path: Path) -> None:
        answers = [failed_answer(FailureKind.CONTEXT_FULL), SUMMARY, text_answer("Done.")]
        with agent_run(tmp_path, *answers, history=long_history()) as here:
            assert here.run() == FINISHED
            assert [request.purpose for request in here.model.requests] == [
                "conversation",
                "compression",
                "conversation",
            ]
            assert len(here.events_of(RequestFailed)) == len(here.events_of(Compressed)) == 1
            assert here.conversation.budget.turns == 1

    def test_that_cannot_be_made_ends_the_run(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, failed_answer(FailureKind.CONTEXT_FULL), text_answer("Never said.")) as here:
            assert here.run() == RunOutcome(
                EndReason.CONTEXT_FULL, "It failed: context_full.", FailureKind.CONTEXT_FULL
            )
            (outcome,) = here.events_of(Compressed)
            assert isinstance(outcome, Compressed)
            assert outcome.status is CompressionStatus.NOT_NEEDED

    def test_a_summary_that_repeats_itself_is_cut_off(self, tmp_path: Path) -> None:
        repeating = text_answer("The same sentence again and again. " * 300, purpose="compression")
        with agent_run(tmp_path, repeating, text_answer("Done."), window=4000, history=long_history()) as here:
            assert here.run() == FINISHED
            (outcome,) = here.events_of(Compressed)
            assert isinstance(outcome, Compressed)
            assert (outcome.status, outcome.detail) == (CompressionStatus.FAILED, "The summary repeated itself.")

    def test_a_summary_that_fails_is_told_and_the_run_goes_on(self, tmp_path: Path) -> None:
        failing = failed_answer(FailureKind.UNAVAILABLE, purpose="compression")
        with agent_run(tmp_path, failing, text_answer("Done."), window=4000, history=long_history()) as here:
            before = comparable(long_history())
            assert here.run() == FINISHED
            (outcome,) = here.events_of(Compressed)
            assert isinstance(outcome, Compressed)
            assert (outcome.status, outcome.detail) == (CompressionStatus.FAILED, "It failed: unavailable.")
            assert here.history[:4] == before


class TestFallback:
    @pytest.mark.parametrize("kind", [FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE])
    def test_goes_on_with_another_model(self, tmp_path: Path, kind: FailureKind) -> None:
        other = RecordingModel([call_answer("b"), text_answer("Done.")], name="second")
        with agent_run(tmp_path, call_answer("a"), failed_answer(kind), fallback=other) as here:
            assert here.run() == FINISHED
            assert here.events_of(ModelChanged) == [ModelChanged("first", "second", f"It failed: {kind}.")]
            assert here.conversation.model is other
            assert here.model.is_closed
            assert [text for text, _ in here.note.written] == ["a", "b"]
            assert other.asked[0] == here.history[:3]
            assert here.load_journal().model == "scripted"

    def test_only_once(self, tmp_path: Path) -> None:
        other = RecordingModel([failed_answer(FailureKind.RATE_LIMITED)], name="second")
        with agent_run(tmp_path, failed_answer(FailureKind.UNAVAILABLE), fallback=other) as here:
            assert here.run() == RunOutcome(
                EndReason.MODEL_FAILED, "It failed: rate_limited.", FailureKind.RATE_LIMITED
            )
            assert len(here.events_of(ModelChanged)) == 1

    @pytest.mark.parametrize("kind", sorted(set(FailureKind) - {FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE}))
    def test_not_for_what_another_model_would_not_help(self, tmp_path: Path, kind: FailureKind) -> None:
        other = RecordingModel([text_answer("Never said.")], name="second")
        with agent_run(tmp_path, failed_answer(kind), fallback=other) as here:
            assert here.run().failure is kind
            assert (here.events_of(ModelChanged), other.requests) == ([], [])


class TestOnTheSide:
    def ask(self, here: AgentRun) -> ModelResponse:
        request = ModelRequest([user_message("what?")], purpose="summary")
        return asyncio.run(here.conversation.query(request))

    def test_is_counted_and_told_and_leaves_the_history_alone(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, text_answer("That.", purpose="summary")) as here:
            answer = self.ask(here)
            assert (answer.text, here.conversation.budget.usage, here.conversation.budget.turns) == ("That.", USAGE, 0)
            (told,) = here.events
            assert isinstance(told, Answered)
            assert (told.answer, told.purpose, told.seconds > 0) == (answer, "summary", True)
            assert here.history == []

    def test_fails_as_the_model_does(self, tmp_path: Path) -> None:
        with agent_run(tmp_path, failed_answer(FailureKind.BLOCKED, purpose="summary")) as here:
            with pytest.raises(ModelFailure, match="It failed: blocked"):
                self.ask(here)
            (told,) = here.events
            assert isinstance(told, RequestFailed)
            assert (told.kind, told.purpose) == (FailureKind.BLOCKED, "summary")


def test_the_responses_are_those_of_the_calls_when_the_loop_is_warned(tmp_path: Path) -> None:
    with agent_run(tmp_path, *[call_answer("same")] * 5, text_answer("I see.")) as here:
        assert here.run() == FINISHED
        role, parts = here.history[-2]
        assert role == "user"
        assert parts[0] == FunctionResponse("note", {"output": "wrote same"}, "tejat-5")
        assert isinstance(parts[1], Text)


def test_a_name_that_no_tool_can_have_is_cut(tmp_path: Path) -> None:
    with agent_run(tmp_path, call_answer(ScriptedCall("x" * 5000, {}))) as here:
        here.run()
        cut = "x" * 128
        assert here.history[1] == ("model", (FunctionCall(cut, {}, "tejat-1"),))
        (response,) = here.history[2][1]
        assert isinstance(response, FunctionResponse)
        assert (response.name, response.id) == (cut, "tejat-1")
