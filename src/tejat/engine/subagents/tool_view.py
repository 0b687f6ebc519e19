"""The tools of a sub-agent: what its definition lists, as far as its parent has it."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.frozen import replace
from tejat.core.messages.declaration import READ_ONLY_KINDS
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool
from tejat.engine.subagents.complete_task import COMPLETE_TASK
from tejat.policy.tool_names import parse_tool_name
from tejat.tools.registry import FIND_TOOLS, ToolEntry, ToolRegistry

if TYPE_CHECKING:
    from tejat.engine.calls.scheduler import Scheduler

NEVER_AVAILABLE = frozenset(
    {
        *("invoke_agent", "ask_user", "enter_plan_mode", "exit_plan_mode", "save_memory", "update_topic"),
        "recall",  # an agent sees nothing of the conversation
        FIND_TOOLS,  # an agent has an index of its own
    }
)
"""Tools that no sub-agent has, whatever its definition says."""

OWN_TOOLS = frozenset({COMPLETE_TASK, "write_todos"})
"""Tools that change nothing but the state of the agent itself."""


def is_available(entry: ToolEntry, definition: SubagentDefinition) -> bool:
    """Whether a tool of the parent is a tool of the agent, too."""
    if entry.name in NEVER_AVAILABLE or any(_matches(entry, name) for name in definition.excluded_tools):
        return False
    return definition.tools is None or any(_matches(entry, name) for name in definition.tools)


def only_reads(scheduler: "Scheduler", definition: SubagentDefinition) -> bool:
    """Whether none of the tools of an agent changes anything, so that it can run beside others.

    A tool of an MCP server counts as one that changes something, unless a rule says that it only reads.
    """
    if definition.servers:
        return False
    permission, agent = scheduler.permission, definition.qualified_name
    return all(
        entry.kind in READ_ONLY_KINDS
        or entry.name in OWN_TOOLS
        or (entry.source is ToolSource.MCP and permission.declares_read_only(entry.load(), agent))
        for entry in scheduler.registry.entries()
        if is_available(entry, definition)
    )


def _matches(entry: ToolEntry, listed: str) -> bool:
    """Whether a name or pattern of a definition stands for this tool."""
    if listed == "*" or listed in entry.names or listed in entry.alternate_names:
        return True
    tool, server = parse_tool_name(listed)
    if server is None or entry.source is not ToolSource.MCP:
        return False
    return server in ("*", entry.server) and tool in ("*", entry.own_name)


class AgentTools(ToolRegistry):
    """The tools of one run: those of the parent that the definition allows, which may come and go, and `completion`.

    Tools of the agent's own servers are registered here as far as the definition allows them.
    """

    def __init__(
        self,
        parent: ToolRegistry,
        definition: SubagentDefinition,
        completion: BaseTool,
        *,
        wrap: Callable[[BaseTool], BaseTool] | None = None,
    ) -> None:
        """`wrap` replaces tools of the parent by those that work in a copy of the files."""
        super().__init__()
        self._wrap = wrap
        self._parent = parent
        self._definition = definition
        self._parent_version = -1
        self._shared: dict[str, ToolEntry] = {}
        self.is_closed = False
        """Whether only `complete_task` may run."""
        self.register(completion, source=ToolSource.BUILT_IN)
        self.follow_parent()

    def register_entry(self, entry: ToolEntry) -> None:
        """Add a tool. Tools of servers that the definition does not list are left out. Raises UsageError."""
        if entry.source is not ToolSource.MCP or is_available(entry, self._definition):
            super().register_entry(entry)

    def follow_parent(self) -> None:
        """Take over the present tools of the parent."""
        if self._parent.version == self._parent_version:
            return
        self._parent_version = self._parent.version
        present = {entry.name: entry for entry in self._parent.entries() if is_available(entry, self._definition)}
        for name, entry in list(self._shared.items()):
            if present.get(name) is not entry:
                del self._shared[name]
                self.unregister(name)
        for name, entry in present.items():
            if name not in self._shared:
                self._share(entry)

    def _share(self, entry: ToolEntry) -> None:
        with suppress(UsageError):  # a server of the agent itself has a tool of this name
            is_declared = entry.is_declared
            if self._definition.tools is not None and entry.name in self._definition.tools:
                is_declared = _always  # it is meant for agents that name it
            self.register_entry(replace(entry, load=partial(self._load_shared, entry.name), is_declared=is_declared))
            self._shared[entry.name] = entry

    def _load_shared(self, name: str) -> BaseTool:
        tool = self._parent[name]
        return tool if self._wrap is None else self._wrap(tool)

    def __getitem__(self, name: str) -> BaseTool:
        """Find a tool for a call. Raises ToolFailure, also for a tool that only the parent has."""
        self.follow_parent()
        entry = self.entry(name)
        if self.is_closed and (entry is None or entry.name != COMPLETE_TASK):
            message = f"Not run: '{name}' cannot be called any more. This agent is finishing with {COMPLETE_TASK}."
            raise ToolFailure(message, ErrorType.EXECUTION_FAILED)
        if entry is None and (name in NEVER_AVAILABLE or name in self._parent):
            raise ToolFailure(
                f"Unauthorized tool call: '{name}' is not available to this agent.", ErrorType.POLICY_VIOLATION
            )
        return super().__getitem__(name)


def _always() -> bool:
    return True
