"""MCP servers out of the settings: every field, and what is said about a wrong one."""

import json
from pathlib import Path

import pytest

from tejat.config.mcp.server_parser import parse_mcp_server
from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingKey, SettingsError
from tejat.config.settings.loader import read_settings_file
from tejat.config.settings.types import McpServer

PROVIDERS = ("dynamic_discovery", "google_credentials", "service_account_impersonation")


def read(directory: Path, server: object, *, tier: SourceTier = SourceTier.USER) -> McpServer:
    path = directory / "s.json"
    path.write_text('{"mcpServers":\n{"a": ' + json.dumps(server) + "}}")
    file = read_settings_file(str(path), tier, {"TOKEN": "SECRET-VALUE", "DIR": "/d"})
    assert file is not None
    found = file.find(SettingKey("mcpServers.a"))
    assert found is not None
    return parse_mcp_server(found)


def test_every_field(tmp_path: Path) -> None:
    server = {
        "command": "run",
        "args": ["--dir", "$DIR", ""],
        "env": {"T": "$TOKEN", "PORT": 80, "ON": True, "HALF": 0.5, "NONE": None},
        "cwd": "${DIR}/x",
        "url": "http://u",
        "httpUrl": "http://h",
        "type": "sse",
        "headers": {"A": "Bearer $TOKEN"},
        "tcp": "h:1",
        "timeout": 1500,
        "startTimeout": 2500,
        "trust": True,
        "sampling": True,
        "sandbox": True,
        "description": "what it is",
        "includeTools": ["a", "b(x)"],
        "excludeTools": ["c"],
        "extensionName": "e",
        "oauth": {"enabled": True, "clientId": "i", "clientSecret": "$TOKEN", "scopes": ["s"], "more": 5},
        "authProviderType": "google_credentials",
        "targetAudience": "t",
        "targetServiceAccount": "s",
        "unheardOf": [],
    }
    assert read(tmp_path, server) == McpServer(
        command="run",
        arguments=("--dir", "/d", ""),
        environment={"T": "$TOKEN", "PORT": "80", "ON": "true", "HALF": "0.5"},
        directory="/d/x",
        url="http://u",
        http_url="http://h",
        type="sse",
        headers={"A": "Bearer SECRET-VALUE"},
        tcp="h:1",
        timeout=1.5,
        start_timeout=2.5,
        is_trusted=True,
        may_sample=True,
        is_sandboxed=True,
        description="what it is",
        include_tools=("a", "b(x)"),
        exclude_tools=("c",),
        extension_name="e",
        oauth={"enabled": True, "clientId": "i", "clientSecret": "SECRET-VALUE", "scopes": ("s",)},
        auth_provider_type="google_credentials",
        target_audience="t",
        target_service_account="s",
        unknown_fields=("unheardOf",),
    )


def test_nothing_given(tmp_path: Path) -> None:
    assert read(tmp_path, {}) == McpServer(timeout=600.0)
    assert read(tmp_path, {"includeTools": []}).include_tools == ()


@pytest.mark.parametrize(
    ("tier", "trusted"), [(SourceTier.USER, True), (SourceTier.ADMIN, True), (SourceTier.WORKSPACE, False)]
)
def test_a_project_cannot_say_that_its_server_is_trusted(tmp_path: Path, tier: SourceTier, trusted: bool) -> None:
    server = read(tmp_path, {"command": "a", "trust": True, "sampling": True}, tier=tier)
    assert (server.is_trusted, server.may_sample) == (trusted, trusted)


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ([], "mcpServers.a must be an object, not a list"),
        ({"command": 5}, "mcpServers.a.command must be a string, not the number 5"),
        ({"args": "x"}, "mcpServers.a.args must be a list of strings, not 'x'"),
        ({"args": ["x", 5]}, "mcpServers.a.args must be a list of strings, not a list"),
        ({"env": "HUSH"}, "mcpServers.a.env must be an object, not a different string"),
        ({"env": {"X": ["HUSH"]}}, "mcpServers.a.env.X must be a string, not a list"),
        ({"headers": "HUSH"}, "mcpServers.a.headers must be an object, not a different string"),
        ({"oauth": {"enabled": "HUSH"}}, "mcpServers.a.oauth.enabled must be true or false, not a different string"),
        ({"oauth": {"scopes": "HUSH"}}, "mcpServers.a.oauth.scopes must be a list of strings, not a different string"),
        ({"timeout": 0}, "mcpServers.a.timeout must be a number of milliseconds, not the number 0"),
        ({"timeout": "$TOKEN"}, "mcpServers.a.timeout must be a number of at least 0, not '$TOKEN'"),
        ({"trust": "yes"}, "mcpServers.a.trust must be true or false, not 'yes'"),
        (
            {"authProviderType": "x"},
            f"mcpServers.a.authProviderType must be {' or '.join(PROVIDERS)}, not 'x'",
        ),
    ],
)
def test_wrong(tmp_path: Path, server: object, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, server)
    path = tmp_path / "s.json"
    assert str(caught.value) == f"Error in {path}: line 2: {problem}\nPlease fix {path} and try again."
