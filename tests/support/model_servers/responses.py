"""A loopback server with OpenAI's Responses API that rejects invalid requests as the real one does."""

import json
import re
from collections.abc import Mapping
from typing import Any

from support.model_servers.gemini import Received, Reply, json_reply
from support.model_servers.openai import OpenAiServer

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 5},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 10},
    "total_tokens": 130,
}
FIELDS = {"model", "stream", "store", "instructions", "input", "tools", "include", "reasoning", "text"}
OPTIONAL_FIELDS = {"max_output_tokens", "temperature", "top_p", "prompt_cache_key"}


class ResponsesServer(OpenAiServer):
    """Gives the replies in turn, to valid requests only."""

    def _find_problem(self, received: Received) -> str | None:
        return find_problem(received)


def reasoning_item(number: int = 1, *summary: str, encrypted: str | None = "gAAAA-sealed") -> dict[str, Any]:
    texts = [{"type": "summary_text", "text": text} for text in summary]
    return {"id": f"rs_{number}", "type": "reasoning", "summary": texts, "encrypted_content": encrypted}


def message_item(*texts: str, phase: str | None = None, refusal: str | None = None) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []} for text in texts]
    if refusal is not None:
        content.append({"type": "refusal", "refusal": refusal})
    item = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": content}
    return item if phase is None else {**item, "phase": phase}


def call_item(name: str, arguments: str, call_id: str = "call_1", status: str = "completed") -> dict[str, Any]:
    call = {"id": f"fc_{call_id}", "type": "function_call", "status": status, "call_id": call_id}
    return {**call, "name": name, "arguments": arguments}


def events_of(*items: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of these items, their texts in two deltas."""
    events: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        events.append(
            {"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress"}}
        )
        for number, part in enumerate(item.get("summary", ())):
            events.append({"type": "response.reasoning_summary_part.added", **place, "summary_index": number})
            kind = "response.reasoning_summary_text.delta"
            events += [
                {"type": kind, **place, "summary_index": number, "delta": delta} for delta in halves(part["text"])
            ]
        for number, part in enumerate(item.get("content", ())):
            kind = "response.output_text.delta" if "text" in part else "response.refusal.delta"
            text = part.get("text") or part.get("refusal") or ""
            events += [{"type": kind, **place, "content_index": number, "delta": delta} for delta in halves(text)]
        if "arguments" in item:
            kind = "response.function_call_arguments.delta"
            events += [{"type": kind, **place, "delta": delta} for delta in halves(item["arguments"])]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return events


def halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def response(status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": status, "model": "gpt-6-2026", "output": [], **fields}


def completed(**fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": response(usage=USAGE, **fields)}


def incomplete(reason: str) -> dict[str, Any]:
    details = {"incomplete_details": {"reason": reason}}
    return {"type": "response.incomplete", "response": response("incomplete", usage=USAGE, **details)}


def failed(code: str, message: str) -> dict[str, Any]:
    return {"type": "response.failed", "response": response("failed", error={"code": code, "message": message})}


def stream(*events: Mapping[str, Any], **how: Any) -> Reply:
    """The events as the service sends them."""
    begin = {"type": "response.created", "response": response("in_progress")}
    numbered = [{**event, "sequence_number": number} for number, event in enumerate([begin, *events])]
    pieces = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in numbered]
    return Reply(tuple(pieces), headers={"Content-Type": "text/event-stream; charset=utf-8"}, **how)


def items_reply(*items: dict[str, Any]) -> Reply:
    return stream(*events_of(*items), completed())


def text_reply(*texts: str) -> Reply:
    return items_reply(message_item(*texts))


def error_reply(status: int, message: str, *, code: str | None = None, param: str | None = None) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json_reply({"error": error}, status=status)


def find_problem(received: Received) -> str | None:
    """Return why the real service would reject the request."""
    if received.method != "POST" or not received.target.startswith("/v1/responses"):
        return f"no such method: {received.target}"
    body = received.body
    unknown = body.keys() - FIELDS - OPTIONAL_FIELDS
    if unknown or not isinstance(body.get("model"), str) or body.get("stream") is not True:
        return f"Unknown parameter: {sorted(unknown)}"
    if body.get("store") is not False:
        return "a response would be stored"
    if body.get("max_output_tokens", 16) < 16:
        return "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16"
    return wrong_tools(body.get("tools")) or wrong_items(body.get("input"))


def wrong_tools(tools: Any) -> str | None:
    if tools is None:
        return None
    names = [tool["name"] for tool in tools]
    if not tools or len(set(names)) != len(names) or not all(map(NAME.fullmatch, names)):
        return "bad tools"
    if any(tool["type"] != "function" or tool["parameters"].get("type") != "object" for tool in tools):
        return "parameters must be those of an object"
    return None


def wrong_items(items: Any) -> str | None:
    if not items:
        return "input must not be empty"
    called: list[str] = []
    for place, item in enumerate(items):
        kind = item.get("type")
        if kind == "reasoning":
            if not item.get("encrypted_content") or not isinstance(item.get("summary"), list):
                return (
                    f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
                )
            if place + 1 == len(items) or not _follows_reasoning(items[place + 1]):
                return f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
        elif kind == "function_call":
            called.append(item["call_id"])
            wrong = _wrong_call(item)
            if wrong:
                return wrong
        elif kind == "function_call_output":
            if item["call_id"] not in called:
                return f"No tool call found for function call output with call_id {item['call_id']}."
            called.remove(item["call_id"])
            if not isinstance(item["output"], str) and _wrong_content(item["output"]):
                return "a bad output"
        elif kind != "message" or _wrong_message(item):
            return f"Invalid value: {item}"
    return f"No tool output found for function call {called[0]}." if called else None


def _follows_reasoning(item: Any) -> bool:
    return item.get("type") in {"function_call", "reasoning"} or item.get("role") == "assistant"


def _wrong_call(item: Any) -> str | None:
    if not NAME.fullmatch(item["name"]) or not isinstance(json.loads(item["arguments"]), dict):
        return "a bad call"
    return None if 0 < len(item["call_id"]) <= 64 else "a bad id"


def _wrong_message(item: Any) -> bool:
    content = item["content"]
    if item["role"] == "assistant":
        return not content or any(part["type"] != "output_text" or not part["text"] for part in content)
    return item["role"] != "user" or not content or _wrong_content(content)


def _wrong_content(content: Any) -> bool:
    kinds = {
        "input_text": {"text"},
        "input_image": {"image_url", "detail"},
        "input_file": {"filename", "file_data", "file_url"},
    }
    return any(part["type"] not in kinds or part.keys() - {"type"} - kinds[part["type"]] for part in content)
