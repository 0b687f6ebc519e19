"""The scripted model of tests, in runs of real agents."""

import asyncio
from typing import Any

import pytest

from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.agent.prices import Price
from tejat.core.messages.types import FunctionCall
from tejat.core.model import FailureKind, ModelFailure, Usage
from tejat.testing import Answer, AnswerLike, ScriptedModel, TemporaryWorkspace, assert_called, call

READ = call("read_file", path="a.txt")


def ask(model: ScriptedModel, *prompts: str, **settings: Any) -> list[RunEnded]:
    with TemporaryWorkspace({"a.txt": "one\n"}) as workspace:
        settings.setdefault("keeps_session", False)

        async def main() -> list[RunEnded]:
            async with workspace.agent(model, **settings) as agent:
                return [await agent.ask(prompt) for prompt in prompts]

        return asyncio.run(main())


@pytest.mark.parametrize(
    "first", [READ, [READ], (READ, READ), Answer("I'll look.", [READ], thought="Hm."), Answer(calls=(READ,))]
)
def test_answers_come_in_order(first: AnswerLike) -> None:
    with ScriptedModel([first, "It says one.", Answer("Bye.", prompt="later")]) as model:
        ended = ask(model, "What does it say?", "And later?")
    assert [each.reason for each in ended] == [EndReason.FINISHED] * 2
    assert [each.text for each in ended][1] == "Bye."
    assert ended[0].text.endswith("It says one.")
    assert len(model.requests) == 3
    assert "one" in str(model.requests[1].messages[-1].responses[0].response)
    assert repr(model) == "<ScriptedModel 'scripted' with 0 answers left>"


def test_what_is_left_over_is_reported() -> None:
    model = ScriptedModel(
        [
            "Hello.",
            [READ, call("glob", pattern="*")],
            ModelFailure("busy", FailureKind.UNAVAILABLE),
            Answer("x", purpose="p"),
        ]
    )
    ask(model, "hi")
    with pytest.raises(AssertionError) as caught:
        model.assert_exhausted()
    assert str(caught.value) == (
        "The model was not asked for 3 of its answers:\n"
        "  2: read_file(path='a.txt'), glob(pattern='*')\n"
        "  3: failure unavailable: busy\n"
        "  4 (p): 'x'"
    )


def test_an_error_in_the_test_is_not_hidden_by_left_overs() -> None:
    with pytest.raises(ZeroDivisionError), ScriptedModel(["never"]):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ([], "scripted: the script has no more answers, but the model was called again"),
        ([Answer("Hello.", prompt="bye")], "expects a prompt that contains"),
    ],
)
def test_what_the_script_does_not_know_is_raised(answers: list[AnswerLike], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        ask(ScriptedModel(answers), "hi")


def test_failures_are_those_of_the_test() -> None:
    failure = ModelFailure("No such key.", FailureKind.AUTHENTICATION)
    with ScriptedModel([failure]) as model:
        (ended,) = ask(model, "hi")
    assert (ended.reason, ended.message) == (EndReason.MODEL_FAILED, "No such key.")


def test_a_failure_that_passes_is_retried() -> None:
    busy = ModelFailure("Busy.", FailureKind.UNAVAILABLE, can_retry=True, retry_after=0)
    with ScriptedModel([busy, "Here I am."]) as model:
        assert ask(model, "hi")[0].text == "Here I am."


def test_usage_and_cost() -> None:
    usage = Usage(prompt=1_000_000, output=500_000)
    with ScriptedModel([Answer("Hello.", usage=usage)], price=Price(1.0, 0.1, 4.0)) as model:
        (ended,) = ask(model, "hi")
    assert (ended.usage, ended.cost) == (usage, 3.0)


def test_a_limit_of_the_cost_is_kept() -> None:
    expensive = Answer(calls=[READ], usage=Usage(output=1_000_000))
    model = ScriptedModel([expensive, "never"], price=Price(1.0, 0.1, 4.0))
    (ended,) = ask(model, "hi", max_cost=1.0)
    assert ended.reason is EndReason.COST_LIMIT
    assert model.unused == ["2: 'never'"]


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ("Hello.", "answers must be a list of answers, not 'Hello.'"),
        (READ, "answers must be a list of answers"),
        ([3], "answer 1: expected a text, an Answer, a ModelFailure or calls, not 3"),
        (["x", [READ, "y"]], "answer 2: expected a text, an Answer, a ModelFailure or calls, not 'y'"),
        ([""], "answer 1 has neither text nor calls"),
        ([Answer()], "answer 1 has neither text nor calls"),
    ],
)
def test_what_is_no_answer_is_refused_at_once(answers: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        ScriptedModel(answers)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer(5), "Answer.text must be a string, not 5."),  # pyright: ignore[reportArgumentType]
        (Answer("a", usage=5), "Answer.usage must be a Usage, not 5."),  # pyright: ignore[reportArgumentType]
        (FunctionCall("glob", "*"), "FunctionCall.args must be a JSON object, not '*'."),  # pyright: ignore[reportArgumentType]
    ],
)
def test_the_wrong_field_of_an_answer_is_named(answer: AnswerLike, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        ScriptedModel([answer])
    assert str(caught.value) == problem


def test_wrong_options_are_refused_at_once() -> None:
    with pytest.raises(TypeError, match="price must be a Price or None, not 5"):
        ScriptedModel(["a"], price=5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="context_window must be greater than 0"):
        ScriptedModel(["a"], context_window=0)


def test_calls() -> None:
    assert call("glob", pattern="*", name="x") == FunctionCall("glob", {"pattern": "*", "name": "x"})
    assert Answer(calls=READ).calls == (READ,)  # pyright: ignore[reportArgumentType]


def test_several_agents_in_turn() -> None:
    with ScriptedModel([READ, "One.", "Two."]) as model, TemporaryWorkspace({"a.txt": "one\n"}) as workspace:
        with workspace.sync_agent(model) as agent:
            events = list(agent.run("first"))
        with workspace.sync_agent(model) as agent:
            assert agent.ask("second").text == "Two."
    assert assert_called(events, "read_file", path="a.txt").result.error is None


@pytest.mark.parametrize("answers", ["one", None, 5])
def test_answers_that_are_no_list(answers: Any) -> None:
    with pytest.raises(TypeError, match="answers must be a list of answers, not"):
        ScriptedModel(answers)
