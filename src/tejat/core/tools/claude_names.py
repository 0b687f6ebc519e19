"""Names of tools in Claude Code."""

from collections.abc import Mapping

CLAUDE_TOOL_NAMES: Mapping[str, str] = {
    "run_shell_command": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "glob": "Glob",
    "search_file_content": "Grep",
    "list_directory": "LS",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
}
"""The names of these tools in Claude Code, whose hooks and sub-agents are supported too."""
