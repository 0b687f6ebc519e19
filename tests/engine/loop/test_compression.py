"""A summary makes room, whatever the model makes of it: the task, the rules and the last request are never lost."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.agent.events import Compressed, CompressionStatus
from tejat.core.messages.history import Message, Role, history_problem, model_message, user_message
from tejat.core.messages.tokens import estimate_message_tokens, estimate_request_tokens
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, MessagePart, Text, Thought
from tejat.core.model import FailureKind, FinishReason, ModelFailure, ModelRequest, ModelResponse
from tejat.core.tools.function_response import SUCCESS_MESSAGE
from tejat.engine.loop.compression import ACKNOWLEDGEMENT, KEEP_FRACTION
from tejat.engine.loop.compressor import CompressionScope, Compressor
from tejat.engine.prompt.expanded_prompt import CONTENT_END, CONTENT_START
from tejat.engine.prompt.templates import load_template

OPENING = [user_message("This is the folder."), model_message("Got it. Thanks for the context!")]


@dataclass
class Summariser:
    """A model that answers every request with the same words, and keeps the requests."""

    answer: str = "<state_snapshot>\nWork was done.\n</state_snapshot>"
    reason: FinishReason = FinishReason.STOP
    failure: ModelFailure | None = None
    requests: list[ModelRequest] = field(default_factory=list)

    async def __call__(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        if self.failure is not None:
            raise self.failure
        return ModelResponse(model_message(self.answer), self.reason)


def compress(
    messages: Sequence[Message],
    ask: Callable[[ModelRequest], Awaitable[ModelResponse]] | None = None,
    *,
    compressor: Compressor | None = None,
    tokens: int = 100_000,
    keep_first: int = 0,
    room: int = 1_000_000,
) -> tuple[Sequence[Message], Compressed]:
    return asyncio.run(
        (compressor or Compressor()).compress(ask or Summariser(), messages, CompressionScope(tokens, room, keep_first))
    )


def step(number: int, size: int = 2000) -> list[Message]:
    """One call and its result."""
    call = FunctionCall("read_file", {"path": f"{number}.txt"}, f"call-{number}")
    result = FunctionResponse("read_file", {"output": f"{number} " * (size // 4)}, f"call-{number}")
    return [model_message(f"I read {number}.", call), user_message(result)]


def steps(first: int, last: int, size: int = 2000) -> list[Message]:
    return [message for number in range(first, last) for message in step(number, size)]


def conversation(prompts: Sequence[str], steps_each: int = 6) -> list[Message]:
    messages: list[Message] = []
    for number, prompt in enumerate(prompts):
        start = number * steps_each
        messages += [user_message(prompt), *steps(start, start + steps_each), model_message(f"Done with {number}.")]
    return messages


def texts(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


class TestWhenItIsDue:
    @pytest.mark.parametrize(("tokens", "due"), [(0, False), (499, False), (500, True), (2000, True)])
    def test_at_its_share_of_the_window(self, tokens: int, due: bool) -> None:
        assert Compressor().should_compress(tokens, 1000) is due

    def test_the_share_is_a_setting(self) -> None:
        assert not Compressor(threshold=0.9).should_compress(899, 1000)
        assert Compressor(threshold=0.9).should_compress(900, 1000)

    def test_after_a_summary_it_must_have_grown(self) -> None:
        compressor = Compressor()
        _, outcome = compress(conversation(["one", "two"]), compressor=compressor)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert not compressor.should_compress(outcome.after, outcome.after)
        assert compressor.should_compress(int(outcome.after * 1.26), outcome.after)

    def test_after_a_failure_it_must_have_grown(self) -> None:
        compressor = Compressor()
        failing = Summariser(failure=ModelFailure("Try later.", FailureKind.UNAVAILABLE))
        compress(conversation(["one", "two"]), failing, compressor=compressor, tokens=1000)
        assert not compressor.should_compress(1099, 1000)
        assert compressor.should_compress(1101, 1000)

    def test_after_an_inflated_one_never_again(self) -> None:
        compressor = Compressor()
        _, outcome = compress(conversation(["one", "two"]), Summariser("x" * 1_000_000), compressor=compressor)
        assert outcome.status is CompressionStatus.INFLATED
        assert not compressor.should_compress(10**9, 1000)

    def test_but_who_forces_it_gets_it(self) -> None:
        compressor = Compressor()
        messages = conversation(["one", "two"])
        compress(messages, Summariser("x" * 1_000_000), compressor=compressor)
        made, outcome = compress(messages, compressor=compressor)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert len(made) < len(messages)
        assert compressor.should_compress(10**9, 1000)


class TestWhatIsKept:
    def test_the_whole_result(self) -> None:
        messages = [*OPENING, *conversation(["First task", "Second task", "Third task"])]
        made, outcome = compress(messages, keep_first=2)
        assert list(made[:2]) == OPENING
        assert made[2].role is Role.USER
        assert made[2].parts == (
            Text(
                "The conversation so far was summarised to make room. This is what is known of it:\n\n"
                "<state_snapshot>\nWork was done.\n</state_snapshot>"
            ),
            Text("An earlier request of the user, word for word:\nFirst task"),
            Text("An earlier request of the user, word for word:\nSecond task"),
            Text("An earlier request of the user, word for word:\nThird task"),
        )
        # The third request is a little too far back, so the latest answers follow without it.
        kept = made[3:]
        assert kept == messages[-len(kept) :]
        assert kept[0].role is Role.MODEL
        assert 0.2 < estimate_message_tokens(kept) / estimate_message_tokens(messages[2:]) <= KEEP_FRACTION
        assert history_problem(made) is None
        saved = estimate_message_tokens(messages) - estimate_message_tokens(made)
        assert outcome == Compressed(100_000, 100_000 - saved, CompressionStatus.COMPRESSED)

    def test_a_request_that_is_near_enough_begins_the_rest(self) -> None:
        messages = [*conversation(["First task"], 20), *conversation(["Second task"], 5)[:-1]]
        messages = [*messages[:42], user_message("Second task"), *steps(50, 55)]
        made, _ = compress(messages)
        assert made[0].parts[1:] == (Text("An earlier request of the user, word for word:\nFirst task"),)
        assert made[1].parts == (Text(ACKNOWLEDGEMENT),)
        assert list(made[2:]) == messages[42:]
        assert history_problem(made) is None

    def test_a_long_run_after_one_request(self) -> None:
        messages = [user_message("The only task"), *steps(0, 100)]
        made, outcome = compress(messages)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert "word for word:\nThe only task" in made[0].text
        assert list(made[1:]) == messages[-58:]
        assert history_problem(made) is None

    def test_the_last_request_alone(self) -> None:
        messages = [*conversation(["First"], 3), user_message("x" * 100_000)]
        made, _ = compress([*conversation(["Zero"], 60)[:-1], model_message("."), *messages[-1:]])
        assert made[-1] is messages[-1]
        assert made[-2].parts == (Text(ACKNOWLEDGEMENT),)

    def test_the_last_result_stays_with_its_call_however_long_it_is(self) -> None:
        messages = [user_message("Task"), *steps(0, 40), *step(99, 60_000)]
        made, outcome = compress(messages)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert list(made[1:]) == messages[-2:]
        assert history_problem(made) is None

    def test_an_opening_of_the_user_takes_the_summary_in(self) -> None:
        messages = [user_message("Context and task"), *steps(0, 50)]
        made, _ = compress(messages, keep_first=1)
        assert made[0].parts[0] == Text("Context and task")
        assert "<state_snapshot>" in made[0].text
        assert history_problem(made) is None

    def test_words_besides_the_block_are_dropped(self) -> None:
        made, _ = compress(
            conversation(["a", "b"]), Summariser("Let me think.\n<state_snapshot>\nInner\n</state_snapshot>\nBye.")
        )
        assert made[0].text.count("<state_snapshot>\nInner\n</state_snapshot>") == 1
        assert "think" not in made[0].text
        assert "Bye" not in made[0].text

    def test_words_without_a_block_are_the_summary(self) -> None:
        made, _ = compress(conversation(["a", "b"]), Summariser("Just words."))
        assert "<state_snapshot>\nJust words.\n</state_snapshot>" in made[0].text


class TestRequests:
    def test_files_that_were_attached_are_not_kept(self) -> None:
        prompt = user_message("Read @a.txt", CONTENT_START, "\nContent from @a.txt:\n", "the content of a", CONTENT_END)
        made, _ = compress([prompt, *steps(0, 40)])
        assert made[0].parts[1:] == (
            Text(
                "An earlier request of the user, word for word:\nRead @a.txt\n"
                "[The content of the files named above was attached here.]"
            ),
        )

    def test_what_was_said_after_results(self) -> None:
        response = FunctionResponse("read_file", {"output": "text"}, "x")
        cases: list[tuple[tuple[MessagePart | str, ...], list[str]]] = [
            ((response,), []),
            ((response, "Stop, do this."), ["Stop, do this."]),
            ((response, "One.", "Two."), ["One.", "Two."]),
            ((FunctionResponse("m", {"output": SUCCESS_MESSAGE}, "x"), "--- a ---\n\nfile", CONTENT_END), []),
            ((FunctionResponse("m", {"output": SUCCESS_MESSAGE}, "x"), "file", CONTENT_END, "Stop."), ["Stop."]),
            (
                (
                    FunctionResponse("m", {"output": SUCCESS_MESSAGE}, "x"),
                    *("file", CONTENT_END, "See @a", CONTENT_START, "a's content", CONTENT_END),
                ),
                ["See @a\n[The content of the files named above was attached here.]"],
            ),
        ]
        for parts, wanted in cases:
            name = next(part.name for part in parts if isinstance(part, FunctionResponse))
            call = model_message(FunctionCall(name, {}, "x"))
            made, _ = compress([user_message("Task"), call, user_message(*parts), *steps(0, 40)])
            kept = [part.text.partition("word for word:\n")[2] for part in made[0].parts[1:] if isinstance(part, Text)]
            assert kept == ["Task", *wanted]

    def test_the_same_request_again_is_kept_once(self) -> None:
        made, _ = compress([*conversation(["go on"] * 10), user_message("last")])
        assert made[0].text.count("go on") == 1

    def test_long_old_requests_are_shortened_first(self) -> None:
        prompts = [f"fact-{number} {'long ' * 2000} end-{number}" for number in range(9)]
        messages = [*conversation([*prompts, "short one"], 12), user_message("last"), *steps(900, 960)]
        made, outcome = compress(messages, tokens=1_000_000)
        assert outcome.status is CompressionStatus.COMPRESSED
        kept = [part.text for part in made[0].parts[1:] if isinstance(part, Text)]
        lengths = [len(text) for text in kept]
        assert lengths[0] < 2200 < 9000 < lengths[8]
        assert lengths == sorted(lengths[:9]) + lengths[9:]
        assert all(f"fact-{number}" in kept[number] and f"end-{number}" in kept[number] for number in range(9))
        assert "characters left out" in kept[0]
        assert kept[9].endswith("\nshort one")
        assert sum(lengths) < 42_000

    def test_the_only_request_is_never_shortened(self) -> None:
        task = "Do this: " + "very important detail " * 3000
        made, outcome = compress([user_message(task), *steps(0, 400)], tokens=250_000)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert made[0].parts[1] == Text(f"An earlier request of the user, word for word:\n{task.strip()}")


class TestWhatTheModelIsAsked:
    def test_the_request(self) -> None:
        summariser = Summariser()
        messages = [
            user_message("Task one", InlineData("image/png", bytes(5000))),
            model_message(Thought("private", "signature"), "I begin."),
            *conversation(["Task two"], 20),
        ]
        compress([*OPENING, *messages], summariser, keep_first=2)
        (request,) = summariser.requests
        (question,) = request.messages
        assert request == ModelRequest(
            request.messages, system=load_template("compress"), max_output_tokens=16_384, purpose="compression"
        )
        assert history_problem(request.messages) is None
        assert question.text.startswith("<record>\n[user]\nTask one\n[image/png, 5000 bytes]\n\n[model]\nI begin.")
        assert question.text.endswith("\n</record>\n\nWrite the <state_snapshot> now.")
        assert "result of read_file: 0 0 0" in question.text
        assert "private" not in question.text
        assert "signature" not in question.text
        assert "This is the folder" not in question.text
        assert all(isinstance(part, Text) for part in question.parts)


class TestNothingCameOfIt:
    def check(self, messages: Sequence[Message], ask: Summariser, status: CompressionStatus, detail: str) -> None:
        made, outcome = compress(messages, ask)
        assert made is messages
        assert outcome == Compressed(100_000, 100_000, status, detail)

    def test_the_model_fails(self) -> None:
        ask = Summariser(failure=ModelFailure("The service is down.", FailureKind.UNAVAILABLE))
        self.check(conversation(["a", "b"]), ask, CompressionStatus.FAILED, "The service is down.")

    @pytest.mark.parametrize("answer", ["", "  \n", "<state_snapshot>\n</state_snapshot>"])
    def test_the_model_says_nothing(self, answer: str) -> None:
        no_use = "The model returned no usable summary."
        self.check(conversation(["a", "b"]), Summariser(answer), CompressionStatus.FAILED, no_use)

    @pytest.mark.parametrize("reason", sorted(set(FinishReason) - {FinishReason.STOP, FinishReason.MAX_TOKENS}))
    def test_the_answer_is_not_whole(self, reason: FinishReason) -> None:
        no_use = "The model returned no usable summary."
        ask = Summariser("<state_snapshot>half of", reason)
        self.check(conversation(["a", "b"]), ask, CompressionStatus.FAILED, no_use)

    def test_the_summary_is_longer(self) -> None:
        longer = "The summary would be longer than the original."
        self.check(conversation(["a", "b"]), Summariser("x" * 1_000_000), CompressionStatus.INFLATED, longer)

    @pytest.mark.parametrize(
        "messages",
        [
            [],
            [user_message("hello")],
            [user_message("hello"), model_message("hi")],
            [user_message("task"), *step(1, 100_000)],
            [user_message("task " * 7000), *step(1, 100), model_message("Done."), user_message("another " * 9000)],
        ],
    )
    def test_there_is_too_little(self, messages: list[Message]) -> None:
        ask = Summariser()
        too_little = "Not enough to summarize yet."
        self.check(messages, ask, CompressionStatus.NOT_NEEDED, too_little)
        assert ask.requests == []

    def test_an_opening_that_ends_in_a_call(self) -> None:
        messages = [user_message("Task"), *steps(0, 40)]
        made, outcome = compress(messages, keep_first=2)
        assert made is messages
        assert outcome.status is CompressionStatus.FAILED

    def test_cancelling_goes_through(self) -> None:
        async def cancelled(_: ModelRequest) -> ModelResponse:
            raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            compress(conversation(["a", "b"]), cancelled)


def test_planted_facts_survive_three_summaries_by_a_bad_model() -> None:
    """The model remembers nothing at all; what the user said is there nevertheless, once and to the letter."""
    facts = [f"Fact {number}: the port of service-{number} is {7919 * number % 65536}." for number in range(10)]
    messages: Sequence[Message] = [*OPENING, *conversation(facts[:4])]
    compressor = Compressor()
    for added in (facts[4:7], facts[7:9], facts[9:]):
        made, outcome = compress(messages, Summariser("Nothing much."), compressor=compressor, keep_first=2)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert history_problem(made) is None
        offset = 1000 + len(made)
        fresh = [
            message
            for number, fact in enumerate(added)
            for message in [
                user_message(fact),
                *steps(offset + number * 10, offset + number * 10 + 6),
                model_message("Done."),
            ]
        ]
        last = [] if made[-1].role is Role.MODEL else [model_message("Done.")]
        messages = _with_new_ids([*made, *last, *fresh])
    made, outcome = compress(messages, Summariser("Nothing much."), compressor=compressor, keep_first=2)
    assert outcome.status is CompressionStatus.COMPRESSED
    assert [texts(made).count(fact) for fact in facts] == [1] * 10
    assert texts(made).count("<state_snapshot>") == 1
    assert list(made[:2]) == OPENING


def _with_new_ids(messages: Sequence[Message]) -> list[Message]:
    """Every call with an id of its own, as the history gives them."""
    renamed: list[Message] = []
    for index, message in enumerate(messages):
        parts: list[MessagePart] = []
        for part in message.parts:
            match part:
                case FunctionCall(name, args):
                    parts.append(FunctionCall(name, args, f"id-{index}"))
                case FunctionResponse(name, response):
                    parts.append(FunctionResponse(name, response, f"id-{index - 1}"))
                case _:
                    parts.append(part)
        renamed.append(message if list(message.parts) == parts else Message(message.role, tuple(parts)))
    return renamed


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Legal histories of any shape that end with the user."""
    messages: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(1, 8))):
        messages.append(user_message(f"request {len(messages)} {'w ' * draw(st.integers(0, 500))}"))
        for _ in range(draw(st.integers(0, 6))):
            calls: list[MessagePart] = []
            results: list[MessagePart] = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                calls.append(FunctionCall("tool", {}, str(number)))
                results.append(FunctionResponse("tool", {"output": "r" * draw(st.integers(0, 3000))}, str(number)))
            messages += [model_message(*calls), user_message(*results)]
        messages.append(model_message("answer"))
    return messages[: draw(st.sampled_from([-1, len(messages)]))]


