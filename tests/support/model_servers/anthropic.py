"""A loopback server with Anthropic's Messages API that rejects invalid requests as the real one does."""

import json
import re
from collections.abc import Mapping
from typing import Any

from support.model_servers.gemini import LoopbackServer, Received, Reply, json_reply

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_-]+")
IMAGE_TYPES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
START_USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 70,
    "output_tokens": 1,
    "service_tier": "standard",
    "cache_creation": {"ephemeral_5m_input_tokens": 20},
}


class AnthropicServer(LoopbackServer):
    """Gives the replies in turn, to valid requests only."""

    def __init__(self, *replies: Reply, count: int | None = None) -> None:
        super().__init__(self._answer)
        self._replies = iter(replies)
        self._count = count

    def _answer(self, received: Received) -> Reply:
        is_count = received.target == "/v1/messages/count_tokens"
        wrong = find_problem(received, is_count=is_count)
        if wrong:
            return error_reply(400, wrong)
        if is_count:
            if self._count is None:
                return error_reply(404, "not found", kind="not_found_error")
            return json_reply({"input_tokens": self._count})
        with self._lock:
            return next(self._replies, None) or error_reply(400, "the test has no more replies")


def message_start(model: str = "claude-test") -> dict[str, Any]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": model,
        "usage": START_USAGE,
    }
    return {"type": "message_start", "message": message}


def block(index: int, start: Mapping[str, Any], *deltas: Mapping[str, Any], stop: bool = True) -> list[dict[str, Any]]:
    """The events of one content block."""
    events: list[dict[str, Any]] = [{"type": "content_block_start", "index": index, "content_block": start}]
    events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [*events, {"type": "content_block_stop", "index": index}] if stop else events


def text_block(index: int, *texts: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts))


def thinking_block(index: int, signature: str, *texts: str) -> list[dict[str, Any]]:
    deltas = [{"type": "thinking_delta", "thinking": text} for text in texts]
    start = {"type": "thinking", "thinking": "", "signature": ""}
    return block(index, start, *deltas, {"type": "signature_delta", "signature": signature})


def call_block(index: int, call_id: str, name: str, *pieces: str, stop: bool = True) -> list[dict[str, Any]]:
    start = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return block(index, start, *({"type": "input_json_delta", "partial_json": text} for text in pieces), stop=stop)


def message_end(reason: str = "end_turn", output_tokens: int = 42, **delta: Any) -> list[dict[str, Any]]:
    ending = {"stop_reason": reason, "stop_sequence": None, **delta}
    return [
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": output_tokens}},
        {"type": "message_stop"},
    ]


def stream(*events: Mapping[str, Any], **how: Any) -> Reply:
    """The events as server-sent events."""
    pieces = [b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode()) for event in events]
    return Reply(tuple(pieces), headers={"Content-Type": "text/event-stream; charset=utf-8"}, **how)


def text_reply(*texts: str, reason: str = "end_turn", **how: Any) -> Reply:
    return stream(message_start(), {"type": "ping"}, *text_block(0, *texts), *message_end(reason), **how)


def error_reply(
    status: int, message: str, *, kind: str = "invalid_request_error", headers: Mapping[str, str] | None = None
) -> Reply:
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return json_reply(error, status=status, headers=headers)


def find_problem(received: Received, *, is_count: bool = False) -> str | None:
    """Return why the real service would reject the request."""
    if received.method != "POST" or not (is_count or received.target == "/v1/messages"):
        return f"no such method: {received.target}"
    if received.headers.get("anthropic-version") != "2023-06-01":
        return "anthropic-version: header is required"
    if not (received.headers.get("x-api-key") or received.headers.get("authorization")):
        return "x-api-key header is required"
    body = received.body
    if not is_count and (not isinstance(body.get("max_tokens"), int) or body.get("stream") is not True):
        return "max_tokens: Field required"
    if is_count and body.keys() & {"max_tokens", "stream", "temperature"}:
        return "max_tokens: Extra inputs are not permitted"
    if received.raw.count(b'"cache_control"') > 4:
        return "A maximum of 4 blocks with cache_control may be provided."
    return _wrong_setting(body) or wrong_tools(body) or wrong_messages(body.get("messages"))


