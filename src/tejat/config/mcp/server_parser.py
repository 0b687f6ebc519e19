"""Parsing of MCP servers in the settings."""

from tejat.config.settings.file import SettingValue
from tejat.config.settings.types import McpServer, OAuth
from tejat.core.i18n import lazy


def parse_mcp_server(found: SettingValue) -> McpServer:
    """Parse the object that describes a server. Raises SettingsError.

    References in `env` are not expanded: they are expanded when the server starts, and a value must not be expanded
    twice.
    """
    given = found.members()

    def text(name: str) -> str | None:
        # As in Gemini CLI, an empty text leaves a field unset.
        return given[name].string() if name in given and not given[name].is_blank else None

    def texts(name: str) -> tuple[str, ...] | None:
        return given[name].strings() if name in given else None

    def members(name: str) -> dict[str, SettingValue]:
        return given[name].members() if name in given else {}

    def enabled_outside_project(name: str) -> bool:
        """Whether it is enabled by other settings than those of the project or of an extension."""
        return name in given and given[name].boolean() and not found.file.tier.only_restricts

    return McpServer(
        command=text("command"),
        arguments=_parse_arguments(given["args"]) if "args" in given else (),
        environment={key: _parse_scalar(member, member.node.value) for key, member in members("env").items()},
        directory=text("cwd"),
        url=text("url"),
        http_url=text("httpUrl"),
        type=text("type"),
        headers={key: _parse_scalar(member, member.json()) for key, member in members("headers").items()},
        tcp=text("tcp"),
        timeout=_parse_seconds(given["timeout"]) if "timeout" in given else 600.0,
        start_timeout=_parse_seconds(given["startTimeout"]) if "startTimeout" in given else 30.0,
        is_trusted=enabled_outside_project("trust"),
        may_sample=enabled_outside_project("sampling"),
        is_sandboxed=given["sandbox"].boolean() if "sandbox" in given else None,
        description=text("description"),
        include_tools=texts("includeTools"),
        exclude_tools=texts("excludeTools") or (),
        extension_name=text("extensionName"),
        oauth=_parse_oauth(given["oauth"]) if "oauth" in given else None,
        auth_provider_type=given["authProviderType"].choice(_PROVIDERS) if "authProviderType" in given else None,
        target_audience=text("targetAudience"),
        target_service_account=text("targetServiceAccount"),
        unknown_fields=tuple(name for name in given if name not in _FIELDS),
    )


def parse_allowed_servers(found: SettingValue) -> dict[str, McpServer]:
    """Parse `admin.mcp.config`: the only servers, and how they are reached. Raises SettingsError."""
    return {name: _parse_remote_server(member) for name, member in found.members().items()}


def parse_required_servers(found: SettingValue) -> dict[str, McpServer]:
    """Parse `admin.mcp.requiredConfig`: remote servers that are always there. Raises SettingsError."""
    servers: dict[str, McpServer] = {}
    for name, member in found.members().items():
        servers[name] = server = _parse_remote_server(member)
        if server.url is None or server.command is not None or server.http_url is not None:
            raise member.error(lazy("a remote server with url, and optionally type http or sse"))
    return servers


def _parse_remote_server(found: SettingValue) -> McpServer:
    given = found.members()
    if "type" in given:
        given["type"].choice(("http", "sse"))
    return parse_mcp_server(found)


def _parse_arguments(found: SettingValue) -> tuple[str, ...]:
    """Arguments as written; empty ones count."""
    value = found.json()
    if not isinstance(value, list):
        raise found.error(lazy("a list of strings"))
    texts = [item for item in value if isinstance(item, str)]
    if len(texts) != len(value):
        raise found.error(lazy("a list of strings"))
    return tuple(texts)


def _parse_scalar(found: SettingValue, value: object) -> str:
    """A string. Numbers and booleans are converted, because people write them without quotes."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return str(value)
        case _:
            raise found.error(lazy("a string"))


def _parse_seconds(found: SettingValue) -> float:
    milliseconds = found.number()
    if milliseconds == 0:
        raise found.error(lazy("a number of milliseconds"))
    return milliseconds / 1000


def _parse_oauth(found: SettingValue) -> OAuth:
    values: dict[str, str | bool | tuple[str, ...]] = {}
    for name, member in found.members().items():
        if name == "enabled":
            values[name] = member.boolean()
        elif name in _OAUTH_LISTS:
            values[name] = member.strings()
        elif name in _OAUTH_TEXTS:
            values[name] = member.string()
    return values


_FIELDS = frozenset(
    {
        *("command", "args", "env", "cwd", "url", "httpUrl", "type", "headers", "tcp", "timeout", "startTimeout"),
        *("trust", "sampling", "sandbox", "description", "includeTools", "excludeTools", "extensionName", "extension"),
        *("oauth", "authProviderType", "targetAudience", "targetServiceAccount"),
    }
)
_PROVIDERS = ("dynamic_discovery", "google_credentials", "service_account_impersonation")
_OAUTH_LISTS = ("scopes", "audiences")
_OAUTH_TEXTS = ("clientId", "clientSecret", "authorizationUrl", "tokenUrl", "redirectUri", "tokenParamName", "issuer")
