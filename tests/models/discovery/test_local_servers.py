"""Models on this machine: those that answer are offered, whatever else listens there."""

import asyncio
import json
import time

import pytest

from support.model_servers.gemini import LoopbackServer, Received, Reply
from tejat.models.discovery.local_servers import LocalModel, find_local_models

NOWHERE = {"OLLAMA_HOST": "127.0.0.1:9"}


def listing(*names: object) -> Reply:
    return Reply((json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode(),))


def found(reply: Reply) -> tuple[LocalModel, ...]:
    with LoopbackServer(lambda _: reply) as server:
        return asyncio.run(find_local_models(NOWHERE, {"Some server": server.port}))


def test_models_of_a_server_that_speaks_as_openai_does() -> None:
    with LoopbackServer(lambda _: listing("qwen3", "org/model.gguf")) as server:
        models = asyncio.run(find_local_models(NOWHERE, {"llama.cpp": server.port}))
    address = f"http://127.0.0.1:{server.port}/v1"
    assert models == (
        LocalModel("openai:qwen3", "llama.cpp", address),
        LocalModel("openai:org/model.gguf", "llama.cpp", address),
    )
    assert [request.target for request in server.requests] == ["/v1/models"]
    assert "authorization" not in server.requests[0].headers


def test_ollama_needs_no_address_beside_its_name() -> None:
    with LoopbackServer(lambda _: listing("qwen3:8b")) as server:
        models = asyncio.run(find_local_models({"OLLAMA_HOST": f"127.0.0.1:{server.port}"}, {}))
    assert models == (LocalModel("ollama:qwen3:8b", "Ollama"),)


def test_nobody_there() -> None:
    assert asyncio.run(find_local_models(NOWHERE, {"nobody": 9})) == ()


@pytest.mark.parametrize(
    "reply",
    [
        Reply((b"<html>A printer</html>",)),
        Reply((b'{"data": 3}',)),
        Reply((b'[{"id": "a"}]',)),
        Reply((b"{}",), status=401),
        Reply((b"\xff" * 3_000_000,)),
        listing(None, 3, {}, "", "no name\x1b[2J", "../climbs"),
        Reply((b'{"data"',), cut_after=3),
    ],
    ids=["page", "number", "list", "refusal", "flood", "no-names", "cut"],
)
def test_other_servers_are_passed_over(reply: Reply) -> None:
    assert found(reply) == ()


def test_a_silent_server_does_not_hold_up_for_long() -> None:
    def respond(_: Received) -> Reply:
        return Reply(black_hole=True)

    with LoopbackServer(respond) as server:
        began = time.monotonic()
        assert asyncio.run(find_local_models(NOWHERE, {"silent": server.port})) == ()
        assert time.monotonic() - began < 15


def test_a_proxy_is_not_asked() -> None:
    with LoopbackServer(lambda _: listing("x")) as proxy:
        environment = {**NOWHERE, "HTTP_PROXY": f"http://127.0.0.1:{proxy.port}", "ALL_PROXY": "http://127.0.0.1:9"}
        assert asyncio.run(find_local_models(environment, {"nobody": 9})) == ()
    assert proxy.requests == []
