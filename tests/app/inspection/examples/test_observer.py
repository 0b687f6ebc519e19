"""Calls are compared with the script that made them."""

import asyncio

import pytest

from tejat.app.inspection.examples.observer import ExampleObserver
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    InfoConfirmation,
    Outcome,
)
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.models.scripted.script_file import parse_script

SCRIPT = """
[[answer]]
[[answer.call]]
name = "t"
args = { x = 1 }
decision = "ask"
reply = "no"
[[answer.call]]
name = "t"
args = { x = 1 }
decision = "allow"

[[answer]]
purpose = "agent:a"
[[answer.call]]
name = "t"
args = { x = 1 }
decision = "deny"
"""
CALL = FunctionCall("t", {"x": 1})


def observer() -> ExampleObserver:
    return ExampleObserver(parse_script(SCRIPT, file="s.toml", placeholders={}))


def finished(index: int = 0, error: ErrorType | None = None) -> CallFinished:
    result = ToolResult("x", "x", None if error is None else ToolError("no", error))
    return CallFinished(index, CALL, CallState.SUCCESS, result, (), 0.0)


def ask(watching: ExampleObserver, index: int = 0) -> ApprovalReply:
    watching.listen(StateChanged(index, CALL, CallState.AWAITING_APPROVAL))
    return asyncio.run(watching.ask(ApprovalRequest(InfoConfirmation("T", "x"), "t")))


def test_like_calls_are_matched_in_their_order_and_by_agent() -> None:
    watching = observer()
    assert ask(watching).outcome is Outcome.CANCEL
    watching.listen(finished(0, ErrorType.CANCELLED))
    watching.listen(AgentActivity("a#1", "a", finished(0, ErrorType.POLICY_VIOLATION)))
    watching.listen(finished(1))
    assert watching.problems == []
    assert [(each.agent, each.decision) for each in watching.calls] == [("", "ask"), ("", "allow"), ("a#1", "deny")]


def test_what_is_missing_and_what_differs() -> None:
    watching = observer()
    watching.listen(finished())
    assert list(map(str, watching.problems)) == [
        "answer 1: t: the decision is allow, not ask",
        "answer 1: t was not called",
        "answer 2: t was not called",
    ]


def test_a_call_that_is_not_in_the_script() -> None:
    watching = observer()
    watching.listen(AgentActivity("b#1", "b", finished()))
    assert [each.agent for each in watching.calls] == ["b#1"]
    assert len(watching.problems) == 3


def test_questions_of_the_model_are_not_answered() -> None:
    with pytest.raises(UserUnavailable):
        asyncio.run(observer().ask(ApprovalRequest(AskUserConfirmation("T", ()), "ask_user")))
