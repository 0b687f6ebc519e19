"""What services offer, with what the catalogue knows about it; the catalogue where a service cannot be asked."""

import asyncio
from collections.abc import Mapping

import pytest

from support.model_servers.gemini import LoopbackServer, Received, Reply, json_reply
from tejat.core.agent.listed_models import ListedModel, ServiceListing
from tejat.core.agent.prices import FREE, Price
from tejat.core.errors import UsageError
from tejat.models import ModelOptions
from tejat.models.discovery.model_list import ModelLister, parse_services
from tejat.models.names import Provider

SILENT = {"OLLAMA_HOST": "127.0.0.1:9"}


def lister(environment: Mapping[str, str], prices: Mapping[str, Price] | None = None) -> ModelLister:
    return ModelLister(ModelOptions({**SILENT, **environment}), prices)


def listing(environment: Mapping[str, str], provider: Provider, *, every: bool = False) -> ServiceListing:
    return asyncio.run(lister(environment).list_service(provider, every=every))


def by_name(listing: ServiceListing) -> dict[str, ListedModel]:
    return {model.name: model for model in listing.models}


def test_gemini_page_by_page() -> None:
    pages = {
        "/v1beta/models?pageSize=1000": {
            "models": [
                {"name": "models/gemini-3.1-pro-preview", "displayName": "Pro", "inputTokenLimit": 999_999},
                {"name": "models/text-embedding-004", "supportedGenerationMethods": ["embedContent"]},
                {"name": "models/gemini-2.5-flash-preview-tts", "supportedGenerationMethods": ["generateContent"]},
            ],
            "nextPageToken": "abc=",
        },
        "/v1beta/models?pageSize=1000&pageToken=abc=": {
            "models": [{"name": "models/brand-new", "outputTokenLimit": 5}]
        },
    }
    with LoopbackServer(lambda request: json_reply(pages[request.target])) as server:
        environment = {"GOOGLE_API_KEY": "the-key", "GOOGLE_GEMINI_BASE_URL": server.address}
        found = listing(environment, Provider.GEMINI)
        every = listing(environment, Provider.GEMINI, every=True)
    assert found.problem == ""
    models = by_name(found)
    assert list(models) == ["gemini:brand-new", "gemini-3.1-pro-preview"]
    pro = models["gemini-3.1-pro-preview"]
    assert (pro.title, pro.context_window, pro.max_output, pro.is_preview) == ("Pro", 999_999, 65_536, True)
    assert pro.aliases == ("auto", "auto-gemini-3", "pro", "gemini-3-pro-preview")
    assert pro.price is not None
    new = models["gemini:brand-new"]
    assert (new.id, new.context_window, new.max_output, new.price) == ("brand-new", None, 5, None)
    assert len(every.models) == 3
    assert {request.headers["x-goog-api-key"] for request in server.requests} == {"the-key"}


def test_gemini_behind_a_gateway() -> None:
    with LoopbackServer(lambda _: json_reply({"models": [{"name": "models/x"}]})) as server:
        environment = {
            "GEMINI_API_KEY": "the-key",
            "GOOGLE_GEMINI_BASE_URL": server.address,
            "GOOGLE_GENAI_API_VERSION": "v1",
            "GEMINI_API_KEY_AUTH_MECHANISM": "bearer",
            "GEMINI_CLI_CUSTOM_HEADERS": "X-Team: a",
        }
        assert listing(environment, Provider.GEMINI).problem == ""
    (request,) = server.requests
    assert request.target == "/v1/models?pageSize=1000"
    assert (request.headers["authorization"], request.headers["x-team"]) == ("Bearer the-key", "a")
    assert "x-goog-api-key" not in request.headers


def test_anthropic() -> None:
    data = [
        {"id": "claude-opus-5", "display_name": "Claude Opus 5", "created_at": "2026-02-03T00:00:00Z"},
        {"id": "claude-next", "max_input_tokens": 7, "created_at": "soon"},
    ]
    with LoopbackServer(lambda _: json_reply({"data": data})) as server:
        environment = {"ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_BASE_URL": f"{server.address}/v1"}
        models = by_name(listing(environment, Provider.ANTHROPIC))
    assert (models["claude-opus-5"].created, models["claude-opus-5"].context_window) == ("2026-02-03", 1_000_000)
    assert (models["claude-next"].created, models["claude-next"].context_window) == ("", 7)
    (request,) = server.requests
    assert (request.target, request.headers["authorization"]) == ("/v1/models?limit=1000", "Bearer token")


