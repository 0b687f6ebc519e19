"""A model that responds as a script says: for demos, tests and bug reports, without a key or a network."""

import re
import sys
from asyncio import sleep
from collections.abc import AsyncGenerator, Sequence
from shlex import quote

from tejat.core.errors import UsageError
from tejat.core.i18n import join_lazy, lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message, Role, model_message
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.messages.types import FunctionCall, FunctionResponse, MessagePart, Text, Thought
from tejat.core.model import (
    CONVERSATION,
    Capability,
    Chunk,
    FailureKind,
    FinishReason,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
)
from tejat.models.scripted.script_file import Script, ScriptedAnswer, ScriptedCall, parse_script
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_BYTES = 16 * 2**20
_MAX_QUOTED_CHARACTERS = 600
_WORD_PATTERN = re.compile(r"\s*\S+\s*|\s+")
_NO_CALLS_RUN = frozenset({FinishReason.MALFORMED_CALL, FinishReason.BLOCKED})
_RETRYABLE = frozenset(
    {
        FailureKind.RATE_LIMITED,
        FailureKind.UNAVAILABLE,
        FailureKind.NETWORK,
        FailureKind.TIMED_OUT,
        FailureKind.STREAM_CUT,
    }
)


def open_scripted_model(path: str, *, root: str) -> ModelClient:
    """Open the script at `path`. Raises UsageError for an invalid one.

    In the script `${root}` is replaced by `root`, and `${python}` by the running interpreter, quoted for a shell.
    """
    placeholders = {"${root}": root, "${python}": quote(sys.executable or "python3")}
    return ScriptedModel(parse_script(_read_script_file(path), file=path, placeholders=placeholders), path)


class ScriptedModel:
    """Gives the answers of a script one after the other, separately for each purpose."""

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, script: Script, file: str) -> None:
        self.name = f"scripted:{file}"
        self.context_window = script.context_window
        self._file = file
        self._remaining = list(script.answers)
        self._unchecked: dict[str, ScriptedAnswer] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Stream the next answer of the script.

        Raises ModelFailure: of the kind SCRIPT if the conversation deviates from the script, or the failure that the
        script asks for.
        """
        answer = self._next_answer(request)
        if answer.think:
            yield ThoughtDelta(answer.think)
        for word in _WORD_PATTERN.findall(answer.say):
            await sleep(answer.pause)
            yield TextDelta(word)
        if answer.fail is not None:
            raise _scripted_failure(answer, answer.fail)
        yield ModelResponse(_build_message(answer), answer.finish, answer.usage, answer.detail, model="scripted")

    async def prepare(self) -> Sequence[str]:
        """Nothing to find out."""
        return ()

    async def count_tokens(self, request: ModelRequest) -> int:
        return estimate_request_tokens(request)

    async def close(self) -> None:
        """Nothing to close."""

    def _next_answer(self, request: ModelRequest) -> ScriptedAnswer:
        """Take the answer to this request out of the script. Raises ModelFailure."""
        before = self._unchecked.pop(request.purpose, None)
        if before is not None:
            self._check_responses(before, request.messages)
        answer = next((answer for answer in self._remaining if answer.purpose == request.purpose), None)
        if answer is None:
            raise self._failure(self._exhausted_message(request))
        if answer.when and answer.when not in (prompt := _last_prompt(request.messages)):
            message = lazy(
                "answer {number} is for a prompt with {wanted} in it, but the prompt was {prompt}",
                number=answer.number,
                wanted=_quote(answer.when),
                prompt=_quote(prompt),
            )
            raise self._failure(message)
        self._remaining.remove(answer)
        if answer.calls and answer.finish not in _NO_CALLS_RUN:
            self._unchecked[request.purpose] = answer
        return answer

    def _check_responses(self, answer: ScriptedAnswer, messages: Sequence[Message]) -> None:
        responses = _last_responses(messages)
        if len(responses) != len(answer.calls):
            message = lazy(
                "answer {number} made {calls} calls, but {responses} responses came",
                number=answer.number,
                calls=len(answer.calls),
                responses=len(responses),
            )
            raise self._failure(message)
        for number, (call, response) in enumerate(zip(answer.calls, responses, strict=True), 1):
            problem = _check_response(response, call)
            if problem:
                message = lazy(
                    "answer {answer}, call {number}: {name} {problem}",
                    answer=answer.number,
                    number=number,
                    name=call.name,
                    problem=problem,
                )
                raise self._failure(message)

    def _exhausted_message(self, request: ModelRequest) -> str:
        if request.purpose == CONVERSATION:
            return lazy("there is no further answer in the script, but the model was asked once more")
        return lazy(
            "there is no further answer with purpose = {purpose} in the script, but the model was asked once more",
            purpose=_quote(request.purpose),
        )

    def _failure(self, words: str) -> ModelFailure:
        return ModelFailure(join_lazy("", (self._file, ": ", words)), FailureKind.SCRIPT)


def _read_script_file(path: str) -> str:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(lazy("{path}: the script cannot be read: {reason}", path=path, reason=reason)) from None
    if len(content) > _MAX_BYTES:
        raise UsageError(lazy("{path}: the script is longer than {most} MiB", path=path, most=_MAX_BYTES // 2**20))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = lazy("{path}: the script is not UTF-8: byte {number} is wrong", path=path, number=error.start + 1)
        raise UsageError(message) from None


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
        return lazy("was called, but the response is one of {name}", name=response.name)
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
    return lazy("should have answered with {missing}, but answered {text}", missing=_quote(missing), text=_quote(text))


def _response_text(response: FunctionResponse) -> str:
    """Return the texts of a response, other values as JSON."""
    values = response.response.values()
    return "\n".join(value if isinstance(value, str) else dump_json(value) for value in values)


def _quote(text: str) -> str:
    return dump_json(text if len(text) <= _MAX_QUOTED_CHARACTERS else f"{text[:_MAX_QUOTED_CHARACTERS]} [...]")


def _build_message(answer: ScriptedAnswer) -> Message:
    parts: list[MessagePart] = [Thought(answer.think)] if answer.think else []
    if answer.say:
        parts.append(Text(answer.say))
    return model_message(*parts, *(FunctionCall(call.name, call.args, call.id) for call in answer.calls))


def _scripted_failure(answer: ScriptedAnswer, kind: FailureKind) -> ModelFailure:
    message = lazy("The script wants answer {number} to fail ({kind}).", number=answer.number, kind=kind)
    return ModelFailure(answer.detail or message, kind, retry_after=answer.retry_after, can_retry=kind in _RETRYABLE)
