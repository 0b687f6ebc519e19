"""Histories stay legal, and whatever is done to one can be repaired."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.history import (
    GENERATED_ID_PREFIX,
    INTERRUPTED_ERROR,
    MISSING_START,
    History,
    Message,
    Role,
    history_problem,
    interrupted_response,
    model_message,
    repair_history,
    user_message,
)
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, MessagePart, Opaque, Text, Thought

PICTURE = InlineData("image/png", b"\x89PNG")


def call(call_id: str | None = "a", name: str = "read_file", **args: object) -> FunctionCall:
    return FunctionCall(name, args, call_id)


def response(call_id: str | None = "a", name: str = "read_file", output: str = "done") -> FunctionResponse:
    return FunctionResponse(name, {"output": output}, call_id)


def shown(messages: Sequence[Message]) -> list[tuple[Role, tuple[MessagePart, ...]]]:
    """Messages are compared by identity; this is what they hold."""
    return [(message.role, message.parts) for message in messages]


def user(*parts: MessagePart | str) -> tuple[Role, tuple[MessagePart, ...]]:
    return shown([user_message(*parts)])[0]


def model(*parts: MessagePart | str) -> tuple[Role, tuple[MessagePart, ...]]:
    return shown([model_message(*parts)])[0]


LEGAL = [
    user_message("look"),
    model_message(Thought("hm"), "I look.", call("a"), call("b", "glob")),
    user_message(response("a"), PICTURE, response("b", "glob"), "and then?"),
    model_message("Done."),
]


class TestMessage:
    @pytest.mark.parametrize(
        ("parts", "is_empty"),
        [
            ((), True),
            ((Text(""),), True),
            ((Text(" \n"), Text("", "signed")), True),
            ((Thought("let me think", "signed"),), True),
            ((Thought("let me think"), Text("x")), False),
            ((PICTURE,), False),
            ((Opaque("other", {}),), False),
            ((call(),), False),
            ((response(),), False),
        ],
    )
    def test_empty_is_what_leaves_nothing_to_send(self, parts: tuple[MessagePart, ...], is_empty: bool) -> None:
        assert Message(Role.USER, parts).is_empty is is_empty


class TestAdding:
    def test_a_conversation(self) -> None:
        history = History()
        asked = history.add_user(user_message("look"))
        answer = history.add_model(model_message("I look.", call("a"), call("b")))
        assert history.open_calls == (call("a"), call("b"))
        results = history.add_user(user_message(response("a"), response("b")))
        assert history.open_calls == ()
        last = history.add_model(model_message("Done."))
        assert list(history.messages) == [asked, answer, results, last]
        assert history_problem(history.messages) is None

    def test_what_needs_no_change_stays_the_same_object(self) -> None:
        history = History()
        prompt, answer = user_message("look"), model_message("I look.", call("a"))
        assert history.add_user(prompt) is prompt
        assert history.add_model(answer) is answer

    def test_the_list_of_messages_is_the_one_that_grows(self) -> None:
        history = History()
        seen = history.messages
        history.add_user(user_message("look"))
        assert seen is history.messages

    def test_user_messages_become_one_new_message(self) -> None:
        history = History()
        first, second = user_message("look"), user_message("here", PICTURE)
        history.add_user(first)
        merged = history.add_user(second)
        assert list(history.messages) == [merged]
        assert shown([first, second, merged]) == [user("look"), user("here", PICTURE), user("look", "here", PICTURE)]

    def test_a_prompt_after_responses_joins_them(self) -> None:
        history = History([user_message("look"), model_message(call()), user_message(response())])
        history.add_user(user_message("stop"))
        assert shown(history.messages)[-1] == user(response(), "stop")

    def test_calls_without_an_id_or_with_one_that_is_taken_get_one(self) -> None:
        history = History(
            [
                user_message("look"),
                model_message(call(GENERATED_ID_PREFIX + "1")),
                user_message(response(GENERATED_ID_PREFIX + "1")),
            ]
        )
        added = history.add_model(
            model_message(
                call(None),
                call(GENERATED_ID_PREFIX + "1"),
                call("x"),
                call("x"),
                call(""),
                call(GENERATED_ID_PREFIX + "2"),
            )
        )
        assert [each.id for each in added.calls] == ["tejat-2", "tejat-3", "x", "tejat-4", "tejat-5", "tejat-6"]
        assert history.open_calls == added.calls

    def test_an_id_is_given_again_to_nobody_even_after_compression(self) -> None:
        history = History([user_message("look")])
        history.add_model(model_message(call("a")))
        history.add_user(user_message(response("a")))
        history.replace_all([user_message("summary")])
        assert history.add_model(model_message(call("a"))).calls == (call(GENERATED_ID_PREFIX + "1"),)

    def test_neighbouring_texts_become_one_but_signed_ones_stay(self) -> None:
        history = History([user_message("look")])
        signed = Text("", "signature")
        added = history.add_model(
            model_message("a", "b", signed, "c", Thought("1"), Thought("2"), "d", call("x"), "e", "f")
        )
        assert shown([added]) == [
            model("ab", signed, "c", Thought("1"), Thought("2"), "d", call("x"), "ef"),
        ]

    @pytest.mark.parametrize(
        ("message", "problem"),
        [
            (user_message(), "The message is empty."),
            (user_message("  "), "The message is empty."),
            (model_message("hi"), "The message is the model's where the user is to speak."),
            (user_message("x", call()), "The message is the user's and holds a FunctionCall."),
            (user_message("stop"), "The message answers nothing where read_file, glob was asked."),
            (user_message(response("a")), "The message answers read_file where read_file, glob was asked."),
            (
                user_message(response("b", "glob"), response("a")),
                "The message answers glob, read_file where read_file, glob was asked.",
            ),
            (
                user_message(response("a"), response("b")),
                "The message answers read_file, read_file where read_file, glob was asked.",
            ),
            (
                user_message(response("a"), response("b", "glob"), response("c")),
                "The message answers read_file, glob, read_file where read_file, glob was asked.",
            ),
        ],
    )
    def test_a_user_message_that_does_not_fit_changes_nothing(self, message: Message, problem: str) -> None:
        history = History([user_message("look")])
        history.add_model(model_message(call("a"), call("b", "glob")))
        before = list(history.messages)
        with pytest.raises(ValueError, match=r"\w") as raised:
            history.add_user(message)
        assert str(raised.value) == problem
        assert list(history.messages) == before
        assert len(history.open_calls) == 2

    @pytest.mark.parametrize(
        ("messages", "message", "problem"),
        [
            ([], model_message("hi"), "The message answers nothing."),
            (LEGAL, model_message("hi"), "The message answers nothing."),
            (LEGAL[:1], model_message(), "The message is empty."),
            (LEGAL[:1], model_message(Thought("hm")), "The message is empty."),
            (LEGAL[:1], user_message("hi"), "The message is the user's where the model is to speak."),
            (LEGAL[:1], model_message("x", response()), "The message is the model's and holds a FunctionResponse."),
        ],
    )
    def test_a_model_message_that_does_not_fit(self, messages: list[Message], message: Message, problem: str) -> None:
        history = History(messages)
        with pytest.raises(ValueError, match=r"\w") as raised:
            history.add_model(message)
        assert str(raised.value) == problem
        assert list(history.messages) == messages

    def test_a_response_that_nobody_asked_for(self) -> None:
        with pytest.raises(ValueError, match=r"^The message answers read_file where nothing was asked\.$"):
            History().add_user(user_message(response()))


class TestWithdrawing:
    def test_a_prompt_is_taken_back_once(self) -> None:
        history = History(LEGAL)
        history.add_user(user_message("more"))
        history.add_user(user_message("and more"))
        assert (history.drop_unanswered_prompt(), list(history.messages)) == (True, LEGAL)
        assert (history.drop_unanswered_prompt(), list(history.messages)) == (False, LEGAL)

    def test_responses_stay_and_only_what_was_added_to_them_goes(self) -> None:
        history = History(LEGAL[:1])
        history.add_model(model_message(call()))
        results = history.add_user(user_message(response()))
        assert (history.drop_unanswered_prompt(), history.messages[-1]) == (False, results)
        history.add_user(user_message("and"))
        history.add_user(user_message("more"))
        assert (history.drop_unanswered_prompt(), history.messages[-1]) == (True, results)
        assert (history.drop_unanswered_prompt(), history.messages[-1]) == (False, results)

    def test_what_the_history_began_with_stays(self) -> None:
        history = History(LEGAL[:1])
        assert history.drop_unanswered_prompt() is False
        history.add_user(user_message("more"))
        assert (history.drop_unanswered_prompt(), list(history.messages)) == (True, LEGAL[:1])

    def test_nothing_to_take_back(self) -> None:
        history = History()
        assert (history.drop_unanswered_prompt(), list(history.messages)) == (False, [])
        history.add_user(user_message("look"))
        history.add_model(model_message("no"))
        assert (history.drop_unanswered_prompt(), len(history.messages)) == (False, 2)

    def test_an_answer_settles_what_was_asked(self) -> None:
        history = History(LEGAL[:1])
        history.add_user(user_message("more"))
        history.add_model(model_message("yes"))
        history.add_user(user_message("again"))
        assert history.drop_unanswered_prompt() is True
        assert shown(history.messages) == [user("look", "more"), model("yes")]


class TestReplacing:
    def test_everything_is_another_conversation(self) -> None:
        history = History(LEGAL)
        history.add_user(user_message("more"))
        summary = [user_message("summary"), model_message("yes"), user_message("more")]
        history.replace_all(summary)
        assert (list(history.messages), history.open_calls, history.drop_unanswered_prompt()) == (summary, (), False)
        assert history.messages is not summary

    def test_an_illegal_one_is_refused_and_the_old_one_stays(self) -> None:
        history = History(LEGAL)
        with pytest.raises(ValueError, match="where the user is to speak"):
            history.replace_all([model_message("x")])
        assert list(history.messages) == LEGAL

    def test_so_is_one_with_open_calls(self) -> None:
        with pytest.raises(ValueError, match=r"^The call of read_file at the end is not answered\.$"):
            History([user_message("x"), model_message(call())])


class TestProblemWith:
    @pytest.mark.parametrize(
        ("messages", "problem"),
        [
            ([], None),
            (LEGAL, None),
            ([user_message("x")], None),
            ([user_message("x"), user_message("y")], "Message 2 is the user's where the model is to speak."),
            ([user_message("x"), model_message("")], "Message 2 is empty."),
            (
                [user_message("x"), model_message(call(None)), user_message(response(None))],
                "Message 2 has a call of read_file without an id of its own.",
            ),
            (
                [*LEGAL, user_message("x"), model_message(call("b")), user_message(response("b"))],
                "Message 6 has a call of read_file without an id of its own.",
            ),
            (
                [user_message("x"), model_message(call("a")), user_message("y")],
                "Message 3 answers nothing where read_file was asked.",
            ),
            (
                [user_message("x"), model_message("y"), user_message(response())],
                "Message 3 answers read_file where nothing was asked.",
            ),
            ([user_message("x"), model_message(call())], "The call of read_file at the end is not answered."),
        ],
    )
    def test_the_first_thing_is_named(self, messages: list[Message], problem: str | None) -> None:
        assert history_problem(messages) == problem


class TestRepair:
    def test_what_is_legal_comes_back_as_it_is(self) -> None:
        messages, repairs = repair_history(iter(LEGAL))
        assert (messages, repairs) == (LEGAL, [])

    def test_a_call_without_a_result_at_the_end(self) -> None:
        broken = [*LEGAL[:2], user_message(response("b", "glob", "found"))]
        messages, repairs = repair_history(broken)
        assert messages[:2] == LEGAL[:2]
        answer = user(FunctionResponse("read_file", {"error": INTERRUPTED_ERROR}, "a"), response("b", "glob", "found"))
        assert shown(messages)[2:] == [answer]
        assert repairs == ["Marked a call without a result as interrupted."]

    def test_a_kill_before_any_result(self) -> None:
        messages, repairs = repair_history(LEGAL[:2])
        assert shown(messages)[2:] == [user(interrupted_response(call("a")), interrupted_response(call("b", "glob")))]
        assert repairs == ["Marked a call without a result as interrupted, 2 times."]

    def test_a_beginning_that_was_cut_off_keeps_the_words(self) -> None:
        messages, repairs = repair_history(LEGAL[2:])
        assert shown(messages) == [user(PICTURE, "and then?"), model("Done.")]
        assert repairs == ["Removed a result without a call, 2 times."]
        messages, repairs = repair_history(LEGAL[3:])
        assert shown(messages) == [user(MISSING_START), model("Done.")]
        assert repairs == ["Added a note that the beginning is missing."]

    def test_results_in_another_order_take_their_media_along(self) -> None:
        broken = [*LEGAL[:2], user_message("first:", response("b", "glob"), PICTURE, response("a"))]
        messages, repairs = repair_history(broken)
        assert shown(messages)[2:] == [user(response("a"), response("b", "glob"), PICTURE, "first:")]
        assert repairs == ["Reordered results to match their calls."]

    def test_a_doubled_message_gets_ids_of_its_own(self) -> None:
        asked, results = model_message(call("a")), user_message(response("a"))
        messages, repairs = repair_history([LEGAL[0], asked, results, asked, results])
        assert shown(messages) == [
            user("look"),
            model(call("a")),
            user(response("a")),
            model(call(GENERATED_ID_PREFIX + "1")),
            user(response(GENERATED_ID_PREFIX + "1")),
        ]
        assert repairs == ["Assigned a call its own id.", "Reordered results to match their calls."]

    def test_results_without_ids_are_known_by_name(self) -> None:
        broken = [
            LEGAL[0],
            model_message(call(None), call("x", "glob"), call(GENERATED_ID_PREFIX + "1")),
            user_message(
                response(None, "glob", "found"), response(None, output="text"), response(GENERATED_ID_PREFIX + "1")
            ),
        ]
        messages, _ = repair_history(broken)
        assert shown(messages)[1:] == [
            model(call(GENERATED_ID_PREFIX + "2"), call("x", "glob"), call(GENERATED_ID_PREFIX + "1")),
            user(
                response(GENERATED_ID_PREFIX + "2", output="text"),
                response("x", "glob", "found"),
                response(GENERATED_ID_PREFIX + "1"),
            ),
        ]

    def test_an_empty_answer_between_two_prompts(self) -> None:
        messages, repairs = repair_history([user_message("x"), model_message(Thought("hm")), user_message("y")])
        assert shown(messages) == [user("x", "y")]
        assert repairs == ["Removed an empty message.", "Merged adjacent user messages."]

    def test_answers_around_a_result_that_nobody_asked_for(self) -> None:
        broken = [user_message("x"), model_message("y"), user_message(response()), model_message(call("b"))]
        messages, repairs = repair_history(broken)
        assert shown(messages) == [user("x"), model("y", call("b")), user(interrupted_response(call("b")))]
        assert repairs == [
            "Removed a result without a call.",
            "Removed an empty message.",
            "Marked a call without a result as interrupted.",
        ]

    def test_calls_and_responses_in_the_wrong_mouth(self) -> None:
        messages, repairs = repair_history([user_message("x", call()), model_message(response(), "y")])
        assert shown(messages) == [user("x"), model("y")]
        assert repairs == ["Removed content that the user cannot have.", "Removed content that the model cannot have."]

    def test_nothing_at_all(self) -> None:
        assert repair_history([]) == ([], [])
        assert repair_history([user_message(response())])[0] == []


TEXTS = st.sampled_from(["", " ", "a", "b"]).map(Text)
IDS = st.sampled_from([None, "", "a", "b", "c", GENERATED_ID_PREFIX + "1", GENERATED_ID_PREFIX + "2"])
NAMES = st.sampled_from(["read_file", "glob"])
CALLS = st.builds(call, IDS, NAMES)
RESPONSES = st.builds(response, IDS, NAMES, st.sampled_from(["1", "2"]))
PARTS: st.SearchStrategy[MessagePart] = st.one_of(
    TEXTS, CALLS, RESPONSES, st.just(PICTURE), st.just(Thought("hm", "s"))
)
ANY_MESSAGE = st.builds(Message, st.sampled_from(Role), st.lists(PARTS, max_size=5).map(tuple))


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Legal ones, made the way the loop makes them."""
    history = History()
    for _ in range(draw(st.integers(0, 6))):
        history.add_user(user_message(draw(st.sampled_from(["x", "y"]))))
        for _ in range(draw(st.integers(0, 2))):
            asked = history.add_model(model_message("z", *draw(st.lists(CALLS, min_size=1, max_size=3))))
            results: list[MessagePart] = []
            for each in asked.calls:
                results.append(response(each.id, each.name, draw(st.sampled_from(["1", "2"]))))
                results.extend(draw(st.lists(st.just(PICTURE), max_size=1)))
            history.add_user(user_message(*results))
        if draw(st.booleans()):
            history.add_model(model_message("w"))
    return list(history.messages)