@settings(max_examples=150, deadline=None)
@given(histories(), st.integers(0, 100_000), st.sampled_from(["short", "y" * 3000]))
def test_any_history(messages: list[Message], tokens: int, summary: str) -> None:
    if messages[-1].calls:
        messages = messages[:-1]
    assert history_problem(messages) is None
    made, outcome = compress(messages, Summariser(summary), tokens=tokens)
    assert history_problem(made) is None
    assert (made is messages) == (outcome.status is not CompressionStatus.COMPRESSED)
    assert made[-1] is messages[-1]
    if outcome.status is CompressionStatus.COMPRESSED:
        assert estimate_message_tokens(made) < estimate_message_tokens(messages)
        requests = [message.text.split()[1] for message in messages if message.text.startswith("request")]
        assert all(f"request {request}" in texts(made) for request in requests)


class TestRoom:
    @pytest.mark.parametrize("room", [2_000, 10_000, 80_000])
    def test_the_request_and_the_result_fit(self, room: int) -> None:
        messages = conversation([f"Task {number}. {'Mind this. ' * 40}" for number in range(60)], steps_each=8)
        assert estimate_message_tokens(messages) > 200_000
        summariser = Summariser("<state_snapshot>" + "Something happened. " * 3000 + "</state_snapshot>")
        made, outcome = compress([*OPENING, *messages], summariser, keep_first=2, room=room)
        (request,) = summariser.requests
        assert estimate_request_tokens(request) <= room
        assert 0 < (request.max_output_tokens or 0) <= room // 2
        assert outcome.status is CompressionStatus.COMPRESSED
        assert estimate_message_tokens(made) <= room
        assert "Task 59." in texts(made)

    def test_ten_thousand_turns_fit(self) -> None:
        room = 80_000
        messages = conversation([f"Do step {number}." for number in range(1_000)], steps_each=10)
        summariser = Summariser("<state_snapshot>" + "Something happened. " * 30_000 + "</state_snapshot>")
        made, outcome = compress(messages, summariser, room=room)
        (request,) = summariser.requests
        assert estimate_request_tokens(request) <= room
        assert outcome.status is CompressionStatus.COMPRESSED
        assert estimate_message_tokens(made) <= room
        assert "Do step 999." in texts(made)

    def test_a_summary_that_reached_its_limit_is_used(self) -> None:
        ask = Summariser("<state_snapshot>The task is nearly", FinishReason.MAX_TOKENS)
        made, outcome = compress(conversation(["a", "b"]), ask)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert "The task is nearly" in texts(made)


