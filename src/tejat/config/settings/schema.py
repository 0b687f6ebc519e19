"""All settings: their fields, keys, parsers and merge strategies."""

from typing import NamedTuple

from tejat.config.mcp.server_parser import parse_mcp_server
from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import (
    MergeSetting,
    ParseSetting,
    concatenate,
    last_wins,
    merge_by_name,
    merge_deep,
    project_may_add,
    project_may_narrow,
    project_may_tighten,
    union,
    without_project,
)


class SettingSpec(NamedTuple):
    field: str
    key: SettingKey
    read: ParseSetting
    merge: MergeSetting = last_wins


EXCLUDE = SettingKey("tools.exclude", "excludeTools")
MCP_EXCLUDED = SettingKey("mcp.excluded", "excludeMCPServers")
MCP_SERVERS = SettingKey("mcpServers")

RESTRICTIONS = (
    SettingSpec("exclude", EXCLUDE, SettingValue.strings, union),
    SettingSpec("mcp_excluded", MCP_EXCLUDED, SettingValue.strings, union),
)
"""Settings that even an untrusted project may set."""

_TOOLS = (
    SettingSpec("core", SettingKey("tools.core", "coreTools"), SettingValue.strings),
    SettingSpec("allowed", SettingKey("tools.allowed", "allowedTools"), SettingValue.strings),
    SettingSpec("auto_accept", SettingKey("tools.autoAccept", "autoAccept"), SettingValue.boolean),
    SettingSpec(
        "discovery_command", SettingKey("tools.discoveryCommand", "toolDiscoveryCommand"), parsers.parse_command
    ),
    SettingSpec("call_command", SettingKey("tools.callCommand", "toolCallCommand"), parsers.parse_command),
    SettingSpec("strict_stderr", SettingKey("tools.callCommandStrictStderr"), SettingValue.boolean),
    SettingSpec("use_ripgrep", SettingKey("tools.useRipgrep", "useRipgrep"), SettingValue.boolean),
    SettingSpec("llm_correction", SettingKey("tools.disableLLMCorrection"), parsers.parse_negated_boolean),
    SettingSpec("index_above_tokens", SettingKey("tools.indexAboveTokens"), SettingValue.limit),
    SettingSpec("output_characters", SettingKey("tools.truncateToolOutputThreshold"), SettingValue.limit),
    SettingSpec("sandbox", SettingKey("tools.sandbox", "sandbox"), parsers.parse_sandbox, project_may_tighten),
    SettingSpec("sandbox_network", SettingKey("tools.sandboxNetworkAccess"), SettingValue.boolean),
    SettingSpec("shell_idle_seconds", SettingKey("tools.shell.inactivityTimeout"), SettingValue.seconds),
    SettingSpec(
        "shell_environment",
        SettingKey("tools.shell.environment"),
        parsers.parse_variable_names,
        without_project(last_wins),
    ),
    SettingSpec(
        "shell_pager", SettingKey("tools.shell.pager", "shellPager"), SettingValue.string, without_project(last_wins)
    ),
    SettingSpec(
        "interactive_shell",
        SettingKey("tools.shell.enableInteractiveShell", "enableInteractiveShell", "shouldUseNodePtyShell"),
        SettingValue.boolean,
    ),
    SettingSpec("search_url", SettingKey("web.searchUrl"), SettingValue.url, without_project(last_wins)),
)

_MCP = (
    SettingSpec("mcp_allowed", SettingKey("mcp.allowed", "allowMCPServers"), SettingValue.strings, project_may_narrow),
    SettingSpec("mcp_servers", MCP_SERVERS, parse_mcp_server, project_may_add),
    SettingSpec("mcp_server_command", SettingKey("mcp.serverCommand", "mcpServerCommand"), parsers.parse_command),
)

_MODEL = (
    SettingSpec("model_name", SettingKey("model.name", "model"), SettingValue.string),
    SettingSpec("fallback_model", SettingKey("model.fallback"), SettingValue.string),
    SettingSpec("base_url", SettingKey("model.baseUrl"), SettingValue.url, without_project(last_wins)),
    SettingSpec("prices", SettingKey("model.prices"), parsers.parse_price, without_project(merge_by_name)),
    SettingSpec("max_session_turns", SettingKey("model.maxSessionTurns", "maxSessionTurns"), SettingValue.limit),
    SettingSpec("max_attempts", SettingKey("general.maxAttempts"), SettingValue.count),
    SettingSpec(
        "compression_threshold",
        SettingKey(
            "model.compressionThreshold",
            "model.chatCompression.contextPercentageThreshold",
            "chatCompression.contextPercentageThreshold",
        ),
        SettingValue.fraction,
    ),
    SettingSpec("loop_detection", SettingKey("model.disableLoopDetection"), parsers.parse_negated_boolean),
    SettingSpec(
        "skip_next_speaker_check",
        SettingKey("model.skipNextSpeakerCheck", "skipNextSpeakerCheck"),
        SettingValue.boolean,
    ),
    SettingSpec(
        "summarize_tool_output",
        SettingKey("model.summarizeToolOutput", "summarizeToolOutput"),
        parsers.parse_token_budget,
        merge_by_name,
    ),
)

