"""Every setting: the field it becomes, its names in the files, how it is read and how several files are merged."""

from typing import NamedTuple

from tejat.config import settings_values as values
from tejat.config.mcp_servers import read_mcp_server
from tejat.config.merging import (
    Merge,
    Read,
    added_by_project,
    by_name,
    deep,
    gathered,
    last,
    narrowed_by_project,
    of_person,
    strictest_of_project,
    united,
)
from tejat.config.settings_file import Found, Key


class Row(NamedTuple):
    field: str
    key: Key
    read: Read
    merge: Merge = last


EXCLUDE = Key("tools.exclude", "excludeTools")
MCP_EXCLUDED = Key("mcp.excluded", "excludeMCPServers")
MCP_SERVERS = Key("mcpServers")

TIGHTENING = (Row("exclude", EXCLUDE, Found.texts, united), Row("mcp_excluded", MCP_EXCLUDED, Found.texts, united))
"""What even a project that is not trusted may set."""

_TOOLS = (
    Row("core", Key("tools.core", "coreTools"), Found.texts),
    Row("allowed", Key("tools.allowed", "allowedTools"), Found.texts),
    Row("auto_accept", Key("tools.autoAccept", "autoAccept"), Found.boolean),
    Row("discovery_command", Key("tools.discoveryCommand", "toolDiscoveryCommand"), values.command),
    Row("call_command", Key("tools.callCommand", "toolCallCommand"), values.command),
    Row("strict_stderr", Key("tools.callCommandStrictStderr"), Found.boolean),
    Row("use_ripgrep", Key("tools.useRipgrep", "useRipgrep"), Found.boolean),
    Row("llm_correction", Key("tools.disableLLMCorrection"), values.switched_off),
    Row("index_above_tokens", Key("tools.indexAboveTokens"), Found.limit),
    Row("output_characters", Key("tools.truncateToolOutputThreshold"), Found.limit),
    Row("sandbox", Key("tools.sandbox", "sandbox"), values.sandbox, strictest_of_project),
    Row("sandbox_network", Key("tools.sandboxNetworkAccess"), Found.boolean),
    Row("shell_idle_seconds", Key("tools.shell.inactivityTimeout"), Found.seconds),
    Row("shell_environment", Key("tools.shell.environment"), values.variable_names, of_person(last)),
    Row("shell_pager", Key("tools.shell.pager", "shellPager"), Found.text, of_person(last)),
    Row(
        "interactive_shell",
        Key("tools.shell.enableInteractiveShell", "enableInteractiveShell", "shouldUseNodePtyShell"),
        Found.boolean,
    ),
    Row("search_url", Key("web.searchUrl"), Found.address, of_person(last)),
)

_MCP = (
    Row("mcp_allowed", Key("mcp.allowed", "allowMCPServers"), Found.texts, narrowed_by_project),
    Row("mcp_servers", MCP_SERVERS, read_mcp_server, added_by_project),
    Row("mcp_server_command", Key("mcp.serverCommand", "mcpServerCommand"), values.command),
)

_MODEL = (
    Row("model_name", Key("model.name", "model"), Found.text),
    Row("fallback_model", Key("model.fallback"), Found.text),
    Row("base_url", Key("model.baseUrl"), Found.address, of_person(last)),
    Row("prices", Key("model.prices"), values.price, of_person(by_name)),
    Row("max_session_turns", Key("model.maxSessionTurns", "maxSessionTurns"), Found.limit),
    Row("max_attempts", Key("general.maxAttempts"), Found.count),
    Row(
        "compression_threshold",
        Key(
            "model.compressionThreshold",
            "model.chatCompression.contextPercentageThreshold",
            "chatCompression.contextPercentageThreshold",
        ),
        Found.fraction,
    ),
    Row("loop_detection", Key("model.disableLoopDetection"), values.switched_off),
    Row("skip_next_speaker_check", Key("model.skipNextSpeakerCheck", "skipNextSpeakerCheck"), Found.boolean),
    Row(
        "summarize_tool_output",
        Key("model.summarizeToolOutput", "summarizeToolOutput"),
        values.token_budget,
        by_name,
    ),
)

_CONTEXT = (
    Row("context_file_names", Key("context.fileName", "contextFileName"), values.file_names),
    Row("include_directories", Key("context.includeDirectories", "includeDirectories"), Found.texts, united),
    Row(
        "load_memory_from_include_directories",
        Key("context.loadMemoryFromIncludeDirectories", "loadMemoryFromIncludeDirectories"),
        Found.boolean,
    ),
    Row("import_format", Key("context.importFormat", "memoryImportFormat"), values.import_format),
    Row("discovery_max_directories", Key("context.discoveryMaxDirs", "memoryDiscoveryMaxDirs"), Found.count),
    Row(
        "respect_git_ignore",
        Key("context.fileFiltering.respectGitIgnore", "fileFiltering.respectGitIgnore"),
        Found.boolean,
    ),
    Row(
        "respect_gemini_ignore",
        Key("context.fileFiltering.respectGeminiIgnore", "fileFiltering.respectGeminiIgnore"),
        Found.boolean,
    ),
    Row(
        "recursive_file_search",
        Key("context.fileFiltering.enableRecursiveFileSearch", "fileFiltering.enableRecursiveFileSearch"),
        Found.boolean,
    ),
)

_PERSON = (
    Row("preferred_editor", Key("general.preferredEditor", "preferredEditor"), Found.text, of_person(last)),
    Row("vim_mode", Key("general.vimMode", "vimMode"), Found.boolean),
    Row("checkpointing", Key("general.checkpointing.enabled", "checkpointing.enabled"), Found.boolean),
    Row("session_days", Key("general.sessionRetention"), values.retention_days, of_person(last)),
    Row("theme", Key("ui.theme", "theme"), Found.text),
    Row(
        "screen_reader",
        Key("ui.screenReader", "ui.accessibility.screenReader", "accessibility.screenReader"),
        Found.boolean,
        of_person(last),
    ),
    Row("animations", Key("ui.animations"), Found.boolean),
    Row("ide_mode", Key("ide.enabled", "ideMode"), Found.boolean),
    Row(
        "usage_statistics",
        Key("privacy.usageStatisticsEnabled", "usageStatisticsEnabled"),
        Found.boolean,
        of_person(last),
    ),
    Row("telemetry", Key("telemetry"), Found.json_object, of_person(deep)),
    Row(
        "bug_command",
        Key("advanced.bugCommand.urlTemplate", "bugCommand.urlTemplate"),
        Found.address,
        of_person(last),
    ),
)

_SECURITY = (
    Row("yolo_disabled", Key("security.disableYoloMode"), Found.boolean, strictest_of_project),
    Row("folder_trust", Key("security.folderTrust.enabled", "folderTrust"), Found.boolean, of_person(last)),
    Row("auth_type", Key("security.auth.selectedType", "selectedAuthType"), Found.text, of_person(last)),
    Row(
        "excluded_environment",
        Key("advanced.excludedEnvVars", "excludedProjectEnvVars"),
        values.variable_names,
        united,
    ),
    Row("hooks", Key("hooks"), Found.as_written, gathered),
    Row("hooks_switches", Key("hooksConfig"), Found.as_written, gathered),
)

ROWS = (*_TOOLS, *_MCP, *_MODEL, *_CONTEXT, *_PERSON, *_SECURITY)
