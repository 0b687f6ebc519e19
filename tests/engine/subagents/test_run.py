"""Runs of sub-agents in a real session: how they end, and what the parent gets."""

import asyncio
from pathlib import Path

import pytest

from support.program import ProgramEnv
from support.subagents import SubagentEnv, SubagentSession, call, done, invoke
from tejat.core.agent.events import EndReason
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.model import FailureKind, ModelFailure, ModelRequest


@pytest.fixture
def agents(tmp_path: Path) -> SubagentEnv:
    return SubagentEnv(ProgramEnv(tmp_path))


def ended_with(session: SubagentSession) -> SubagentEnd:
    [ended] = session.ended
    return ended.reason


class TestEnds:
    def test_the_result_of_a_completed_task_is_handed_on(self, agents: SubagentEnv) -> None:
        agents.agent("reader", tools=["read_file"])
        (agents.project / "a.txt").write_text("forty-two\n")
        session = agents.run(
            {
                "main": [invoke("reader", "Read a.txt.\nAll of it."), "It is forty-two."],
                "agent:reader#1": [call("read_file", path="a.txt"), done("It says forty-two.")],
            }
        )
        assert session.results() == [
            "Subagent 'reader' finished.\nTermination Reason: GOAL\nResult:\nIt says forty-two."
        ]
        [started], [ended] = session.started, session.ended
        assert (started.agent_id, started.agent_name, started.model) == ("reader#1", "reader", "lanes")
        assert started.prompt == "Read a.txt.\nAll of it."
        assert (ended.reason, ended.turns, ended.calls, ended.usage.total, ended.error) == (
            SubagentEnd.GOAL,
            2,
            2,
            30,
            "",
        )

    def test_it_sees_its_own_prompt_and_task_and_nothing_of_the_conversation(self, agents: SubagentEnv) -> None:
        agents.agent("reader", "You are ${activeModel}. Task: ${query}. ${other}", tools=["read_file"], temperature=0.5)
        session = agents.run({"main": [invoke("reader", "Look."), "ok"], "agent:reader#1": [done()]})
        [request] = session.model.requests_of("agent:reader#1")
        assert request.system.startswith("You are lanes. Task: Look.. ${other}")
        assert str(agents.project) in request.system
        assert [message.text for message in request.messages] == ["Look."]
        assert [tool.name for tool in request.tools] == ["complete_task", "read_file"]
        assert request.temperature == 0.5

    def test_text_without_calls_gets_a_last_request(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["read_file"])
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": ["I think so.", done("Yes.")]})
        assert session.results()[0].splitlines()[:2] == ["Subagent 'a' finished.", "Termination Reason: GOAL"]
        last = session.model.requests_of("agent:a#1")[-1]
        assert [tool.name for tool in last.tools] == ["complete_task"]
        assert "did not call `complete_task`" in last.messages[-1].text

    def test_text_twice_is_the_result_of_an_error(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=[])
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": ["First.", "Second."]})
        assert session.results() == [
            "Subagent 'a' finished.\nTermination Reason: ERROR_NO_COMPLETE_TASK_CALL\nResult:\nSecond."
        ]

    def test_the_limit_of_turns(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["list_directory"], max_turns=2)
        look = call("list_directory", path=str(agents.project))
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [look, look, [look]]})
        assert session.results() == [
            "Subagent 'a' finished.\nTermination Reason: MAX_TURNS\nResult:\nAgent reached max turns limit (2)."
        ]
        assert session.inner_calls()[-1][1].result.error is not None

    def test_the_time_limit_leaves_out_waiting_for_an_answer(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["list_directory"], timeout_mins=1)

        async def hang(_: ModelRequest) -> str:
            await asyncio.sleep(60)
            return "never"

        async def use(session: SubagentSession) -> None:
            definition = session.manager.subagents.find("a")
            assert definition is not None
            object.__setattr__(definition, "timeout_minutes", 0.005)
            await session.prompt()

        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [hang, done("Half of it.")]}, use)
        assert ended_with(session) is SubagentEnd.GOAL
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [hang, "No."]}, use)
        assert session.results() == ["Subagent 'a' finished.\nTermination Reason: TIMEOUT\nResult:\nNo."]

    def test_a_failure_of_the_model(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=[])
        failure = ModelFailure("The service is down.", FailureKind.BAD_REQUEST)
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [failure]})
        assert session.results() == ["Subagent 'a' failed. Error: The service is down."]
        assert ended_with(session) is SubagentEnd.ERROR

    def test_a_loop(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["list_directory"])
        look = call("list_directory", path=str(agents.project))
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [look] * 30})
        assert ended_with(session) is SubagentEnd.LOOP
        assert "Termination Reason: LOOP" in session.results()[0]


