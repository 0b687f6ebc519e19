"""Agents side by side, their budget, their records, and what outlives a kill or a resume."""

import asyncio
from pathlib import Path
from typing import ClassVar

import pytest

from support.program import ProgramEnv
from support.subagents import SubagentEnv, SubagentSession, call, done, invoke
from tejat.core.agent.events import EndReason
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.model import ModelRequest, Usage
from tejat.engine.sessions.agent_records import read_agent_transcripts
from tejat.engine.sessions.figures.session_figures import read_session_figures
from tejat.engine.sessions.statistics import Statistics


@pytest.fixture
def agents(tmp_path: Path) -> SubagentEnv:
    env = SubagentEnv(ProgramEnv(tmp_path))
    env.agent("reader", tools=["read_file", "glob"])
    env.agent("writer", tools=["read_file", "write_file"])
    return env


def order(session: SubagentSession) -> list[str]:
    """The starts and ends of agents."""
    found: list[str] = []
    for event in session.events:
        if isinstance(event, AgentStarted):
            found.append(f"+{event.agent_id}")
        elif isinstance(event, AgentEnded):
            found.append(f"-{event.agent_id}")
    return found


def most_at_once(session: SubagentSession) -> int:
    running = most = 0
    for mark in order(session):
        running += 1 if mark.startswith("+") else -1
        most = max(most, running)
    return most


class TestSideBySide:
    def test_readers_run_together_and_writers_alone(self, agents: SubagentEnv) -> None:
        session = agents.run(
            {
                "main": [[invoke("reader"), invoke("reader"), invoke("writer"), invoke("writer")], "ok"],
                **{f"agent:{lane}": [done()] for lane in ("reader#1", "reader#2", "writer#1", "writer#2")},
            },
            delay=0.05,
        )
        assert order(session)[:2] == ["+reader#1", "+reader#2"]
        assert order(session)[4:] == ["+writer#1", "-writer#1", "+writer#2", "-writer#2"]

    def test_at_most_so_many_at_once(self, agents: SubagentEnv) -> None:
        agents.env.write_user_settings(agents={"maxParallel": 2})
        session = agents.run(
            {
                "main": [[invoke("reader") for _ in range(5)], "ok"],
                **{f"agent:reader#{number}": [done()] for number in range(1, 6)},
            },
            delay=0.05,
        )
        assert most_at_once(session) == 2
        assert len(session.ended) == 5


class TestBudget:
    PRICES: ClassVar = {"lanes": {"input": 1000.0, "output": 0.0}}

    def test_what_agents_cost_is_part_of_the_sessions_cost(self, agents: SubagentEnv) -> None:
        agents.env.write_user_settings(model={"prices": self.PRICES})
        session = agents.run(
            {"main": [invoke("reader"), "ok"], "agent:reader#1": [call("glob", pattern="*"), done()]},
            usage=Usage(prompt=1_000),
        )
        ended = session.run_ended
        assert (ended.turns, ended.usage.prompt, ended.cost) == (2, 4_000, pytest.approx(4.0))
        assert session.ended[0].cost == pytest.approx(2.0)
        statistics = Statistics(round)
        for event in session.events:
            statistics.record(event)
        stats = statistics.to_json()
        assert stats["agents"] == {
            "byName": {
                "reader": {
                    "runs": 1,
                    "turns": 2,
                    "calls": 2,
                    "tokens": 2_000,
                    "cost_usd": 2.0,
                    "durationMs": 0,
                    "outcomes": {"GOAL": 1},
                }
            }
        }
        assert statistics.usage.prompt == 4_000
        assert set(statistics.tools) == {"invoke_agent", "glob", "complete_task"}

    def test_the_end_of_the_sessions_budget_ends_agents_and_the_run(self, agents: SubagentEnv) -> None:
        agents.env.write_user_settings(model={"prices": self.PRICES})
        session = agents.run(
            {
                "main": [[invoke("reader"), invoke("reader")]],
                "agent:reader#1": [call("glob", pattern="*")] * 9,
                "agent:reader#2": [call("glob", pattern="?")] * 9,
            },
            usage=Usage(prompt=10_000),
            max_cost=30.0,
        )
        assert {ended.reason for ended in session.ended} == {SubagentEnd.BUDGET}
        ended = session.run_ended
        assert ended.reason is EndReason.COST_LIMIT
        assert len(session.model.requests) <= 4

    def test_an_agents_own_limit_ends_only_the_agent(self, agents: SubagentEnv) -> None:
        agents.env.write_user_settings(agents={"overrides": {"reader": {"maxTokens": 20_000}}})
        session = agents.run(
            {"main": [invoke("reader"), "ok"], "agent:reader#1": [call("glob", pattern="*")] * 9},
            usage=Usage(prompt=9_000),
        )
        assert [ended.reason for ended in session.ended] == [SubagentEnd.BUDGET]
        assert "would exceed the limit of 20,000 tokens" in session.results()[0]

    def test_turns_of_agents_are_no_turns_of_the_session(self, agents: SubagentEnv) -> None:
        session = agents.run(
            {
                "main": [invoke("reader"), "ok"],
                "agent:reader#1": [call("glob", pattern=each) for each in "abc"] + [done()],
            },
            max_turns=2,
        )
        assert [ended.reason for ended in session.ended] == [SubagentEnd.GOAL]

    def test_the_time_of_the_session(self, agents: SubagentEnv) -> None:
        async def hang(_: ModelRequest) -> str:
            await asyncio.sleep(60)
            return "never"

        session = agents.run({"main": [invoke("reader")], "agent:reader#1": [hang]}, timeout=1.0)
        assert [ended.reason for ended in session.ended] == [SubagentEnd.BUDGET]
        ended = session.run_ended
        assert ended.reason is EndReason.TIME_LIMIT


