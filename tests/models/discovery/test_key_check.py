"""A key is checked once, by a request that costs nothing and tells nobody else."""

import asyncio

import pytest

from support.model_servers.gemini import LoopbackServer, Received, Reply
from tejat.models import ModelOptions
from tejat.models.discovery.key_check import API_KEY_SERVICES, ApiKeyService, KeyStatus, check_key

KEY = "key-of-mine"


def verdict(asked: ApiKeyService, address: str) -> tuple[KeyStatus, str]:
    return asyncio.run(check_key(asked, KEY, ModelOptions({asked.base_url_variable: address})))


@pytest.mark.parametrize(
    ("asked", "target", "header", "value"),
    [
        (API_KEY_SERVICES[0], "/v1beta/models?pageSize=1", "x-goog-api-key", KEY),
        (API_KEY_SERVICES[1], "/v1/models?limit=1", "x-api-key", KEY),
        (API_KEY_SERVICES[2], "/models", "authorization", f"Bearer {KEY}"),
    ],
    ids=lambda value: value.provider if isinstance(value, ApiKeyService) else None,
)
def test_a_key_that_is_taken(asked: ApiKeyService, target: str, header: str, value: str) -> None:
    with LoopbackServer(lambda _: Reply((b"{}",))) as server:
        assert verdict(asked, f"http://127.0.0.1:{server.port}") == (KeyStatus.VALID, "")
    (request,) = server.requests
    assert (request.method, request.target, request.headers[header]) == ("GET", target, value)


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_key_that_is_refused(status: int) -> None:
    def respond(_: Received) -> Reply:
        return Reply((b'{"error":{"message":"no"}}',), status=status)

    with LoopbackServer(respond) as server:
        assert verdict(API_KEY_SERVICES[0], f"http://127.0.0.1:{server.port}") == (KeyStatus.INVALID, f"HTTP {status}")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [404, 429, 500, 503])
def test_an_answer_that_says_neither(status: int) -> None:
    with LoopbackServer(lambda _: Reply((b"",), status=status)) as server:
        assert verdict(API_KEY_SERVICES[2], f"http://127.0.0.1:{server.port}") == (KeyStatus.UNKNOWN, f"HTTP {status}")


def test_nobody_there() -> None:
    found, why = verdict(API_KEY_SERVICES[0], "http://127.0.0.1:9")
    assert (found, why) == (KeyStatus.UNKNOWN, "Could not connect to 127.0.0.1:9: Connection refused.")
    assert KEY not in why
