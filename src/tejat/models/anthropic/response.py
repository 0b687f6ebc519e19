"""Decoding of streamed responses of Anthropic's Messages API."""

from collections.abc import Mapping
from typing import cast

from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall, JsonObject, MessagePart, Text, Thought
from tejat.core.model import (
    NO_USAGE,
    Chunk,
    FailureKind,
    FinishReason,
    ModelFailure,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models.anthropic.request import ANSWER_TOOL, preserve_block
from tejat.models.wire.api_errors import ModelTarget, parse_api_error
from tejat.models.wire.common import UNNAMED_CALL, restore_arguments, wire_name
from tejat.models.wire.http_errors import protocol_failure
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str, parse_object
from tejat.models.wire.json_repair import parse_arguments
from tejat.models.wire.redact import safe_text

_FINISH_REASONS = {
    "end_turn": FinishReason.STOP,
    "tool_use": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.MAX_TOKENS,
    "refusal": FinishReason.BLOCKED,
}
_CONTEXT_WINDOW_EXCEEDED = "model_context_window_exceeded"


class _Block:
    """One content block. `start` is its first event, the rest comes in deltas."""

    def __init__(self, start: Mapping[str, object]) -> None:
        self.start = start
        self.text: list[str] = []
        self.signature: list[str] = []
        self.arguments: list[str] = []
        self.is_closed = False


class AnthropicResponseReader:
    """Reads one response.

    With `is_forced` the model had to call ANSWER_TOOL, and the arguments of that call are the text of the response.
    """

    def __init__(self, tools: tuple[FunctionDeclaration, ...], target: ModelTarget, *, is_forced: bool = False) -> None:
        self._tools = {wire_name(tool.name): tool for tool in tools}
        self._target = target
        self._is_forced = is_forced
        self._blocks: dict[int, _Block] = {}
        self._stop = ""
        self._stop_detail = ""
        self.is_done = False
        self._usage: dict[str, int] = {}
        self._model = ""

    @property
    def is_complete(self) -> bool:
        return self.is_done or bool(self._stop)

    def feed(self, data: str) -> list[Chunk]:
        """Read the data of one event. Raises ModelFailure for an error event and for invalid data."""
        if not data.strip():
            return []
        try:
            event = parse_object(data)
        except InvalidJson as error:
            raise protocol_failure(str(error)) from None
        index = as_count(event.get("index"))
        match event.get("type"):
            case "message_start":
                self._start_message(as_object(event.get("message")))
            case "content_block_start":
                return self._start_block(index, as_object(event.get("content_block")))
            case "content_block_delta":
                return self._add_delta(index, as_object(event.get("delta")))
            case "content_block_stop" if index in self._blocks:
                self._blocks[index].is_closed = True
            case "message_delta":
                self._stop_message(as_object(event.get("delta")))
                self._update_usage(as_object(event.get("usage")))
            case "message_stop":
                self.is_done = True
            case "error":
                raise parse_api_error(event, self._target, status=200)
            case "message":
                return self._read_message(event)
            case _:
                # Pings and unknown events.
                pass
        return []

    def end(self) -> list[Chunk]:
        """Return the remaining chunks, the response last. Raises ModelFailure when the stream ended too early."""
        if not self.is_complete and not self._has_only_complete_blocks:
            raise ModelFailure(lazy("The response was cut off."), FailureKind.STREAM_CUT, can_retry=True)
        if self._stop == _CONTEXT_WINDOW_EXCEEDED:
            message = lazy("The conversation is too long: the model reached its context limit while answering.")
            raise ModelFailure(message, FailureKind.CONTEXT_FULL)
        deltas: list[Chunk] = []
        parts: list[MessagePart] = []
        malformed = ""
        for _, block in sorted(self._blocks.items()):
            if block.start.get("type") != "tool_use":
                parts += self._block_parts(block)
                continue
            call = self._function_call(block)
            if call is None:
                name = as_str(block.start.get("name"))
                malformed = malformed or lazy("The arguments of {name} are not a JSON object.", name=name)
            elif not self._is_forced:
                parts.append(call)
            elif call.name == ANSWER_TOOL:
                text = dump_json(cast("JsonObject", call.args))
                parts.append(Text(text))
                deltas.append(TextDelta(text))
        return [*deltas, self._response(parts, malformed)]

    @property
    def _has_only_complete_blocks(self) -> bool:
        """Whether a call has come, and nothing was cut off."""
        blocks = self._blocks.values()
        return any(block.start.get("type") == "tool_use" for block in blocks) and all(b.is_closed for b in blocks)

    def _start_message(self, message: Mapping[str, object]) -> None:
        self._model = as_str(message.get("model"))
        self._update_usage(as_object(message.get("usage")))

    def _start_block(self, index: int, start: Mapping[str, object]) -> list[Chunk]:
        self._blocks[index] = _Block(start)
        return self._add_delta(index, {"text": start.get("text"), "thinking": start.get("thinking")})

    def _add_delta(self, index: int, delta: Mapping[str, object]) -> list[Chunk]:
        block = self._blocks.get(index)
        if block is None:
            raise protocol_failure(lazy("content for a block that was never opened"))
        text, thought = as_str(delta.get("text")), as_str(delta.get("thinking"))
        block.text += [piece for piece in (text, thought) if piece]
        block.signature.append(as_str(delta.get("signature")))
        block.arguments.append(as_str(delta.get("partial_json")))
        if thought:
            return [ThoughtDelta(thought)]
        return [TextDelta(text)] if text and not self._is_forced else []

    def _stop_message(self, delta: Mapping[str, object]) -> None:
        self._stop = as_str(delta.get("stop_reason")) or self._stop
        details = as_object(delta.get("stop_details"))
        self._stop_detail = as_str(details.get("explanation")) or self._stop_detail

    def _update_usage(self, usage: Mapping[str, object]) -> None:
        """Update the counts, which are totals; those that are not repeated stay."""
        self._usage |= {key: as_count(value) for key, value in usage.items() if isinstance(value, int)}

    def _read_message(self, message: Mapping[str, object]) -> list[Chunk]:
        """Read a whole response from a server that does not stream."""
        self._start_message(message)
        deltas: list[Chunk] = []
        for index, block in enumerate(as_list(message.get("content"))):
            deltas += self._start_block(index, as_object(block))
            self._blocks[index].signature.append(as_str(as_object(block).get("signature")))
            self._blocks[index].is_closed = True
        self._stop_message(message)
        self.is_done = True
        return deltas

    def _block_parts(self, block: _Block) -> list[MessagePart]:
        text, signature = "".join(block.text), "".join(block.signature)
        match block.start.get("type"):
            case "text":
                # Text beside a forced call is dropped.
                return [Text(text)] if text and not self._is_forced else []
            case "thinking":
                shown: list[MessagePart] = [Thought(text)] if text else []
                if not signature:
                    return shown
                kept: JsonObject = {"type": "thinking", "thinking": text, "signature": signature}
                return [*shown, preserve_block(kept, self._target.model)]
            case _:
                return [preserve_block(cast("JsonObject", block.start), self._target.model)]

    def _function_call(self, block: _Block) -> FunctionCall | None:
        written = "".join(block.arguments)
        name = as_str(block.start.get("name"))
        if self._stop == "max_tokens" and not block.is_closed:
            # Cut off, even if it happens to be valid JSON.
            arguments = None
        elif written:
            arguments = parse_arguments(written)
        else:
            arguments = dict(as_object(block.start.get("input")))
        if arguments is None:
            return None
        call_id = as_str(block.start.get("id")) or None
        tool = self._tools.get(name)
        own_name = name or UNNAMED_CALL if tool is None else tool.name
        return FunctionCall(own_name, restore_arguments(arguments, tool), call_id)

    def _response(self, parts: list[MessagePart], malformed: str) -> ModelResponse:
        reason = _FINISH_REASONS.get(self._stop, FinishReason.OTHER if self._stop else FinishReason.STOP)
        detail = ""
        if reason is not FinishReason.STOP:
            detail = self._stop_detail or lazy("The response ended with {stop!r}.", stop=self._stop)
        if malformed and reason not in {FinishReason.BLOCKED, FinishReason.MAX_TOKENS}:
            reason, detail = FinishReason.MALFORMED_CALL, malformed
            parts = [part for part in parts if not isinstance(part, FunctionCall)]
        message = Message(Role.MODEL, tuple(parts))
        return ModelResponse(message, reason, self._token_usage(), safe_text(detail, (self._target.key,)), self._model)

    def _token_usage(self) -> Usage:
        if not self._usage:
            return NO_USAGE
        cached = self._usage.get("cache_read_input_tokens", 0)
        written = self._usage.get("cache_creation_input_tokens", 0)
        prompt = self._usage.get("input_tokens", 0) + written + cached
        return Usage(prompt, cached, self._usage.get("output_tokens", 0), cache_write=written)
