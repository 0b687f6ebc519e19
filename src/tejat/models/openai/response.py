"""Decoding of streamed responses of the Chat Completions API."""

import json
from collections.abc import Mapping

from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall, MessagePart, Text, Thought
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
from tejat.models.wire.api_errors import ModelTarget, parse_api_error
from tejat.models.wire.common import UNNAMED_CALL, tool_names_by_wire_name
from tejat.models.wire.http_errors import protocol_failure
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str, parse_object
from tejat.models.wire.json_depth import JsonDepth
from tejat.models.wire.json_repair import parse_arguments, parse_arguments_strict
from tejat.models.wire.redact import safe_text
from tejat.models.wire.text_tool_calls import OPEN_TAG, may_be_tool_calls, parse_text_tool_calls, split_before_calls
from tejat.models.wire.think_tags import ThinkTagParser

DONE = "[DONE]"

_PREFIX_LENGTH = 20
"""Characters that show whether a text may be tool calls."""

_FINISH_REASONS = {
    **dict.fromkeys(("stop", "tool_calls", "function_call", "eos"), FinishReason.STOP),
    **dict.fromkeys(("end_turn", "stop_sequence", "tool_use"), FinishReason.STOP),
    "length": FinishReason.MAX_TOKENS,
    "max_tokens": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.BLOCKED,
    "refusal": FinishReason.BLOCKED,
}


class OpenAIResponseReader:
    """Reads one response. With `writes_calls` the model writes its calls at the end of its text."""

    def __init__(
        self, tools: tuple[FunctionDeclaration, ...], target: ModelTarget, *, writes_calls: bool = False
    ) -> None:
        self._tools = tools
        self._target = target
        self._names = tool_names_by_wire_name(tools)
        self._think_tags = ThinkTagParser()
        self._texts: list[str] = []
        self._held_text: list[str] | None = [] if tools else None
        self._prefix = ""
        self._writes_calls = writes_calls and bool(tools)
        self._has_call_begun = False
        self._thoughts: list[str] = []
        self._refusals: list[str] = []
        self._calls = _CallAssembler()
        self._finish: str | None = None
        self.is_done = False
        self._usage = NO_USAGE
        self._model = ""

    @property
    def is_complete(self) -> bool:
        return self.is_done or self._finish is not None

    def feed(self, data: str) -> list[Chunk]:
        """Read the data of one event. Raises ModelFailure for an error event and for invalid data."""
        if data.strip() in {"", DONE}:
            self.is_done = self.is_done or bool(data.strip())
            return []
        try:
            chunk = parse_object(data)
        except InvalidJson as error:
            raise protocol_failure(str(error)) from None
        if chunk.get("error"):
            raise parse_api_error(chunk, self._target, status=200)
        self._model = as_str(chunk.get("model")) or self._model
        self._usage = _parse_usage(as_object(chunk.get("usage"))) or self._usage
        deltas: list[Chunk] = []
        for item in as_list(chunk.get("choices")):
            choice = as_object(item)
            if as_count(choice.get("index")) == 0:
                # A server that does not stream sends one message instead.
                deltas += self._add_delta(as_object(choice.get("delta") or choice.get("message")))
                self._finish = as_str(choice.get("finish_reason")) or self._finish
        return deltas

    def end(self) -> list[Chunk]:
        """Return the remaining chunks, the response last. Raises ModelFailure when the stream ended too early."""
        if not self.is_complete and not self._calls.are_complete:
            raise ModelFailure(lazy("The response was cut off."), FailureKind.STREAM_CUT, can_retry=True)
        deltas = self._add_split(self._think_tags.end())
        calls, malformed = self._complete_calls()
        written = () if calls or malformed else self._text_calls()
        if not written:
            deltas += self._release_held_text()
        return [*deltas, self._response(calls or written, malformed)]

    def _add_delta(self, delta: Mapping[str, object]) -> list[Chunk]:
        deltas: list[Chunk] = []
        thought = as_str(delta.get("reasoning_content")) or as_str(delta.get("reasoning"))
        content = delta.get("content")
        for piece in as_list(content):
            part = as_object(piece)
            thought += "".join(as_str(as_object(inner).get("text")) for inner in as_list(part.get("thinking")))
        deltas += self._add_thought(thought)
        text = as_str(content) + "".join(as_str(as_object(piece).get("text")) for piece in as_list(content))
        if text:
            deltas += self._add_split(self._think_tags.feed(text))
        self._refusals.append(as_str(delta.get("refusal")))
        for call in as_list(delta.get("tool_calls")):
            self._calls.add(as_object(call))
        if "function_call" in delta and as_object(delta["function_call"]):
            self._calls.add({"index": 0, "function": delta["function_call"]})
        return deltas

    def _add_split(self, pieces: tuple[str, str]) -> list[Chunk]:
        thought, text = pieces
        return [*self._add_thought(thought), *self._add_text(text)]

    def _add_thought(self, thought: str) -> list[Chunk]:
        if not thought:
            return []
        self._thoughts.append(thought)
        return [ThoughtDelta(thought)]

    def _add_text(self, text: str) -> list[Chunk]:
        """Add text. Text that may be tool calls is held back until that is known."""
        if not text:
            return []
        if self._held_text is None:
            self._texts.append(text)
            return [TextDelta(text)]
        self._held_text.append(text)
        if self._writes_calls:
            return self._hold_back_calls()
        if len(self._prefix) < _PREFIX_LENGTH:
            self._prefix = (self._prefix + text).lstrip()[:_PREFIX_LENGTH]
        return [] if may_be_tool_calls(self._prefix) else self._release_held_text()

    def _hold_back_calls(self) -> list[Chunk]:
        """Pass on the text before the first call. From there on everything is held back."""
        if self._has_call_begun:
            return []
        held = "".join(self._held_text or ())
        begin = split_before_calls(held)
        self._held_text = [held[begin:]]
        self._has_call_begun = held.startswith(OPEN_TAG, begin)
        if not begin:
            return []
        self._texts.append(held[:begin])
        return [TextDelta(held[:begin])]

    def _release_held_text(self) -> list[Chunk]:
        text, self._held_text = "".join(self._held_text or ()), None
        return self._add_text(text)

    @property
    def _finish_reason(self) -> FinishReason:
        if any(self._refusals):
            return FinishReason.BLOCKED
        if self._finish is None:
            return FinishReason.STOP
        return _FINISH_REASONS.get(self._finish.lower(), FinishReason.OTHER)

    def _complete_calls(self) -> tuple[tuple[FunctionCall, ...], str]:
        """Return the calls, and the problem with the first unreadable one. A call that was cut off is dropped."""
        is_cut = self._finish_reason is FinishReason.MAX_TOKENS
        calls: list[FunctionCall] = []
        for written in self._calls.calls:
            text = "".join(written.arguments)
            arguments = parse_arguments_strict(text) if is_cut else parse_arguments(text)
            if arguments is None and not is_cut:
                return (), lazy("The arguments of {name} are not a JSON object.", name=written.name or lazy("a call"))
            if arguments is not None:
                name = self._names.get(written.name, written.name) or UNNAMED_CALL
                calls.append(FunctionCall(name, arguments, written.id or None))
        return tuple(calls), ""

    def _text_calls(self) -> tuple[FunctionCall, ...]:
        if not self._held_text or self._finish_reason is not FinishReason.STOP:
            return ()
        return parse_text_tool_calls("".join(self._held_text), self._tools, ignores_rest=self._writes_calls)

    def _response(self, calls: tuple[FunctionCall, ...], malformed: str) -> ModelResponse:
        reason, detail = self._finish_reason, ""
        if malformed and reason is not FinishReason.BLOCKED:
            reason, detail = FinishReason.MALFORMED_CALL, malformed
        elif reason is not FinishReason.STOP:
            detail = "".join(self._refusals) or lazy("The response ended with {finish!r}.", finish=self._finish)
        thoughts, text = "".join(self._thoughts), "".join(self._texts)
        parts: list[MessagePart] = [Thought(thoughts)] if thoughts else []
        # Many models write empty lines before their calls.
        if text.strip() or (text and not calls):
            parts.append(Text(text))
        message = Message(Role.MODEL, (*parts, *calls))
        return ModelResponse(message, reason, self._usage, safe_text(detail, (self._target.key,)), self._model)


