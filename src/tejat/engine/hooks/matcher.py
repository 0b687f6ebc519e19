"""Matching of hooks to tools and triggers."""

import re

from tejat.config.hooks import HookConfig
from tejat.core.tools.base import BaseTool
from tejat.core.tools.claude_names import CLAUDE_TOOL_NAMES
from tejat.policy.rules.patterns import InvalidPattern, matches_regex, validate_regex
from tejat.policy.tool_names import tool_names
from tejat.tools.registry import ALIASES

CLAUDE_ARGUMENT_NAMES = {"read_file": {"path": "file_path", "absolute_path": "file_path"}}
"""Argument names in Claude Code that differ from those of the tool. Hooks look at arguments by name."""


def matched_tool_name(hook: HookConfig, tool: BaseTool) -> str | None:
    """Return the tool name to tell the hook, None if the hook is not for this tool.

    A matcher is a regular expression that is searched in each name of the tool. Class names and the like, which rules
    know too, have to match as a whole: `Read` is in `ReadManyFilesTool`.
    """
    names = _tool_names(tool, in_other_spelling=hook.uses_claude_format)
    if not hook.matcher or matcher_problem(hook.matcher):
        return names[0]
    found = next((name for name in names if _matches(hook.matcher, name)), None)
    if found is None and any(
        _matches_whole(hook.matcher, name) for name in tool_names(tool.own_name, tool.server_name)
    ):
        return names[0]
    return found


def matches_trigger(hook: HookConfig, trigger: str) -> bool:
    """Whether the hook is for this trigger. A matcher may list several, separated by `|`."""
    return not hook.matcher or trigger in hook.matcher.split("|")


def matcher_problem(matcher: str) -> str:
    """Explain why a matcher is unsupported and therefore matches everything; empty if it is supported.

    It may be an expression that other engines support, such as a look-ahead. Its hook then runs for every tool, which
    is safer than not at all. Text that is no regular expression at all is compared literally.
    """
    try:
        validate_regex(matcher)
    except InvalidPattern as bad:
        return str(bad) if _is_expression(matcher) else ""
    return ""


def _tool_names(tool: BaseTool, *, in_other_spelling: bool) -> tuple[str, ...]:
    """List all names of a tool, starting with the one in the format of the hook."""
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


def _matches_whole(matcher: str, name: str) -> bool:
    try:
        return matches_regex(rf"\A(?:{matcher})\z", name)
    except InvalidPattern:
        return matcher == name


def _is_expression(matcher: str) -> bool:
    try:
        re.compile(matcher)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
