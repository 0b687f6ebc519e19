"""OpenAI's models on Azure."""

from typing import Any

import pytest

from support.model_servers.client_use import use_client
from support.model_servers.gemini import LoopbackServer
from support.model_servers.openai import text_reply as chat_reply
from support.model_servers.responses import text_reply
from tejat.core.errors import UsageError
from tejat.core.messages.history import user_message
from tejat.core.model import Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.models import ModelOptions, open_model

HELLO = ModelRequest((user_message("Hello"),))
KEY = {"AZURE_OPENAI_API_KEY": "azure-key-1234"}


async def collect(client: ModelClient) -> list[Chunk]:
    return [each async for each in client.stream(HELLO)]


def request_to(path: str = "", *, api: str | None = None, **environment: str) -> Any:
    """The one request to the service."""
    reply = text_reply("Hi") if api == "responses" else chat_reply("Hi")
    with LoopbackServer(lambda received: reply if received.method == "POST" else chat_reply()) as server:
        endpoint = {"AZURE_OPENAI_ENDPOINT": server.address + path}
        options = ModelOptions({**endpoint, **environment}, openai_api=api)
        use_client(open_model("azure:my-gpt", options), collect)
        (request,) = server.requests
        return request


@pytest.mark.parametrize("path", ["", "/", "/openai/v1/", "/openai"])
def test_the_v1_api(path: str) -> None:
    request = request_to(path, **KEY)
    assert request.target == "/openai/v1/chat/completions"
    assert request.headers["api-key"] == "azure-key-1234"
    assert "authorization" not in request.headers
    assert request.body["model"] == "my-gpt"


@pytest.mark.parametrize("variable", ["AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"])
def test_a_dated_api(variable: str) -> None:
    request = request_to(**KEY, **{variable: "2024-10-21"})
    assert request.target == "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"


def test_the_responses_api() -> None:
    assert request_to(api="responses", **KEY).target == "/openai/v1/responses"
    dated = request_to(api="responses", **KEY, AZURE_OPENAI_API_VERSION="2025-04-01-preview")
    assert dated.target == "/openai/responses?api-version=2025-04-01-preview"
    assert dated.body["model"] == "my-gpt"


def test_a_token_of_entra() -> None:
    request = request_to(AZURE_OPENAI_AD_TOKEN="token-1234")
    assert request.headers["authorization"] == "Bearer token-1234"
    assert "api-key" not in request.headers


def test_what_is_missing() -> None:
    with pytest.raises(ModelFailure, match="AZURE_OPENAI_API_KEY") as caught:
        open_model("azure:my-gpt", ModelOptions({"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}))
    assert caught.value.kind is FailureKind.NO_KEY
    with pytest.raises(UsageError, match="AZURE_OPENAI_ENDPOINT"):
        open_model("azure:my-gpt", ModelOptions(KEY))