_CONTEXT = (
    SettingSpec("context_file_names", SettingKey("context.fileName", "contextFileName"), parsers.parse_file_names),
    SettingSpec(
        "include_directories",
        SettingKey("context.includeDirectories", "includeDirectories"),
        SettingValue.strings,
        union,
    ),
    SettingSpec(
        "load_memory_from_include_directories",
        SettingKey("context.loadMemoryFromIncludeDirectories", "loadMemoryFromIncludeDirectories"),
        SettingValue.boolean,
    ),
    SettingSpec("import_format", SettingKey("context.importFormat", "memoryImportFormat"), parsers.parse_import_format),
    SettingSpec(
        "discovery_max_directories",
        SettingKey("context.discoveryMaxDirs", "memoryDiscoveryMaxDirs"),
        SettingValue.count,
    ),
    SettingSpec(
        "respect_git_ignore",
        SettingKey("context.fileFiltering.respectGitIgnore", "fileFiltering.respectGitIgnore"),
        SettingValue.boolean,
    ),
    SettingSpec(
        "respect_gemini_ignore",
        SettingKey("context.fileFiltering.respectGeminiIgnore", "fileFiltering.respectGeminiIgnore"),
        SettingValue.boolean,
    ),
    SettingSpec(
        "recursive_file_search",
        SettingKey("context.fileFiltering.enableRecursiveFileSearch", "fileFiltering.enableRecursiveFileSearch"),
        SettingValue.boolean,
    ),
)

_USER = (
    SettingSpec(
        "preferred_editor",
        SettingKey("general.preferredEditor", "preferredEditor"),
        SettingValue.string,
        without_project(last_wins),
    ),
    SettingSpec("vim_mode", SettingKey("general.vimMode", "vimMode"), SettingValue.boolean),
    SettingSpec(
        "checkpointing", SettingKey("general.checkpointing.enabled", "checkpointing.enabled"), SettingValue.boolean
    ),
    SettingSpec(
        "session_days", SettingKey("general.sessionRetention"), parsers.parse_retention_days, without_project(last_wins)
    ),
    SettingSpec("theme", SettingKey("ui.theme", "theme"), SettingValue.string),
    SettingSpec(
        "screen_reader",
        SettingKey("ui.screenReader", "ui.accessibility.screenReader", "accessibility.screenReader"),
        SettingValue.boolean,
        without_project(last_wins),
    ),
    SettingSpec("animations", SettingKey("ui.animations"), SettingValue.boolean),
    SettingSpec("ide_mode", SettingKey("ide.enabled", "ideMode"), SettingValue.boolean),
    SettingSpec(
        "usage_statistics",
        SettingKey("privacy.usageStatisticsEnabled", "usageStatisticsEnabled"),
        SettingValue.boolean,
        without_project(last_wins),
    ),
    SettingSpec("telemetry", SettingKey("telemetry"), SettingValue.json_object, without_project(merge_deep)),
    SettingSpec(
        "bug_command",
        SettingKey("advanced.bugCommand.urlTemplate", "bugCommand.urlTemplate"),
        SettingValue.url,
        without_project(last_wins),
    ),
)

_SECURITY = (
    SettingSpec("yolo_disabled", SettingKey("security.disableYoloMode"), SettingValue.boolean, project_may_tighten),
    SettingSpec(
        "folder_trust",
        SettingKey("security.folderTrust.enabled", "folderTrust"),
        SettingValue.boolean,
        without_project(last_wins),
    ),
    SettingSpec(
        "auth_type",
        SettingKey("security.auth.selectedType", "selectedAuthType"),
        SettingValue.string,
        without_project(last_wins),
    ),
    SettingSpec(
        "excluded_environment",
        SettingKey("advanced.excludedEnvVars", "excludedProjectEnvVars"),
        parsers.parse_variable_names,
        union,
    ),
    SettingSpec("hooks", SettingKey("hooks"), SettingValue.raw_json, concatenate),
    SettingSpec("hooks_switches", SettingKey("hooksConfig"), SettingValue.raw_json, concatenate),
)

SETTINGS = (*_TOOLS, *_MCP, *_MODEL, *_CONTEXT, *_USER, *_SECURITY)
