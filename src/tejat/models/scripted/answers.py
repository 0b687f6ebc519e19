"""The answers of a script: which one comes next, and whether the conversation is the expected one."""

from collections.abc import Sequence
from typing import Protocol

from tejat.core.i18n import join_lazy, lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionResponse, Text
from tejat.core.model import CONVERSATION, MAIN_LANE, FailureKind, FinishReason, ModelFailure, ModelRequest
from tejat.models.scripted.script_file import Script, ScriptedAnswer, ScriptedCall, Topic

_MAX_QUOTED_CHARACTERS = 600
_NO_CALLS_RUN = frozenset({FinishReason.MALFORMED_CALL, FinishReason.BLOCKED})


class AnswerSource(Protocol):
    """Chooses the answer to a request."""

    def next_answer(self, request: ModelRequest) -> ScriptedAnswer:
        """Raises ModelFailure of the kind SCRIPT if the script has no answer to this request."""
        ...


class AnswerSequence:
    """Gives the answers of a script one after the other, each once, separately for each purpose.

    The purpose `agent:NAME` is for the runs of a sub-agent in their order, `agent:NAME#2` for the second one alone.
    """

    def __init__(self, script: Script, file: str) -> None:
        self._file = file
        self._remaining = list(script.answers)
        self._unchecked: dict[tuple[str, str], ScriptedAnswer] = {}

    def next_answer(self, request: ModelRequest) -> ScriptedAnswer:
        """Take the answer to this request out of the script. Raises ModelFailure."""
        conversation = request.lane, request.purpose
        before = self._unchecked.pop(conversation, None)
        if before is not None and (problem := _find_problem(before, request.messages)) is not None:
            return _alternative(before, problem, self._file)
        purposes = _purposes(request)
        answer = next((answer for purpose in purposes for answer in self._remaining if answer.purpose == purpose), None)
        if answer is None:
            raise _failure(self._file, _exhausted_message(purposes[-1]))
        if answer.when and answer.when not in (prompt := _last_prompt(request.messages)):
            message = lazy(
                "answer {number} expects a prompt that contains {wanted}, but the prompt was {prompt}",
                number=answer.number,
                wanted=_quote(answer.when),
                prompt=_quote(prompt),
            )
            raise _failure(self._file, message)
        self._remaining.remove(answer)
        if _runs_calls(answer):
            self._unchecked[conversation] = answer
        return answer

    @property
    def unused(self) -> Sequence[ScriptedAnswer]:
        """The answers that were not given, in their order."""
        return tuple(self._remaining)


class TopicAnswers:
    """Gives the answers of the topic that matches the prompt, as often as it is asked for.

    A topic with the purpose `agent:NAME` is for the runs of a sub-agent.
    """

    def __init__(self, topics: Sequence[Topic], file: str) -> None:
        self._file = file
        self._topics = topics
        self._unchecked: dict[str, ScriptedAnswer] = {}
        self._rest: dict[str, list[ScriptedAnswer]] = {}

    def next_answer(self, request: ModelRequest) -> ScriptedAnswer:
        """The next answer of the running topic, or the first one of another. Raises ModelFailure."""
        if request.purpose != CONVERSATION:
            return self._find_topic(request).answers[0]
        lane = request.lane
        before = self._unchecked.pop(lane, None)
        is_running = before is not None and _ends_with_responses(request.messages)
        if before is not None and is_running:
            problem = _find_problem(before, request.messages)
            if problem is not None:
                self._rest[lane] = []
                return _alternative(before, problem, self._file)
        if not is_running:
            self._rest[lane] = list(self._find_topic(request).answers)
        answer = self._rest[lane].pop(0)
        if _runs_calls(answer):
            self._unchecked[lane] = answer
        return answer

    def _find_topic(self, request: ModelRequest) -> Topic:
        prompt, purposes = _newest_text(request.messages), _purposes(request)
        for purpose in purposes:
            for topic in self._topics:
                if topic.purpose == purpose and topic.matches(prompt):
                    return topic
        message = lazy(
            "no topic with purpose = {purpose} matches the prompt {prompt}",
            purpose=_quote(purposes[-1]),
            prompt=_quote(prompt),
        )
        raise _failure(self._file, message)


def _purposes(request: ModelRequest) -> tuple[str, ...]:
    """The purposes that an answer to a request may have, the most exact one first."""
    if request.lane == MAIN_LANE or request.purpose != CONVERSATION:
        return (request.purpose,)
    return request.lane, request.lane.rpartition("#")[0]


