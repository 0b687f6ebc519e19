"""The agent as programs use it: scripted models, real tools, real sessions."""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.agent_env import SCRIPT, AgentEnv, calling, events_of, finished
from support.approver import FakeApprover
from support.external_tools import hostile_server
from support.mcp.clients import living_pids
from support.program import script_answer
from support.sleeper import Sleeper
from tejat import agent as agent_module
from tejat.agent import NOT_STARTED, Agent, append_event
from tejat.core.agent.events import (
    AgentEvent,
    EndReason,
    EventSink,
    HistoryRepaired,
    Noticed,
    PlanPresented,
    Prompted,
    RunEnded,
    SessionStarted,
    TextStreamed,
)
from tejat.core.agent.hooks import HookReply
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    Outcome,
    PlanConfirmation,
)
from tejat.core.approval.plans import ApprovedPlan
from tejat.core.approval.user_question import UserQuestion
from tejat.core.errors import ErrorType, UsageError
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import Message, history_problem
from tejat.core.messages.types import FunctionCall, Text
from tejat.core.model import FailureKind, ModelFailure, ModelRequest
from tejat.core.tools.base import ToolContext
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.models.scripted.model import open_scripted_model
from tejat.tools.python.function_tool import tool


@pytest.fixture
def agent_env(tmp_path: Path) -> AgentEnv:
    return AgentEnv(tmp_path)


