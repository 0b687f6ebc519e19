"""The steps of the loop: what enters the history and the journal, and what is done when a model cannot answer."""

import asyncio
from pathlib import Path

import pytest

from agent_checks import USAGE, Scene, Watched, calls, fails, plain, says, scene
from tejat.core.agent_events import (
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
from tejat.core.events import CallFinished
from tejat.core.history import Message, model_message, user_message
from tejat.core.model import Answer, FailureKind, FinishReason, ModelFailure, ModelRequest, Usage
from tejat.core.types import FunctionCall, FunctionResponse, Text, Thought
from tejat.core.value import replace
from tejat.engine.loop_guard import LoopGuard
from tejat.engine.tokens import estimate_tokens
from tejat.engine.turn import Ending
from tejat.models.script_file import ScriptedCall

FINISHED = Ending(EndReason.FINISHED)
SUMMARY = says("<state_snapshot>All was well.</state_snapshot>", purpose="compression")


def long_history() -> list[Message]:
    return [
        user_message("Mind the gap."),
        model_message("word " * 4000),
        user_message("And then?"),
        model_message("Nothing."),
    ]


class TestAnswers:
    def test_are_told_as_they_come_and_then_whole(self, tmp_path: Path) -> None:
        answer = replace(calls("a", say="I do."), think="Hm.")
        with scene(tmp_path, answer, says("Done.")) as here:
            assert here.run() == FINISHED
            told = [event for event in here.events if isinstance(event, TextStreamed | ThoughtStreamed | Answered)]
            assert told[:3] == [ThoughtStreamed("Hm."), TextStreamed("I "), TextStreamed("do.")]
            whole = told[3]
            assert isinstance(whole, Answered)
            assert whole.seconds > 0
            message = here.conversation.history.messages[1]
            assert replace(whole, seconds=0.0) == Answered(
                Answer(message, FinishReason.STOP, USAGE, model="scripted"), 0.0
            )
            call = FunctionCall("note", {"text": "a"}, "tejat-1")
            assert plain([message]) == [("model", (Thought("Hm."), Text("I do."), call))]

    def test_count_for_the_next_request_as_the_service_counted(self, tmp_path: Path) -> None:
        with scene(tmp_path, says("Hello.", usage=Usage(prompt=700, output=50, thoughts=20)), says("x")) as here:
            here.run("a long prompt indeed")
            assert here.conversation.tokens == 770
            later = user_message("and some more words")
            here.conversation.begin(later, "")
            assert here.conversation.tokens == 770 + estimate_tokens([later])

    def test_are_estimated_where_the_service_does_not_count(self, tmp_path: Path) -> None:
        with scene(tmp_path, says("Hello.", usage=Usage())) as here:
            here.run("a prompt")
            assert here.conversation.tokens == estimate_tokens(here.conversation.history.messages) > 0


class TestJournal:
    def test_every_step_is_in_it_before_it_is_told(self, tmp_path: Path) -> None:
        told: list[tuple[str, str]] = []

        def look(here: Scene, event: AgentEvent) -> None:
            if isinstance(event, Answered | CallFinished | Compressed):
                told.append((f"{type(event).__name__} {getattr(event, 'purpose', '')}".strip(), here.records()[-1]))

        answers = [SUMMARY, calls("a", "b"), says("Done.")]
        with scene(tmp_path, *answers, window=4000, history=long_history()) as here:
            here.meanwhile = lambda event: look(here, event)
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
        with scene(tmp_path, says("One."), fails(FailureKind.NETWORK)) as here:
            here.run()
            here.run("again")
            assert here.records() == ["session", "prompt", "answer", "prompt", "withdrawn"]

    def test_none_is_needed(self, tmp_path: Path) -> None:
        with scene(tmp_path, SUMMARY, calls("a"), says("Done."), window=4000, history=long_history()) as here:
            here.conversation._journal = None
            assert here.run() == FINISHED
            assert not (tmp_path / "journals").exists()


class TestRetries:
    def test_what_was_streamed_before_is_void(self, tmp_path: Path) -> None:
        with scene(tmp_path, fails(FailureKind.STREAM_CUT, say="Half of"), says("All of it."), attempts=2) as here:
            assert here.run() == FINISHED
            (retrying,) = here.of(Retrying)
            assert isinstance(retrying, Retrying)
            assert replace(retrying, wait=0.0) == Retrying(
                FailureKind.STREAM_CUT, "It failed: stream_cut.", attempt=1, most=2, wait=0.0
            )
            assert here.history[-1] == ("model", (Text("All of it."),))
            assert here.conversation.said == ["All of it."]

    def test_words_that_are_void_count_for_no_loop(self, tmp_path: Path) -> None:
        """Six times the same words, five times over, because the stream was cut each time."""
        words = "I will now look at the very same file once more. " * 6
        cut = [fails(FailureKind.STREAM_CUT, say=words)] * 4
        with scene(tmp_path, *cut, says(words), attempts=5) as here:
            assert here.run() == FINISHED
            assert here.of(LoopDetected) == []

    def test_the_same_words_in_one_stream_are_a_loop(self, tmp_path: Path) -> None:
        """Or else the test above would prove nothing."""
        with scene(tmp_path, says("I will now look at the very same file once more. " * 30), says("Oh.")) as here:
            here.run()
            assert len(here.of(LoopDetected)) == 1

    def test_a_guard_that_is_off_lets_it_go_on(self, tmp_path: Path) -> None:
        words = "I will now look at the very same file once more. " * 30
        with scene(tmp_path, says(words), guard=LoopGuard(is_on=False)) as here:
            assert here.run() == FINISHED
            assert here.of(LoopDetected) == []

    def test_what_was_cut_off_before_the_next_attempt_is_not_kept(self, tmp_path: Path) -> None:
        with scene(tmp_path, fails(FailureKind.STREAM_CUT, say="Half of"), says("x", pause=30), attempts=2) as here:
            here.run_and_cancel("go", lambda event: isinstance(event, Retrying))
            assert here.history == []


class TestRoom:
    def test_is_made_near_the_limit_before_anything_is_asked(self, tmp_path: Path) -> None:
        with scene(tmp_path, SUMMARY, says("Done."), window=4000, history=long_history()) as here:
            assert here.run() == FINISHED
            assert [request.purpose for request in here.model.requests] == ["compression", "conversation"]
            (compressed,) = here.of(Compressed)
            assert isinstance(compressed, Compressed)
            assert compressed.status is CompressionStatus.COMPRESSED
            assert compressed.after < compressed.before
            assert here.recorded().usage == USAGE  # the journal counts what the conversation itself has used
            assert here.conversation.budget.usage == USAGE + USAGE
            kept = "An earlier request of the user, word for word:\n"
            assert here.history[0][1][1:] == (Text(f"{kept}Mind the gap."), Text(f"{kept}And then?"))
            assert here.history[1:] == [
                ("model", (Text("Nothing."),)),
                ("user", (Text("go"),)),
                ("model", (Text("Done."),)),
            ]

    def test_is_made_when_the_service_says_that_the_context_is_full(self, tmp_path: Path) -> None:
        answers = [fails(FailureKind.CONTEXT_FULL), SUMMARY, says("Done.")]
        with scene(tmp_path, *answers, history=long_history()) as here:
            assert here.run() == FINISHED
            assert [request.purpose for request in here.model.requests] == [
                "conversation",
                "compression",
                "conversation",
            ]
            assert len(here.of(RequestFailed)) == len(here.of(Compressed)) == 1
            assert here.conversation.budget.turns == 1

    def test_that_cannot_be_made_ends_the_run(self, tmp_path: Path) -> None:
        with scene(tmp_path, fails(FailureKind.CONTEXT_FULL), says("Never said.")) as here:
            assert here.run() == Ending(EndReason.CONTEXT_FULL, "It failed: context_full.", FailureKind.CONTEXT_FULL)
            (outcome,) = here.of(Compressed)
            assert isinstance(outcome, Compressed)
            assert outcome.status is CompressionStatus.NOT_NEEDED

    def test_a_summary_that_fails_is_told_and_the_run_goes_on(self, tmp_path: Path) -> None:
        failing = fails(FailureKind.UNAVAILABLE, purpose="compression")
        with scene(tmp_path, failing, says("Done."), window=4000, history=long_history()) as here:
            before = plain(long_history())
            assert here.run() == FINISHED
            (outcome,) = here.of(Compressed)
            assert isinstance(outcome, Compressed)
            assert (outcome.status, outcome.detail) == (CompressionStatus.FAILED, "It failed: unavailable.")
            assert here.history[:4] == before


class TestFallback:
    @pytest.mark.parametrize("kind", [FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE])
    def test_goes_on_with_another_model(self, tmp_path: Path, kind: FailureKind) -> None:
        other = Watched([calls("b"), says("Done.")], name="second")
        with scene(tmp_path, calls("a"), fails(kind), fallback=other) as here:
            assert here.run() == FINISHED
            assert here.of(ModelChanged) == [ModelChanged("first", "second", f"It failed: {kind}.")]
            assert here.conversation.model is other
            assert here.model.is_closed
            assert [text for text, _ in here.note.written] == ["a", "b"]
            assert other.asked[0] == here.history[:3]
            assert here.recorded().model == "scripted"

    def test_only_once(self, tmp_path: Path) -> None:
        other = Watched([fails(FailureKind.RATE_LIMITED)], name="second")
        with scene(tmp_path, fails(FailureKind.UNAVAILABLE), fallback=other) as here:
            assert here.run() == Ending(EndReason.MODEL_FAILED, "It failed: rate_limited.", FailureKind.RATE_LIMITED)
            assert len(here.of(ModelChanged)) == 1

    @pytest.mark.parametrize("kind", sorted(set(FailureKind) - {FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE}))
    def test_not_for_what_another_model_would_not_help(self, tmp_path: Path, kind: FailureKind) -> None:
        other = Watched([says("Never said.")], name="second")
        with scene(tmp_path, fails(kind), fallback=other) as here:
            assert here.run().failure is kind
            assert (here.of(ModelChanged), other.requests) == ([], [])


class TestOnTheSide:
    def ask(self, here: Scene) -> Answer:
        request = ModelRequest([user_message("what?")], purpose="summary")
        return asyncio.run(here.conversation.ask(request, here.tell))

    def test_is_counted_and_told_and_leaves_the_history_alone(self, tmp_path: Path) -> None:
        with scene(tmp_path, says("That.", purpose="summary")) as here:
            answer = self.ask(here)
            assert (answer.text, here.conversation.budget.usage, here.conversation.budget.turns) == ("That.", USAGE, 0)
            (told,) = here.events
            assert isinstance(told, Answered)
            assert (told.answer, told.purpose, told.seconds > 0) == (answer, "summary", True)
            assert here.history == []

    def test_fails_as_the_model_does(self, tmp_path: Path) -> None:
        with scene(tmp_path, fails(FailureKind.BLOCKED, purpose="summary")) as here:
            with pytest.raises(ModelFailure, match="It failed: blocked"):
                self.ask(here)
            (told,) = here.events
            assert isinstance(told, RequestFailed)
            assert (told.kind, told.purpose) == (FailureKind.BLOCKED, "summary")


def test_the_responses_are_those_of_the_calls_when_the_loop_is_warned(tmp_path: Path) -> None:
    with scene(tmp_path, *[calls("same")] * 5, says("I see.")) as here:
        assert here.run() == FINISHED
        role, parts = here.history[-2]
        assert role == "user"
        assert parts[0] == FunctionResponse("note", {"output": "wrote same"}, "tejat-5")
        assert isinstance(parts[1], Text)


def test_a_name_that_no_tool_can_have_is_cut(tmp_path: Path) -> None:
    with scene(tmp_path, calls(ScriptedCall("x" * 5000, {}))) as here:
        here.run()
        cut = "x" * 128
        assert here.history[1] == ("model", (FunctionCall(cut, {}, "tejat-1"),))
        (response,) = here.history[2][1]
        assert isinstance(response, FunctionResponse)
        assert (response.name, response.id) == (cut, "tejat-1")
