"""Which hooks are meant: by the names of a tool, or by the word for what happens."""

import re

from tejat.config.hooks import HookConfig
from tejat.core.tools.base import BaseTool
from tejat.policy.rules.patterns import InvalidPattern, matches_regex, validate_regex
from tejat.tools.registry import ALIASES

CLAUDE_TOOL_NAMES = {
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
"""What the other agent, whose names of events are taken too, calls these tools."""

CLAUDE_ARGUMENT_NAMES = {"read_file": {"path": "file_path", "absolute_path": "file_path"}}
"""Arguments that it knows by other names than the tool, which takes both. Guards look at them by name."""


def matched_tool_name(hook: HookConfig, tool: BaseTool) -> str | None:
    """The name by which the hook is to be told of the tool, None if it is not for this tool.

    A matcher is a regular expression that is found anywhere in one of the tool's names.
    """
    names = _tool_names(tool, in_other_spelling=hook.uses_claude_format)
    if not hook.matcher or matcher_problem(hook.matcher):
        return names[0]
    return next((name for name in names if _matches(hook.matcher, name)), None)


def matches_trigger(hook: HookConfig, trigger: str) -> bool:
    """Whether the hook is for what happens, by the very word for it; words can be joined by `|`."""
    return not hook.matcher or trigger in hook.matcher.split("|")


def matcher_problem(matcher: str) -> str:
    """Why a matcher cannot be told apart from one for everything; empty for one that can.

    It may be an expression that others can use, such as one that looks ahead. Its hook runs for every tool then: once
    too often is better than not at all. What is no expression for anybody is taken literally.
    """
    try:
        validate_regex(matcher)
    except InvalidPattern as bad:
        return str(bad) if _is_expression(matcher) else ""
    return ""


def _tool_names(tool: BaseTool, *, in_other_spelling: bool) -> tuple[str, ...]:
    """All names of a tool. The first is the one that it is called by in this spelling."""
    own = (tool.name, *ALIASES.get(tool.name, ()))
    if tool.server_name is not None:
        other = f"mcp__{tool.server_name}__{tool.own_name}"
        own += (other, f"mcp_{tool.server_name}_{tool.own_name}")
    else:
        other = CLAUDE_TOOL_NAMES.get(tool.name, tool.name)
    return (other, *own) if in_other_spelling else own


def _matches(matcher: str, name: str) -> bool:
    try:
        return matches_regex(matcher, name)
    except InvalidPattern:
        return matcher == name


def _is_expression(matcher: str) -> bool:
    try:
        re.compile(matcher)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
