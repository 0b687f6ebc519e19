"""Which services are asked for their models, and where."""

import asyncio
import json
from pathlib import Path

from support.model_servers.gemini import LoopbackServer, json_reply
from tejat.app.model_source import list_models
from tejat.app.run_config import RunConfig, load_run_config

KEYS = {"GEMINI_API_KEY": "the-key-of-gemini", "OPENAI_API_KEY": "the-key-of-openai", "OLLAMA_HOST": "127.0.0.1:9"}


def run_config(base: Path, settings: object, **environment: str) -> RunConfig:
    path = base / "home" / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(settings))
    (base / "project").mkdir()
    return load_run_config([str(base / "project")], environment={"HOME": str(base / "home"), **KEYS, **environment})


def test_the_address_of_the_settings_gets_only_the_key_of_its_own_service(tmp_path: Path) -> None:
    with LoopbackServer(lambda _: json_reply({"data": [{"id": "mine"}]})) as server:
        settings = {"model": {"name": "openai:mine", "baseUrl": f"{server.address}/v1"}}
        # No service of Google is asked over the network in a test.
        config = run_config(tmp_path, settings, GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9")
        gemini, openai, _ollama = asyncio.run(list_models(config).list_all())
    assert (gemini.service, openai.service) == ("gemini", "openai")
    assert gemini.problem.startswith("No connection to 127.0.0.1:9")
    assert [model.name for model in openai.models] == ["openai:mine"]
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer the-key-of-openai"]


def test_a_service_that_must_not_be_used_is_not_asked(tmp_path: Path) -> None:
    with LoopbackServer(lambda _: json_reply({"models": []})) as server:
        settings = {"security": {"auth": {"enforcedType": "vertex-ai"}}}
        config = run_config(tmp_path, settings, GOOGLE_GEMINI_BASE_URL=server.address, OPENAI_BASE_URL=server.address)
        lister = list_models(config)
        assert lister.providers() == ()
        listings = asyncio.run(lister.list_all(lister.providers_with_catalogue()))
    assert server.requests == []
    assert all("vertex-ai is enforced by " in listing.problem for listing in listings)
    assert listings[0].models
