"""A loopback server with OpenAI's chat completions that rejects invalid requests as the real one does."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from support.model_servers.gemini import LoopbackServer, Received, Reply, json_reply

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 30,
    "total_tokens": 130,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"reasoning_tokens": 10},
}
PART_FIELDS = {"text": "text", "image_url": "image_url", "input_audio": "input_audio", "file": "file"}


class OpenAiServer(LoopbackServer):
    """Gives the replies in turn, to valid requests only."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(self._answer)
        self._replies = iter(replies)

    @property
    def base(self) -> str:
        return f"{self.address}/v1"

    def _answer(self, received: Received) -> Reply:
        wrong = self._find_problem(received)
        if wrong:
            return error_reply(400, wrong)
        with self._lock:
            return next(self._replies, None) or error_reply(400, "the test has no more replies")

    def _find_problem(self, received: Received) -> str | None:
        return find_problem(received)


def chunk(*, reason: str | None = None, usage: Any = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "gpt-test",
        "choices": [choice],
        "usage": usage,
    }


def usage_chunk(usage: Mapping[str, Any] = USAGE) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-test", "choices": [], "usage": usage}


def call_chunk(
    index: int | None, *, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    """A fragment of a tool call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    identity = {key: value for key, value in (("index", index), ("id", call_id)) if value is not None}
    return {**identity, "type": "function", "function": function}


def stream(*chunks: object, done: bool = True, **how: Any) -> Reply:
    """The chunks as server-sent events."""
    pieces = [b"data: %s\n\n" % json.dumps(value).encode() for value in chunks]
    if done:
        pieces.append(b"data: [DONE]\n\n")
    return Reply(tuple(pieces), headers={"Content-Type": "text/event-stream"}, **how)


def text_reply(*texts: str, reason: str = "stop", **how: Any) -> Reply:
    return stream(*(chunk(content=text) for text in texts), chunk(reason=reason), usage_chunk(), **how)


def error_reply(
    status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return json_reply({"error": error}, status=status, headers=headers)


def find_problem(received: Received) -> str | None:
    """Return why the real service would reject the request."""
    if received.method != "POST" or received.target != "/v1/chat/completions":
        return f"no such method: {received.target}"
    body = received.body
    known = {"model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "tools"}
    unknown = body.keys() - known - {"response_format", "messages"}
    if unknown or not isinstance(body.get("model"), str) or body.get("stream") is not True:
        return f"a bad request: {sorted(unknown)}"
    return wrong_tools(body.get("tools")) or wrong_messages(body.get("messages"))


def wrong_tools(tools: Any) -> str | None:
    if tools is None:
        return None
    names = [tool["function"]["name"] for tool in tools]
    if not tools or len(set(names)) != len(names) or not all(map(NAME.fullmatch, names)):
        return "bad tools"
    if any(tool["function"]["parameters"].get("type") != "object" for tool in tools):
        return "parameters must be those of an object"
    return None


def wrong_messages(messages: Any) -> str | None:
    if not messages:
        return "messages must not be empty"
    waiting: list[str] = []
    for place, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            waiting.remove(message["tool_call_id"])
            if not isinstance(message["content"], str):
                return "a tool answers with text"
            continue
        if waiting:
            return "an assistant message with 'tool_calls' must be followed by tool messages"
        wrong = _wrong_message(role, message, place)
        if wrong:
            return wrong
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    return "tool_calls are left without an answer" if waiting else None


def _wrong_message(role: Any, message: Any, place: int) -> str | None:
    if role == "system":
        return None if place == 0 and isinstance(message["content"], str) else "bad system message"
    if role == "user":
        return _wrong_content(message["content"])
    if role != "assistant":
        return f"no such role: {role}"
    calls = message.get("tool_calls")
    if calls is None:
        return None if isinstance(message["content"], str) and message["content"] else "an assistant must say something"
    ids = [call["id"] for call in calls]
    if not calls or len(set(ids)) != len(ids) or max(map(len, ids)) > 40 or not all(ids):
        return "bad ids"
    for call in calls:
        function = call["function"]
        if not NAME.fullmatch(function["name"]) or not isinstance(json.loads(function["arguments"]), dict):
            return "a bad call"
    return None


def _wrong_content(content: Any) -> str | None:
    if isinstance(content, str):
        return None
    if not content:
        return "content must not be empty"
    bad = [part for part in content if PART_FIELDS.get(part["type"]) not in part]
    return f"bad parts: {bad}" if bad else None


def tool_answers(messages: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The answers of the tools by call id."""
    return {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