class _PartialCall:
    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self._depth = JsonDepth()

    def add_arguments(self, text: str) -> None:
        self.arguments.append(text)
        self._depth.add(text)

    @property
    def is_closed(self) -> bool:
        """Whether the arguments are a whole object, and end with it. They are parsed only where they may be."""
        if not self._depth.is_closed or not self.arguments[-1].rstrip().endswith("}"):
            return False
        return parse_arguments_strict("".join(self.arguments)) is not None


class _CallAssembler:
    """Assembles calls from deltas. Servers identify a delta by its index, an id, both, or neither."""

    def __init__(self) -> None:
        self.calls: list[_PartialCall] = []
        self._by_index: dict[int, _PartialCall] = {}

    def add(self, piece: Mapping[str, object]) -> None:
        function = as_object(piece.get("function"))
        index, name, call_id = piece.get("index"), as_str(function.get("name")), as_str(piece.get("id"))
        call = self._call_for(index if isinstance(index, int) else None, call_id, name)
        call.id = call.id or call_id
        if name != call.name and not call.arguments:
            call.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            if arguments:
                call.add_arguments(arguments)
        elif arguments is not None:
            call.add_arguments(json.dumps(arguments))

    @property
    def are_complete(self) -> bool:
        """Whether there are calls, and the arguments of each are whole."""
        texts = ["".join(call.arguments) for call in self.calls]
        return bool(texts) and all(parse_arguments_strict(text) is not None for text in texts)

    def _call_for(self, index: int | None, call_id: str, name: str) -> _PartialCall:
        """Return the call that a delta continues, or a new one."""
        last = self.calls[-1] if self.calls else None
        known = last if index is None else self._by_index.get(index)
        if known is None or _starts_new_call(known, call_id, name, has_index=index is not None):
            known = _PartialCall()
            self.calls.append(known)
        if index is not None:
            self._by_index[index] = known
        return known


def _starts_new_call(known: _PartialCall, call_id: str, name: str, *, has_index: bool) -> bool:
    if not name or not known.name:
        return False
    if call_id and known.id:
        # Some servers give all calls the index 0, others invent an id per delta: only a name starts another call.
        return call_id != known.id
    if name != known.name and not has_index:
        return True
    # Either the name is repeated in each delta, or this is the next of several complete calls.
    return known.is_closed


def _parse_usage(counted: Mapping[str, object]) -> Usage | None:
    if not counted:
        return None
    prompt = as_count(counted.get("prompt_tokens"))
    answered = as_count(counted.get("completion_tokens"))
    details = as_object(counted.get("prompt_tokens_details"))
    cached = as_count(details.get("cached_tokens"))
    thoughts = as_count(as_object(counted.get("completion_tokens_details")).get("reasoning_tokens"))
    cached = cached or as_count(counted.get("prompt_cache_hit_tokens"))
    thoughts = min(thoughts, answered)
    cached = min(cached, prompt)
    written = min(as_count(details.get("cache_write_tokens")), prompt - cached)
    return Usage(prompt, cached, answered - thoughts, thoughts, cache_write=written)
