"""What servers say about their models, and how seldom and briefly they are asked."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import pytest

from support.model_servers.gemini import LoopbackServer, Received, Reply, json_reply
from support.model_servers.local import LocalModelServer, llama_cpp
from support.model_servers.openai import error_reply
from tejat.core.messages.history import user_message
from tejat.core.model import ModelClient, ModelRequest
from tejat.models import ModelOptions, open_model
from tejat.models.openai.client import OpenAIClient, open_openai
from tejat.models.openai.served_model import ServedModel, fetch_served_model, is_local_server
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpLimits

SHOWN: Mapping[str, Any] = {
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
    "parameters": 'stop  "<|im_end|>"\ntemperature  0.6',
    "capabilities": ["completion", "tools"],
}
WITH_NUM_CTX = {**SHOWN, "parameters": 'num_ctx                        16384\nstop "x"', "capabilities": ["completion"]}
LOADED = {"models": [{"name": "qwen3:latest", "context_length": 32768}]}
OTHERS_LOADED = {"models": [{"name": "llama", "context_length": 2048}]}


@pytest.mark.parametrize(
    ("pages", "environment", "expected"),
    [
        (llama_cpp(4096), {}, ServedModel(4096, True)),
        (llama_cpp(4096, supports_tools=False), {}, ServedModel(4096, False)),
        ({"/v1/models": {"data": [{"id": "qwen3", "max_model_len": 32768}]}}, {}, ServedModel(32768)),
        (
            {"/v1/models": {"data": [{"id": "other.gguf", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}}]}},
            {},
            ServedModel(2048),
        ),
        (
            {"/v1/models": {"data": [{"id": "a", "max_model_len": 1}, {"id": "qwen3", "context_length": 5000}]}},
            {},
            ServedModel(5000),
        ),
        (
            {
                "/v1/models": {"data": [{"id": "qwen3"}]},
                "/api/v0/models": {
                    "data": [{"id": "qwen3", "max_context_length": 131072, "loaded_context_length": 8192}]
                },
            },
            {},
            ServedModel(8192),
        ),
        ({"/api/show": SHOWN, "/api/ps": LOADED}, {}, ServedModel(32768, True)),
        ({"/api/show": WITH_NUM_CTX, "/api/ps": OTHERS_LOADED}, {}, ServedModel(16384, False)),
        ({"/api/show": SHOWN, "/api/ps": {"models": []}}, {}, ServedModel(4096, True, is_final=False)),
        (
            {"/api/show": SHOWN, "/api/ps": OTHERS_LOADED},
            {"OLLAMA_CONTEXT_LENGTH": "65536"},
            ServedModel(40960, True, is_final=False),
        ),
        ({}, {}, ServedModel(is_final=False)),
        (
            {"/props": [], "/v1/models": {"data": "none"}, "/api/show": {"model_info": 1}},
            {},
            ServedModel(is_final=False),
        ),
    ],
)
def test_what_servers_say(pages: Mapping[str, object], environment: Mapping[str, str], expected: ServedModel) -> None:
    async def main(base: str) -> ServedModel:
        http = HttpClient(environment={})
        try:
            return await fetch_served_model(http, base, "qwen3", headers={}, environment=environment)
        finally:
            await http.close()

    with LocalModelServer(lambda _: "", window=1, pages=pages) as server:
        assert asyncio.run(main(server.base)) == expected


@pytest.mark.parametrize(
    ("base", "is_local"),
    [
        ("http://localhost:8080/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.7:1234/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://gpu.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://openrouter.ai/api/v1", False),
        ("http://8.8.8.8/v1", False),
    ],
)
def test_who_is_asked(base: str, is_local: bool) -> None:
    assert is_local_server(base) is is_local


def opened(server: LoopbackServer) -> ModelClient:
    return open_model("gemma-3-1b", ModelOptions({"OPENAI_BASE_URL": f"{server.address}/v1"}))


def asked(server: LoopbackServer) -> int:
    return sum(received.target.startswith("/props") for received in server.requests)


def test_a_server_is_asked_once() -> None:
    async def main(server: LoopbackServer) -> tuple[int, int]:
        model = opened(server)
        before = model.context_window
        await asyncio.gather(model.prepare(), model.prepare())
        assert await model.prepare() == ()
        await model.close()
        return before, model.context_window

    with LocalModelServer(lambda _: "", window=4096) as server:
        assert asyncio.run(main(server)) == (32_768, 4096)
        assert asked(server) == 1


def test_a_model_that_is_not_loaded_yet_is_asked_for_again_after_its_first_answer() -> None:
    pages: dict[str, object] = {"/api/show": SHOWN, "/api/ps": {"models": []}}

    def answer(_: object) -> str:
        pages["/api/ps"] = {"models": [{"name": "gemma-3-1b:latest", "context_length": 16384}]}
        return "Hello."

    async def main(server: LoopbackServer) -> list[int]:
        model = opened(server)
        windows: list[int] = []
        for _ in range(3):
            await model.prepare()
            windows.append(model.context_window)
            async for _chunk in model.stream(ModelRequest([user_message("hi")])):
                pass
        await model.close()
        return windows

    with LocalModelServer(answer, window=100_000, pages=pages) as server:
        assert asyncio.run(main(server)) == [4096, 16384, 16384]
        assert asked(server) == 2


def test_a_server_that_does_not_answer_costs_little_time() -> None:
    def answer(received: Received) -> Reply:
        if received.target.startswith("/props"):
            return Reply(black_hole=True)
        return (
            json_reply({"data": [{"id": "x", "max_model_len": 7000}]})
            if "models" in received.target
            else error_reply(404, "no")
        )

    async def main(server: LoopbackServer) -> tuple[int, float]:
        model = opened(server)
        began = time.monotonic()
        await model.prepare()
        took = time.monotonic() - began
        await model.close()
        return model.context_window, took

    with LoopbackServer(answer) as server:
        window, took = asyncio.run(main(server))
    assert window == 7000
    assert took < 30


def test_the_limit_for_the_first_byte_follows_the_prompt_of_a_local_server() -> None:
    def limits(base: str, words: int) -> HttpLimits | None:
        client = open_openai("x", ModelOptions({"OPENAI_BASE_URL": base, "OPENAI_API_KEY": "key"}, openai_api="chat"))
        assert isinstance(client, OpenAIClient)
        return client._limits(ModelRequest([user_message("word " * words)]))

    short, long = limits("http://127.0.0.1:1/v1", 10), limits("http://127.0.0.1:1/v1", 10_000)
    assert short is not None
    assert long is not None
    assert 300 < (short.first_byte or 0) < 310
    assert (long.first_byte or 0) > 3000
    assert (long.idle, long.total) == (long.first_byte, None)
    assert limits("https://api.openai.com/v1", 10_000) is None
