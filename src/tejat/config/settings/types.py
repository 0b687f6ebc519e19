"""Values of settings, each with its source."""

# Without this, the types of all fields would be evaluated at every start.
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from tejat.config.paths import SourceTier
from tejat.core.approval.modes import ApprovalMode, SandboxRequest
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue

if TYPE_CHECKING:
    from tejat.core.ui.theme_colours import ThemeColours

T_co = TypeVar("T_co", covariant=True)
OAuth: TypeAlias = Mapping[str, str | bool | tuple[str, ...]]


DEFAULT_SOURCE = lazy("default")
"""The source of a default value."""


class Setting(Frozen, Generic[T_co]):
    """A value and its source: file and line, an environment variable, or `default`."""

    value: T_co
    source: str = DEFAULT_SOURCE
    tier: SourceTier = SourceTier.DEFAULT


class McpServer(Frozen):
    """The configuration of an MCP server. None means not set.

    `command` starts a process; `http_url` takes precedence over `url`. `timeout` and `start_timeout` are in seconds.
    `is_trusted` (no approvals) and `may_sample` (it may use the model of the session) are never true for a server from
    project settings. `oauth` keeps the names of the settings, `unknown_fields` are unknown names. Values that may be
    secret are left out of `repr`.
    """

    command: str | None = None
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = MappingProxyType({})
    directory: str | None = None
    url: str | None = None
    http_url: str | None = None
    type: str | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    tcp: str | None = None
    timeout: float = 600.0
    start_timeout: float = 30.0
    is_trusted: bool = False
    may_sample: bool = False
    is_sandboxed: bool | None = None
    description: str | None = None
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    extension_name: str | None = None
    oauth: OAuth | None = None
    auth_provider_type: str | None = None
    target_audience: str | None = None
    target_service_account: str | None = None
    unknown_fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"McpServer(command={self.command!r})"


class SettingProblem(Frozen):
    """A value that cannot be used: what its place in a file wants, and what is there. `found` shows no secrets."""

    path: str
    line: int
    key: str
    wanted: str
    found: str

    @property
    def text(self) -> str:
        return lazy("{key} must be {wanted}, not {found}", key=self.key, wanted=self.wanted, found=self.found)


class SessionRetention(Frozen):
    """The sessions that are kept.

    Those up to `max_days` old, the newest `max_count` of a project, and all younger than `min_days`. None means no
    limit.
    """

    max_days: float | None = 30.0
    max_count: int | None = None
    min_days: float = 1.0


DEFAULT_RETENTION = SessionRetention()


class TokenPrice(Frozen):
    """Dollars per million tokens: `cached` for those read from a cache, `cache_write` for those written to one."""

    input: float
    cached: float
    output: float
    cache_write: float


