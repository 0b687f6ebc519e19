"""What a run came to in numbers."""

import pytest

from support.sample_events import ALL_EVENTS, CALL, DENIED, EDIT, SHELL, SHELL_REFUSED, call_finished, diff
from tejat.core.agent.events import AgentEvent, Answered
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message
from tejat.core.messages.types import JsonObject
from tejat.core.model import ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import BY_USER, CallFinished
from tejat.engine.sessions.statistics import Statistics

NOTHING = {"accept": 0, "reject": 0, "modify": 0, "auto_accept": 0}


def counted(*events: AgentEvent) -> Statistics:
    statistics = Statistics(lambda seconds: round(seconds * 1000))
    for event in events:
        statistics.record(event)
    return statistics


def test_of_nothing() -> None:
    assert counted().to_json() == {
        "models": {},
        "tools": {
            "totalCalls": 0,
            "totalSuccess": 0,
            "totalFail": 0,
            "totalDurationMs": 0,
            "totalDecisions": NOTHING,
            "byName": {},
        },
        "files": {"totalLinesAdded": 0, "totalLinesRemoved": 0},
    }


OF_A_RUN = {
    "models": {
        "gemini-test": {
            # Two answers, a retry and a request on the side that failed.
            "api": {"totalRequests": 4, "totalErrors": 2, "totalLatencyMs": 688},
            "tokens": {
                "input": 9,
                "prompt": 13,
                "candidates": 7,
                "total": 23,
                "cached": 4,
                "thoughts": 2,
                "tool": 1,
            },
        },
        "gemini-test-002": {
            "api": {"totalRequests": 1, "totalErrors": 0, "totalLatencyMs": 250},
            "tokens": {
                "input": 12,
                "prompt": 20,
                "candidates": 6,
                "total": 26,
                "cached": 8,
                "thoughts": 0,
                "tool": 0,
            },
        },
    },
    "tools": {
        "totalCalls": 4,
        "totalSuccess": 2,
        "totalFail": 2,
        "totalDurationMs": 750,
        "totalDecisions": {"accept": 1, "reject": 1, "modify": 0, "auto_accept": 2},
        "byName": {
            "read_file": {
                "count": 2,
                "success": 1,
                "fail": 1,
                "durationMs": 500,
                "decisions": {**NOTHING, "auto_accept": 2},
            },
            "replace": {
                "count": 1,
                "success": 1,
                "fail": 0,
                "durationMs": 250,
                "decisions": {**NOTHING, "accept": 1},
            },
            "run_shell_command": {
                "count": 1,
                "success": 0,
                "fail": 1,
                "durationMs": 0,
                "decisions": {**NOTHING, "reject": 1},
            },
        },
    },
    "files": {"totalLinesAdded": 3, "totalLinesRemoved": 1},
    "agents": {
        "byName": {
            "reader": {
                "runs": 1,
                "turns": 1,
                "calls": 0,
                "tokens": 8,
                "cost_usd": 0.001,
                "durationMs": 500,
                "outcomes": {"GOAL": 1},
            }
        }
    },
}


def test_of_a_whole_run() -> None:
    statistics = counted(*ALL_EVENTS)
    assert statistics.to_json() == OF_A_RUN
    assert (statistics.calls, statistics.usage) == (4, Usage(33, 12, 13, 2, 1))
    assert statistics.denials == [
        {
            "tool_name": "run_shell_command",
            "tool_id": "call-3",
            "parameters": {"command": "make"},
            "reason": f"{DENIED} Hint.",
        }
    ]


def failed(kind: ErrorType) -> ToolResult:
    return ToolResult("x", "x", ToolError("x", kind))


@pytest.mark.parametrize(
    ("event", "decision"),
    [
        (call_finished(CALL, ToolResult("x"), allowed_by="a rule"), "auto_accept"),
        (call_finished(CALL, failed(ErrorType.FILE_NOT_FOUND), allowed_by="a rule"), "auto_accept"),
        (call_finished(CALL, ToolResult("x"), allowed_by=BY_USER), "accept"),
        (call_finished(EDIT, ToolResult("x", diff()), allowed_by=BY_USER), "accept"),
        (call_finished(EDIT, ToolResult("x", diff(by_user=1)), allowed_by=BY_USER), "modify"),
        (call_finished(SHELL, failed(ErrorType.POLICY_VIOLATION)), "reject"),
        (call_finished(SHELL, failed(ErrorType.CANCELLED)), "reject"),
        (call_finished(SHELL, failed(ErrorType.CANCELLED), allowed_by="a rule"), "auto_accept"),
        (call_finished(SHELL, failed(ErrorType.INVALID_TOOL_PARAMS)), None),
        (call_finished(SHELL, failed(ErrorType.TOOL_NOT_REGISTERED)), None),
    ],
)
def test_who_decided(event: CallFinished, decision: str | None) -> None:
    statistics = counted(event)
    tools = statistics.to_json()["tools"]
    assert isinstance(tools, dict)
    assert tools["totalDecisions"] == (NOTHING if decision is None else {**NOTHING, decision: 1})
    assert len(statistics.denials) == (decision == "reject")


def test_lines_of_the_user_count_and_those_of_a_change_that_failed_do_not() -> None:
    files: list[JsonObject] = []
    for result in (
        ToolResult("x", diff(by_user=2)),
        ToolResult("x", diff(), ToolError("x", ErrorType.CANCELLED)),
    ):
        found = counted(call_finished(EDIT, result)).to_json()["files"]
        assert isinstance(found, dict)
        files.append(found)
    assert files == [
        {"totalLinesAdded": 5, "totalLinesRemoved": 1},
        {"totalLinesAdded": 0, "totalLinesRemoved": 0},
    ]


def test_durations_are_told_as_it_is_told_to() -> None:
    statistics = Statistics(lambda _: 0)
    for event in ALL_EVENTS:
        statistics.record(event)
    assert "Ms': 0" in str(statistics.to_json())
    assert not any(f"Ms': {digit}" in str(statistics.to_json()) for digit in "123456789")


class TestAgents:
    ENDED = AgentEnded("a#1", "a", SubagentEnd.GOAL, turns=2, calls=3, usage=Usage(10, 0, 5), cost=0.5, seconds=1.5)

    def test_their_runs_by_name(self) -> None:
        failed = replace(self.ENDED, agent_id="a#2", reason=SubagentEnd.TIMEOUT)
        assert counted(self.ENDED, failed).to_json()["agents"] == {
            "byName": {
                "a": {
                    "runs": 2,
                    "turns": 4,
                    "calls": 6,
                    "tokens": 30,
                    "cost_usd": 1.0,
                    "durationMs": 3000,
                    "outcomes": {"GOAL": 1, "TIMEOUT": 1},
                }
            }
        }

    def test_an_unknown_price_makes_the_cost_unknown(self) -> None:
        statistics = counted(self.ENDED, replace(self.ENDED, cost=None), self.ENDED)
        assert statistics.agents["a"].cost is None

    def test_what_they_do_counts_for_the_session_and_denials_name_them(self) -> None:
        answer = Answered(ModelResponse(model_message("x"), usage=Usage(4, 0, 1)), 0.5)
        denied = SHELL_REFUSED
        statistics = counted(
            AgentStarted("a#1", "a", "1", "Go.", "other"),
            AgentActivity("a#1", "a", answer),
            AgentActivity("a#1", "a", denied),
            denied,
        )
        assert statistics.usage == Usage(4, 0, 1)
        assert set(statistics.models) == {"other"}
        assert statistics.calls == 2
        assert [each.get("agent_id") for each in statistics.denials] == ["a#1", None]