class TestCarried:
    def scope(self, *carried: tuple[str, str], **more: object) -> CompressionScope:
        return CompressionScope(100_000, 1_000_000, carried=carried, **more)  # type: ignore[arg-type]

    def compress(self, messages: Sequence[Message], scope: CompressionScope, ask: Summariser) -> Sequence[Message]:
        made, outcome = asyncio.run(Compressor().compress(ask, messages, scope))
        assert outcome.status is CompressionStatus.COMPRESSED
        return made

    def test_it_is_put_back_as_it_is_now_after_every_summary(self) -> None:
        ask = Summariser()
        messages = self.compress(
            conversation(["one", "two"]), self.scope(("todos", "OLD LIST"), ("skills", "BODY")), ask
        )
        assert [texts(messages).count(each) for each in ("OLD LIST", "BODY")] == [1, 1]
        longer = [*messages, *conversation(["three", "four"])]
        messages = self.compress(longer, self.scope(("todos", "NEW LIST"), ("skills", "BODY")), ask)
        assert [texts(messages).count(each) for each in ("OLD LIST", "NEW LIST", "BODY")] == [0, 1, 1]
        assert "BODY" not in ask.requests[-1].messages[0].text
        assert [texts(messages).count(f"word for word:\n{each}") for each in ("one", "two", "three")] == [1, 1, 1]

    def test_it_counts_against_what_is_saved(self) -> None:
        messages = conversation(["one", "two"])
        scope = self.scope(("skills", "x" * 4 * 100_000))
        made, outcome = asyncio.run(Compressor().compress(Summariser(), messages, scope))
        assert (made, outcome.status) == (messages, CompressionStatus.NOT_NEEDED)
        assert Compressor().preview(messages, scope).detail == "Not enough to summarize yet."

    def test_the_model_is_told_what_it_can_recall(self) -> None:
        messages = conversation(["one", "two"])
        made = self.compress(messages, self.scope(number_of=lambda index: index + 1), Summariser())
        gone = len(messages) - sum(message in messages for message in made)
        assert f"Messages 1 to {gone} of the conversation are no longer shown." in texts(made)

    def test_a_preview_is_what_happens(self) -> None:
        messages = conversation(["one", "two", "three"])
        scope = self.scope(("todos", "LIST"))
        preview = Compressor().preview(messages, scope)
        made = self.compress(messages, scope, Summariser())
        kept = [message for message in made if message in messages]
        assert (preview.kept, preview.summarized) == (len(kept), len(messages) - len(kept))
        assert [request for request in ("one", "two", "three") if f"word for word:\n{request}" in texts(made)] == list(
            preview.requests
        )
        assert preview.carried == (("todos", 1),)
        assert preview.after < preview.before == 100_000


