"""Names of the built-in tools and their aliases."""

from collections.abc import Mapping

SHELL = "run_shell_command"
MEMORY = "save_memory"

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
}
"""Every built-in tool with its class names and former names."""

CANONICAL_NAMES: Mapping[str, str] = {other: name for name, others in TOOL_ALIASES.items() for other in others}
