"""The names of events are those that published settings and scripts use."""

from tejat.core.agent.hooks import GUARD_EVENTS, HookEvent


def test_the_events_are_called_as_in_the_documents() -> None:
    assert [event.value for event in HookEvent] == [
        "BeforeTool",
        "AfterTool",
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "SessionStart",
        "SessionEnd",
        "PreCompress",
        "Notification",
        "SubagentStart",
        "SubagentStop",
    ]


def test_what_is_about_to_happen_is_guarded() -> None:
    assert {event.value for event in GUARD_EVENTS} == {
        "BeforeTool",
        "BeforeAgent",
        "BeforeModel",
        "BeforeToolSelection",
        "SubagentStart",
    }