Harm = Callable[[list[Message], int, int], list[Message]]
HARMS: list[Harm] = [
    lambda messages, at, _: messages[:at],
    lambda messages, at, _: messages[at:],
    lambda messages, at, _: messages[:at] + messages[at + 1 :],
    lambda messages, at, to: messages[:to] + messages[at : at + 2] + messages[to:],
    lambda messages, at, to: [*messages[:at], *reversed(messages[at:to]), *messages[to:]],
    lambda messages, at, to: [
        Message(each.role, each.parts[:to] if number == at else each.parts) for number, each in enumerate(messages)
    ],
    lambda messages, at, to: [
        Message(each.role, each.parts[to:] if number == at else each.parts) for number, each in enumerate(messages)
    ],
]


def check(broken: list[Message]) -> None:
    messages, repairs = repair_history(broken)
    assert history_problem(messages) is None
    assert History(messages).messages == messages
    assert repair_history(messages) == (messages, [])
    assert bool(repairs) == (history_problem(broken) is not None)
    if not repairs:
        assert messages == broken


class TestWhateverHappens:
    @given(conversations())
    @settings(max_examples=150, deadline=None)
    def test_the_loop_makes_legal_histories(self, messages: list[Message]) -> None:
        assert history_problem(messages) is None
        check(messages)

    @given(
        conversations(), st.lists(st.tuples(st.sampled_from(HARMS), st.integers(0, 9), st.integers(0, 9)), max_size=3)
    )
    @settings(max_examples=300, deadline=None)
    def test_cut_dropped_doubled_reordered_and_trimmed(
        self, messages: list[Message], harms: list[tuple[Harm, int, int]]
    ) -> None:
        for harm, at, to in harms:
            messages = harm(messages, at, to)
        check(messages)

    @given(st.lists(ANY_MESSAGE, max_size=8))
    @settings(max_examples=300, deadline=None)
    def test_anything(self, messages: list[Message]) -> None:
        check(messages)

    @given(st.lists(ANY_MESSAGE, max_size=8))
    @settings(max_examples=200, deadline=None)
    def test_no_words_and_no_pictures_are_lost(self, broken: list[Message]) -> None:
        messages, _ = repair_history(broken)
        before = [part for message in broken for part in message.parts if part == PICTURE or _is_word(part)]
        after = [part for message in messages for part in message.parts if part == PICTURE or _is_word(part)]
        assert sorted(map(repr, before)) == sorted(repr(part) for part in after if part != Text(MISSING_START))


def _is_word(part: MessagePart) -> bool:
    return isinstance(part, Text) and bool(part.text.strip())
