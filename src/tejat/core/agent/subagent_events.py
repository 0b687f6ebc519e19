"""Events of sub-agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.core.frozen import Value
from tejat.core.model import NO_USAGE, Usage

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent
    from tejat.core.agent.subagents import SubagentEnd


class AgentStarted(Value):
    """A sub-agent begins. `agent_id` is its name and the number of its run; `call_id` is the call that started it."""

    agent_id: str
    agent_name: str
    call_id: str
    prompt: str
    model: str


class AgentActivity(Value):
    """An event from inside a sub-agent."""

    agent_id: str
    agent_name: str
    event: AgentEvent


class AgentEnded(Value):
    """The end of a sub-agent, with its own figures. `files_changed` counts the files that its calls changed.

    `error` says what went wrong, empty if it reached its goal. `patch` is a diff of the changes in a copy that could
    not be approved because there was no user to ask.
    """

    agent_id: str
    agent_name: str
    reason: SubagentEnd
    turns: int = 0
    calls: int = 0
    usage: Usage = NO_USAGE
    cost: float | None = None
    seconds: float = 0.0
    files_changed: int = 0
    error: str = ""
    patch: str = ""