def _wrong_setting(body: Any) -> str | None:
    thinks = body.get("thinking", {}).get("type") == "adaptive"
    forced = body.get("tool_choice", {}).get("type") in {"any", "tool"}
    if thinks and forced:
        return "Thinking may not be enabled when tool_choice forces tool use."
    if thinks and "temperature" in body:
        return "`temperature` may only be set to 1 when thinking is enabled"
    blank = [piece for piece in body.get("system", ()) if not piece["text"].strip()]
    return "system: text content blocks must contain non-whitespace text" if blank else None


def wrong_tools(body: Any) -> str | None:
    tools = body.get("tools", ())
    names = [tool["name"] for tool in tools]
    if len(set(names)) != len(names) or not all(map(NAME.fullmatch, names)):
        return "tools: bad names"
    if any(tool["input_schema"].get("type") != "object" for tool in tools):
        return "tools.0.custom.input_schema.type: Field required"
    for place, tool in enumerate(tools):
        if not all(map(KEY.fullmatch, tool["input_schema"].get("properties", ()))):
            where = f"tools.{place}.custom.input_schema.properties"
            return f"{where}: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
    has_calls = any(piece["type"] == "tool_use" for message in body["messages"] for piece in message["content"])
    if has_calls and not tools:
        return "Requests which include `tool_use` or `tool_result` blocks must define tools"
    choice = body.get("tool_choice", {})
    if "tool_choice" in body and not tools:
        return "tool_choice may only be specified while providing tools"
    return "no such tool" if choice.get("type") == "tool" and choice["name"] not in names else None


def wrong_messages(messages: Any) -> str | None:
    if not messages:
        return "messages: at least one message is required"
    waiting: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        if message["role"] != ("assistant" if place % 2 else "user"):
            return "messages: roles must alternate"
        content = message["content"]
        if not content:
            return f"messages.{place}: content must not be empty"
        results = [piece["tool_use_id"] for piece in content if piece["type"] == "tool_result"]
        leading = [piece["type"] for piece in content[: len(results)]]
        if sorted(results) != sorted(waiting) or set(leading) - {"tool_result"}:
            return "`tool_use` ids were found without `tool_result` blocks immediately after"
        wrong = next(filter(None, (_wrong_block(piece, message["role"]) for piece in content)), None)
        if wrong:
            return wrong
        waiting = [piece["id"] for piece in content if piece["type"] == "tool_use"]
        if seen & set(waiting) or len(set(waiting)) != len(waiting):
            return "messages: `tool_use` ids must be unique"
        seen |= set(waiting)
    return "the last message must be the user's" if messages[-1]["role"] != "user" else None


def _wrong_block(piece: Any, role: str) -> str | None:
    match piece:
        case {"type": "text", "text": str(text)}:
            return None if text.strip() else "text content blocks must contain non-whitespace text"
        case {"type": "thinking", "thinking": str(), "signature": str(signature)} if role == "assistant":
            return None if signature and "cache_control" not in piece else "bad thinking"
        case {"type": "redacted_thinking", "data": str()} if role == "assistant":
            return None
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": dict()} if role == "assistant":
            return None if ID.fullmatch(call_id) and NAME.fullmatch(name) else "a bad call"
        case {"type": "tool_result", "content": list(inner)} if role == "user":
            return next(filter(None, (_wrong_block(nested, "result") for nested in inner)), None)
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": str()}}:
            return None if kind in IMAGE_TYPES else "image.source.base64.media_type: bad"
        case {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": str()}}:
            return None
        case {"type": "image" | "document", "source": {"type": "url", "url": str()}}:
            return None
        case _:
            return f"an unknown block: {piece}"