def _runs_calls(answer: ScriptedAnswer) -> bool:
    return bool(answer.calls) and answer.finish not in _NO_CALLS_RUN


def _alternative(answer: ScriptedAnswer, problem: str, file: str) -> ScriptedAnswer:
    """What the script says instead if a response is not the expected one. Raises ModelFailure if it says nothing."""
    if not answer.otherwise:
        raise _failure(file, problem)
    return ScriptedAnswer(answer.number, say=answer.otherwise, pause=answer.pause)


def _find_problem(answer: ScriptedAnswer, messages: Sequence[Message]) -> str | None:
    """What is wrong with the responses to the calls of an answer, None if they are as expected."""
    responses = _last_responses(messages)
    if len(responses) != len(answer.calls):
        return lazy(
            "answer {number} made {calls} calls, but got {responses} results",
            number=answer.number,
            calls=len(answer.calls),
            responses=len(responses),
        )
    for number, (call, response) in enumerate(zip(answer.calls, responses, strict=True), 1):
        problem = _check_response(response, call)
        if problem:
            return lazy(
                "answer {answer}, call {number}: {name} {problem}",
                answer=answer.number,
                number=number,
                name=call.name,
                problem=problem,
            )
    return None


def _exhausted_message(purpose: str) -> str:
    if purpose == CONVERSATION:
        return lazy("the script has no more answers, but the model was called again")
    return lazy(
        "the script has no more answers with purpose = {purpose}, but the model was called again",
        purpose=_quote(purpose),
    )


def _failure(file: str, words: str) -> ModelFailure:
    return ModelFailure(join_lazy("", (file, ": ", words)), FailureKind.SCRIPT)


def _ends_with_responses(messages: Sequence[Message]) -> bool:
    """Whether the last message answers calls, and no prompt of the user follows in it."""
    last = messages[-1] if messages else None
    return last is not None and bool(last.responses) and isinstance(last.parts[-1], FunctionResponse)


def _newest_text(messages: Sequence[Message]) -> str:
    """Return the last text of the last message, without the notes for the model that may stand before it."""
    texts = [part.text for part in messages[-1].parts if isinstance(part, Text)] if messages else []
    return texts[-1].strip() if texts else ""


def _last_prompt(messages: Sequence[Message]) -> str:
    """Return the user's text since the last message without responses; a prompt may follow responses, too."""
    texts: list[str] = []
    for message in reversed(messages):
        if message.role is Role.USER:
            texts.append(message.text)
            if not message.responses:
                break
    return "\n".join(reversed(texts)).strip()


def _last_responses(messages: Sequence[Message]) -> list[tuple[FunctionResponse, str]]:
    """Return the responses to the last calls, each with the text that follows it."""
    found: list[tuple[FunctionResponse, str]] = []
    answering = next((message for message in reversed(messages) if message.responses), None)
    for part in answering.parts if answering else ():
        if isinstance(part, FunctionResponse):
            found.append((part, ""))
        elif isinstance(part, Text) and found:
            response, text = found[-1]
            found[-1] = response, f"{text}\n{part.text}"
    return found


def _check_response(came: tuple[FunctionResponse, str], call: ScriptedCall) -> str | None:
    response, along = came
    if response.name != call.name:
        return lazy("was called, but the result is for {name}", name=response.name)
    if call.must_fail is None:
        return None
    has_failed = "error" in response.response
    text = _response_text(response) + along
    if has_failed != call.must_fail:
        if call.must_fail:
            return lazy("should have failed, but succeeded: {text}", text=_quote(text))
        return lazy("should have succeeded, but failed: {text}", text=_quote(text))
    missing = next((expected for expected in call.expected if expected not in text), None)
    if missing is None:
        return None
    return lazy("should have answered {missing}, but answered {text}", missing=_quote(missing), text=_quote(text))


def _response_text(response: FunctionResponse) -> str:
    """Return the texts of a response, other values as JSON."""
    values = response.response.values()
    return "\n".join(value if isinstance(value, str) else dump_json(value) for value in values)


def _quote(text: str) -> str:
    return dump_json(text if len(text) <= _MAX_QUOTED_CHARACTERS else f"{text[:_MAX_QUOTED_CHARACTERS]} [...]")