class TestRuns:
    def test_events_come_in_order_and_the_end_is_last(self, agent_env: AgentEnv) -> None:
        async def run() -> None:
            async with agent_env.agent(SCRIPT) as agent:
                started, prompted, *streamed, answered, ended = await events_of(agent)
                assert isinstance(started, SessionStarted)
                assert (started.session_id, started.is_resumed) == (agent.session_id, False)
                assert isinstance(prompted, Prompted)
                assert prompted.display_text == "hello"
                assert streamed == [TextStreamed("Good "), TextStreamed("morning.")]
                assert type(answered).__name__ == "Answered"
                assert isinstance(ended, RunEnded)
                assert (ended.reason, ended.text, ended.turns) == (EndReason.FINISHED, "Good morning.", 1)
                assert [message.text for message in agent.history[-2:]] == ["hello", "Good morning."]

        asyncio.run(run())

    def test_ask_tells_how_it_went(self, agent_env: AgentEnv) -> None:
        async def run() -> list[str]:
            async with agent_env.agent(SCRIPT) as agent:
                return [(await agent.ask("one")).text, (await agent.ask([Text("two")])).text]

        assert asyncio.run(run()) == ["Good morning.", "Good night."]

    def test_a_session_is_found_again(self, agent_env: AgentEnv) -> None:
        async def run() -> None:
            async with agent_env.agent(SCRIPT) as first:
                await first.ask("one")
                session_id = first.session_id
            settings = agent_env.settings(SCRIPT)
            async with Agent(**settings, resume=session_id) as second:
                assert [message.text for message in second.history[-2:]] == ["one", "Good morning."]
                events = await events_of(second)
                assert events[0] == SessionStarted(session_id, settings["model"], is_resumed=True)

        asyncio.run(run())

    def test_two_agents_in_one_loop_keep_to_themselves(self, agent_env: AgentEnv) -> None:
        async def run() -> list[list[str]]:
            projects = [agent_env.directory("left"), agent_env.directory("right")]
            for project in projects:
                (project / f"{project.name}.txt").write_text("x")
            async with contextlib.AsyncExitStack() as stack:
                agents = [
                    await stack.enter_async_context(
                        agent_env.agent(calling("list_directory", '{ path = "${root}" }'), directories=[project])
                    )
                    for project in projects
                ]
                runs = await asyncio.gather(*map(events_of, agents))
                assert agents[0].session_id != agents[1].session_id
            return [[str(call.result.llm_content) for call in finished(events)] for events in runs]

        (left,), (right,) = asyncio.run(run())
        assert ("left.txt" in left, "right.txt" in left) == (True, False)
        assert ("left.txt" in right, "right.txt" in right) == (False, True)

    def test_in_a_thread(self, agent_env: AgentEnv) -> None:
        ended: list[RunEnded] = []

        async def run() -> None:
            async with agent_env.agent(
                calling("run_shell_command", '{ command = "echo hi" }', expect='expect = "hi"'), mode="yolo"
            ) as agent:
                ended.append(await agent.ask("hello"))

        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        thread.join()
        assert [(end.reason, end.text) for end in ended] == [(EndReason.FINISHED, "Done.")]

    def test_a_tool_that_raises_is_told_and_the_run_goes_on(self, agent_env: AgentEnv) -> None:
        @tool
        def fail(number: int) -> None:
            """Fails."""
            raise ValueError(f"not {number}")

        async def run() -> RunEnded:
            script = calling("fail", "{ number = 3 }", expect='expect_error = "not 3"')
            async with agent_env.agent(script, tools=[fail]) as agent:
                return await agent.ask("hello")

        assert asyncio.run(run()).reason is EndReason.FINISHED

    def test_a_confirm_function_that_fails_lets_nothing_run(self, agent_env: AgentEnv) -> None:
        def fail(name: str) -> bool:
            raise OSError(f"cannot look at {name}")

        @tool(confirm=fail)
        def greet(name: str) -> None:
            """Greets."""
            ran.append(name)

        async def main() -> list[AgentEvent]:
            async with agent_env.agent(calling("greet", '{ name = "you" }'), tools=[greet]) as agent:
                return await events_of(agent)

        ran: list[str] = []
        (call,) = finished(asyncio.run(main()))
        assert ran == []
        assert call.result.error is not None
        assert "cannot look at you" in call.result.error.message

    @pytest.mark.parametrize("answer", [Outcome.PROCEED_ONCE, Outcome.CANCEL, None])
    def test_a_tool_that_needs_confirmation_asks(self, agent_env: AgentEnv, answer: Outcome | None) -> None:
        asked: list[ApprovalRequest] = []
        ran: list[str] = []

        class Approver:
            async def ask(self, question: ApprovalRequest) -> ApprovalReply:
                asked.append(question)
                assert answer is not None
                return ApprovalReply(answer)

        @tool(confirm=True)
        def launch() -> None:
            """Launches."""
            ran.append("launched")

        async def run() -> RunEnded:
            approver = None if answer is None else Approver()
            async with agent_env.agent(calling("launch"), tools=launch, approver=approver) as agent:
                return await agent.ask("hello")

        ended = asyncio.run(run())
        assert ran == (["launched"] if answer is Outcome.PROCEED_ONCE else [])
        assert [question.tool_name for question in asked] == ([] if answer is None else ["launch"])
        assert (ended.reason, ended.text) == (EndReason.FINISHED, "Done.")

    @pytest.mark.parametrize(
        ("kind", "mode", "runs"),
        [
            (Kind.OTHER, "default", True),
            (Kind.READ, "default", True),
            (Kind.OTHER, "plan", False),
            (Kind.READ, "plan", True),
        ],
    )
    def test_nobody_is_asked_about_the_rest_and_plan_mode_reads(
        self, agent_env: AgentEnv, kind: Kind, mode: str, runs: bool
    ) -> None:
        @tool(kind=kind)
        def look() -> str:
            """Looks."""
            return "seen"

        async def run() -> list[CallFinished]:
            async with agent_env.agent(calling("look"), tools=look, mode=mode) as agent:
                return finished(await events_of(agent))

        assert [call.state for call in asyncio.run(run())] == [CallState.SUCCESS if runs else CallState.ERROR]

    def test_a_rule_of_the_user_holds_for_tools_of_the_program(self, agent_env: AgentEnv) -> None:
        @tool
        def look() -> str:
            """Looks."""
            return "seen"

        policies = agent_env.base / "home" / ".gemini" / "policies"
        policies.mkdir(parents=True)
        (policies / "mine.toml").write_text(
            '[[rule]]\ntoolName = "look"\ndecision = "ask_user"\npriority = 100\n', encoding="utf-8"
        )

        async def run() -> list[CallFinished]:
            async with agent_env.agent(calling("look"), tools=look) as agent:
                return finished(await events_of(agent))

        (call,) = asyncio.run(run())
        assert "requires user confirmation" in str(call.result.llm_content)

    def test_a_slow_reader_loses_nothing_and_holds_nothing_up(self, agent_env: AgentEnv) -> None:
        is_done = asyncio.Event()

        @tool
        async def count(context: ToolContext) -> str:
            """Counts."""
            for number in range(1000):
                context.update_output(str(number))
            is_done.set()
            return "counted"

        async def run() -> list[AgentEvent]:
            seen: list[AgentEvent] = []
            async with agent_env.agent(calling("count"), tools=[count]) as agent:
                async for event in agent.run("hello"):
                    seen.append(event)
                    await asyncio.wait_for(is_done.wait(), 60)
            return seen

        seen = asyncio.run(run())
        assert isinstance(seen[-1], RunEnded)
        assert [event.output for event in seen if isinstance(event, OutputUpdated)] == ["999"]
        assert [event.result.llm_content for event in finished(seen)] == ["counted"]


