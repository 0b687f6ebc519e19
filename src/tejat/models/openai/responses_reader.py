"""Decoding of streamed responses of the Responses API."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson
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
from tejat.models.openai.responses_request import preserve_item, preserve_phase
from tejat.models.wire.api_errors import ModelTarget, parse_api_error
from tejat.models.wire.common import UNNAMED_CALL, tool_names_by_wire_name
from tejat.models.wire.http_errors import protocol_failure
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str, parse_object
from tejat.models.wire.json_repair import parse_arguments, parse_arguments_strict
from tejat.models.wire.redact import safe_text

_RETRY_IN = r"(?i)try again in (\d{1,6}(?:\.\d{1,6})?) ?(ms|s)\b"
_INCOMPLETE_REASONS = {
    "max_output_tokens": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.BLOCKED,
}


class ResponsesReader:
    """Reads one response. Its items are complete when they are done; deltas before that are only shown."""

    def __init__(self, tools: tuple[FunctionDeclaration, ...], target: ModelTarget) -> None:
        self._names = tool_names_by_wire_name(tools)
        self._target = target
        self._open_items: set[int] = set()
        self._items: dict[int, Mapping[str, object]] = {}
        self._summary: tuple[object, object] | None = None
        self._incomplete = ""
        self._usage = NO_USAGE
        self._model = ""
        self.is_done = False

    @property
    def is_complete(self) -> bool:
        return self.is_done

    def feed(self, data: str) -> list[Chunk]:
        """Read the data of one event. Raises ModelFailure for an error event and for invalid data."""
        if data.strip() in {"", "[DONE]"}:
            return []
        try:
            event = parse_object(data)
        except InvalidJson as error:
            raise protocol_failure(str(error)) from None
        index = as_count(event.get("output_index"))
        match event.get("type"):
            case "response.output_text.delta":
                return _shown(TextDelta(as_str(event.get("delta"))))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return _shown(ThoughtDelta(self._summary_break(event) + as_str(event.get("delta"))))
            case "response.output_item.added":
                self._open_items.add(index)
            case "response.output_item.done":
                self._open_items.discard(index)
                self._items[index] = as_object(event.get("item"))
            case "response.created" | "response.in_progress":
                self._model = as_str(as_object(event.get("response")).get("model")) or self._model
            case "response.completed" | "response.incomplete":
                return self._complete(as_object(event.get("response")))
            case "response.failed":
                raise self._failure(as_object(event.get("response")).get("error"))
            case "error":
                raise self._failure(event.get("error") or event)
            case None:
                return self._read_document(event)
            case _:
                # Parts of items, which come again as a whole, and unknown events.
                pass
        return []

    def end(self) -> list[Chunk]:
        """Return the response. Raises ModelFailure when the stream ended too early."""
        items = [item for _, item in sorted(self._items.items())]
        has_calls = any(item.get("type") == "function_call" for item in items)
        if not self.is_done and (self._open_items or not has_calls):
            raise ModelFailure(lazy("The response was cut off."), FailureKind.STREAM_CUT, can_retry=True)
        refusals = [text for item in items for text in _texts(item, "refusal", "refusal") if text]
        try:
            parts = tuple(part for item in items for part in self._parts(item))
        except _UnreadableCall as error:
            detail = lazy("The arguments of {name} are not a JSON object.", name=str(error) or lazy("a call"))
            return [self._response((), FinishReason.MALFORMED_CALL, detail)]
        reason = _INCOMPLETE_REASONS.get(
            self._incomplete, FinishReason.OTHER if self._incomplete else FinishReason.STOP
        )
        detail = lazy("The response ended with {finish!r}.", finish=self._incomplete) if self._incomplete else ""
        if refusals:
            reason, detail = FinishReason.BLOCKED, "".join(refusals)
        return [self._response(parts, reason, detail)]

    def _summary_break(self, event: Mapping[str, object]) -> str:
        """Return an empty line between two parts of a summary."""
        part = event.get("item_id"), event.get("summary_index", event.get("content_index"))
        before, self._summary = self._summary, part
        return "" if before in {None, part} else "\n\n"

    def _complete(self, response: Mapping[str, object]) -> list[Chunk]:
        self.is_done = True
        self._model = as_str(response.get("model")) or self._model
        self._usage = _parse_usage(as_object(response.get("usage"))) or self._usage
        if response.get("status") == "incomplete" or as_object(response.get("incomplete_details")):
            self._incomplete = as_str(as_object(response.get("incomplete_details")).get("reason")) or "incomplete"
        return []

    def _read_document(self, response: Mapping[str, object]) -> list[Chunk]:
        """Read a whole response from a server that does not stream."""
        if response.get("error"):
            raise self._failure(response.get("error"))
        if response.get("object") != "response":
            return []
        self._items = dict(enumerate(map(as_object, as_list(response.get("output")))))
        self._complete(response)
        text = "".join(text for item in self._items.values() for text in _texts(item, "output_text", "text"))
        return _shown(TextDelta(text))

    def _failure(self, error: object) -> ModelFailure:
        message = as_str(as_object(error).get("message"))
        found = re.search(_RETRY_IN, message)
        wait = None if found is None else float(found[1]) / (1000 if found[2] == "ms" else 1)
        return parse_api_error({"error": error or {}}, self._target, status=200, retry_after=wait)

    def _parts(self, item: Mapping[str, object]) -> Iterator[MessagePart]:
        """Yield the parts of an item. Raises _UnreadableCall."""
        match item.get("type"):
            case "message":
                text = "".join(_texts(item, "output_text", "text"))
                if text and isinstance(phase := item.get("phase"), str):
                    yield preserve_phase(phase, self._target.model)
                if text:
                    yield Text(text)
            case "reasoning":
                summary = [*_listed_texts(item.get("summary")), *_listed_texts(item.get("content"))]
                if any(summary):
                    yield Thought("\n\n".join(filter(None, summary)))
                if item.get("encrypted_content"):
                    kept = {key: value for key, value in item.items() if key not in {"content", "status"}}
                    yield preserve_item(cast("JsonObject", kept), self._target.model)
            case "function_call":
                yield from self._call(item)
            case _:
                pass

    def _call(self, item: Mapping[str, object]) -> Iterator[FunctionCall]:
        name, written = as_str(item.get("name")), as_str(item.get("arguments"))
        # A call that was cut off is dropped.
        is_cut = bool(self._incomplete) or item.get("status") == "incomplete"
        arguments = parse_arguments_strict(written) if is_cut else parse_arguments(written)
        if arguments is not None:
            call_id = as_str(item.get("call_id")) or None
            yield FunctionCall(self._names.get(name, name) or UNNAMED_CALL, arguments, call_id)
        elif not is_cut:
            raise _UnreadableCall(name)

    def _response(self, parts: tuple[MessagePart, ...], reason: FinishReason, detail: str) -> ModelResponse:
        message = Message(Role.MODEL, parts)
        return ModelResponse(message, reason, self._usage, safe_text(detail, (self._target.key,)), self._model)


def _shown(delta: TextDelta | ThoughtDelta) -> list[Chunk]:
    return [delta] if delta.text else []


class _UnreadableCall(Exception):
    """The arguments of a call are no JSON object. The text is the name of the tool."""


def _texts(item: Mapping[str, object], kind: str, key: str) -> Iterator[str]:
    """Yield the texts in the content of a message."""
    if item.get("type") != "message":
        return
    for content in map(as_object, as_list(item.get("content"))):
        if content.get("type") == kind:
            yield as_str(content.get(key))


def _listed_texts(parts: object) -> list[str]:
    return [as_str(as_object(part).get("text")) for part in as_list(parts)]


def _parse_usage(counted: Mapping[str, object]) -> Usage | None:
    if not counted:
        return None
    prompt, answered = as_count(counted.get("input_tokens")), as_count(counted.get("output_tokens"))
    details = as_object(counted.get("input_tokens_details"))
    cached = min(as_count(details.get("cached_tokens")), prompt)
    written = min(as_count(details.get("cache_write_tokens")), prompt - cached)
    thoughts = min(as_count(as_object(counted.get("output_tokens_details")).get("reasoning_tokens")), answered)
    return Usage(prompt, cached, answered - thoughts, thoughts, cache_write=written)
