import pytest

from tejat.core.errors import UsageError
from tejat.models.names import Provider, is_truthy, ollama_base_url, parse_model_name, with_provider


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gemini-2.5-pro", (Provider.GEMINI, "gemini-2.5-pro")),
        (" gemini:gemini-3-pro ", (Provider.GEMINI, "gemini-3-pro")),
        ("models/gemini-2.5-flash", (Provider.GEMINI, "models/gemini-2.5-flash")),
        ("gemma-3-27b-it", (Provider.GEMINI, "gemma-3-27b-it")),
        ("vertex:gemini-2.5-pro", (Provider.VERTEX, "gemini-2.5-pro")),
        ("claude-opus-5", (Provider.ANTHROPIC, "claude-opus-5")),
        ("anthropic:x", (Provider.ANTHROPIC, "x")),
        ("gpt-5", (Provider.OPENAI, "gpt-5")),
        ("o3", (Provider.OPENAI, "o3")),
        ("o4-mini", (Provider.OPENAI, "o4-mini")),
        ("openai:org/model:free", (Provider.OPENAI, "org/model:free")),
        ("ollama:qwen3:8b", (Provider.OLLAMA, "qwen3:8b")),
        ("scripted:a b/../c.toml", (Provider.SCRIPTED, "a b/../c.toml")),
    ],
)
def test_names(name: str, expected: tuple[Provider, str]) -> None:
    assert parse_model_name(name, {}) == expected


def test_the_environment_chooses_among_the_houses_of_gemini() -> None:
    environment = {"GOOGLE_GENAI_USE_VERTEXAI": "true"}
    assert parse_model_name("gemini-2.5-pro", environment) == (Provider.VERTEX, "gemini-2.5-pro")
    assert parse_model_name("gpt-5", environment) == (Provider.OPENAI, "gpt-5")


def test_a_server_of_ones_own_has_any_model() -> None:
    environment = {"OPENAI_BASE_URL": "http://localhost:8080/v1"}
    assert parse_model_name("qwen3:8b", environment) == (Provider.OPENAI, "qwen3:8b")
    assert parse_model_name("gemma-3-1b-it", environment) == (Provider.OPENAI, "gemma-3-1b-it")
    assert parse_model_name("gemini:gemini-2.5-pro", environment) == (Provider.GEMINI, "gemini-2.5-pro")


def test_a_well_known_model_can_be_named_in_spite_of_it() -> None:
    environment = {"OPENAI_BASE_URL": "http://localhost:8080/v1"}
    assert with_provider("gemini-2.5-pro", environment) == "gemini:gemini-2.5-pro"
    assert with_provider("gpt-5", environment) == "gpt-5"
    assert with_provider("gemini-2.5-pro", {}) == "gemini-2.5-pro"
    assert with_provider("gemini-2.5-pro", {"GOOGLE_GENAI_USE_VERTEXAI": "1"}) == "gemini-2.5-pro"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "Unknown model"),
        ("qwen3:8b", "Unknown model"),
        ("o3x", "Unknown model"),
        ("gemini:", "Not a model name"),
        ("gemini:a/../../b", "Not a model name"),
        ("gemini-2.5?key=x", "Not a model name"),
        ("gemini-2.5\nHost: x", "Not a model name"),
        ("openai:" + "x" * 300, "Not a model name"),
        ("scripted:", "needs a file"),
    ],
)
def test_names_that_mean_nothing(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_model_name(name, {})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://localhost:11434/v1"),
        ("box", "http://box:11434/v1"),
        ("box:9", "http://box:9/v1"),
        (":9", "http://localhost:9/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:9", "http://127.0.0.1:9/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("http://box", "http://box:80/v1"),
        ("https://box/ollama/", "https://box:443/ollama/v1"),
    ],
)
def test_where_ollama_is(host: str, address: str) -> None:
    assert ollama_base_url({"OLLAMA_HOST": host}) == address


def test_switches() -> None:
    assert [is_truthy(value) for value in ("1", " TRUE ", "yes", "0", "", None)] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
