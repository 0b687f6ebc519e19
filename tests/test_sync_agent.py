"""The agent in a plain `for` loop: without a loop, inside of one, left early, interrupted, closed."""

import asyncio
import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.agent_env import SCRIPT, AgentEnv, calling, finished
from support.program import script_answer
from support.sleeper import Sleeper
from tejat.agent import NOT_STARTED, Agent
from tejat.core.agent.events import AgentEvent, EndReason, RunEnded, SessionStarted
from tejat.core.agent.storage import SessionStorage
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.tools.base import ToolContext
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.engine.sessions.storage_sessions import MemoryStorage
from tejat.models.custom.function_model import function_model
from tejat.sync_agent import SyncAgent
from tejat.tools.python.function_tool import tool


@pytest.fixture
def agent_env(tmp_path: Path) -> AgentEnv:
    return AgentEnv(tmp_path)


@pytest.fixture(autouse=True)
def _threads_of_others() -> None:
    """Other tests in this process may have left threads that end by themselves after a while."""
    OTHERS[:] = threading.enumerate()


OTHERS: list[threading.Thread] = []


def agent_threads() -> list[str]:
    running = [thread for thread in threading.enumerate() if thread not in OTHERS]
    return [thread.name for thread in running if thread.name.startswith("tejat")]


