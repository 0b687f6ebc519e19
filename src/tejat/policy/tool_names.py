"""Names of tools in rules, settings, flags and hooks: the same name means the same tool everywhere."""

import re
from collections.abc import Mapping

from tejat.core.messages.tool_names import ASK_USER, ENTER_PLAN_MODE, EXIT_PLAN_MODE, WRITE_TODOS

SHELL = "run_shell_command"
MEMORY = "save_memory"

SESSION_TOOLS = frozenset({ASK_USER, WRITE_TODOS, ENTER_PLAN_MODE, EXIT_PLAN_MODE})
"""Built-in tools that reach nothing but the session and its user: allowed in every mode unless a rule denies them."""

TOOL_ALIASES: Mapping[str, tuple[str, ...]] = {
    "list_directory": ("LSTool",),
    "read_file": ("ReadFileTool",),
    "search_file_content": ("GrepTool", "RipGrepTool", "grep", "grep_search"),
    "glob": ("GlobTool",),
    "replace": ("EditTool",),
    "write_file": ("WriteFileTool",),
    "web_fetch": ("WebFetchTool",),
    "read_many_files": ("ReadManyFilesTool",),
    SHELL: ("ShellTool",),
    MEMORY: ("MemoryTool",),
    "google_web_search": ("WebSearchTool",),
    "list_background_processes": ("ListBackgroundProcessesTool",),
    "read_background_output": ("ReadBackgroundOutputTool",),
    "stop_background_process": ("StopBackgroundProcessTool",),
    "activate_skill": ("ActivateSkillTool",),
    ASK_USER: ("AskUserTool",),
    WRITE_TODOS: ("WriteTodosTool",),
    "get_internal_docs": ("GetInternalDocsTool",),
    "invoke_agent": ("AgentTool",),
    "recall": ("RecallTool",),
    ENTER_PLAN_MODE: ("EnterPlanModeTool",),
    EXIT_PLAN_MODE: ("ExitPlanModeTool",),
}
"""Every built-in tool with its class names and former names."""

PLAN_MODE_TOOLS = SESSION_TOOLS | {"activate_skill", "complete_task", "recall"}
"""Built-in tools that change no file, and whose own effects go by the rules in plan mode too."""

CANONICAL_NAMES: Mapping[str, str] = {other: name for name, others in TOOL_ALIASES.items() for other in others}

_INVALID_CHARACTER = re.compile(r"[^A-Za-z0-9_.-]")


def tool_names(tool: str, server: str | None) -> tuple[str, ...]:
    """Return every name of a tool. That of an MCP tool names its server too, so that none passes for another tool."""
    if server is None:
        return (tool, *TOOL_ALIASES.get(tool, (f"discovered_tool_{tool}",)))
    names: dict[str, None] = {}
    for own_name in dict.fromkeys((tool, _INVALID_CHARACTER.sub("_", tool))):
        names |= dict.fromkeys((f"{server}__{own_name}", f"mcp__{server}__{own_name}", f"mcp_{server}_{own_name}"))
    return tuple(names)


def parse_tool_name(name: str) -> tuple[str, str | None]:
    """Return the tool and the server that a name stands for; `*` is every one.

    `mcp_a_b_c` is returned as it is: only the names of the servers tell where its tool begins.
    """
    if name in ("mcp_*", "mcp__*"):
        return "*", "*"
    if name.startswith("mcp_") and name.endswith("_*") and "__" not in name:
        return "*", name[len("mcp_") : -len("_*")]
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    return (tool, server) if separator and server and tool else (name, None)