def test_a_server_that_speaks_as_openai_does() -> None:
    data = [{"id": "qwen3", "max_model_len": 40_960, "created": 1_700_000_000}, {"id": "gemini-x", "created": 0}]
    with LoopbackServer(lambda _: json_reply({"data": data})) as server:
        environment = {"OPENAI_BASE_URL": f"{server.address}/v1", "GEMINI_API_KEY": "k"}
        models = by_name(listing(environment, Provider.OPENAI))
    assert set(models) == {"qwen3", "gemini-x"}
    assert (models["qwen3"].context_window, models["qwen3"].created) == (40_960, "2023-11-14")
    assert (models["gemini-x"].aliases, models["gemini-x"].created) == ((), "")
    assert "authorization" not in server.requests[0].headers


def test_ollama_with_the_window_that_a_model_is_loaded_with() -> None:
    def respond(request: Received) -> Reply:
        match request.target.partition("?")[0]:
            case "/v1/models":
                return json_reply({"data": [{"id": "qwen3:8b"}]})
            case "/api/show":
                return json_reply({"model_info": {"qwen3.context_length": 40_960}, "parameters": "num_ctx 8192"})
            case _:
                return Reply((b"{}",), status=404)

    with LoopbackServer(respond) as server:
        models = by_name(listing({"OLLAMA_HOST": f"127.0.0.1:{server.port}"}, Provider.OLLAMA))
    assert (models["ollama:qwen3:8b"].context_window, models["ollama:qwen3:8b"].price) == (8192, FREE)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply((b"{}",), status=401), "The service rejected the API key (HTTP 401)."),
        (Reply((b"{}",), status=500), "The service does not list its models (HTTP 500)."),
        (Reply((b"<html>",)), "The service does not list its models (HTTP 200)."),
        (Reply((b"[]",)), "The service does not list its models (HTTP 200)."),
    ],
)
def test_the_catalogue_where_a_service_does_not_answer(reply: Reply, problem: str) -> None:
    with LoopbackServer(lambda _: reply) as server:
        found = listing({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.address}, Provider.ANTHROPIC)
        own = listing({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.address}, Provider.OPENAI)
    assert (found.problem, own.problem) == (problem, problem)
    models = by_name(found)
    assert {"claude-opus-5", "claude-sonnet-5-5"} <= set(models)
    assert models["claude-opus-5"].context_window == 1_000_000
    assert not {"claude-2", "claude-3-opus-latest"} & set(models)
    # Nobody but the server knows what it offers.
    assert own.models == ()


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({}, "No API key for this service."),
        (
            {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "nonsense"},
            "GOOGLE_GEMINI_BASE_URL is not a valid service address",
        ),
        ({"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"}, "Could not connect to 127.0.0.1:9"),
    ],
)
def test_the_catalogue_where_a_service_cannot_be_asked(environment: dict[str, str], problem: str) -> None:
    found = listing(environment, Provider.GEMINI)
    assert found.problem.startswith(problem)
    assert "gemini-3.8-flash" in by_name(found)


def test_names_that_hold_nothing_strange() -> None:
    data = [{"id": name} for name in ("ok", "", "a b", "\x1b[2J", "x" * 300, 7, None)]
    with LoopbackServer(lambda _: json_reply({"data": [*data, 3, []]})) as server:
        found = listing({"OPENAI_BASE_URL": server.address}, Provider.OPENAI)
    assert list(by_name(found)) == ["ok"]


@pytest.mark.parametrize(
    ("environment", "providers"),
    [
        ({}, [Provider.OLLAMA]),
        ({"GEMINI_API_KEY": "k"}, [Provider.GEMINI, Provider.OLLAMA]),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "true", "GEMINI_API_KEY": "k"}, [Provider.VERTEX, Provider.OLLAMA]),
        ({"OPENAI_BASE_URL": "http://x"}, [Provider.OPENAI, Provider.OLLAMA]),
        ({"ANTHROPIC_API_KEY": "k"}, [Provider.ANTHROPIC, Provider.OLLAMA]),
    ],
)
def test_the_services_that_can_be_asked(environment: dict[str, str], providers: list[Provider]) -> None:
    assert list(lister(environment).providers()) == providers


def test_vertex_lists_the_catalogue() -> None:
    found = listing({"GOOGLE_GENAI_USE_VERTEXAI": "1"}, Provider.VERTEX)
    assert found.problem
    assert by_name(found)["gemini-3.8-flash"].aliases == ("flash",)


def test_own_prices_are_shown() -> None:
    known = lister({}, {"gpt-6.1-sol": Price(1, 2, 3)}).known_models(Provider.OPENAI)
    assert {model.price for model in known if model.id == "gpt-6.1-sol"} == {Price(1, 2, 3)}


def test_names_of_services() -> None:
    assert parse_services(None) is None
    assert parse_services(["openai", "gemini", "openai"]) == (Provider.OPENAI, Provider.GEMINI)
    with pytest.raises(UsageError, match="Unknown service 'scripted'"):
        parse_services(["scripted"])
