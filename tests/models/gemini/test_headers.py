import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from support.model_servers.gemini import LoopbackServer, ModelServer, error_reply, text_reply
from tejat.core.messages.history import user_message
from tejat.core.model import ModelClient, ModelFailure, ModelRequest
from tejat.models import ModelOptions, open_model
from tejat.models.gemini.headers import custom_headers, with_headers

KEY = "a-key-that-is-secret"


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("", {}),
        ("X-A: 1", {"X-A": "1"}),
        ("X-A: 1, X-B:two:three", {"X-A": "1", "X-B": "two:three"}),
        ("X-A: 1, 2, X-B: 3", {"X-A": "1, 2", "X-B": "3"}),
        ("nothing", {}),
        (": empty", {}),
        ("X-A:", {"X-A": ""}),
        (" ,X-A: 1,", {"X-A": "1,"}),
    ],
)
def test_custom_headers(text: str, headers: dict[str, str]) -> None:
    assert custom_headers({"GEMINI_CLI_CUSTOM_HEADERS": text}) == headers


def test_headers_of_the_user_replace_others() -> None:
    async def authenticate() -> Mapping[str, str]:
        return {"x-goog-api-key": KEY, "x-other": "1"}

    added = {"X-Goog-Api-Key": "mine"}
    assert asyncio.run(_headers(with_headers(authenticate, added))) == {"x-other": "1", **added}
    assert with_headers(authenticate, {}) is authenticate


async def _headers(authenticate: Any) -> Any:
    return await authenticate()


async def ask(model: ModelClient) -> None:
    try:
        async for _ in model.stream(ModelRequest([user_message("hi")])):
            pass
        await model.count_tokens(ModelRequest([user_message("hi")]))
    finally:
        await model.close()


def headers_of(model: str, **environment: str) -> list[Mapping[str, str]]:
    with LoopbackServer(lambda _: text_reply("Hello")) as server:
        addresses = {"GOOGLE_GEMINI_BASE_URL": server.address, "GOOGLE_VERTEX_BASE_URL": server.address}
        keys = {"GEMINI_API_KEY": KEY, "GOOGLE_API_KEY": KEY}
        options = ModelOptions(
            {**addresses, **keys, **environment}, vertex_headers={"X-Vertex-AI-LLM-Request-Type": "shared"}
        )
        asyncio.run(ask(open_model(model, options)))
        return [request.headers for request in server.requests]


def test_a_key_as_a_bearer_token() -> None:
    for model in ("gemini-2.5-pro", "vertex:gemini-2.5-pro"):
        for headers in headers_of(model, GEMINI_API_KEY_AUTH_MECHANISM="Bearer"):
            assert headers["authorization"] == f"Bearer {KEY}"
            assert "x-goog-api-key" not in headers
        for headers in headers_of(model, GEMINI_API_KEY_AUTH_MECHANISM="x-goog-api-key"):
            assert headers["x-goog-api-key"] == KEY
            assert "authorization" not in headers


def test_custom_headers_go_with_every_request() -> None:
    seen = headers_of("gemini-2.5-pro", GEMINI_CLI_CUSTOM_HEADERS="X-Team: blue, X-Trace: a")
    assert len(seen) == 2
    assert all((headers["x-team"], headers["x-trace"]) == ("blue", "a") for headers in seen)


def test_headers_for_vertex_only() -> None:
    name = "x-vertex-ai-llm-request-type"
    assert [headers.get(name) for headers in headers_of("vertex:gemini-2.5-pro")] == ["shared", "shared"]
    assert [headers.get(name) for headers in headers_of("gemini-2.5-pro")] == [None, None]


def test_values_of_headers_are_masked() -> None:
    with ModelServer([error_reply(400, "bad token s3cret-value")]) as server:
        environment = {
            "GOOGLE_GEMINI_BASE_URL": server.address,
            "GEMINI_API_KEY": KEY,
            "GEMINI_CLI_CUSTOM_HEADERS": "X-Token: s3cret-value",
        }
        with pytest.raises(ModelFailure) as caught:
            asyncio.run(ask(open_model("gemini-2.5-pro", ModelOptions(environment))))
    assert "s3cret-value" not in caught.value.message