SHAPES: dict[str, Callable[[int], str]] = {
    "tiny": lambda number: f"do {number}",
    "wide": lambda number: f"请做第{number}件事情" * 4,
    "long": lambda number: f"prompt {number} " * 200,
    "long and wide": lambda number: f"提示{number}" * 300,
}


class TestWhatFits:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("room", [2_000, 9_000, 18_000, 87_000])
    def test_a_history_far_beyond_the_window_is_summarised_to_what_fits(self, room: int, shape: str) -> None:
        messages = conversation([SHAPES[shape](number) for number in range(2_000)], steps_each=1)
        tokens = estimate_message_tokens(messages)
        assert tokens > 3 * room
        model = Summariser("总结" * 20_000)
        compressed, outcome = compress(messages, model, tokens=tokens, room=room)
        assert outcome.status is CompressionStatus.COMPRESSED
        assert estimate_request_tokens(model.requests[0]) <= room
        assert estimate_message_tokens(compressed) <= room

    def test_a_request_that_is_refused_as_too_long_is_sent_again_shorter(self) -> None:
        rooms = [40_000, 20_000, 10_000]
        model = Summariser()

        async def ask(request: ModelRequest) -> ModelResponse:
            if estimate_request_tokens(request) > 12_000:
                model.requests.append(request)
                raise ModelFailure("Too long.", FailureKind.CONTEXT_FULL)
            return await model(request)

        def scope() -> CompressionScope:
            return CompressionScope(200_000, rooms[len(model.requests)])

        messages = conversation([f"prompt {number}" for number in range(100)])
        compressed, outcome = asyncio.run(Compressor().compress(ask, messages, scope(), scope))
        assert outcome.status is CompressionStatus.COMPRESSED
        assert len(model.requests) == 3
        assert estimate_message_tokens(compressed) <= rooms[-1]

    def test_it_is_not_sent_again_if_nothing_is_learned(self) -> None:
        model = Summariser(failure=ModelFailure("Too long.", FailureKind.CONTEXT_FULL))
        scope = CompressionScope(200_000, 20_000)
        messages = conversation([f"prompt {number}" for number in range(100)])
        _, outcome = asyncio.run(Compressor().compress(model, messages, scope, lambda: scope))
        assert (outcome.status, len(model.requests)) == (CompressionStatus.FAILED, 1)