class Approver:
    """Answers, and remembers what it was asked in which thread."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.asked: list[tuple[str, int]] = []

    def ask(self, question: ApprovalRequest) -> ApprovalReply:
        self.asked.append((question.tool_name, threading.get_ident()))
        return ApprovalReply(self._outcome)


def work(agent_env: AgentEnv) -> None:
    """A session as a program has it, whatever is around it."""
    with agent_env.sync_agent(SCRIPT) as agent:
        events = list(agent.run("one"))
        assert events[0] == SessionStarted(agent.session_id, f"scripted:{max(agent_env.base.glob('script-*'))}")
        assert isinstance(events[-1], RunEnded)
        assert (events[-1].reason, events[-1].text) == (EndReason.FINISHED, "Good morning.")
        assert agent.ask("two").text == "Good night."
        assert [message.text for message in agent.history[-4:]] == ["one", "Good morning.", "two", "Good night."]
        assert agent.directories == (str(agent_env.project),)
    assert agent_threads() == []


class TestRuns:
    def test_without_a_loop(self, agent_env: AgentEnv) -> None:
        work(agent_env)

    def test_inside_of_a_running_loop(self, agent_env: AgentEnv) -> None:
        async def cell() -> None:
            work(agent_env)
            assert asyncio.current_task() is not None

        asyncio.run(cell())

    def test_in_a_thread(self, agent_env: AgentEnv) -> None:
        problems: list[BaseException] = []

        def run() -> None:
            try:
                work(agent_env)
            except BaseException as error:  # noqa: BLE001 -- raised below
                problems.append(error)

        thread = threading.Thread(target=run, name="another")
        thread.start()
        thread.join()
        assert problems == []

    def test_two_at_once_beside_one_that_awaits(self, agent_env: AgentEnv) -> None:
        async def ask() -> str:
            async with Agent(**agent_env.settings(SCRIPT)) as third:
                return (await third.ask("hello")).text

        with agent_env.sync_agent(SCRIPT) as first, agent_env.sync_agent(SCRIPT) as second:
            said = [first.ask("one").text, second.ask("one").text, asyncio.run(ask()), first.ask("two").text]
        assert said == ["Good morning.", "Good morning.", "Good morning.", "Good night."]

    def test_commands_run(self, agent_env: AgentEnv) -> None:
        with agent_env.sync_agent(calling("run_shell_command", '{ command = "echo hi" }'), mode="yolo") as agent:
            finished = [event for event in agent.run("hello") if isinstance(event, CallFinished)]
        assert [event.result.return_display for event in finished] == ["hi\n"]

    def test_runs_of_several_threads_go_one_after_the_other(self, agent_env: AgentEnv) -> None:
        said: list[str] = []
        with agent_env.sync_agent(calling("list_directory", '{ path = "${root}" }', times=4)) as agent:
            threads = [threading.Thread(target=lambda: said.append(agent.ask("hello").text)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert said == ["Done."] * 4


class TestQuestions:
    @pytest.mark.parametrize("outcome", [Outcome.PROCEED_ONCE, Outcome.CANCEL])
    def test_they_are_asked_where_the_events_are_read(self, agent_env: AgentEnv, outcome: Outcome) -> None:
        approver = Approver(outcome)
        script = calling("write_file", '{ file_path = "${root}/a.txt", content = "x" }')
        with agent_env.sync_agent(script, approver=approver) as agent:
            ended = agent.ask("hello")
        assert approver.asked == [("write_file", threading.get_ident())]
        assert (agent_env.project / "a.txt").exists() is (outcome is Outcome.PROCEED_ONCE)
        assert ended.reason is EndReason.FINISHED

    def test_what_happened_before_is_read_before(self, agent_env: AgentEnv) -> None:
        seen: list[object] = []

        class Watching(Approver):
            def ask(self, question: ApprovalRequest) -> ApprovalReply:
                seen.append("asked")
                return super().ask(question)

        script = calling("write_file", '{ file_path = "${root}/a.txt", content = "x" }')
        with agent_env.sync_agent(script, approver=Watching(Outcome.PROCEED_ONCE)) as agent:
            seen.extend(event.state for event in agent.run("hello") if isinstance(event, StateChanged))
        # `extend` reads one event after the other, so the question stands where it was asked.
        assert seen == [
            CallState.VALIDATING,
            CallState.AWAITING_APPROVAL,
            "asked",
            CallState.SCHEDULED,
            CallState.EXECUTING,
            CallState.SUCCESS,
        ]

    def test_without_an_approver_they_are_refused(self, agent_env: AgentEnv) -> None:
        script = calling("write_file", '{ file_path = "${root}/a.txt", content = "x" }')
        with agent_env.sync_agent(script) as agent:
            assert agent.ask("hello").reason is EndReason.FINISHED
        assert list(agent_env.project.iterdir()) == []

    def test_what_the_approver_raises_ends_the_run(self, agent_env: AgentEnv) -> None:
        class Broken:
            def ask(self, question: ApprovalRequest) -> ApprovalReply:
                raise LookupError(question.tool_name)

        script = calling("write_file", '{ file_path = "${root}/a.txt", content = "x" }')
        with agent_env.sync_agent(script, approver=Broken()) as agent:
            with pytest.raises(LookupError, match="write_file"):
                agent.ask("hello")
            assert agent.ask("again").text == "Done."
        assert list(agent_env.project.iterdir()) == []

    @pytest.mark.parametrize("is_async", [False, True])
    def test_a_plain_function_answers(self, agent_env: AgentEnv, is_async: bool) -> None:
        threads: list[int] = []

        def allow(question: ApprovalRequest) -> bool:
            threads.append(threading.get_ident())
            return question.tool_name == "write_file"

        async def allow_later(question: ApprovalRequest) -> bool:
            await asyncio.sleep(0)
            return allow(question)

        script = calling("write_file", '{ file_path = "${root}/a.txt", content = "x" }')
        with agent_env.sync_agent(script, approver=allow_later if is_async else allow) as agent:
            assert agent.ask("hello").text == "Done."
        assert [each == threading.get_ident() for each in threads] == [not is_async]
        assert (agent_env.project / "a.txt").exists()

    def test_a_failure_for_the_model_refuses_the_call(self, agent_env: AgentEnv) -> None:
        def unavailable(_: ApprovalRequest) -> bool:
            raise ToolFailure("Nobody is here.", ErrorType.POLICY_VIOLATION)

        script = calling("write_file", '{ file_path = "${root}/a.txt", content = "x" }')
        with agent_env.sync_agent(script, approver=unavailable) as agent:
            (call,) = [event for event in agent.run("hello") if isinstance(event, CallFinished)]
        assert call.result.llm_content == "Nobody is here."

    @pytest.mark.parametrize("answer", [None, "yes"])
    def test_a_wrong_answer_is_raised(self, agent_env: AgentEnv, answer: object) -> None:
        script = calling("write_file", '{ file_path = "${root}/a.txt", content = "x" }')
        with agent_env.sync_agent(script, approver=lambda _: answer) as agent:
            with pytest.raises(TypeError, match="The approver returned"):
                agent.ask("hello")
            assert agent.ask("again").text == "Done."


class TestEvents:
    def test_they_are_delivered_where_they_are_read(self, agent_env: AgentEnv) -> None:
        seen: list[AgentEvent] = []
        threads: set[int] = set()

        def watch(event: AgentEvent) -> None:
            seen.append(event)
            threads.add(threading.get_ident())

        with agent_env.sync_agent(SCRIPT, on_event=watch) as agent:
            read = list(agent.run("hello"))
        assert (seen, threads) == (read, {threading.get_ident()})

    def test_what_the_function_raises_is_raised(self, agent_env: AgentEnv) -> None:
        failures = [LookupError("once")]

        def watch(_: AgentEvent) -> None:
            if failures:
                raise failures.pop()

        with agent_env.sync_agent(SCRIPT, on_event=watch) as agent:
            with pytest.raises(LookupError, match="once"):
                agent.ask("hello")
            assert agent.ask("again").text.startswith("Good")


class TestLeaving:
    def test_breaking_out_ends_the_run_and_waits_for_it(self, agent_env: AgentEnv) -> None:
        sleeper = Sleeper(threading.Event())
        with agent_env.sync_agent(calling("sleep"), tools=[tool(sleeper.sleep)]) as agent:
            for event in agent.run("hello"):
                if isinstance(event, OutputUpdated):
                    break
            assert sleeper.ended == 1
            assert agent.ask("again").text == "Done."

    def test_closing_the_agent_ends_what_runs(self, agent_env: AgentEnv) -> None:
        sleeper = Sleeper(threading.Event())
        with agent_env.sync_agent(calling("sleep"), tools=[tool(sleeper.sleep)]) as agent:
            events = agent.run("hello")
            next(events)
            assert sleeper.began.wait(10)
        assert (sleeper.ended, agent_threads()) == (1, [])
        last = list(events)[-1]
        assert isinstance(last, RunEnded)
        assert last.reason is EndReason.INTERRUPTED

    def test_a_run_that_waits_when_the_agent_is_closed(self, agent_env: AgentEnv) -> None:
        sleeper = Sleeper(threading.Event())
        seen: list[AgentEvent] = []
        with agent_env.sync_agent(calling("sleep"), tools=[tool(sleeper.sleep)]) as agent:
            first = agent.run("hello")
            next(first)
            assert sleeper.began.wait(10)
            waiting = threading.Thread(target=lambda: seen.extend(agent.run("again")))
            waiting.start()
            time.sleep(0.1)
        waiting.join()
        first.close()
        assert seen == [NOT_STARTED]

    def test_a_function_that_never_returns_keeps_nobody(
        self, agent_env: AgentEnv, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tejat.workspace.threads.daemon._STOP_TIMEOUT_SECONDS", 0.1)
        may_end = threading.Event()

        @tool
        def hang(context: ToolContext) -> None:
            """Hangs."""
            context.update_output("hanging")
            may_end.wait(60)

        started = time.monotonic()
        with agent_env.sync_agent(calling("hang"), tools=[hang]) as agent:
            for event in agent.run("hello"):
                if isinstance(event, OutputUpdated):
                    break
        assert time.monotonic() - started < 20
        may_end.set()

    @given(points=st.lists(st.integers(1, 20), min_size=1, max_size=4))
    @settings(max_examples=15, deadline=None)
    def test_wherever_it_is_left_the_next_prompt_is_answered(
        self, tmp_path_factory: pytest.TempPathFactory, points: list[int]
    ) -> None:
        agent_env = AgentEnv(tmp_path_factory.mktemp("agent_env"))
        with agent_env.sync_agent(calling("list_directory", '{ path = "${root}" }', times=12)) as agent:
            for point in points:
                with contextlib.closing(agent.run("hello")) as events:
                    for _, _ in zip(range(point), events, strict=False):
                        pass
            assert agent.ask("at last").text == "Done."


class TestStart:
    def test_another_thread_cancels_it(self, agent_env: AgentEnv) -> None:
        script = script_answer(calls=[("run_shell_command", {"command": "sleep 300"})]) + script_answer(say="Awake.")
        with agent_env.sync_agent(script, mode="yolo") as agent:
            run = agent.start("Sleep.")
            events: list[AgentEvent] = []
            for event in run:
                events.append(event)
                if isinstance(event, StateChanged) and event.state is CallState.EXECUTING:
                    threading.Thread(target=run.cancel).start()
            assert isinstance(events[-1], RunEnded)
            assert events[-1].reason is EndReason.INTERRUPTED
            assert agent.ask("Again.").text == "Awake."
            run.cancel()

    def test_it_starts_at_once_and_can_be_closed_unread(self, agent_env: AgentEnv) -> None:
        with agent_env.sync_agent(script_answer(say="One.") + script_answer(say="Two.")) as agent:
            first = agent.start("hello")
            first.close()
            first.close()
            assert list(first) == []
            second = agent.start("hello")
            assert not isinstance(next(second), RunEnded)
            assert isinstance(list(second)[-1], RunEnded)


def test_two_agents_cannot_continue_the_same_stored_session(agent_env: AgentEnv) -> None:
    storage = MemoryStorage()
    with agent_env.sync_agent(SCRIPT, storage=storage) as first:
        first.ask("hello")
        with pytest.raises(UsageError, match="is open in another agent of this program"):
            agent_env.sync_agent(SCRIPT, storage=storage, resume="latest").open()
        lines = len(storage.read(first.session_id))
        first.ask("again")
        assert len(storage.read(first.session_id)) > lines
    with agent_env.sync_agent(SCRIPT, storage=storage, resume="latest") as second:
        assert second.session_id == storage.session_ids()[0]
        assert "again" in [message.text for message in second.history]


@pytest.mark.parametrize("storage", [None, MemoryStorage()])
def test_the_id_of_a_new_session_is_new(agent_env: AgentEnv, storage: SessionStorage | None) -> None:
    settings = agent_env.settings(SCRIPT, session_id="mine", storage=storage)
    with SyncAgent(**settings) as first:
        first.ask("hello")
    with pytest.raises(UsageError, match=r"a session mine already\. Pass resume='mine' to continue it, or another id"):
        SyncAgent(**settings).open()
    with SyncAgent(**settings | {"session_id": None}, resume="mine") as second:
        assert second.session_id == "mine"
        assert "hello" in [message.text for message in second.history]


class TestUse:
    def test_outside_of_with(self, agent_env: AgentEnv) -> None:
        agent = agent_env.sync_agent(SCRIPT)
        with pytest.raises(UsageError, match="This agent is not open"):
            agent.ask("hello")
        with agent:
            with pytest.raises(UsageError, match="This agent is open already"):
                agent.__enter__()
            agent.ask("hello")
        with pytest.raises(UsageError, match=r"This agent is closed\. Open it again with `with`"):
            _ = agent.session_id

    def test_wrong_settings_and_prompts_are_refused_at_once(self, agent_env: AgentEnv) -> None:
        with pytest.raises(TypeError, match="max_turns must be a whole number"):
            agent_env.sync_agent(SCRIPT, max_turns="5")
        with pytest.raises(TypeError, match="has no method `ask`"):
            agent_env.sync_agent(SCRIPT, approver="yes")
        prompt: Any = None
        with agent_env.sync_agent(SCRIPT) as agent, pytest.raises(TypeError, match="prompt must be"):
            agent.run(prompt)

    @pytest.mark.parametrize("where", ["hook", "async hook", "tool", "approver", "model"])
    def test_inside_of_a_run_it_refuses_to_wait_for_itself(self, agent_env: AgentEnv, where: str) -> None:
        agents: list[SyncAgent] = []
        refusals: list[str] = []

        def again(*_: object) -> None:
            try:
                agents[0].ask("again")
            except UsageError as error:
                refusals.append(str(error))
                raise

        async def again_async(_: object) -> None:
            again()

        def approve(_: object) -> bool:
            again()
            return True

        def nested() -> None:
            """Asks the agent that called it."""
            again()

        def model(messages: object, _: object) -> str:
            again(messages)
            return ""

        script = script_answer(calls=[("nested", {})]) + script_answer(say="Done.")
        settings: dict[str, Any] = {
            "hook": {"hooks": {"BeforeAgent": again}},
            "async hook": {"hooks": {"BeforeAgent": again_async}},
            "tool": {"tools": tool(nested), "allowed_tools": "nested"},
            "approver": {"tools": tool(confirm=True)(nested), "approver": approve},
            "model": {"model": function_model(model)},
        }[where]
        with agent_env.sync_agent(script, **settings) as agent:
            agents.append(agent)
            if where == "tool":
                assert agent.ask("hello").text == "Done."
            else:
                with pytest.raises(UsageError):
                    agent.ask("hello")
        assert len(refusals) == 1
        assert "cannot start a run of the same agent" in refusals[0]

    def test_agents_in_tools_of_each_other(self, agent_env: AgentEnv) -> None:
        agents: list[SyncAgent] = []

        @tool
        def ask_other() -> str:
            """Asks the second agent."""
            return agents[1].ask("hello").text

        @tool
        def ask_first() -> str:
            """Asks the first agent."""
            with pytest.raises(UsageError, match="cannot start a run of the same agent"):
                agents[0].ask("hello")
            return "refused"

        first = script_answer(calls=[("ask_other", {})]) + script_answer(say="Done.")
        second = script_answer(calls=[("ask_first", {})]) + script_answer(say="Done too.")
        with (
            agent_env.sync_agent(first, tools=ask_other, mode="yolo") as one,
            agent_env.sync_agent(second, tools=ask_first, mode="yolo") as two,
        ):
            agents += [one, two]
            results = [event.result.text for event in one.run("hello") if isinstance(event, CallFinished)]
        assert results == ["Done too."]

    def test_what_keeps_it_from_opening_is_raised_and_leaves_nothing(self, agent_env: AgentEnv) -> None:
        agent = agent_env.sync_agent(SCRIPT, model="gemini-2.5-pro")
        for _ in range(2):
            with pytest.raises(ModelFailure) as caught, agent:
                pytest.fail("it opened")
            assert caught.value.kind is FailureKind.NO_KEY
        assert agent_threads() == []


def test_todos_and_the_approved_plan(agent_env: AgentEnv) -> None:
    script = (
        script_answer(calls=[("write_todos", {"todos": [{"description": "Plan", "status": "completed"}]})])
        + script_answer(calls=[("enter_plan_mode", {})])
        + script_answer(calls=[("write_file", {"file_path": "plan.md", "content": "# Plan"})])
        + script_answer(calls=[("exit_plan_mode", {"plan_filename": "plan.md"})])
        + script_answer(say="Done.")
    )
    approver = Approver(Outcome.PROCEED_ONCE)
    with agent_env.sync_agent(script, approver=approver) as agent:
        assert (agent.todos, agent.approved_plan) == (TodoList(), None)
        assert agent.ask("go").text == "Done."
        assert agent.todos == TodoList((Todo("Plan", TodoStatus.COMPLETED),))
        assert agent.approved_plan is not None
        assert agent.approved_plan.text == "# Plan"
    assert approver.asked == [("exit_plan_mode", threading.get_ident())]
    with pytest.raises(UsageError, match="is closed"):
        _ = agent.todos
    with pytest.raises(UsageError, match="is closed"):
        _ = agent.approved_plan


INTERRUPTED = """
import os, signal, sys, threading, time
from tejat import SyncAgent, tool

