"""Events of the past in a shorter form that shows the same."""

from collections.abc import Iterable

from tejat.core.agent.events import AgentEvent, Answered
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged


def digest_events(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """Leave out the steps of calls that have ended.

    A front end that comes late builds the same transcript from a fraction of the events.
    """
    kept: list[AgentEvent] = []
    ended: set[int] = set()
    for event in reversed(list(events)):
        match event:
            case CallFinished(index):
                ended.add(index)
            case Answered():
                ended.clear()
            case OutputUpdated(index) if index in ended:
                continue
            case StateChanged(index, state=state) if index in ended and state is not CallState.VALIDATING:
                continue
            case _:
                pass
        kept.append(event)
    return kept[::-1]
