"""Which hooks are meant: by the names of a tool, or by the word for what happens."""

import re

from tejat.config.hooks import Hook
from tejat.core.tool import BaseTool
from tejat.policy.patterns import BadPattern, check_expression, is_found
from tejat.tools.registry import ALIASES

OTHER_NAMES = {
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

OTHER_ARGUMENTS = {"read_file": {"path": "file_path", "absolute_path": "file_path"}}
"""Arguments that it knows by other names than the tool, which takes both. Guards look at them by name."""


def name_for(hook: Hook, tool: BaseTool) -> str | None:
    """The name by which the hook is to be told of the tool, None if it is not for this tool.

    A matcher is a regular expression that is found anywhere in one of the tool's names.
    """
    names = _names(tool, in_other_spelling=hook.is_in_other_spelling)
    if not hook.matcher or problem_with_matcher(hook.matcher):
        return names[0]
    return next((name for name in names if _fits(hook.matcher, name)), None)


def is_for(hook: Hook, trigger: str) -> bool:
    """Whether the hook is for what happens, by the very word for it; words can be joined by `|`."""
    return not hook.matcher or trigger in hook.matcher.split("|")


def problem_with_matcher(matcher: str) -> str:
    """Why a matcher cannot be told apart from one for everything; empty for one that can.

    It may be an expression that others can use, such as one that looks ahead. Its hook runs for every tool then: once
    too often is better than not at all. What is no expression for anybody is taken literally.
    """
    try:
        check_expression(matcher)
    except BadPattern as bad:
        return str(bad) if _is_expression(matcher) else ""
    return ""


def _names(tool: BaseTool, *, in_other_spelling: bool) -> tuple[str, ...]:
    """All names of a tool. The first is the one that it is called by in this spelling."""
    own = (tool.name, *ALIASES.get(tool.name, ()))
    if tool.server_name is not None:
        other = f"mcp__{tool.server_name}__{tool.own_name}"
        own += (other, f"mcp_{tool.server_name}_{tool.own_name}")
    else:
        other = OTHER_NAMES.get(tool.name, tool.name)
    return (other, *own) if in_other_spelling else own


def _fits(matcher: str, name: str) -> bool:
    try:
        return is_found(matcher, name)
    except BadPattern:
        return matcher == name


def _is_expression(matcher: str) -> bool:
    try:
        re.compile(matcher)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