_EXCLUDED_VARIABLES = (
    *("DEBUG", "DEBUG_MODE"),
    *("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "GEMINI_CLI_IDE_SERVER_STDIO_ARGS"),
)


class Settings(Frozen):
    """All settings. None in place of a Setting means not set; a limit with the value None means no limit.

    A tuple of settings merges all files, entry by entry; in a mapping each name has its own source.
    `skills_enabled` and `extensions_enabled` are the administrator's switches, `skills_switch` is the user's. The
    source of an extension must match an expression of each list in `allowed_extensions`. Of `agent_overrides`, the
    entries of a project (tier WORKSPACE) come last and can only tighten.
    `base_url_model` is the model whose service `base_url` belongs to, None for every service.
    `mcp_name_conflicts` are server names in project settings that were taken. `files` were read, lowest precedence
    first; `ignored_files` are those of an untrusted project that set more than their exclude lists. `problems` are
    values that cannot be used, in place of which the default holds.
    """

    core: Setting[tuple[str, ...]] | None = None
    allowed: Setting[tuple[str, ...]] | None = None
    exclude: tuple[Setting[str], ...] = ()
    discovery_command: Setting[tuple[str, ...]] | None = None
    call_command: Setting[tuple[str, ...]] | None = None
    strict_stderr: Setting[bool] = Setting(value=False)
    llm_correction: Setting[bool] = Setting(value=True)
    output_characters: Setting[int | None] = Setting(40_000)
    index_above_tokens: Setting[int | None] | None = None
    sandbox: Setting[SandboxRequest] = Setting(SandboxRequest())
    sandbox_network: Setting[bool] | None = None
    sandbox_allowed_paths: tuple[Setting[tuple[str, ...]], ...] = ()
    sandbox_image: Setting[str] | None = None
    tool_sandboxing: Setting[bool] = Setting(value=False)
    shell_idle_seconds: Setting[float | None] = Setting(300.0)
    background_completion: Setting[str] = Setting("silent")
    shell_environment: Setting[tuple[str, ...]] = Setting(())
    auto_allow_sandboxed: Setting[bool] = Setting(value=False)
    search_url: Setting[str] | None = None
    editor_terminals: Setting[bool] = Setting(value=True)

    mcp_allowed: Setting[tuple[str, ...]] | None = None
    mcp_excluded: tuple[Setting[str], ...] = ()
    mcp_servers: Mapping[str, Setting[McpServer]] = MappingProxyType({})
    mcp_server_command: Setting[tuple[str, ...]] | None = None
    mcp_enabled: Setting[bool] = Setting(value=True)
    mcp_admin_config: tuple[Setting[Mapping[str, McpServer]], ...] = ()
    mcp_required_config: tuple[Setting[Mapping[str, McpServer]], ...] = ()

    model_name: Setting[str] | None = None
    fallback_model: Setting[str] | None = None
    base_url: Setting[str] | None = None
    base_url_model: Setting[str] | None = None
    prices: Mapping[str, Setting[TokenPrice]] = MappingProxyType({})
    catalogue_url: Setting[str] | None = None
    shows_gemma: Setting[bool] = Setting(value=True)
    max_session_turns: Setting[int | None] = Setting(None)
    max_attempts: Setting[int] = Setting(5)
    compression_threshold: Setting[float] = Setting(0.5)
    loop_detection: Setting[bool] = Setting(value=True)

    model_aliases: Mapping[str, Setting[JsonObject]] = MappingProxyType({})
    custom_model_aliases: Mapping[str, Setting[JsonObject]] = MappingProxyType({})
    model_overrides: Setting[tuple[JsonObject, ...]] = Setting(())
    custom_model_overrides: Setting[tuple[JsonObject, ...]] = Setting(())
    dynamic_model_configuration: Setting[bool] = Setting(value=False)
    model_definitions: Mapping[str, Setting[JsonObject]] = MappingProxyType({})
    model_id_resolutions: Mapping[str, Setting[JsonObject]] = MappingProxyType({})
    classifier_id_resolutions: Mapping[str, Setting[JsonObject]] = MappingProxyType({})
    model_chains: Mapping[str, Setting[tuple[JsonObject, ...]]] = MappingProxyType({})
    model_router: Setting[bool] = Setting(value=False)
    openai_api: Setting[str] | None = None
    plan_model_routing: Setting[bool] = Setting(value=True)
    retry_fetch_errors: Setting[bool] = Setting(value=True)
    ipv4_first: Setting[bool] = Setting(value=False)
    vertex_request_type: Setting[str] | None = None
    vertex_shared_request_type: Setting[str] | None = None

    context_file_names: Setting[tuple[str, ...]] = Setting(("GEMINI.md", "AGENTS.md"))
    include_directories: tuple[Setting[str], ...] = ()
    load_memory_from_include_directories: Setting[bool] = Setting(value=False)
    import_format: Setting[str] = Setting("tree")
    discovery_max_directories: Setting[int] = Setting(200)
    include_directory_tree: Setting[bool] = Setting(value=True)
    memory_boundary_markers: Setting[tuple[str, ...]] = Setting((".git",))
    respect_git_ignore: Setting[bool] = Setting(value=True)
    respect_gemini_ignore: Setting[bool] = Setting(value=True)
    custom_ignore_files: tuple[Setting[str], ...] = ()
    recursive_file_search: Setting[bool] = Setting(value=True)
    fuzzy_file_search: Setting[bool] = Setting(value=True)

    strict_settings: Setting[bool] = Setting(value=False)
    preferred_editor: Setting[str] | None = None
    editor_new_window: Setting[bool] = Setting(value=False)
    vim_mode: Setting[bool] = Setting(value=False)
    output_format: Setting[str] = Setting("text")
    notifications_enabled: Setting[bool] = Setting(value=False)
    notification_method: Setting[str] = Setting("auto")
    session_server: Setting[bool] = Setting(value=True)
    session_retention: Setting[SessionRetention] = Setting(DEFAULT_RETENTION)
    theme: Setting[str] | None = None
    auto_theme: Setting[bool] = Setting(value=True)
    screen_reader: Setting[bool] = Setting(value=False)
    escape_pasted_at: Setting[bool] = Setting(value=False)
    custom_themes: Mapping[str, Setting[ThemeColours]] = MappingProxyType({})
    uses_backgrounds: Setting[bool] = Setting(value=True)
    shows_line_numbers: Setting[bool] = Setting(value=True)
    animations: Setting[bool] = Setting(value=True)
    home_directory_warning: Setting[bool] = Setting(value=True)
    inline_thinking: Setting[str] = Setting("off")
    compact_tool_output: Setting[bool] = Setting(value=True)
    shows_model_in_chat: Setting[bool] = Setting(value=False)
    hides_banner: Setting[bool] = Setting(value=False)
    hides_tips: Setting[bool] = Setting(value=False)
    hides_window_title: Setting[bool] = Setting(value=False)
    dynamic_window_title: Setting[bool] = Setting(value=True)
    shows_status_in_title: Setting[bool] = Setting(value=False)
    footer_items: Setting[tuple[str, ...]] | None = None
    footer_hides_folder: Setting[bool] = Setting(value=False)
    footer_hides_sandbox: Setting[bool] = Setting(value=False)
    footer_hides_model: Setting[bool] = Setting(value=False)
    footer_hides_context: Setting[bool] = Setting(value=False)
    hides_footer: Setting[bool] = Setting(value=False)
    telemetry: tuple[Setting[JsonObject], ...] = ()
    bug_command: Setting[str] | None = None

    approval_mode: Setting[ApprovalMode] = Setting(ApprovalMode.DEFAULT)
    plan_enabled: Setting[bool] = Setting(value=True)
    yolo_disabled: Setting[bool] = Setting(value=False)
    always_disabled: Setting[bool] = Setting(value=False)
    permanent_approval: Setting[bool] | None = None
    conseca: Setting[bool] = Setting(value=False)
    confirmation_required: tuple[Setting[str], ...] = ()
    policy_paths: tuple[Setting[str], ...] = ()
    admin_policy_paths: tuple[Setting[str], ...] = ()
    folder_trust: Setting[bool] = Setting(value=True)
    secure_mode: Setting[bool] = Setting(value=False)
    extensions_enabled: Setting[bool] = Setting(value=True)
    skills_enabled: Setting[bool] = Setting(value=True)
    auth_type: Setting[str] | None = None
    enforced_auth_type: Setting[str] | None = None
    environment_redaction: Setting[bool] | None = None
    environment_allowed: Setting[tuple[str, ...]] = Setting(())
    environment_blocked: tuple[Setting[str], ...] = ()
    ignore_local_env: Setting[bool] = Setting(value=False)
    excluded_environment: tuple[Setting[str], ...] = tuple(map(Setting, _EXCLUDED_VARIABLES))
    hooks: Mapping[str, tuple[Setting[JsonValue], ...]] = MappingProxyType({})
    hooks_switches: Mapping[str, tuple[Setting[JsonValue], ...]] = MappingProxyType({})

    allowed_extensions: tuple[Setting[tuple[str, ...]], ...] = ()
    block_git_extensions: Setting[bool] = Setting(value=False)
    extensions_disabled: tuple[Setting[str], ...] = ()
    extension_config_enabled: Setting[bool] = Setting(value=True)
    skills_switch: Setting[bool] = Setting(value=True)
    skills_disabled: tuple[Setting[str], ...] = ()
    skills_confirm: Setting[bool] = Setting(value=False)
    skills_catalog_tokens: Setting[int | None] = Setting(2000)
    agents_enabled: Setting[bool] = Setting(value=True)
    agent_overrides: Mapping[str, tuple[Setting[JsonObject], ...]] = MappingProxyType({})
    agents_max_parallel: Setting[int] = Setting(4)
    agents_max_runs: Setting[int] = Setting(50)
    agents_catalog_tokens: Setting[int | None] = Setting(2000)
    agents_claude: Setting[bool] = Setting(value=False)
    plan_directory: Setting[str] | None = None
    uses_write_todos: Setting[bool] = Setting(value=True)

    mcp_name_conflicts: tuple[Setting[str], ...] = ()
    files: tuple[str, ...] = ()
    ignored_files: tuple[str, ...] = ()
    problems: tuple[SettingProblem, ...] = ()


DEFAULT_SETTINGS = Settings()

TELEMETRY_WORDS = {"target": ("local", "gcp"), "otlpProtocol": ("grpc", "http")}
"""The members of `telemetry` with fixed values."""

COMMAND_SERVER_NAME = "mcp"
"""The name of the server that `mcp.serverCommand` starts."""


def configured_servers(settings: Settings) -> dict[str, Setting[McpServer]]:
    """All configured servers, enabled or not."""
    servers = dict(settings.mcp_servers)
    given = settings.mcp_server_command
    if given is not None:
        program, *arguments = given.value
        server = McpServer(command=program, arguments=tuple(arguments))
        servers[COMMAND_SERVER_NAME] = Setting(server, given.source, given.tier)
    return servers


def tool_lists(settings: Settings) -> tuple[object, ...]:
    """The settings that allow or exclude tools, or let them ask."""
    return (
        settings.core,
        settings.allowed,
        settings.exclude,
        settings.confirmation_required,
        settings.mcp_allowed,
        settings.mcp_excluded,
    )
