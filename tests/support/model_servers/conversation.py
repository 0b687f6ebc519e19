"""A loopback server with the four APIs of model services, for their own SDKs: it plays one conversation.

Requests are checked as the real services do. Replies are not streamed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from support.model_servers import anthropic, gemini, openai, responses
from support.model_servers.gemini import LoopbackServer, Received, Reply, json_reply


@dataclass(frozen=True)
class Call:
    """A call of a tool. `arguments` is JSON text if a model wrote it."""

    name: str
    arguments: dict[str, Any] | str


Turn: TypeAlias = str | Sequence[Call]
"""What the model does: it answers, or it calls tools."""


class ConversationServer(LoopbackServer):
    """Takes the turns in order, whichever API is asked, and repeats them after the last one."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__(self._answer)
        self._turns = turns
        self._taken = 0

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which SDKs find the server."""
        return {
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "OPENAI_API_KEY": "a-key-for-tests",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "ANTHROPIC_BASE_URL": self.address,
            "ANTHROPIC_API_KEY": "a-key-for-tests",
            "GOOGLE_GEMINI_BASE_URL": self.address,
            "GEMINI_API_KEY": "a-key-for-tests",
        }

    @property
    def last_body(self) -> Any:
        return self.requests[-1].body

    def _answer(self, received: Received) -> Reply:
        for path, find_problem, encode in _APIS:
            if received.target.split("?")[0].startswith(path):
                wrong = find_problem(received)
                if wrong:
                    return openai.error_reply(400, wrong)
                return json_reply(encode(self._next_turn(), received.body.get("model", "")))
        return openai.error_reply(404, f"no such method: {received.target}")

    def _next_turn(self) -> Turn:
        with self._lock:
            turn = self._turns[self._taken % len(self._turns)]
            self._taken += 1
        return turn


def _chat_problem(received: Received) -> str | None:
    return openai.wrong_tools(received.body.get("tools")) or openai.wrong_messages(received.body.get("messages"))


def _chat_reply(turn: Turn, model: str) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
    if not isinstance(turn, str):
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": _json_text(call)}}
            for call_id, call in _numbered(turn)
        ]
    reason = "stop" if isinstance(turn, str) else "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model}
    return {**head, "choices": [choice], "usage": openai.USAGE}


def _responses_problem(received: Received) -> str | None:
    given = received.body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    whole = [_whole_item(item) for item in items]
    return responses.wrong_tools(received.body.get("tools")) or responses.wrong_items(whole)


def _whole_item(item: Any) -> Any:
    """An item in its long form: the service also takes a role with a text."""
    if isinstance(item.get("content"), str):
        return {**item, "type": "message", "content": [{"type": "input_text", "text": item["content"]}]}
    return item


def _responses_reply(turn: Turn, model: str) -> Any:
    if isinstance(turn, str):
        text = {"type": "output_text", "text": turn, "annotations": []}
        output = [{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [text]}]
    else:
        output = [
            {"id": f"fc_{call_id}", "type": "function_call", "status": "completed", "call_id": call_id}
            | {"name": call.name, "arguments": _json_text(call)}
            for call_id, call in _numbered(turn)
        ]
    usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": model, "status": "completed"}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None}
    return {**head, **rest, "output": output, "usage": usage}


def _anthropic_problem(received: Received) -> str | None:
    messages = [_whole_message(message) for message in received.body["messages"]]
    if not isinstance(received.body.get("max_tokens"), int):
        return "max_tokens: Field required"
    return anthropic.wrong_tools({**received.body, "messages": messages}) or anthropic.wrong_messages(messages)


def _whole_message(message: Any) -> Any:
    if isinstance(message["content"], str):
        return {**message, "content": [{"type": "text", "text": message["content"]}]}
    return message


def _anthropic_reply(turn: Turn, model: str) -> Any:
    if isinstance(turn, str):
        content: list[Any] = [{"type": "text", "text": turn}]
    else:
        content = [
            {"type": "tool_use", "id": call_id, "name": call.name, "input": call.arguments}
            for call_id, call in _numbered(turn)
        ]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}
    reason = "end_turn" if isinstance(turn, str) else "tool_use"
    return {**head, "content": content, "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}}


def _gemini_reply(turn: Turn, _model: str) -> Any:
    if isinstance(turn, str):
        return gemini.chunk(turn, reason="STOP")
    calls = (gemini.function_call(call.name, call.arguments, id=call_id) for call_id, call in _numbered(turn))
    return gemini.chunk(*calls, reason="STOP", modelVersion="gemini-3-flash")


def _numbered(turn: Sequence[Call]) -> list[tuple[str, Call]]:
    # As long as the ids of some services, which must come back as they are.
    return [(f"call_{number}_0123456789abcdefghijklmno", call) for number, call in enumerate(turn)]


def _json_text(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


_APIS = (
    ("/v1/chat/completions", _chat_problem, _chat_reply),
    ("/v1/responses", _responses_problem, _responses_reply),
    ("/v1/messages", _anthropic_problem, _anthropic_reply),
    ("/v1beta/models/", gemini.find_problem, _gemini_reply),
    ("/v1/models/", gemini.find_problem, _gemini_reply),
)
