"""The built-in tools for lists and checks, without services that could run them."""

from typing import NoReturn

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.messages.tool_names import RECALL
from tejat.tools import UNDECLARED_TOOLS, session_registry
from tejat.tools.registry import ToolRegistry


def builtin_registry() -> ToolRegistry:
    """The built-in tools without a workspace, only to be listed."""
    return session_registry(_NoServices())


class _NoServices:
    def workspace(self) -> NoReturn:
        raise UsageError(lazy("These tools can only be listed. Use open_tools to run them."))

    shell = memory = web = corrector = preset_answers = session_state = subagents = plan_mode = recall = workspace

    def offers(self, tool: str) -> bool:
        return tool not in UNDECLARED_TOOLS and tool != RECALL
