"""Anthropic's models on Amazon Bedrock, against a server that speaks its stream."""

from typing import Any

import pytest

from support.model_servers.anthropic import call_block, message_end, message_start, text_block
from support.model_servers.bedrock import event_frame, exception_frame, stream
from support.model_servers.client_use import use_client
from support.model_servers.gemini import LoopbackServer, Reply, json_reply
from tejat.core.errors import UsageError
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import user_message
from tejat.core.messages.types import FunctionCall, Text
from tejat.core.model import Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest, ModelResponse
from tejat.models import ModelOptions, open_model

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
TOOLS = (FunctionDeclaration("read", "Reads.", {"type": "object", "properties": {}}),)
HELLO = ModelRequest((user_message("Hello"),), "Be brief.", TOOLS)
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-value-1234", "AWS_REGION": "us-east-1"}
TOKEN = {"AWS_BEARER_TOKEN_BEDROCK": "bearer-value-1234", "AWS_DEFAULT_REGION": "eu-west-3"}
EVENTS = [
    message_start(),
    *text_block(0, "I ", "look."),
    *call_block(1, "toolu_1", "read", '{"a"', ":1}"),
    *message_end("tool_use"),
]


async def collect(client: ModelClient) -> list[Chunk]:
    return [each async for each in client.stream(HELLO)]


def asked(*replies: Reply, keys: dict[str, str] = KEYS) -> tuple[ModelResponse, list[Any]]:
    waiting = iter(replies)
    with LoopbackServer(lambda _: next(waiting)) as server:
        options = ModelOptions({**keys, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.address}, max_attempts=1)
        chunks = use_client(open_model(f"bedrock:{MODEL}", options), collect)
        assert isinstance(chunks[-1], ModelResponse)
        return chunks[-1], list(server.requests)


def test_a_signed_request_and_its_answer() -> None:
    answer, (request,) = asked(stream(*map(event_frame, EVENTS)))
    assert answer.message.parts == (Text("I look."), FunctionCall("read", {"a": 1}, "toolu_1"))
    assert answer.usage.cached == 70
    path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream"
    assert (request.method, request.target) == ("POST", path)
    assert request.body["anthropic_version"] == "bedrock-2023-05-31"
    assert not {"model", "stream"} & request.body.keys()
    assert request.body["messages"][0]["role"] == "user"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/us-east-1/bedrock/aws4_request" in request.headers["authorization"]
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in str(dict(request.headers))


def test_an_api_key_of_bedrock() -> None:
    _, (request,) = asked(stream(*map(event_frame, EVENTS)), keys={**KEYS, **TOKEN})
    assert request.headers["authorization"] == f"Bearer {TOKEN['AWS_BEARER_TOKEN_BEDROCK']}"
    assert "x-amz-date" not in request.headers


def test_what_the_service_rejects_is_left_out() -> None:
    refusal = json_reply({"message": "cache_control: Extra inputs are not permitted"}, status=400)
    _, requests = asked(refusal, stream(*map(event_frame, EVENTS)))
    assert ["cache_control" in str(request.body) for request in requests] == [True, False]


@pytest.mark.parametrize(
    ("reply", "kind", "status"),
    [
        (stream(event_frame(EVENTS[0]), exception_frame("throttlingException", "slow")), FailureKind.RATE_LIMITED, 429),
        (stream(exception_frame("internalServerException", "oops")), FailureKind.UNAVAILABLE, 500),
        (stream(exception_frame("serviceUnavailableException", "oops")), FailureKind.UNAVAILABLE, 503),
        (stream(exception_frame("validationException", "no")), FailureKind.BAD_REQUEST, 400),
        (json_reply({"message": "Input is too long for requested model."}, status=400), FailureKind.CONTEXT_FULL, 400),
        (json_reply({"message": "not authorized secret-value-1234"}, status=403), FailureKind.AUTHENTICATION, 403),
        (json_reply({"Message": "?"}, status=404), FailureKind.BAD_REQUEST, 404),
        (stream(*map(event_frame, EVENTS[:3])), FailureKind.STREAM_CUT, None),
        (json_reply({"type": "message"}), FailureKind.PROTOCOL, None),
    ],
)
def test_failures(reply: Reply, kind: FailureKind, status: int | None) -> None:
    with pytest.raises(ModelFailure) as caught:
        asked(reply)
    assert (caught.value.kind, caught.value.status) == (kind, status)
    assert "secret-value-1234" not in caught.value.message


@pytest.mark.parametrize(
    ("environment", "model", "said"),
    [
        ({}, MODEL, "AWS_REGION"),
        ({"AWS_REGION": "us-east-1/.."}, MODEL, "AWS_REGION"),
        (KEYS, "amazon.nova-pro-v1:0", "not an Anthropic model"),
    ],
)
def test_what_cannot_be_opened(environment: dict[str, str], model: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        open_model(f"bedrock:{model}", ModelOptions(environment))


def test_without_a_key() -> None:
    with pytest.raises(ModelFailure, match="AWS_BEARER_TOKEN_BEDROCK") as caught:
        open_model(f"bedrock:{MODEL}", ModelOptions({"AWS_REGION": "us-east-1"}))
    assert caught.value.kind is FailureKind.NO_KEY
