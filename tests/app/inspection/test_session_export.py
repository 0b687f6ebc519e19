"""Exported sessions: runs of sub-agents as events, and hidden characters in JSON."""

import json

from tejat.app.inspection.session_export import agent_events, escape_hidden_json
from tejat.core.agent.events import Answered, TextStreamed
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.json_text import dump_json
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.tools.call_events import CallFinished, StateChanged
from tejat.engine.sessions.agent_records import AgentTranscript


def test_hidden_characters_are_escaped_and_mean_the_same() -> None:
    value = {"a": "x\u202ey\u200b\U000e0041 ❤️\n\t\x1b"}
    text = escape_hidden_json(dump_json(value, indent=2))
    assert json.loads(text) == value
    assert not set(text) & set("\u202e\u200b\U000e0041\x1b")


def test_a_run_of_a_sub_agent_as_events() -> None:
    calls = FunctionCall("glob", {"pattern": "*"}, "1"), FunctionCall("glob", {"pattern": "?"}, "2")
    messages = (
        user_message("Task"),
        model_message("I look.", *calls),
        user_message(FunctionResponse("glob", {"output": "a"}, "1")),
        user_message(FunctionResponse("glob", {"output": "b"}, "2")),
        model_message("Done."),
    )
    agent = AgentTranscript("r-1", "r", "Task", "m", messages, "GOAL", call_id="c", calls=2, seconds=1.5)
    started, *inner, ended = agent_events(agent, "/w")
    assert started == AgentStarted("r-1", "r", "c", "Task", "m")
    assert ended == AgentEnded("r-1", "r", SubagentEnd.GOAL, calls=2, seconds=1.5)
    assert all(isinstance(event, AgentActivity) for event in inner)
    assert [type(event.event) for event in inner if isinstance(event, AgentActivity)] == [
        *(TextStreamed, Answered, StateChanged, CallFinished, StateChanged, CallFinished, TextStreamed, Answered),
    ]


def test_a_run_whose_end_was_not_recorded_was_aborted() -> None:
    *_inner, ended = agent_events(AgentTranscript("r-1", "r", "Task", "m"), "/w")
    assert isinstance(ended, AgentEnded)
    assert ended.reason is SubagentEnd.ABORTED
