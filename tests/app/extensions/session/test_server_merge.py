"""Servers of extensions beside those of the settings."""

from tejat.app.extensions.session.server_merge import merge_servers
from tejat.config.extensions.active import ActiveExtension
from tejat.config.paths import SourceTier
from tejat.config.settings.types import McpServer, Setting, Settings

A, B = ActiveExtension("a", "1", "/e/a"), ActiveExtension("b", "1", "/e/b")
SERVER = McpServer(
    command="node",
    arguments=("/e/a/s.js",),
    environment={"K": "v", "L": "$NOT"},
    include_tools=("x", "y"),
    exclude_tools=("z",),
    timeout=5.0,
)
GIVEN = Setting(SERVER, "/e/a/gemini-extension.json", SourceTier.EXTENSION)


def merged(own: Setting[McpServer] | None, **environment: str) -> Setting[McpServer]:
    settings = Settings(mcp_servers={} if own is None else {"s": own})
    return merge_servers(settings, [(A, {"s": GIVEN})], environment)[0].mcp_servers["s"]


def of_user(**fields: object) -> Setting[McpServer]:
    return Setting(McpServer(**fields), "settings.json:3", SourceTier.USER)  # pyright: ignore[reportArgumentType]


def test_added_as_it_is() -> None:
    found = merged(None)
    assert found.tier is SourceTier.EXTENSION
    assert (found.value.command, found.value.extension_name) == ("node", "a")
    assert found.value.environment == {"K": "v", "L": "$NOT"}


def test_lists_are_united_and_intersected() -> None:
    found = merged(of_user(exclude_tools=("y",), include_tools=("y", "q"))).value
    assert found.exclude_tools == ("z", "y")
    assert found.include_tools == ("y",)
    assert merged(of_user(include_tools=())).value.include_tools == ()
    assert merged(of_user()).value.include_tools == ("x", "y")
    assert found.command == "node"


def test_plain_fields_replace_and_variables_merge() -> None:
    found = merged(of_user(environment={"K": "$MINE", "M": "m"}, is_trusted=True, description="d"), MINE="own").value
    assert found.environment == {"K": "own", "L": "$NOT", "M": "m"}
    assert found.is_trusted
    assert (found.description, found.timeout) == ("d", 5.0)


def test_a_connection_of_the_user_counts_alone() -> None:
    found = merged(of_user(http_url="https://example.com/mcp")).value
    assert (found.http_url, found.command) == ("https://example.com/mcp", None)
    assert merged(of_user(command="bun")).value.arguments == ("/e/a/s.js",)


def test_a_project_is_refused() -> None:
    project = Setting(McpServer(command="evil"), "project:1", SourceTier.WORKSPACE)
    settings, notes = merge_servers(Settings(mcp_servers={"s": project}), [(A, {"s": GIVEN})], {})
    assert settings.mcp_servers["s"].value.command == "node"
    assert [(each.value, each.source) for each in settings.mcp_name_conflicts] == [("s", "project:1")]
    assert notes == []


def test_of_two_extensions_the_first_counts() -> None:
    other = Setting(McpServer(command="other"), "/e/b/gemini-extension.json", SourceTier.EXTENSION)
    settings, notes = merge_servers(Settings(), [(A, {"s": GIVEN}), (B, {"s": other, "t": other})], {})
    assert settings.mcp_servers["s"].value.command == "node"
    assert settings.mcp_servers["t"].value.extension_name == "b"
    assert len(notes) == 1
    assert "extension b" in notes[0]


def test_the_administrator_decides_how_servers_are_reached() -> None:
    listed = {"s": McpServer(url="https://example.com/mcp", type="http")}
    settings = Settings(mcp_admin_config=(Setting(listed, "/etc:1", SourceTier.ADMIN),))
    server = merge_servers(settings, [(A, {"s": GIVEN})], {})[0].mcp_servers["s"].value
    assert (server.url, server.command, server.environment) == ("https://example.com/mcp", None, {})
