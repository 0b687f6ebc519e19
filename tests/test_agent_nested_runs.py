"""Code that a run waits for cannot wait for another run of the same agent."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.agent_env import SCRIPT, AgentEnv, calling, events_of, finished
from tejat.core.agent.events import AgentEvent, CompressionStatus, Prompted, RunEnded, TextStreamed
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.errors import UsageError
from tejat.sync_agent import SyncAgent
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


@tool(confirm=True)
def launch() -> str:
    """Launches."""
    return "launched"


LAUNCH_TWICE = calling("launch", times=2)
CALL = """
[[answer]]
[[answer.call]]
name = "launch"
args = {}
"""


def ask_inside(agent: SyncAgent) -> Iterator[str]:
    """The answers to prompts inside of the loop of another run."""
    return (agent.ask("two").text for event in agent.run("one") if isinstance(event, Prompted))


class TestInTheLoop:
    """The body of the loop may start a run, which waits for the one that the loop reads."""

    @pytest.mark.parametrize("is_started", [False, True])
    def test_approvals_of_the_first_run_are_asked_for_meanwhile(self, agent_env: AgentEnv, is_started: bool) -> None:
        threads: set[str] = set()
        told: list[AgentEvent] = []

        def approve(_: ApprovalRequest) -> bool:
            threads.add(threading.current_thread().name)
            return True

        settings: dict[str, Any] = {"tools": [launch], "approver": approve, "on_event": told.append}
        with agent_env.sync_agent(LAUNCH_TWICE, **settings) as agent:
            outer, inner = list[AgentEvent](), list[AgentEvent]()
            for event in agent.start("one") if is_started else agent.run("one"):
                outer.append(event)
                if isinstance(event, Prompted):
                    inner += agent.run("two")
        assert [call.result.llm_content for call in finished([*outer, *inner])] == ["launched"] * 2
        assert isinstance(outer[-1], RunEnded)
        assert isinstance(inner[-1], RunEnded)
        assert told == [*outer, *inner]  # in the order in which it happened
        assert threads == {threading.current_thread().name}

    def test_a_started_run_that_nobody_reads_yet(self, agent_env: AgentEnv) -> None:
        with agent_env.sync_agent(LAUNCH_TWICE, tools=[launch], approver=lambda _: True) as agent:
            first = agent.start("one")
            assert agent.ask("two").text == "Done."
            assert len(finished(list(first))) == 1

    def test_a_run_that_was_left_is_not_reported_later(self, agent_env: AgentEnv) -> None:
        told: list[AgentEvent] = []
        with agent_env.sync_agent(SCRIPT, on_event=told.append) as agent:
            first = agent.start("one")
            before = [next(first)]
            first.close()
            second = list(agent.run("two"))
        assert told == [*before, *second]

    def test_a_summary(self, agent_env: AgentEnv) -> None:
        with agent_env.sync_agent(LAUNCH_TWICE, tools=[launch], approver=lambda _: True) as agent:
            states = [agent.compress().status for event in agent.run("one") if isinstance(event, Prompted)]
        assert states == [CompressionStatus.NOT_NEEDED]

    def test_another_agent_whose_tool_asks_the_first(self, agent_env: AgentEnv) -> None:
        @tool
        def ask_first() -> str:
            """Asks the first agent."""
            return first.ask("two").text

        with (
            agent_env.sync_agent(LAUNCH_TWICE, tools=[launch], approver=lambda _: True) as first,
            agent_env.sync_agent(calling("ask_first"), tools=[ask_first]) as second,
        ):
            ((call,),) = (finished(list(second.run("go"))) for event in first.run("one") if isinstance(event, Prompted))
        assert call.result.llm_content == "Done."

    def test_an_exception_of_the_approver_is_raised_by_its_own_run(self, agent_env: AgentEnv) -> None:
        def approve(_: ApprovalRequest) -> bool:
            raise KeyError("mine")

        answers: list[str] = []
        with agent_env.sync_agent(CALL + SCRIPT, tools=[launch], approver=approve) as agent:
            with pytest.raises(KeyError, match="mine"):
                answers.extend(ask_inside(agent))
            assert answers == ["Good morning."]
            assert agent.ask("three").text == "Good night."

    def test_an_exception_of_on_event_is_raised_by_its_own_run(self, agent_env: AgentEnv) -> None:
        def watch(event: AgentEvent) -> None:
            if isinstance(event, TextStreamed) and not failed:
                failed.append(event)
                raise KeyError("mine")

        failed: list[AgentEvent] = []
        answers: list[str] = []
        with agent_env.sync_agent(SCRIPT, on_event=watch) as agent, pytest.raises(KeyError, match="mine"):
            answers.extend(ask_inside(agent))
        assert answers == ["Good night."]

    def test_async(self, agent_env: AgentEnv) -> None:
        async def main() -> list[str]:
            texts: list[str] = []
            async with (
                asyncio.timeout(60),
                agent_env.agent(LAUNCH_TWICE, tools=[launch], approver=lambda _: True) as agent,
            ):
                async for event in agent.run("one"):
                    if isinstance(event, Prompted):
                        texts.append((await agent.ask("two")).text)
                    elif isinstance(event, RunEnded):
                        texts.append(event.text)
            return texts

        assert asyncio.run(main()) == ["Done.", "Done."]


def test_a_listener(agent_env: AgentEnv) -> None:
    """It may start the next run at the end of a run only."""
    refused: list[str] = []
    answers: list[str] = []

    def watch(event: AgentEvent) -> None:
        if isinstance(event, Prompted):
            with pytest.raises(UsageError, match=MESSAGE) as caught:
                agent.ask("again")
            refused.append(str(caught.value))
        elif isinstance(event, RunEnded) and not answers:
            answers.append("")
            answers.append(agent.ask("two").text)

    with agent_env.sync_agent(SCRIPT, on_event=watch) as agent:
        assert agent.ask("one").text == "Good morning."
    assert answers == ["", "Good night."]
    assert len(refused) == 2
