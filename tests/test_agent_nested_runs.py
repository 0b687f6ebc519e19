"""Code that a run waits for cannot wait for another run of the same agent."""

import asyncio
from pathlib import Path

import pytest

from support.agent_env import SCRIPT, AgentEnv, calling, events_of, finished
from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.errors import UsageError
from tejat.tools.python.function_tool import tool

MESSAGE = "cannot start a run of the same agent"


@pytest.fixture
def agent_env(tmp_path: Path) -> AgentEnv:
    return AgentEnv(tmp_path)


def test_a_tool_that_asks_its_own_agent_gets_an_error_at_once(agent_env: AgentEnv) -> None:
    refusals: list[str] = []

    @tool
    async def ask_again() -> str:
        """Asks again."""
        for attempt in (agent.ask("again"), agent.compress(), asyncio.create_task(agent.ask("again"))):
            with pytest.raises(UsageError, match=MESSAGE) as caught:
                await attempt
            refusals.append(str(caught.value))
        return "refused"

    async def main() -> list[str]:
        async with asyncio.timeout(60), agent:
            return [(await agent.ask("one")).text, (await agent.ask("two")).text]

    agent = agent_env.agent(calling("ask_again", times=2), tools=[ask_again])
    assert asyncio.run(main()) == ["Done.", "Done."]
    assert len(refusals) == 6


def test_a_tool_without_async(agent_env: AgentEnv) -> None:
    @tool
    def ask_again() -> str:
        """Asks again."""
        with pytest.raises(UsageError, match=MESSAGE):
            agent.ask("again")
        return "refused"

    with agent_env.sync_agent(calling("ask_again"), tools=[ask_again]) as agent:
        (call,) = finished(list(agent.run("one")))
    assert call.result.llm_content == "refused"


def test_an_approver(agent_env: AgentEnv) -> None:
    async def approve(_: ApprovalRequest) -> bool:
        await agent.ask("again")
        return True

    @tool(confirm=True)
    def launch() -> None:
        """Launches."""

    async def main() -> None:
        async with asyncio.timeout(60), agent:
            with pytest.raises(UsageError, match=MESSAGE):
                await agent.ask("one")

    agent = agent_env.agent(calling("launch"), tools=[launch], approver=approve)
    asyncio.run(main())


def test_another_agent_can_be_asked(agent_env: AgentEnv) -> None:
    @tool
    async def ask_other() -> str:
        """Asks another agent."""
        async with agent_env.agent(SCRIPT) as other:
            return (await other.ask("hello")).text

    async def main() -> list[AgentEvent]:
        async with asyncio.timeout(60), agent_env.agent(calling("ask_other"), tools=[ask_other]) as agent:
            return await events_of(agent)

    (call,) = finished(asyncio.run(main()))
    assert call.result.llm_content == "Good morning."


def test_the_end_of_a_run_may_start_the_next_one(agent_env: AgentEnv) -> None:
    later: list[asyncio.Task[RunEnded]] = []

    def follow_up(event: AgentEvent) -> None:
        if isinstance(event, RunEnded) and not later:
            later.append(asyncio.create_task(agent.ask("two")))

    async def main() -> list[str]:
        async with asyncio.timeout(60), agent:
            return [(await agent.ask("one")).text, (await later[0]).text]

    agent = agent_env.agent(SCRIPT, on_event=follow_up)
    assert asyncio.run(main()) == ["Good morning.", "Good night."]


def test_a_task_of_a_tool_may_ask_when_the_run_is_over(agent_env: AgentEnv) -> None:
    later: list[asyncio.Task[RunEnded]] = []

    async def wait_and_ask() -> RunEnded:
        await is_over.wait()
        return await agent.ask("two")

    @tool
    async def plan() -> None:
        """Plans."""
        later.append(asyncio.create_task(wait_and_ask()))

    async def main() -> list[str]:
        async with asyncio.timeout(60), agent:
            first = await agent.ask("one")
            is_over.set()
            return [first.text, (await later[0]).text]

    is_over = asyncio.Event()
    agent = agent_env.agent(calling("plan", times=2), tools=[plan])
    assert asyncio.run(main()) == ["Done.", "Done."]
