import pytest

from tejat.config.settings.types import McpServer, OAuth
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.settings import OAuthSettings, parse_oauth_settings, token_key
from tejat.mcp.oauth.token_store import TokenKey

EVERYTHING: OAuth = {
    "enabled": True,
    "clientId": "id",
    "clientSecret": "hidden",
    "scopes": ("a", "b"),
    "authorizationUrl": "https://x.example/a",
    "tokenUrl": "https://x.example/t",
    "issuer": "https://x.example",
    "redirectUri": "http://localhost:7777/back",
    "audiences": ("me",),
}


def test_everything() -> None:
    settings = parse_oauth_settings(McpServer(url="https://b.example", http_url="https://a.example", oauth=EVERYTHING))
    assert settings == OAuthSettings(
        "https://a.example",
        "id",
        "hidden",
        ("a", "b"),
        "https://x.example/a",
        "https://x.example/t",
        "https://x.example",
        "http://localhost:7777/back",
        ("me",),
    )
    assert "hidden" not in repr(settings)


def test_nothing() -> None:
    given = McpServer(url="https://b.example", auth_provider_type="dynamic_discovery", oauth={"clientId": ""})
    assert parse_oauth_settings(given) == OAuthSettings("https://b.example")


@pytest.mark.parametrize(
    ("oauth", "message"),
    [
        ({"tokenParamName": "token"}, "oauth.tokenParamName is not supported"),
        ({"authorizationUrl": "x", "clientId": "c"}, "oauth.authorizationUrl and oauth.tokenUrl must be set together"),
        ({"tokenUrl": "x", "clientId": "c"}, "oauth.authorizationUrl and oauth.tokenUrl must be set together"),
        ({"authorizationUrl": "x", "tokenUrl": "y"}, "oauth.authorizationUrl needs oauth.clientId"),
        ({"scopes": ('a"b',)}, "oauth.scopes contains invalid characters"),
        ({"scopes": ("a\nb",)}, "oauth.scopes contains invalid characters"),
    ],
)
def test_what_cannot_be(oauth: OAuth, message: str) -> None:
    with pytest.raises(McpFailure, match=message) as caught:
        parse_oauth_settings(McpServer(url="https://b.example", oauth=oauth))
    assert caught.value.problem is McpProblem.CONFIGURATION


@pytest.mark.parametrize("provider", ["google_credentials", "service_account_impersonation"])
def test_credentials_of_google(provider: str) -> None:
    with pytest.raises(McpFailure, match=f"authProviderType {provider} is not supported"):
        parse_oauth_settings(McpServer(url="https://b.example", auth_provider_type=provider))


def test_holders() -> None:
    assert token_key("s", McpServer(url="https://A.example/x?key=1")) == TokenKey("s", "https://a.example:443")
    assert token_key("s", McpServer(http_url="http://[::1]:80/")) == TokenKey("s", "http://[::1]:80")
    with pytest.raises(McpFailure, match="The URL"):
        token_key("s", McpServer(url="nowhere"))
