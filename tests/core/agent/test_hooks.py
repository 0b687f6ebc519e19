"""The names of events are those that published settings and scripts use; a wrong hook is refused when it is made."""

from typing import Any

import pytest

from tejat.core.agent.hooks import DEFAULT_TIMEOUT, GUARD_EVENTS, Hook, HookEvent, HookReply


def deny(event: Any) -> HookReply:
    return HookReply("deny", event["tool_name"])


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


def test_a_hook_is_still_a_function() -> None:
    assert Hook(deny)({"tool_name": "glob"}) == HookReply("deny", "glob")
    assert Hook(deny).timeout == DEFAULT_TIMEOUT == 60


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"function": 5}, TypeError, "A hook must be a function that takes the event, not 5."),
        ({"function": int}, TypeError, "A hook must be a function that takes the event, not <class 'int'>."),
        ({"matcher": None}, TypeError, "The matcher of a hook must be a string, not None."),
        ({"name": 5}, TypeError, "The name of a hook must be a string, not 5."),
        ({"timeout": "5"}, TypeError, "The timeout of a hook must be a number of seconds, not '5'."),
        ({"timeout": True}, TypeError, "The timeout of a hook must be a number of seconds, not True."),
        ({"timeout": 0}, ValueError, "The timeout of a hook must be more than 0 seconds, not 0."),
        ({"timeout": float("nan")}, ValueError, "The timeout of a hook must be more than 0 seconds, not nan."),
        ({"event": 5}, TypeError, "The event of a hook must be a string, not 5."),
        ({"event": "beforetool"}, ValueError, "Unknown hook event 'beforetool'. Use one of BeforeTool, AfterTool, "),
    ],
)
def test_wrong_fields(fields: dict[str, Any], error: type[Exception], message: str) -> None:
    given: Any = {"function": deny, **fields}
    with pytest.raises(error) as caught:
        Hook(**given)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("tools", [5, [5], {"glob": True}])
def test_tools_of_a_reply_are_names(tools: Any) -> None:
    with pytest.raises(TypeError, match=r"^The tools of a HookReply must be a list of names, not "):
        HookReply(tools=tools)


def test_one_tool_is_not_its_letters() -> None:
    assert HookReply(tools="glob").tools == ("glob",)
    assert HookReply(tools=["glob"]).tools == ["glob"]


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"decision": "no"}, ValueError, "The decision of a hook must be allow, ask or deny, not 'no'."),
        ({"decision": True}, ValueError, "The decision of a hook must be allow, ask or deny, not True."),
        ({"stops": "no"}, TypeError, "The stops of a HookReply must be True or False, not 'no'."),
        ({"reason": 5}, TypeError, "The reason of a HookReply must be a string, not 5."),
        ({"context": None}, TypeError, "The context of a HookReply must be a string, not None."),
        ({"tool_input": "x"}, TypeError, "The tool_input of a HookReply must be a mapping, not 'x'."),
    ],
)
def test_wrong_replies(fields: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        HookReply(**fields)
    assert str(caught.value) == message
