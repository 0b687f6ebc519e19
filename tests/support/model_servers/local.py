"""A loopback server that stands for llama.cpp, Ollama, vLLM or LM Studio: a small window and answers by a function."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from support.model_servers.gemini import LoopbackServer, Received, Reply, json_reply
from support.model_servers.openai import call_chunk, chunk, error_reply, stream, usage_chunk

Answer = str | Mapping[str, Any]
"""Words, or a call: the name of a tool and its arguments."""


class LocalModelServer(LoopbackServer):
    """Refuses requests that exceed `window` tokens as llama.cpp does, and answers the others by `answer`.

    `pages` are the other documents of the server by their targets. `drops_tools`: its chat template ignores tools.
    `token_length` is the length of a token in characters.
    `messages` are those of the accepted requests, `sizes` their tokens, `refused` the sizes of the others.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Mapping[str, Any]]], Answer],
        *,
        window: int,
        pages: Mapping[str, object] | None = None,
        drops_tools: bool = False,
        token_length: float = 3.0,
    ) -> None:
        super().__init__(self._reply)
        self._answer = answer
        self._window = window
        self._drops_tools = drops_tools
        self._token_length = token_length
        self.pages = llama_cpp(window) if pages is None else pages
        self.bodies: list[Mapping[str, Any]] = []
        self.sizes: list[int] = []
        self.refused: list[int] = []

    @property
    def base(self) -> str:
        return f"{self.address}/v1"

    def _reply(self, received: Received) -> Reply:
        path = received.target.partition("?")[0]
        if path != "/v1/chat/completions":
            page = self.pages.get(path)
            return error_reply(404, "not found") if page is None else json_reply(page)
        body = received.body
        tools = [] if self._drops_tools else body.get("tools", [])
        counted = count_tokens(body["messages"], self._token_length) + count_tokens(tools, self._token_length)
        if counted > self._window:
            self.refused.append(counted)
            return _too_long(counted, self._window)
        self.bodies.append(body)
        self.sizes.append(counted)
        return _answer_reply(self._answer(body["messages"]), counted, len(self.bodies))


def llama_cpp(window: int, *, supports_tools: bool = True) -> Mapping[str, object]:
    """What llama.cpp says about its model."""
    settings = {"default_generation_settings": {"n_ctx": window}}
    return {"/props": {**settings, "chat_template_caps": {"supports_tools": supports_tools}}}


def count_tokens(value: object, token_length: float = 3.0) -> int:
    """Count one token for three characters: more than the program expects at first."""
    return int(-(-len(json.dumps(value, ensure_ascii=False)) // token_length))


def _answer_reply(answer: Answer, counted: int, number: int) -> Reply:
    usage = {"prompt_tokens": counted, "completion_tokens": 20, "total_tokens": counted + 20}
    if isinstance(answer, str):
        return stream(chunk(content=answer), chunk(reason="stop"), usage_chunk(usage))
    (name, arguments), *_ = answer.items()
    call = call_chunk(0, call_id=f"call{number}", name=name, arguments=json.dumps(arguments))
    return stream(chunk(tool_calls=[call]), chunk(reason="tool_calls"), usage_chunk(usage))


def _too_long(counted: int, window: int) -> Reply:
    error = {
        "code": 400,
        "message": f"request ({counted} tokens) exceeds the available context size ({window} tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": counted,
        "n_ctx": window,
    }
    return json_reply({"error": error}, status=400)
