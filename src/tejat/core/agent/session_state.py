"""Values of a session that outlive summaries and resumes: todos, the approved plan, active skills."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from tejat.core.messages.types import JsonObject, JsonValue

TODOS_KEY = "todos"
"""The key of the todo list."""
PLAN_KEY = "plan"
"""The key of the approved plan."""

StateListener: TypeAlias = Callable[[str, JsonValue], None]
"""Gets the key and the new value of each change, None for a removed value."""


class SessionState:
    """JSON values by key. Every change is told to the listeners at once; the first one is the journal."""

    def __init__(self, values: JsonObject = MappingProxyType({})) -> None:
        self._values = dict(values)
        self._listeners: list[StateListener] = []
        self._agents: dict[str, SessionState] = {}

    @property
    def values(self) -> Mapping[str, JsonValue]:
        return MappingProxyType(self._values)

    def get(self, key: str) -> JsonValue:
        """The value of a key, None if it has none."""
        return self._values.get(key)

    def set(self, key: str, value: JsonValue) -> None:
        """Set a value, or remove it with None."""
        if self._values.get(key) == value:
            return
        if value is None:
            del self._values[key]
        else:
            self._values[key] = value
        for listener in tuple(self._listeners):
            listener(key, value)

    def of_agent(self, agent_id: str) -> "SessionState":
        """The state of a run of a sub-agent, which nobody records; this state itself for an empty id."""
        return self._agents.setdefault(agent_id, SessionState()) if agent_id else self

    def subscribe(self, listener: StateListener) -> Callable[[], None]:
        """Tell `listener` all later changes. Returns a function that ends the subscription."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
