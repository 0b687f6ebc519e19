"""Presets on their way to a service."""

import asyncio
from typing import Any

from support.model_servers.gemini import ModelServer, text_reply
from support.model_servers.openai import OpenAiServer
from support.model_servers.openai import text_reply as openai_reply
from tejat.core.messages.history import user_message
from tejat.core.messages.types import JsonObject
from tejat.core.model import ModelClient, ModelRequest
from tejat.models import ModelOptions, open_model

REQUEST = ModelRequest([user_message("hi")])


def generation_of(request: ModelRequest) -> JsonObject:
    thinking = {"thinkingBudget": 512}
    return {"temperature": 1.0 if request.is_retry else 0.0, "thinkingConfig": thinking}


async def ask(model: ModelClient) -> Any:
    try:
        notices = await model.prepare()
        async for _ in model.stream(REQUEST):
            pass
    finally:
        await model.close()
    return notices


def test_settings_reach_gemini_and_know_a_retry() -> None:
    with ModelServer([text_reply(""), text_reply("Hello")]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        options = ModelOptions(environment, generation_of=generation_of)
        assert asyncio.run(ask(open_model("gemini-2.5-pro", options))) == ()
        sent = [request.body["generationConfig"] for request in server.requests]
    assert [config["temperature"] for config in sent] == [0.0, 1.0]
    assert sent[0]["thinkingConfig"] == {"includeThoughts": True, "thinkingBudget": 512}


def test_other_services_say_what_they_ignore() -> None:
    with OpenAiServer(openai_reply("Hello")) as server:
        options = ModelOptions({"OPENAI_BASE_URL": server.base}, generation_of=generation_of)
        notices = asyncio.run(ask(open_model("openai:gpt-x", options)))
        *_, request = server.requests
    assert request.body["temperature"] == 0.0
    assert "thinkingConfig.thinkingBudget" in " ".join(notices)