began = threading.Event()
ended = []

@tool
async def sleep() -> None:
    "Sleeps."
    import asyncio
    began.set()
    try:
        await asyncio.sleep(60)
    finally:
        ended.append("cancelled")

def interrupt():
    began.wait()
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
with SyncAgent(model="scripted:" + sys.argv[1], directories=sys.argv[2], tools=[sleep]) as agent:
    try:
        agent.ask("hello")
    except KeyboardInterrupt:
        print("interrupted", ended)
    print(agent.ask("again").text)
"""


def test_an_interrupt_from_the_keyboard_ends_the_run(agent_env: AgentEnv) -> None:
    script = agent_env.settings(calling("sleep"))["model"].removeprefix("scripted:")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", INTERRUPTED, script, str(agent_env.project)],
        env=agent_env.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted ['cancelled']\nDone.\n", "")


def test_open_and_close_without_with(agent_env: AgentEnv) -> None:
    agent = agent_env.sync_agent(script_answer(say="Hello."), session_id="mine")
    assert repr(agent) == "<SyncAgent, not open>"
    assert agent.open() is agent
    assert agent.ask("hello").text == "Hello."
    assert repr(agent) == f"<SyncAgent mine, {len(agent.history)} messages>"
    agent.close()
    agent.close()
    assert repr(agent) == "<SyncAgent, closed>"


def test_async_code_that_it_runs_cannot_close_it(agent_env: AgentEnv) -> None:
    @tool
    async def leave() -> None:
        """Leaves."""
        agent.close()

    with agent_env.sync_agent(calling("leave") + SCRIPT, tools=[leave]) as agent:
        (call,) = finished(list(agent.run("one")))
        assert call.result.error is not None
        assert call.result.error.message == "This agent cannot be closed by code that it runs."
        assert agent.ask("two").text == "Good morning."
