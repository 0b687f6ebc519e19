"""The sub-agents of a session as a tree, with their progress."""

from collections.abc import Callable

from tejat.core.agent.events import AgentEvent
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.shared.calls.agent_progress import AgentProgress, agent_end_labels, agent_error, agent_status

_MAX_CALLS = 3
_MAX_AGENTS = 200


class AgentTree:
    """Collects the events of sub-agents. `clock` returns seconds since 1970."""

    def __init__(self, folder: str, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock
        self._progress: dict[str, AgentProgress] = {}
        self._parents: dict[str, str] = {}
        self._ended: dict[str, AgentEnded] = {}

    def handle_event(self, event: AgentEvent, parent: str = "") -> bool:
        """Record an event; return whether it is about a sub-agent."""
        match event:
            case AgentStarted():
                self._progress[event.agent_id] = AgentProgress(event, since=self._clock(), folder=self._folder)
                self._parents[event.agent_id] = parent
                self._drop_old()
            case AgentActivity(agent_id, _name, inner):
                if (progress := self._progress.get(agent_id)) is not None:
                    progress.record(inner)
                self.handle_event(inner, agent_id)
            case AgentEnded():
                self._ended[event.agent_id] = event
            case _:
                return False
        return True

    def to_json(self) -> list[JsonValue]:
        """All agents, each after the one that started it."""
        return [self._agent_to_json(progress) for progress in self._progress.values()]

    def _agent_to_json(self, progress: AgentProgress) -> JsonObject:
        ended = self._ended.get(progress.agent_id)
        labels = list(progress.figures) if ended is None else agent_end_labels(ended)
        return {
            "id": progress.agent_id,
            "parent": self._parents[progress.agent_id],
            "task": progress.task,
            "state": "running" if ended is None else agent_status(ended).value,
            "figures": [*labels],
            "calls": [call.text for call in progress.latest_calls(_MAX_CALLS)] if ended is None else [],
            "error": "" if ended is None else agent_error(ended),
        }

    def _drop_old(self) -> None:
        """Forget the oldest agents that have ended."""
        for agent_id in list(self._progress):
            if len(self._progress) <= _MAX_AGENTS:
                return
            if agent_id in self._ended:
                del self._progress[agent_id], self._parents[agent_id], self._ended[agent_id]
