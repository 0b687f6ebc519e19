"""Anthropic's messages on the way in: the events of a stream as one answer."""

from collections.abc import Mapping
from typing import cast

from tejat.core.history import Message, Role
from tejat.core.json_text import NotJson, dump_json
from tejat.core.model import (
    NO_USAGE,
    Answer,
    Chunk,
    FailureKind,
    FinishReason,
    ModelFailure,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.core.tool import FunctionDeclaration
from tejat.core.types import FunctionCall, JsonObject, MessagePart, Text, Thought
from tejat.core.words import phrase
from tejat.models.anthropic_wire import ANSWER_TOOL, kept_block
from tejat.models.failures import protocol_failure
from tejat.models.json_shapes import count_of, items_of, object_of, read_object, text_of
from tejat.models.loose_json import read_arguments
from tejat.models.portable import UNNAMED_CALL, own_arguments, wire_name
from tejat.models.redact import safe_text
from tejat.models.refusals import Asked, refusal

_REASONS = {
    "end_turn": FinishReason.STOP,
    "tool_use": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.MAX_TOKENS,
    "refusal": FinishReason.BLOCKED,
}
_WINDOW_FULL = "model_context_window_exceeded"


class _Block:
    """One block of the answer. `start` is what it began with, the rest came in pieces."""

    def __init__(self, start: Mapping[str, object]) -> None:
        self.start = start
        self.text: list[str] = []
        self.signature: list[str] = []
        self.arguments: list[str] = []
        self.is_closed = False


class AnthropicAnswer:
    """One answer as it comes in.

    With `is_forced`, the model was made to call ANSWER_TOOL, and what it called it with is the text of the answer.
    """

    def __init__(self, tools: tuple[FunctionDeclaration, ...], asked: Asked, *, is_forced: bool = False) -> None:
        self._tools = {wire_name(tool.name): tool for tool in tools}
        self._asked = asked
        self._is_forced = is_forced
        self._blocks: dict[int, _Block] = {}
        self._stop = ""
        self._stop_detail = ""
        self._is_over = False
        self._usage: dict[str, int] = {}
        self._model = ""

    @property
    def is_over(self) -> bool:
        """Whether the service has said that nothing follows."""
        return self._is_over

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete, even if the stream should end here."""
        return self._is_over or bool(self._stop)

    def feed(self, data: str) -> list[Chunk]:
        """What the data of one event adds. Raises ModelFailure for an error in the stream, or what is no event."""
        if not data.strip():
            return []
        try:
            event = read_object(data)
        except NotJson as error:
            raise protocol_failure(str(error)) from None
        index = count_of(event.get("index"))
        match event.get("type"):
            case "message_start":
                self._begin(object_of(event.get("message")))
            case "content_block_start":
                return self._open(index, object_of(event.get("content_block")))
            case "content_block_delta":
                return self._extend(index, object_of(event.get("delta")))
            case "content_block_stop" if index in self._blocks:
                self._blocks[index].is_closed = True
            case "message_delta":
                self._close(object_of(event.get("delta")))
                self._count(object_of(event.get("usage")))
            case "message_stop":
                self._is_over = True
            case "error":
                raise refusal(event, self._asked, status=200)
            case "message":
                return self._take_whole(event)
            case _:
                # Pings, and whatever else the service may think of.
                pass
        return []

    def end(self) -> list[Chunk]:
        """The rest, last of all the answer. Raises ModelFailure when the stream ended too early."""
        if not self.is_whole:
            raise ModelFailure(phrase("The answer ended before it was whole."), FailureKind.STREAM_CUT, can_retry=True)
        if self._stop == _WINDOW_FULL:
            raise ModelFailure(
                phrase("The conversation is too long: the model ran out of room while it answered."),
                FailureKind.CONTEXT_FULL,
            )
        deltas: list[Chunk] = []
        parts: list[MessagePart] = []
        malformed = ""
        for _, block in sorted(self._blocks.items()):
            if block.start.get("type") != "tool_use":
                parts += self._parts(block)
                continue
            call = self._call(block)
            if call is None:
                malformed = malformed or phrase(
                    "The arguments of {name} are not a JSON object.", name=text_of(block.start.get("name"))
                )
            elif not self._is_forced:
                parts.append(call)
            elif call.name == ANSWER_TOOL:
                text = dump_json(cast("JsonObject", call.args))
                parts.append(Text(text))
                deltas.append(TextDelta(text))
        return [*deltas, self._answer(parts, malformed)]

    def _begin(self, message: Mapping[str, object]) -> None:
        self._model = text_of(message.get("model"))
        self._count(object_of(message.get("usage")))

    def _open(self, index: int, start: Mapping[str, object]) -> list[Chunk]:
        self._blocks[index] = _Block(start)
        return self._extend(index, {"text": start.get("text"), "thinking": start.get("thinking")})

    def _extend(self, index: int, delta: Mapping[str, object]) -> list[Chunk]:
        block = self._blocks.get(index)
        if block is None:
            raise protocol_failure(phrase("a piece of a block that never began"))
        text, thought = text_of(delta.get("text")), text_of(delta.get("thinking"))
        block.text += [piece for piece in (text, thought) if piece]
        block.signature.append(text_of(delta.get("signature")))
        block.arguments.append(text_of(delta.get("partial_json")))
        if thought:
            return [ThoughtDelta(thought)]
        return [TextDelta(text)] if text and not self._is_forced else []

    def _close(self, delta: Mapping[str, object]) -> None:
        self._stop = text_of(delta.get("stop_reason")) or self._stop
        details = object_of(delta.get("stop_details"))
        self._stop_detail = text_of(details.get("explanation")) or self._stop_detail

    def _count(self, usage: Mapping[str, object]) -> None:
        """Counts are of the whole answer so far; those that are not repeated stay."""
        self._usage |= {key: count_of(value) for key, value in usage.items() if isinstance(value, int)}

    def _take_whole(self, message: Mapping[str, object]) -> list[Chunk]:
        """An answer in one piece, from a server that does not stream."""
        self._begin(message)
        deltas: list[Chunk] = []
        for index, block in enumerate(items_of(message.get("content"))):
            deltas += self._open(index, object_of(block))
            self._blocks[index].signature.append(text_of(object_of(block).get("signature")))
            self._blocks[index].is_closed = True
        self._close(message)
        self._is_over = True
        return deltas

    def _parts(self, block: _Block) -> list[MessagePart]:
        text, signature = "".join(block.text), "".join(block.signature)
        match block.start.get("type"):
            case "text":
                # Beside a forced call there is nothing to say.
                return [Text(text)] if text and not self._is_forced else []
            case "thinking":
                shown: list[MessagePart] = [Thought(text)] if text else []
                if not signature:
                    return shown
                kept: JsonObject = {"type": "thinking", "thinking": text, "signature": signature}
                return [*shown, kept_block(kept, self._asked.model)]
            case _:
                return [kept_block(cast("JsonObject", block.start), self._asked.model)]

    def _call(self, block: _Block) -> FunctionCall | None:
        written = "".join(block.arguments)
        name = text_of(block.start.get("name"))
        if self._stop == "max_tokens" and not block.is_closed:
            # Cut in the middle, however whole it may look.
            arguments = None
        elif written:
            arguments = read_arguments(written)
        else:
            arguments = dict(object_of(block.start.get("input")))
        if arguments is None:
            return None
        call_id = text_of(block.start.get("id")) or None
        tool = self._tools.get(name)
        own_name = name or UNNAMED_CALL if tool is None else tool.name
        return FunctionCall(own_name, own_arguments(arguments, tool), call_id)

    def _answer(self, parts: list[MessagePart], malformed: str) -> Answer:
        reason = _REASONS.get(self._stop, FinishReason.OTHER if self._stop else FinishReason.STOP)
        detail = (
            ""
            if reason is FinishReason.STOP
            else self._stop_detail or phrase("It ended with {stop!r}.", stop=self._stop)
        )
        if malformed and reason not in {FinishReason.BLOCKED, FinishReason.MAX_TOKENS}:
            reason, detail = FinishReason.MALFORMED_CALL, malformed
            parts = [part for part in parts if not isinstance(part, FunctionCall)]
        message = Message(Role.MODEL, tuple(parts))
        return Answer(message, reason, self._counted(), safe_text(detail, (self._asked.key,)), self._model)

    def _counted(self) -> Usage:
        if not self._usage:
            return NO_USAGE
        cached = self._usage.get("cache_read_input_tokens", 0)
        fresh = self._usage.get("input_tokens", 0) + self._usage.get("cache_creation_input_tokens", 0)
        return Usage(fresh + cached, cached, self._usage.get("output_tokens", 0))