class TestJournal:
    def test_the_parts_of_agents_are_kept_apart_and_can_be_read(self, agents: SubagentEnv) -> None:
        lanes = {
            "main": [invoke("reader", "Look."), "ok"],
            "agent:reader#1": [call("glob", pattern="*"), done("Seen.")],
        }
        session = agents.run(lanes)
        kinds = [record["kind"] for record in session.journal]
        assert kinds.count("answer") == 2
        assert "agent" in kinds
        path = session.manager.session.journal_path
        [transcript] = read_agent_transcripts(path).values()
        assert (transcript.agent_id, transcript.prompt, transcript.reason) == ("reader#1", "Look.", "GOAL")
        assert [message.role.value for message in transcript.messages] == ["user", "model", "user", "model", "user"]
        assert len(read_session_figures(path).requests) == 4

    def test_a_resumed_session_has_the_parents_history_only_and_goes_on_counting(self, agents: SubagentEnv) -> None:
        first = agents.run({"main": [invoke("reader"), "ok"], "agent:reader#1": [done("One.")]})
        second = agents.run({"main": [invoke("reader"), "ok"], "agent:reader#2": [done("Two.")]}, resume="latest")
        assert [started.agent_id for started in second.started] == ["reader#2"]
        assert [text.splitlines()[-1] for text in second.results()] == ["One.", "Two."]
        assert second.manager.session.session_id == first.manager.session.session_id

    def test_side_requests_of_tools_belong_to_the_lane_of_the_agent(self, agents: SubagentEnv) -> None:
        agents.env.write_user_settings(useSmartEdit=True, tools={"disableLLMCorrection": False})
        (agents.project / "a.txt").write_text("one two three\n")
        agents.agent("editor", tools=["replace", "read_file"])
        edit = call("replace", file_path="a.txt", old_string="one  tow three", new_string="1", instruction="Change it.")
        session = agents.run(
            {"main": [invoke("editor"), "ok"], "agent:editor#1": [call("read_file", path="a.txt"), edit, "{}", done()]},
            mode="yolo",
        )
        purposes = {request.purpose for request in session.model.requests_of("agent:editor#1")}
        assert purposes == {"conversation", "edit_correction"}


def test_an_agent_has_todos_of_its_own(agents: SubagentEnv) -> None:
    agents.agent("planner", tools=["write_todos"])
    todo = {"description": "Look.", "status": "pending"}
    session = agents.run(
        {"main": [invoke("planner"), "ok"], "agent:planner#1": [call("write_todos", todos=[todo]), done()]}
    )
    state = session.manager.session.state
    assert state.get("todos") is None
    assert state.of_agent("planner#1").get("todos")
