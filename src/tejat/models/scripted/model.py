"""A model that responds as a script says: for demos, tests and bug reports, without a key or a network."""

import re
import sys
from asyncio import sleep
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from shlex import quote

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.messages.history import Message, model_message
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.messages.types import FunctionCall, MessagePart, Text, Thought
from tejat.core.model import (
    Capability,
    Chunk,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
)
from tejat.models.scripted.answers import AnswerSequence, AnswerSource, TopicAnswers
from tejat.models.scripted.script_file import Script, ScriptedAnswer, parse_script
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_BYTES = 16 * 2**20
_WORD_PATTERN = re.compile(r"\s*\S+\s*|\s+")
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
    return ScriptClient(parse_script(read_script_file(path), file=path, placeholders=placeholders(root)), path)


def placeholders(root: str) -> dict[str, str]:
    """What is replaced in a script that runs in the directory `root`."""
    return {"${root}": root, "${python}": quote(sys.executable or "python3")}


class ScriptClient:
    """Gives the answers of a script. `file` names it in messages."""

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, script: Script, file: str) -> None:
        self.name = f"scripted:{file}"
        self.context_window = script.context_window
        self._answers: AnswerSource = (
            TopicAnswers(script.topics, file) if script.topics else AnswerSequence(script, file)
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Stream the next answer of the script.

        Raises ModelFailure: of the kind SCRIPT if the conversation deviates from the script, or the failure that the
        script asks for.
        """
        async with aclosing(stream_answer(self._answers.next_answer(request))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def prepare(self) -> Sequence[str]:
        """Nothing to find out."""
        return ()

    async def count_tokens(self, request: ModelRequest) -> int:
        return estimate_request_tokens(request)

    async def close(self) -> None:
        """Nothing to close."""


async def stream_answer(answer: ScriptedAnswer) -> AsyncGenerator[TextDelta | ThoughtDelta | ModelResponse]:
    """Stream one answer. Raises the ModelFailure that it asks for."""
    if answer.think:
        yield ThoughtDelta(answer.think)
    for word in _WORD_PATTERN.findall(answer.say):
        await sleep(answer.pause)
        yield TextDelta(word)
    if answer.fail is not None:
        raise _scripted_failure(answer, answer.fail)
    yield ModelResponse(_build_message(answer), answer.finish, answer.usage, answer.detail, model="scripted")


def read_script_file(path: str) -> str:
    """The text of the script at `path`. Raises UsageError."""
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(lazy("{path}: could not read the script: {reason}", path=path, reason=reason)) from None
    if len(content) > _MAX_BYTES:
        raise UsageError(lazy("{path}: the script is larger than {most} MiB", path=path, most=_MAX_BYTES // 2**20))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = lazy("{path}: the script is not UTF-8: invalid byte {number}", path=path, number=error.start + 1)
        raise UsageError(message) from None


def _build_message(answer: ScriptedAnswer) -> Message:
    parts: list[MessagePart] = [Thought(answer.think)] if answer.think else []
    if answer.say:
        parts.append(Text(answer.say))
    return model_message(*parts, *(FunctionCall(call.name, call.args, call.id) for call in answer.calls))


def _scripted_failure(answer: ScriptedAnswer, kind: FailureKind) -> ModelFailure:
    message = lazy("The script makes answer {number} fail ({kind}).", number=answer.number, kind=kind)
    return ModelFailure(answer.detail or message, kind, retry_after=answer.retry_after, can_retry=kind in _RETRYABLE)
