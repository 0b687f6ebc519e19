"""The state of a session tells every change once."""

from tejat.core.agent.session_state import SessionState
from tejat.core.messages.types import JsonValue


def test_changes_are_told_in_order() -> None:
    state, told = SessionState({"plan": "old"}), list[tuple[str, JsonValue]]()
    unsubscribe = state.subscribe(lambda key, value: told.append((key, value)))
    state.set("todos", [1])
    state.set("todos", [1])
    state.set("plan", None)
    state.set("plan", None)
    unsubscribe()
    state.set("todos", [2])
    assert told == [("todos", [1]), ("plan", None)]
    assert dict(state.values) == {"todos": [2]}
    assert (state.get("todos"), state.get("plan")) == ([2], None)


def test_the_values_it_began_with_stay_as_they_are() -> None:
    values: dict[str, JsonValue] = {"todos": [1]}
    SessionState(values).set("todos", [2])
    assert values == {"todos": [1]}