class TestCompletion:
    def test_a_wrong_result_can_be_corrected(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=[])
        session = agents.run(
            {"main": [invoke("a"), "ok"], "agent:a#1": [call("complete_task"), done("  "), done({"found": [1]})]}
        )
        errors = [finished.result.error for _, finished in session.inner_calls()]
        assert [error and error.message for error in errors] == ['Missing required "result" argument.'] * 2 + [None]
        assert session.results()[0].endswith('Result:\n{\n  "found": [\n    1\n  ]\n}')

    def test_nothing_else_runs_beside_it(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["write_file"])
        write = call("write_file", file_path="x.txt", content="x")
        session = agents.run(
            {"main": [invoke("a"), "ok"], "agent:a#1": [[write, done("First."), done("Second.")]]}, mode="yolo"
        )
        assert not (agents.project / "x.txt").exists()
        assert session.results()[0].endswith("First.")
        states = [finished.state.value for _, finished in session.inner_calls()]
        assert sorted(states) == ["error", "error", "success"]

    def test_a_built_in_agent_hands_in_an_object(self, agents: SubagentEnv) -> None:
        report = {"SummaryOfFindings": "It works.", "ExplorationTrace": ["a"], "RelevantLocations": []}
        session = agents.run(
            {
                "main": [call("codebase_investigator", objective="How?"), "ok"],
                "agent:codebase_investigator#1": [call("complete_task", report=report)],
            }
        )
        assert '"SummaryOfFindings": "It works."' in session.results()[0]
        assert session.model.requests_of("agent:codebase_investigator#1")[0].messages[0].text == "How?"


class TestNames:
    def test_an_unknown_agent_is_answered_with_the_nearest(self, agents: SubagentEnv) -> None:
        session = agents.run({"main": [invoke("generalis"), "ok"]})
        assert session.results()[0].startswith("Subagent 'generalis' not found. Available agents: generalist")
        assert not session.started

    def test_agents_are_declared_by_name(self, agents: SubagentEnv) -> None:
        agents.agent("mine")
        session = agents.run({"main": ["ok"]})
        [declared] = [tool for tool in session.model.requests[0].tools if tool.name == "invoke_agent"]
        assert "mine" in str(declared.parameters_json_schema)

    def test_runs_are_numbered_in_the_order_of_the_calls(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=[])
        agents.agent("b", tools=[])
        session = agents.run(
            {
                "main": [[invoke("a"), invoke("b"), invoke("a")], invoke("a"), "ok"],
                **{f"agent:{lane}": [done(lane)] for lane in ("a#1", "b#1", "a#2", "a#3")},
            }
        )
        assert [text.splitlines()[-1] for text in session.results()] == ["a#1", "b#1", "a#2", "a#3"]

    def test_a_session_starts_only_so_many(self, agents: SubagentEnv) -> None:
        agents.env.write_user_settings(agents={"maxRuns": 1})
        agents.agent("a", tools=[])
        session = agents.run({"main": [invoke("a"), invoke("a"), "ok"], "agent:a#1": [done()]})
        assert "agents.maxRuns allows 1" in session.results()[1]
        assert len(session.started) == 1


class TestCancelling:
    def test_the_end_of_the_turn_ends_its_agents(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=[])
        reached = asyncio.Event()

        async def hang(_: ModelRequest) -> str:
            reached.set()
            await asyncio.sleep(60)
            return "never"

        async def use(session: SubagentSession) -> None:
            prompt = asyncio.create_task(session.prompt())
            await reached.wait()
            assert session.manager.session.interrupt()
            assert (await prompt).reason is EndReason.INTERRUPTED

        session = agents.run({"main": [[invoke("a"), invoke("a")]], "agent:a#1": [hang], "agent:a#2": [hang]}, use)
        assert [ended.reason for ended in session.ended] == [SubagentEnd.ABORTED] * 2
        assert len(session.results()) == 2

    def test_one_agent_can_be_stopped_alone(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=[])

        async def stop_the_other(_: ModelRequest) -> str:
            assert session_of[0].manager.subagent_service.stop("a#1")
            assert not session_of[0].manager.subagent_service.stop("a#9")
            return "text"

        async def hang(_: ModelRequest) -> str:
            await asyncio.sleep(60)
            return "never"

        session_of: list[SubagentSession] = []

        async def use(session: SubagentSession) -> None:
            session_of.append(session)
            assert (await session.prompt()).reason is EndReason.FINISHED

        session = agents.run(
            {
                "main": [[invoke("a"), invoke("a")], "ok"],
                "agent:a#1": [hang],
                "agent:a#2": [stop_the_other, done("Alone.")],
            },
            use,
        )
        assert session.results()[0].splitlines()[1] == "Termination Reason: ABORTED"
        assert session.results()[1].endswith("Alone.")
