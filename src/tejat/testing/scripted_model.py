"""A model that gives the answers of a test."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TypeAlias, cast

from tejat.core.agent.prices import Price, check_price
from tejat.core.errors import require_type
from tejat.core.frozen import Frozen, replace
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.messages.value_check import check_value
from tejat.core.model import CONVERSATION, NO_USAGE, ModelFailure, ModelOutput, ModelRequest, ModelResponse, Usage
from tejat.models.scripted.answers import AnswerSequence
from tejat.models.scripted.model import stream_answer
from tejat.models.scripted.script_file import Script, ScriptedAnswer, ScriptedCall

_CONTEXT_WINDOW = 1_000_000


class Answer(Frozen):
    """One answer of a scripted model.

    `calls` run as one batch, and the next answer follows their results. `prompt` is a text that the last prompt must
    contain. `purpose` is the kind of request: `conversation`, a side request such as `compression`, or `agent:NAME` for
    a sub-agent; each purpose has its own order of answers. `usage` are the tokens to count.
    """

    text: str = ""
    calls: Sequence[FunctionCall] = ()
    thought: str = ""
    usage: Usage = NO_USAGE
    prompt: str = ""
    purpose: str = CONVERSATION

    def __post_init__(self) -> None:
        given: object = self.calls
        several = given if isinstance(given, list | tuple) else [given]
        object.__setattr__(self, "calls", tuple(cast("Sequence[FunctionCall]", several)))


AnswerLike: TypeAlias = str | FunctionCall | Answer | ModelFailure | Sequence[FunctionCall]
"""A text, a call, several calls, a whole answer, or a failure of the request."""


def call(name: str, /, **args: object) -> FunctionCall:
    """A call of a tool with these arguments."""
    return FunctionCall(name, args)


class ScriptedModel:
    """A model for `Agent(model=...)` that gives these answers in order, each once.

    `requests` are those that it got. A request without an answer, or with another prompt than expected, raises
    AssertionError out of `run` and `ask`. As a context manager it asserts at the end that every answer was given. With
    a `price`, runs have a cost: dollars per million tokens of `Answer.usage`.
    """

    def __init__(
        self,
        answers: Iterable[AnswerLike],
        *,
        price: Price | None = None,
        context_window: int = _CONTEXT_WINDOW,
        name: str = "scripted",
    ) -> None:
        """Raises TypeError for something that is no answer and options of a wrong type, and ValueError."""
        is_one = isinstance(answers, str | FunctionCall | Answer | ModelFailure)
        if is_one or not isinstance(cast("object", answers), Iterable):
            raise TypeError(f"answers must be a list of answers, not {answers!r}")
        require_type("name", name, str, "a string")
        require_type("price", price, Price | None, "a Price or None")
        require_type("context_window", context_window, int, "a whole number")
        if price is not None:
            check_price(price)
        if context_window <= 0:
            raise ValueError(f"context_window must be greater than 0, not {context_window}.")
        given = dict(enumerate(answers, 1))
        scripted = [_to_scripted(answer, number) for number, answer in given.items()]
        self._failures = {number: each for number, each in given.items() if isinstance(each, ModelFailure)}
        self._answers = AnswerSequence(Script(tuple(scripted)), name)
        self.name = name
        self.price = price
        self.context_window = context_window
        self.requests: list[ModelRequest] = []

    def __enter__(self) -> "ScriptedModel":
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if error_type is None:
            self.assert_exhausted()

    def __repr__(self) -> str:
        return f"<ScriptedModel {self.name!r} with {len(self.unused)} answers left>"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelOutput]:
        """Stream the next answer. Raises its ModelFailure, and AssertionError if there is no answer."""
        self.requests.append(request)
        try:
            answer = self._answers.next_answer(request)
        except ModelFailure as failure:
            raise AssertionError(str(failure)) from None
        if answer.number in self._failures:
            raise self._failures[answer.number]
        async with aclosing(stream_answer(answer)) as chunks:
            async for chunk in chunks:
                yield replace(chunk, model=self.name) if isinstance(chunk, ModelResponse) else chunk

    @property
    def unused(self) -> list[str]:
        """The answers that were not given, in words."""
        return [_describe(answer) for answer in self._answers.unused]

    def assert_exhausted(self) -> None:
        """Raise AssertionError that lists the answers that were not given, if there are any."""
        unused = self.unused
        if unused:
            listed = "".join(f"\n  {each}" for each in unused)
            raise AssertionError(f"The model was not asked for {len(unused)} of its answers:{listed}")


def _to_scripted(given: AnswerLike, number: int) -> ScriptedAnswer:
    if isinstance(given, ModelFailure):
        return ScriptedAnswer(number, fail=given.kind, detail=given.message)
    answer = _to_answer(given, number)
    if not answer.text and not answer.calls:
        raise TypeError(f"answer {number} has neither text nor calls")
    return ScriptedAnswer(
        number,
        purpose=answer.purpose,
        when=answer.prompt,
        think=answer.thought,
        say=answer.text,
        calls=tuple(ScriptedCall(each.name, cast("JsonObject", each.args), each.id) for each in answer.calls),
        usage=answer.usage,
    )


def _to_answer(given: object, number: int) -> Answer:
    if isinstance(given, Answer):
        answer = given
    elif isinstance(given, str):
        return Answer(given)
    else:
        several = cast("Sequence[object]", given) if isinstance(given, list | tuple) else (given,)
        answer = Answer(calls=cast("tuple[FunctionCall, ...]", tuple(several)))
    wrong = [each for each in cast("tuple[object, ...]", answer.calls) if not isinstance(each, FunctionCall)]
    if wrong:
        raise TypeError(f"answer {number}: expected a text, an Answer, a ModelFailure or calls, not {wrong[0]!r}")
    check_value(answer)
    return answer


def _describe(answer: ScriptedAnswer) -> str:
    failure = [] if answer.fail is None else [f"failure {answer.fail.value}: {answer.detail}"]
    parts = [*([repr(answer.say)] if answer.say else []), *map(_describe_call, answer.calls), *failure]
    purpose = "" if answer.purpose == CONVERSATION else f" ({answer.purpose})"
    return f"{answer.number}{purpose}: {', '.join(parts)}"


def _describe_call(given: ScriptedCall) -> str:
    return f"{given.name}({', '.join(f'{key}={value!r}' for key, value in given.args.items())})"
