"""Where keys may go."""

import pytest

from tejat.core.errors import UsageError
from tejat.models import ModelOptions
from tejat.models.base_url import read_api_key, resolve_base_url


def address(environment: dict[str, str], settings: str | None = None, *, has_key: bool = True) -> str:
    options = ModelOptions(environment, base_url=settings)
    return resolve_base_url(options, variable="SERVICE_URL", default="https://usual.example/v1", has_key=has_key)


def test_the_environment_overrules_the_settings() -> None:
    assert address({}) == "https://usual.example/v1"
    assert address({}, "https://mine.example/") == "https://mine.example"
    assert address({"SERVICE_URL": " https://other.example/v1/ "}, "https://mine.example") == "https://other.example/v1"
    assert address({"SERVICE_URL": ""}, "https://mine.example") == "https://mine.example"


def test_a_key_goes_in_the_clear_only_where_it_was_sent_on_purpose() -> None:
    with pytest.raises(UsageError, match=r"The API key would be sent unencrypted to mine\.example"):
        address({}, "http://mine.example/v1")
    assert address({}, "http://mine.example/v1", has_key=False) == "http://mine.example/v1"
    assert address({"SERVICE_URL": "http://mine.example"}) == "http://mine.example"
    for loopback in ("http://localhost:8000/v1", "http://127.0.0.1:1", "http://[::1]:1"):
        assert address({}, loopback) == loopback


@pytest.mark.parametrize(
    "wrong",
    [
        "example.org",
        "ftp://example.org",
        "http://",
        "https://x/?a=1",
        "https://x/#a",
        "https://me:hunter22@x",
        "file:///etc/passwd",
        "http://[",
        "http://x:99999",
    ],
)
def test_what_is_no_address(wrong: str) -> None:
    is_none = "is not a valid service address. Use http:// or https://, a host, and an optional port and path."
    with pytest.raises(UsageError) as caught:
        address({"SERVICE_URL": wrong})
    assert str(caught.value) == f"SERVICE_URL {is_none}"
    with pytest.raises(UsageError) as caught:
        address({}, wrong)
    assert str(caught.value) == f"The setting model.baseUrl {is_none}"


def test_a_key() -> None:
    assert read_api_key(ModelOptions({"KEY": " sk-1 \n"}), "KEY") == "sk-1"
    assert read_api_key(ModelOptions({}), "KEY") == ""
    assert read_api_key(ModelOptions({"KEY": "  "}), "KEY") == ""
    for wrong in ("schlüssel", "a\nb", "a\x00b"):
        with pytest.raises(UsageError) as caught:
            read_api_key(ModelOptions({"KEY": wrong}), "KEY")
        assert str(caught.value) == "KEY contains characters that are not valid in an API key."