class TestLeaving:
    def test_breaking_out_ends_the_run(self, agent_env: AgentEnv) -> None:
        async def run() -> None:
            sleeper = Sleeper(asyncio.Event())
            async with agent_env.agent(calling("sleep", times=2), tools=[tool(sleeper.sleep)]) as agent:
                async for event in agent.run("hello"):
                    if isinstance(event, OutputUpdated):
                        break
                ended = await asyncio.wait_for(agent.ask("again"), 60)
                assert (ended.reason, ended.text, sleeper.ended) == (EndReason.FINISHED, "Done.", 1)

        asyncio.run(run())

    def test_closing_the_events_waits_for_the_end(self, agent_env: AgentEnv) -> None:
        async def run() -> None:
            sleeper = Sleeper(asyncio.Event())
            async with agent_env.agent(calling("sleep"), tools=[tool(sleeper.sleep)]) as agent:
                async with contextlib.aclosing(agent.run("hello")) as events:
                    async for event in events:
                        if isinstance(event, OutputUpdated):
                            break
                assert sleeper.ended == 1

        asyncio.run(run())

    def test_closing_the_agent_ends_what_runs_and_what_waits(self, agent_env: AgentEnv) -> None:
        async def run() -> None:
            sleeper = Sleeper(asyncio.Event())
            async with agent_env.agent(calling("sleep"), tools=[tool(sleeper.sleep)]) as agent:
                first = asyncio.ensure_future(agent.ask("hello"))
                await sleeper.began.wait()
                second = asyncio.ensure_future(events_of(agent))
                await asyncio.sleep(0)
            assert sleeper.ended == 1
            assert ((await first).reason, await second) == (EndReason.INTERRUPTED, [NOT_STARTED])

        asyncio.run(run())

    def test_a_tool_that_takes_no_notice_is_told_again(
        self, agent_env: AgentEnv, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(agent_module, "_CANCEL_TIMEOUT", 0.05)

        async def run() -> None:
            began = asyncio.Event()

            @tool
            async def stubborn() -> None:
                """Stays."""
                for _ in range(3):
                    with contextlib.suppress(asyncio.CancelledError):
                        began.set()
                        await asyncio.sleep(60)

            async with agent_env.agent(calling("stubborn"), tools=[stubborn]) as agent:
                asking = asyncio.ensure_future(agent.ask("hello"))
                await began.wait()
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asyncio.wait_for(asking, 60)

        asyncio.run(run())

    @given(points=st.lists(st.integers(0, 60), min_size=1, max_size=4), is_cancelled=st.booleans())
    @settings(max_examples=40, deadline=None)
    def test_wherever_it_is_left_the_next_prompt_is_answered(
        self, tmp_path_factory: pytest.TempPathFactory, points: list[int], is_cancelled: bool
    ) -> None:
        agent_env = AgentEnv(tmp_path_factory.mktemp("agent_env"))

        @tool
        async def step() -> None:
            """Takes a while."""
            for _ in range(5):
                await asyncio.sleep(0)

        async def leave(agent: Agent, point: int) -> None:
            """By cancelling the reader after some steps of the loop, or by reading some events and no more."""
            if is_cancelled:
                reading = asyncio.ensure_future(events_of(agent))
                for _ in range(point):
                    await asyncio.sleep(0)
                reading.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await reading
                return
            async with contextlib.aclosing(agent.run("hello")) as events:
                async for _ in events:
                    point -= 1
                    if point <= 0:
                        return

        async def run() -> None:
            async with agent_env.agent(calling("step", times=12), tools=[step]) as agent:
                for point in points:
                    await leave(agent, point)
                ended = await asyncio.wait_for(agent.ask("at last"), 60)
                assert (ended.reason, ended.text) == (EndReason.FINISHED, "Done.")
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(run())


class TestServers:
    """Those of the settings, beside tools of the program."""

    @pytest.fixture
    def pids(self, agent_env: AgentEnv) -> Path:
        pids = agent_env.base / "pids"
        servers = {"bad": hostile_server(f"pids={pids}"), "other": hostile_server(f"pids={pids}")}
        (agent_env.base / "home" / ".gemini").mkdir()
        (agent_env.base / "home" / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": servers}))
        return pids

    def test_are_used_as_far_as_they_are_named(self, agent_env: AgentEnv, pids: Path) -> None:
        asked: list[ApprovalRequest] = []

        class User:
            async def ask(self, question: ApprovalRequest) -> ApprovalReply:
                asked.append(question)
                return ApprovalReply(Outcome.PROCEED_ONCE)

        async def run() -> list[CallFinished]:
            script = calling("echo", '{text = "hi"}') + calling("other__echo")
            async with agent_env.agent(script, approver=User(), servers=["bad"], trusts_folder=True) as agent:
                return [*finished(await events_of(agent)), *finished(await events_of(agent))]

        first, second = asyncio.run(run())
        assert first.result.llm_content == '<untrusted_context>\n{"text": "hi"}\n</untrusted_context>'
        assert [question.tool_name for question in asked] == ["bad__echo"]
        assert second.state is CallState.ERROR
        assert len(pids.read_text().split()) == 1
        assert living_pids(pids) == []

    def test_breaking_out_of_a_call_of_theirs_leaves_no_process(self, agent_env: AgentEnv, pids: Path) -> None:
        async def run() -> None:
            script = calling("bad__slow", "{steps = 600, seconds = 0.1}")
            agent = agent_env.agent(script, allowed_tools=["bad__slow"], trusts_folder=True)
            async with agent, contextlib.aclosing(agent.run("go")) as events:
                async for event in events:
                    if isinstance(event, OutputUpdated):
                        assert event.output.startswith("[1/600]")
                        break

        asyncio.run(run())
        assert len(pids.read_text().split()) == 2
        assert living_pids(pids) == []

    def test_two_agents_have_their_own(self, agent_env: AgentEnv, pids: Path) -> None:
        async def run() -> list[str]:
            told = {"allowed_tools": ["bad__echo"], "trusts_folder": True, "servers": ["bad"]}
            async with (
                agent_env.agent(calling("echo"), **told) as one,
                agent_env.agent(calling("echo"), **told) as other,
            ):
                ended = await asyncio.gather(one.ask("go"), other.ask("go"))
                assert len(living_pids(pids)) == 2
            return [each.text for each in ended]

        assert asyncio.run(run()) == ["Done."] * 2
        assert living_pids(pids) == []


class TestUse:
    def test_wrong_settings_are_refused_at_once(self) -> None:
        wrong: Any = {"max_turns": "5"}
        with pytest.raises(TypeError, match=r"max_turns must be a whole number greater than 0, not '5'\."):
            Agent(**wrong)
        with pytest.raises(TypeError, match="has no method `ask`"):
            Agent(approver="yes")  # pyright: ignore[reportArgumentType]

    @pytest.mark.parametrize("prompt", [None, 5, b"bytes", [None], {"text": "x"}])
    def test_a_wrong_prompt_is_refused_at_once(self, agent_env: AgentEnv, prompt: Any) -> None:
        async def run() -> None:
            async with agent_env.agent(SCRIPT) as agent:
                with pytest.raises(TypeError, match="prompt must be a string or a list of "):
                    agent.run(prompt)
                with pytest.raises(TypeError, match="prompt must be"):
                    await agent.ask(prompt)
                with pytest.raises(TypeError, match="prompt must be"):
                    agent.start(prompt, lambda _: None)
                assert (await agent.ask("hello")).text == "Good morning."

        asyncio.run(run())

    def test_in_another_loop_or_thread(self, agent_env: AgentEnv) -> None:
        agent = agent_env.agent(SCRIPT)
        belongs = "belongs to the event loop that it was opened in.*SyncAgent"

        def use_elsewhere() -> list[str]:
            raised: list[str] = []
            for use in (agent.run, agent.ask, lambda _: agent.compress(), lambda _: agent.__aexit__()):
                with pytest.raises(UsageError, match=belongs) as caught:
                    asyncio.run(use("hello"))  # pyright: ignore[reportArgumentType]
                raised.append(str(caught.value))
            with pytest.raises(UsageError, match=belongs):
                agent.start("hello", lambda _: None)
            return raised

        async def run() -> RunEnded:
            async with agent:
                assert len(await asyncio.to_thread(use_elsewhere)) == 4
                return await agent.ask("hello")

        assert asyncio.run(run()).text == "Good morning."

    def test_outside_of_async_with(self, agent_env: AgentEnv) -> None:
        agent = agent_env.agent(SCRIPT)

        async def run() -> None:
            with pytest.raises(UsageError, match="This agent is not open"):
                await agent.ask("hello")
            async with agent:
                with pytest.raises(UsageError, match="This agent is open already"):
                    await agent.__aenter__()
                await agent.ask("hello")
            with pytest.raises(UsageError, match=r"This agent is closed\. Open it again with `async with`"):
                await agent.ask("hello")

        asyncio.run(run())

    def test_it_is_closed_with_its_event_loop(self, agent_env: AgentEnv, capfd: pytest.CaptureFixture[str]) -> None:
        agent = agent_env.agent(SCRIPT + SCRIPT)

        async def leave_open() -> str:
            await agent.open()
            return (await agent.ask("hello")).text

        assert asyncio.run(leave_open()) == "Good morning."
        assert repr(agent) == "<Agent, closed>"
        with pytest.raises(UsageError, match="This agent is closed"):
            _ = agent.history
        asyncio.run(agent.aclose())
        assert asyncio.run(leave_open()) == "Good morning."
        assert capfd.readouterr() == ("", "")

    def test_what_keeps_it_from_opening_is_raised(self, agent_env: AgentEnv) -> None:
        async def opened(**more: Any) -> None:
            async with agent_env.agent(SCRIPT, **more):
                pytest.fail("it opened")

        @tool(name="read_file")
        def taken() -> None:
            """Has the name of another."""

        with pytest.raises(ModelFailure) as caught:
            asyncio.run(opened(model="gemini-2.5-pro"))
        assert caught.value.kind is FailureKind.NO_KEY
        with pytest.raises(UsageError, match='the name "read_file" already belongs to'):
            asyncio.run(opened(tools=[taken]))

    def test_only_the_latest_live_output_is_kept_unread(self) -> None:
        one, other = FunctionCall("a", {}), FunctionCall("a", {})
        unread: deque[object] = deque()
        for event in (
            OutputUpdated(0, one, "1"),
            OutputUpdated(0, one, "2"),
            OutputUpdated(1, other, "3"),
            TextStreamed("x"),
            TextStreamed("x"),
        ):
            append_event(unread, event)
        assert list(unread) == [
            OutputUpdated(0, one, "2"),
            OutputUpdated(1, other, "3"),
            TextStreamed("x"),
            TextStreamed("x"),
        ]


PROGRAM = """
import asyncio, os, signal, sys
from tejat import Agent, SyncAgent

def handlers():
    return [signal.getsignal(number) for number in signal.valid_signals()]

settings = dict(model="scripted:" + sys.argv[1], directories=sys.argv[2], keeps_session=False)
before, environment, directory = handlers(), dict(os.environ), os.getcwd()

async def main():
    inside = handlers()
    async with Agent(**settings) as agent:
        await agent.ask("hello")
        assert handlers() == inside
asyncio.run(main())

with SyncAgent(**settings) as agent:
    agent.ask("hello")
    assert handlers() == before
assert (handlers(), dict(os.environ), os.getcwd()) == (before, environment, directory)
"""


def test_the_process_is_left_as_it_was(agent_env: AgentEnv) -> None:
    script = agent_env.settings(SCRIPT)["model"].removeprefix("scripted:")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, script, str(agent_env.project)],
        env=agent_env.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class TestQuestionsOfTheModel:
    SCRIPT = calling("ask_user", '{ questions = [ { question = "Who?", header = "Name", type = "text" } ] }')

    def outcome(self, agent: Agent) -> tuple[list[CallState], CallFinished]:
        async def run() -> list[AgentEvent]:
            async with agent:
                return await events_of(agent)

        events = asyncio.run(run())
        states = [event.state for event in events if isinstance(event, StateChanged)]
        (call,) = finished(events)
        return states, call

    def test_the_approver_gets_them_as_values(self, agent_env: AgentEnv) -> None:
        approver = FakeApprover(ApprovalReply(Outcome.PROCEED_ONCE, answers={"0": "Ada"}))
        states, call = self.outcome(agent_env.agent(self.SCRIPT, approver=approver))
        assert call.result.llm_content == '{"answers":{"0":"Ada"}}'
        assert approver.confirmations == [AskUserConfirmation("The model asks", (UserQuestion("Who?", "Name"),))]
        waiting = states.index(CallState.AWAITING_APPROVAL)
        assert states[waiting - 1] == states[waiting + 1] == CallState.EXECUTING
        assert call.allowed_by == "built-in"

    def test_an_approver_that_only_says_yes_dismisses_them(self, agent_env: AgentEnv) -> None:
        _, call = self.outcome(agent_env.agent(self.SCRIPT, approver=FakeApprover()))
        assert call.result.llm_content == "User dismissed ask_user dialog without answering."

    def test_answers_given_before(self, agent_env: AgentEnv) -> None:
        _, call = self.outcome(agent_env.agent(self.SCRIPT, answers={"name": "Ada"}))
        assert call.result.llm_content == '{"answers":{"0":"Ada"}}'

    def test_a_rule_against_them(self, agent_env: AgentEnv) -> None:
        rules = agent_env.base / "rules.toml"
        rules.write_text('[[rule]]\ntoolName = "ask_user"\ndecision = "deny"\npriority = 100\n')
        approver = FakeApprover()
        _, call = self.outcome(agent_env.agent(self.SCRIPT, approver=approver, policy_paths=str(rules)))
        assert call.result.error is not None
        assert call.result.error.type is ErrorType.POLICY_VIOLATION
        assert approver.questions == []


class TestTodos:
    LIST = calling("write_todos", '{ todos = [ { description = "Read", status = "in_progress" } ] }')

    def test_are_an_event_and_a_property(self, agent_env: AgentEnv) -> None:
        async def run() -> None:
            async with agent_env.agent(self.LIST) as agent:
                assert agent.todos == TodoList()
                (call,) = finished(await events_of(agent))
                assert call.result.return_display == agent.todos == TodoList((Todo("Read", TodoStatus.IN_PROGRESS),))

        asyncio.run(run())

    def test_are_there_in_a_resumed_session(self, agent_env: AgentEnv) -> None:
        async def run() -> TodoList:
            async with agent_env.agent(self.LIST) as agent:
                await events_of(agent)
            async with agent_env.agent(SCRIPT, resume="latest") as agent:
                return agent.todos

        assert asyncio.run(run()) == TodoList((Todo("Read", TodoStatus.IN_PROGRESS),))

    def test_need_an_open_agent(self, agent_env: AgentEnv) -> None:
        agent = agent_env.agent(self.LIST)
        with pytest.raises(UsageError, match="not open"):
            _ = agent.todos
        with pytest.raises(UsageError, match="not open"):
            _ = agent.approved_plan


class TestPlans:
    SCRIPT = (
        script_answer(calls=[("enter_plan_mode", {})])
        + script_answer(calls=[("write_file", {"file_path": "plan.md", "content": "# Plan"})])
        + script_answer(calls=[("exit_plan_mode", {"plan_filename": "plan.md"})])
        + script_answer(say="Done.")
    )

    def run(self, agent: Agent) -> tuple[list[PlanPresented], ApprovedPlan | None, str]:
        async def main() -> tuple[list[PlanPresented], ApprovedPlan | None, str]:
            async with agent:
                events = await events_of(agent)
                presented = [event for event in events if isinstance(event, PlanPresented)]
                return presented, agent.approved_plan, str(finished(events)[-1].result.llm_content)

        return asyncio.run(main())

    @pytest.mark.parametrize(
        ("outcome", "mode"), [(Outcome.PROCEED_ONCE, "default"), (Outcome.PROCEED_AUTO_EDIT, "auto_edit")]
    )
    def test_the_approver_approves(self, agent_env: AgentEnv, outcome: Outcome, mode: str) -> None:
        approver = FakeApprover(ApprovalReply(outcome))
        (presented,), approved, _ = self.run(agent_env.agent(self.SCRIPT, approver=approver, trusts_folder=True))
        (asked,) = approver.confirmations
        assert isinstance(asked, PlanConfirmation)
        assert approved == ApprovedPlan(asked.file_path, "# Plan")
        assert presented == PlanPresented(asked.file_path, "# Plan", mode)

    def test_the_approver_rejects(self, agent_env: AgentEnv) -> None:
        approver = FakeApprover(ApprovalReply(Outcome.CANCEL, feedback="Add tests."))
        presented, approved, content = self.run(agent_env.agent(self.SCRIPT, approver=approver))
        assert (presented, approved) == ([], None)
        assert content.startswith("Plan rejected. User feedback: Add tests.")

    def test_nobody_can_be_asked(self, agent_env: AgentEnv) -> None:
        (presented,), approved, _ = self.run(agent_env.agent(self.SCRIPT))
        assert (presented.text, presented.is_approved, approved) == ("# Plan", False, None)

    def test_approved_beforehand(self, agent_env: AgentEnv) -> None:
        (presented,), approved, _ = self.run(agent_env.agent(self.SCRIPT, approve_plan="default"))
        assert presented.mode == "default"
        assert approved is not None
        assert approved.text == "# Plan"

    def test_is_there_in_a_resumed_session(self, agent_env: AgentEnv) -> None:
        _, approved, _ = self.run(agent_env.agent(self.SCRIPT, approve_plan="default"))

        async def resumed() -> ApprovedPlan | None:
            async with agent_env.agent(SCRIPT, resume="latest") as agent:
                return agent.approved_plan

        assert asyncio.run(resumed()) == approved


def fail(*_: object) -> Any:
    raise KeyError("lost")


def fail_at(kind: type[object]) -> EventSink:
    return lambda event: fail() if isinstance(event, kind) else None


def broken_model(agent_env: AgentEnv) -> Any:
    """Fails once, and then follows the script."""
    failures = [KeyError("lost")]
    inner = open_scripted_model(agent_env.settings(SCRIPT)["model"].removeprefix("scripted:"), root="")

    class Broken:
        def stream(self, request: ModelRequest) -> AsyncGenerator[Any]:
            if failures:
                raise failures.pop()
            return inner.stream(request)

    return Broken()


class TestCallbacks:
    """Functions of the program: what they raise is raised to the caller, and the agent can be used again."""

    CALLS = calling("launch") + SCRIPT
    CASES: ClassVar = {
        "approver": {"approver": fail},
        "before the tool": {"hooks": {"BeforeTool": fail}},
        "after the tool": {"hooks": {"AfterTool": fail}, "allowed_tools": "launch"},
        "before the prompt": {"hooks": {"BeforeAgent": fail}},
        "before the request": {"hooks": {"BeforeModel": fail}},
        "at the start of the call": {"on_event": fail_at(StateChanged), "allowed_tools": "launch"},
        "at its end": {"on_event": fail_at(CallFinished), "allowed_tools": "launch"},
        "at the prompt": {"on_event": fail_at(Prompted)},
        "while text is streamed": {"on_event": fail_at(TextStreamed), "allowed_tools": "launch"},
        "at the end of the run": {"on_event": fail_at(RunEnded)},
        "at a notice": {"on_event": fail_at(Noticed), "hooks": {"BeforeTool": lambda _: HookReply(message="Hm.")}},
    }

    @pytest.mark.parametrize("case", CASES)
    def test_what_they_raise_is_raised(self, agent_env: AgentEnv, case: str) -> None:
        @tool(confirm=True)
        def launch() -> str:
            """Launches."""
            return "launched"

        settings = agent_env.settings(self.CALLS, tools=launch, session_id="mine", **self.CASES[case])

        async def run() -> tuple[Message, ...]:
            async with Agent(**settings) as agent:
                with pytest.raises(KeyError, match="lost") as caught:
                    await events_of(agent, "go")
                assert caught.value.__cause__ is None
                assert history_problem(agent.history) is None
                before = agent.history
            if case == "before the prompt":
                return before  # nothing was saved
            async with agent_env.agent(SCRIPT, resume="mine") as agent:
                assert [message.parts for message in agent.history] == [message.parts for message in before]
                assert not [event for event in await events_of(agent) if isinstance(event, HistoryRepaired)]
            return before

        history = asyncio.run(run())
        is_answered = case not in {"before the prompt", "before the request", "at the prompt"}
        assert (len(history) > 2) == is_answered

    def test_the_agent_can_be_used_again(self, agent_env: AgentEnv) -> None:
        async def run() -> RunEnded:
            async with agent_env.agent(SCRIPT, model=broken_model(agent_env)) as agent:
                with pytest.raises(KeyError, match="lost"):
                    await agent.ask("go")
                return await agent.ask("again")

        assert asyncio.run(run()).text == "Good morning."

    @pytest.mark.parametrize("hooks", [{}, {"AfterModel": fail}])
    def test_inside_of_a_sub_agent(self, agent_env: AgentEnv, hooks: Any) -> None:
        class Delegate:
            async def stream(self, request: ModelRequest) -> AsyncGenerator[Any]:
                if request.lane != "main":
                    raise KeyError("lost")
                yield FunctionCall("invoke_agent", {"agent_name": "generalist", "prompt": "Look around."})

        async def run() -> int:
            async with agent_env.agent(SCRIPT, model=Delegate(), mode="yolo", hooks=hooks) as agent:
                with pytest.raises(KeyError, match="lost"):
                    await agent.ask("go")
                assert history_problem(agent.history) is None
                return agent._require_open.session.conversation.budget.usage.total

        assert asyncio.run(run()) > 0

    def test_every_event_of_every_run_in_order(self, agent_env: AgentEnv) -> None:
        seen: list[AgentEvent] = []

        async def run() -> list[AgentEvent]:
            async with agent_env.agent(SCRIPT, on_event=seen.append) as agent:
                return [*await events_of(agent), *await events_of(agent)]

        assert asyncio.run(run()) == seen
        with pytest.raises(TypeError, match="on_event must be a plain function"):
            agent_env.agent(SCRIPT, on_event=asyncio.sleep)
        with pytest.raises(TypeError, match="on_event must be a function that takes an event, not 5"):
            agent_env.agent(SCRIPT, on_event=5)
