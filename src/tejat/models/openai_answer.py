"""OpenAI's chat completions on the way in: the chunks of a stream as one answer."""

import json
from collections.abc import Mapping

from tejat.core.history import Message, Role
from tejat.core.json_text import NotJson
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
from tejat.core.types import FunctionCall, MessagePart, Text, Thought
from tejat.core.words import phrase
from tejat.models.failures import protocol_failure
from tejat.models.json_shapes import count_of, items_of, object_of, read_object, text_of
from tejat.models.loose_json import read_arguments, read_exactly
from tejat.models.portable import UNNAMED_CALL, names_by_wire
from tejat.models.redact import safe_text
from tejat.models.refusals import Asked, refusal
from tejat.models.thought_tags import ThoughtTags
from tejat.models.written_calls import may_become_calls, written_calls

END_MARK = "[DONE]"

_ENOUGH = 20
"""So many characters of an answer show whether it may be calls in writing."""

_REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.STOP,
    "function_call": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.STOP,
    "length": FinishReason.MAX_TOKENS,
    "max_tokens": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.BLOCKED,
    "refusal": FinishReason.BLOCKED,
}


class OpenAiAnswer:
    """One answer as it comes in."""

    def __init__(self, tools: tuple[FunctionDeclaration, ...], asked: Asked) -> None:
        self._tools = tools
        self._asked = asked
        self._names = names_by_wire(tools)
        self._tags = ThoughtTags()
        self._texts: list[str] = []
        self._held: list[str] | None = [] if tools else None
        self._beginning = ""
        self._thoughts: list[str] = []
        self._refusals: list[str] = []
        self._calls = _Calls()
        self._finish: str | None = None
        self._is_over = False
        self._usage = NO_USAGE
        self._model = ""

    @property
    def is_over(self) -> bool:
        """Whether the server has said that nothing follows."""
        return self._is_over

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete, even if the stream should end here."""
        return self._is_over or self._finish is not None

    def feed(self, data: str) -> list[Chunk]:
        """What the data of one event adds. Raises ModelFailure for an error in the stream, or what is no chunk."""
        if data.strip() in {"", END_MARK}:
            self._is_over = self._is_over or bool(data.strip())
            return []
        try:
            chunk = read_object(data)
        except NotJson as error:
            raise protocol_failure(str(error)) from None
        if chunk.get("error"):
            raise refusal(chunk, self._asked, status=200)
        self._model = text_of(chunk.get("model")) or self._model
        self._usage = _usage(object_of(chunk.get("usage"))) or self._usage
        deltas: list[Chunk] = []
        for item in items_of(chunk.get("choices")):
            choice = object_of(item)
            if count_of(choice.get("index")) == 0:
                # A server that does not stream sends one message instead.
                deltas += self._add(object_of(choice.get("delta") or choice.get("message")))
                self._finish = text_of(choice.get("finish_reason")) or self._finish
        return deltas

    def end(self) -> list[Chunk]:
        """The rest, last of all the answer. Raises ModelFailure when the stream ended too early."""
        if not self.is_whole:
            raise ModelFailure(phrase("The answer ended before it was whole."), FailureKind.STREAM_CUT, can_retry=True)
        deltas = self._split(self._tags.end())
        calls, malformed = self._whole_calls()
        written = () if calls or malformed else self._written_calls()
        if not written:
            deltas += self._let_go()
        return [*deltas, self._answer(calls or written, malformed)]

    def _add(self, delta: Mapping[str, object]) -> list[Chunk]:
        deltas: list[Chunk] = []
        thought = text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning"))
        content = delta.get("content")
        for piece in items_of(content):
            part = object_of(piece)
            thought += "".join(text_of(object_of(inner).get("text")) for inner in items_of(part.get("thinking")))
        deltas += self._think(thought)
        text = text_of(content) + "".join(text_of(object_of(piece).get("text")) for piece in items_of(content))
        if text:
            deltas += self._split(self._tags.feed(text))
        self._refusals.append(text_of(delta.get("refusal")))
        for call in items_of(delta.get("tool_calls")):
            self._calls.add(object_of(call))
        if "function_call" in delta and object_of(delta["function_call"]):
            self._calls.add({"index": 0, "function": delta["function_call"]})
        return deltas

    def _split(self, pieces: tuple[str, str]) -> list[Chunk]:
        thought, text = pieces
        return [*self._think(thought), *self._say(text)]

    def _think(self, thought: str) -> list[Chunk]:
        if not thought:
            return []
        self._thoughts.append(thought)
        return [ThoughtDelta(thought)]

    def _say(self, text: str) -> list[Chunk]:
        """What may be calls in writing is held back: nobody wants to read it, and it may not be text at all."""
        if not text:
            return []
        if self._held is None:
            self._texts.append(text)
            return [TextDelta(text)]
        self._held.append(text)
        if len(self._beginning) < _ENOUGH:
            self._beginning = (self._beginning + text).lstrip()[:_ENOUGH]
        return [] if may_become_calls(self._beginning) else self._let_go()

    def _let_go(self) -> list[Chunk]:
        text, self._held = "".join(self._held or ()), None
        return self._say(text)

    @property
    def _reason(self) -> FinishReason:
        if any(self._refusals):
            return FinishReason.BLOCKED
        if self._finish is None:
            return FinishReason.STOP
        return _REASONS.get(self._finish.lower(), FinishReason.OTHER)

    def _whole_calls(self) -> tuple[tuple[FunctionCall, ...], str]:
        """The calls, and what is wrong with the first that cannot be read. One that was cut short is none."""
        is_cut = self._reason is FinishReason.MAX_TOKENS
        calls: list[FunctionCall] = []
        for written in self._calls.written:
            text = "".join(written.arguments)
            arguments = read_exactly(text) if is_cut else read_arguments(text)
            if arguments is None and not is_cut:
                return (), phrase(
                    "The arguments of {name} are not a JSON object.", name=written.name or phrase("a call")
                )
            if arguments is not None:
                name = self._names.get(written.name, written.name) or UNNAMED_CALL
                calls.append(FunctionCall(name, arguments, written.id or None))
        return tuple(calls), ""

    def _written_calls(self) -> tuple[FunctionCall, ...]:
        if not self._held or self._reason is not FinishReason.STOP:
            return ()
        return written_calls("".join(self._held), self._tools)

    def _answer(self, calls: tuple[FunctionCall, ...], malformed: str) -> Answer:
        reason, detail = self._reason, ""
        if malformed and reason is not FinishReason.BLOCKED:
            reason, detail = FinishReason.MALFORMED_CALL, malformed
        elif reason is not FinishReason.STOP:
            detail = "".join(self._refusals) or phrase("It ended with {finish!r}.", finish=self._finish)
        thoughts, text = "".join(self._thoughts), "".join(self._texts)
        parts: list[MessagePart] = [Thought(thoughts)] if thoughts else []
        # Many a model leaves empty lines before its calls.
        if text.strip() or (text and not calls):
            parts.append(Text(text))
        message = Message(Role.MODEL, (*parts, *calls))
        return Answer(message, reason, self._usage, safe_text(detail, (self._asked.key,)), self._model)


class _WrittenCall:
    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


class _Calls:
    """Calls in pieces. Servers differ in what they say of a piece: its index, an id, both, or neither."""

    def __init__(self) -> None:
        self.written: list[_WrittenCall] = []

    def add(self, piece: Mapping[str, object]) -> None:
        function = object_of(piece.get("function"))
        index, name, call_id = piece.get("index"), text_of(function.get("name")), text_of(piece.get("id"))
        call = self._continued(index if isinstance(index, int) else None, call_id, name)
        call.id = call.id or call_id
        if name != call.name and not call.arguments:
            call.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            if arguments:
                call.arguments.append(arguments)
        elif arguments is not None:
            call.arguments.append(json.dumps(arguments))

    def _continued(self, index: int | None, call_id: str, name: str) -> _WrittenCall:
        """The call that a piece goes on with, or a new one."""
        last = self.written[-1] if self.written else None
        known = last if index is None else next((call for call in self.written if call.index == index), None)
        if index is not None and last is not None and last.index == index:
            known = last
        if known is None or _begins_another(known, call_id, name, has_index=index is not None):
            known = _WrittenCall(index)
            self.written.append(known)
        return known


def _begins_another(known: _WrittenCall, call_id: str, name: str, *, has_index: bool) -> bool:
    if not name or not known.name:
        return False
    if call_id and known.id:
        # Some servers number all calls 0, others make up an id for each piece: only with a name it is another call.
        return call_id != known.id
    if name != known.name and not has_index:
        return True
    # The name is repeated with each piece, or this is the next of several whole calls.
    is_closed = bool(known.arguments) and known.arguments[-1].rstrip().endswith("}")
    return is_closed and read_exactly("".join(known.arguments)) is not None


def _usage(counted: Mapping[str, object]) -> Usage | None:
    if not counted:
        return None
    prompt = count_of(counted.get("prompt_tokens"))
    answered = count_of(counted.get("completion_tokens"))
    cached = count_of(object_of(counted.get("prompt_tokens_details")).get("cached_tokens"))
    thoughts = count_of(object_of(counted.get("completion_tokens_details")).get("reasoning_tokens"))
    cached = cached or count_of(counted.get("prompt_cache_hit_tokens"))
    thoughts = min(thoughts, answered)
    return Usage(prompt, min(cached, prompt), answered - thoughts, thoughts)
