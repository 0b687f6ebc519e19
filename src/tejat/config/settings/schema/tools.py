"""Settings of tools and shell commands."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import last_wins, project_may_complete, project_may_narrow, union, without_project
from tejat.config.settings.schema.spec import SettingSpec

TOOL_SETTINGS = (
    SettingSpec("core", SettingKey("tools.core", "coreTools"), SettingValue.strings, project_may_narrow, protects=True),
    SettingSpec(
        "allowed",
        SettingKey("tools.allowed", "allowedTools"),
        SettingValue.strings,
        project_may_complete,
        protects=True,
    ),
    SettingSpec(
        "exclude",
        SettingKey("tools.exclude", "excludeTools"),
        SettingValue.strings,
        union,
        protects=True,
        restricts=True,
    ),
    SettingSpec(
        "discovery_command",
        SettingKey("tools.discoveryCommand", "toolDiscoveryCommand"),
        parsers.parse_command,
        must_be_valid=True,
        is_text=True,
    ),
    SettingSpec(
        "call_command",
        SettingKey("tools.callCommand", "toolCallCommand"),
        parsers.parse_command,
        must_be_valid=True,
        is_text=True,
    ),
    SettingSpec("strict_stderr", SettingKey("tools.callCommandStrictStderr"), SettingValue.boolean),
    SettingSpec("llm_correction", SettingKey("tools.disableLLMCorrection"), parsers.parse_negated_boolean),
    SettingSpec("index_above_tokens", SettingKey("tools.indexAboveTokens"), SettingValue.limit),
    SettingSpec(
        "output_characters",
        SettingKey("tools.truncateToolOutputThreshold", "tools.enableToolOutputTruncation"),
        parsers.parse_output_limit,
    ),
    SettingSpec(
        "shell_idle_seconds",
        SettingKey("tools.shell.inactivityTimeout", "shellInactivityTimeout"),
        SettingValue.seconds,
    ),
    SettingSpec(
        "background_completion",
        SettingKey("tools.shell.backgroundCompletionBehavior"),
        parsers.parse_background_completion,
    ),
    SettingSpec(
        "shell_environment",
        SettingKey("tools.shell.environment"),
        parsers.parse_variable_names,
        without_project(last_wins),
    ),
    SettingSpec(
        "auto_allow_sandboxed",
        SettingKey("tools.shell.autoAllowSandboxed"),
        SettingValue.boolean,
        without_project(last_wins),
        protects=True,
    ),
    SettingSpec("editor_terminals", SettingKey("acp.terminals"), SettingValue.boolean, without_project(last_wins)),
    SettingSpec("search_url", SettingKey("web.searchUrl"), SettingValue.url, without_project(last_wins)),
)
