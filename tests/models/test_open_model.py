import asyncio
import subprocess
import sys

import pytest

from support.model_servers import openai
from support.model_servers.gemini import ModelServer, error_reply, text_reply
from tejat.core.errors import UsageError
from tejat.core.messages.history import user_message
from tejat.core.model import FailureKind, ModelFailure, ModelRequest, Retry, TextDelta
from tejat.models import ModelOptions, open_model


def test_the_environment_overrules_the_settings_and_the_loop_is_around_it() -> None:
    async def run() -> None:
        environment = {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address}
        model = open_model(
            " gemini:gemini-2.5-pro", ModelOptions(environment, max_attempts=2, base_url="https://x.invalid")
        )
        assert model.name == "gemini:gemini-2.5-pro"
        chunks = [found async for found in model.stream(ModelRequest([user_message("hi")]))]
        assert isinstance(chunks[0], Retry)
        assert (chunks[0].max_attempts, chunks[1]) == (2, TextDelta("Hello"))
        await model.close()

    with ModelServer([error_reply(503, "busy", retry_after="0"), text_reply("Hello")]) as server:
        asyncio.run(run())


@pytest.mark.parametrize("name", ["gemini-2.5-pro", "claude-opus-5", "gpt-5"])
def test_no_key(name: str) -> None:
    with pytest.raises(ModelFailure) as caught:
        open_model(name, ModelOptions({}))
    assert caught.value.kind is FailureKind.NO_KEY


def test_names_that_mean_nothing() -> None:
    with pytest.raises(UsageError):
        open_model("nobody's", ModelOptions({}))


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert open_model("ollama:qwen3:8b", ModelOptions({})).name == "ollama:qwen3:8b"
    own = {"OPENAI_BASE_URL": "http://localhost:8080/v1"}
    assert open_model("qwen3:8b", ModelOptions(own)).name == "qwen3:8b"


def test_only_the_service_in_use_is_loaded() -> None:
    program = (
        "import sys; from tejat.models import ModelOptions, open_model;"
        "open_model('gemini-2.5-pro', ModelOptions({'GEMINI_API_KEY': 'key'}));"
        "print(*[name for name in sys.modules if name.startswith(('tejat.models.openai', 'tejat.models.anthropic',"
        " 'tejat.models.gemini.vertex', 'tejat.models.scripted', 'google.auth', 'email',"
        " 'urllib.request', 'random'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""


def test_no_key_is_shown_with_the_options() -> None:
    assert "hunter22" not in repr(ModelOptions({"GEMINI_API_KEY": "hunter22"}))


def test_what_a_server_rejects_is_left_out_from_then_on() -> None:
    """The client has learned it even if nobody reads its stream to the end, as the loop around it does."""

    async def run() -> None:
        model = open_model("qwen", ModelOptions({"OPENAI_BASE_URL": server.base}))
        for _ in range(2):
            async for _chunk in model.stream(ModelRequest([user_message("hi")])):
                pass
        await model.close()

    refusal = openai.error_reply(400, "Unrecognized request argument: stream_options")
    with openai.OpenAiServer(refusal, openai.text_reply("One"), openai.text_reply("Two")) as server:
        asyncio.run(run())
    assert ["stream_options" in received.body for received in server.requests] == [True, False, False]
