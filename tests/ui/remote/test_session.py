"""Tests of a session of another process as front ends use it: a real session behind a real socket."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.live_sessions import (
    ended_sessions,
    find_live,
    shell_script,
    start_detached,
    wait_for_state,
    wait_until_gone,
)
from support.program import ProgramEnv, text_script
from support.prompter import FakePrompter
from support.socket_attack import __file__ as attack_program
from support.wait import wait_until_async
from tejat.core.agent.events import (
    AgentEvent,
    Compressed,
    CompressionStatus,
    EndReason,
    Prompted,
    QuestionAsked,
    RunEnded,
    TextStreamed,
)
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ExecConfirmation, Outcome
from tejat.core.errors import UsageError
from tejat.core.messages.types import JsonObject
from tejat.core.tools.call_events import CallFinished
from tejat.core.ui.status import Preferences, Status
from tejat.core.value_json import value_to_json
from tejat.ui.remote.directory import LiveSession, LiveState
from tejat.ui.remote.methods import PROTOCOL
from tejat.ui.remote.session import RemoteSession, attach_session

YES, NO = ApprovalReply(Outcome.PROCEED_ONCE), ApprovalReply(Outcome.CANCEL)


@pytest.fixture
def env(tmp_path: Path) -> Generator[ProgramEnv]:
    env = ProgramEnv(tmp_path)
    with ended_sessions(env):
        yield env


def waiting(env: ProgramEnv, *more: str, command: str = "touch x") -> LiveSession:
    """A session that asks whether it may run a command, and gives these answers later."""
    return wait_for_state(env, start_detached(env, shell_script(command) + "".join(more)), LiveState.WAITING)


class Listener:
    """A front end that keeps the events."""

    def __init__(self, session: RemoteSession) -> None:
        self.session = session
        self.events: list[AgentEvent] = []
        session.subscribe(self.events.append)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for(self, kind: type[Any], count: int = 1) -> None:
        await wait_until_async(lambda: len(self.of(kind)) >= count)


@asynccontextmanager
async def attached(live: LiveSession, *, with_history: bool = False) -> AsyncGenerator[Listener]:
    async with attach_session(live.path, lambda _: None, with_history=with_history) as session:
        yield Listener(session)


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await work

    asyncio.run(bounded())


def texts(events: "list[AgentEvent] | tuple[AgentEvent, ...]") -> str:
    return "".join(event.text for event in events if isinstance(event, TextStreamed))


def test_two_front_ends_see_the_same_and_the_first_answer_counts(env: ProgramEnv) -> None:
    live = waiting(env)

    async def use() -> None:
        async with attached(live) as one, attached(live) as other:
            (question,) = one.session.pending_questions
            assert other.session.pending_questions == (question,)
            assert one.session.is_running
            assert one.session.answer(question.question_id, YES)
            assert other.session.answer(question.question_id, NO)
            await one.wait_for(RunEnded)
            await other.wait_for(RunEnded)
            assert not one.session.answer(question.question_id, NO)
            assert one.of(RunEnded)[0].reason is EndReason.FINISHED
            assert list(map(repr, one.events)) == list(map(repr, other.events))
            assert not one.session.is_running

    run(use())
    assert (env.project / "x").exists()
    wait_until_gone(env, live.session_id)


def test_the_run_of_another_front_end_can_be_interrupted(env: ProgramEnv) -> None:
    live = waiting(env, command="sleep 50")

    async def use() -> None:
        async with attached(live) as one:
            one.session.answer(one.session.pending_questions[0].question_id, YES)
            await wait_until_async(lambda: not one.session.pending_questions)
            assert one.session.interrupt()
            await one.wait_for(RunEnded)
            assert one.of(RunEnded)[0].reason is EndReason.INTERRUPTED
            assert not one.session.interrupt()

    run(use())


def test_a_prompt_goes_on_when_its_front_end_leaves_and_stops_when_it_is_cancelled(env: ProgramEnv) -> None:
    words = " ".join(f"w{number}" for number in range(60))
    live = waiting(env, text_script(words, words, pause=0.05))

    async def use() -> None:
        async with attached(live) as stays:
            async with attached(live) as leaves:
                stays.session.answer(stays.session.pending_questions[0].question_id, NO)
                await stays.wait_for(RunEnded)
                prompt = asyncio.create_task(leaves.session.prompt("more"))
                await stays.wait_for(Prompted, 2)
                leaves.session.leave()
                prompt.cancel()
                await asyncio.wait((prompt,))
            await stays.wait_for(RunEnded, 2)
            assert stays.of(RunEnded)[1].reason is EndReason.FINISHED
            prompt = asyncio.create_task(stays.session.prompt("again"))
            await stays.wait_for(Prompted, 3)
            prompt.cancel()
            await stays.wait_for(RunEnded, 3)
            assert stays.of(RunEnded)[2].reason is EndReason.INTERRUPTED

    run(use())


@pytest.mark.parametrize("with_history", [True, False])
def test_no_event_is_lost_or_doubled_while_a_text_is_streamed(env: ProgramEnv, *, with_history: bool) -> None:
    words = " ".join(f"w{number}" for number in range(300))
    live = waiting(env, text_script(words, pause=0.003))

    async def look(after: float) -> str:
        """The text of the run as a front end has it that attaches in the middle."""
        await asyncio.sleep(after)
        async with attached(live, with_history=with_history) as found:
            before = list(found.session.history) if with_history else []
            if found.session.is_running:
                await found.wait_for(RunEnded, 1 if with_history else 2)
            else:
                await asyncio.sleep(0.1)
            return texts(before + found.events)

    async def use() -> None:
        async with attached(live) as first:
            first.session.answer(first.session.pending_questions[0].question_id, YES)
            await first.wait_for(RunEnded)
            looks = [asyncio.create_task(look(number * 0.05)) for number in range(25)]
            await first.session.prompt("more")
            assert {await each for each in looks} <= {f"Done.{words}", "Done."}
            assert f"Done.{words}" in {each.result() for each in looks}

    run(use())


def test_the_whole_conversation_after_a_rewind_and_of_a_resumed_session(env: ProgramEnv) -> None:
    live = waiting(env, text_script("two", "three"))

    def prompts(events: "tuple[AgentEvent, ...]") -> list[str]:
        return [event.display_text for event in events if isinstance(event, Prompted)]

    async def use() -> None:
        async with attached(live) as first:
            first.session.answer(first.session.pending_questions[0].question_id, YES)
            await first.wait_for(RunEnded)
            await first.session.prompt("second")
            await first.session.prompt("third")
            async with attached(live, with_history=True) as whole:
                assert prompts(whole.session.history) == ["go", "second", "third"]
                assert texts(whole.session.history) == "Done.twothree"
                assert sum(isinstance(event, CallFinished) for event in whole.session.history) == 1
                assert not whole.events
            user = FakePrompter(choices=[0, 0])
            await first.session.commands.run("/rewind", user)
            async with attached(live, with_history=True) as rewound:
                assert prompts(rewound.session.history) == ["go", "second"], user.asked
                assert texts(rewound.session.history) == "Done.two"

    run(use())
    wait_until_gone(env, live.session_id)
    again = start_detached(env, shell_script("touch y"), "-r", live.session_id, name="again.toml")
    resumed = wait_for_state(env, again, LiveState.WAITING)

    async def look() -> None:
        async with attached(resumed, with_history=True) as whole:
            shown = prompts(whole.session.history)
            assert shown == ["go", "second", "go"]

    run(look())


def test_the_whole_conversation_after_it_was_compressed(env: ProgramEnv) -> None:
    summary = text_script("<state_snapshot>The summary.</state_snapshot>" * 2, purpose="compression")
    live = waiting(env, text_script(*(f"answer{number} " for number in range(7))), summary * 3)

    async def use() -> None:
        async with attached(live) as first:
            first.session.answer(first.session.pending_questions[0].question_id, YES)
            await first.wait_for(RunEnded)
            for number in range(6):
                await first.session.prompt(f"prompt{number} " * 2000)
            await first.session.commands.run("/compress", FakePrompter())
            assert first.of(Compressed)[-1].status is CompressionStatus.COMPRESSED
            await first.session.prompt("prompt6")
            async with attached(live, with_history=True) as whole:
                shown = [event.display_text[:7] for event in whole.session.history if isinstance(event, Prompted)]
                assert shown == ["go", *(f"prompt{number}" for number in range(7))]
                assert texts(whole.session.history) == "Done." + "".join(f"answer{number} " for number in range(7))

    run(use())


def test_commands_ask_the_front_end_that_runs_them(env: ProgramEnv) -> None:
    live = waiting(env)

    async def use() -> None:
        async with attached(live) as one, attached(live):
            commands = one.session.commands
            user = FakePrompter()
            await commands.run("/help", user)
            assert "/theme" in user.output
            assert {"/help", "/undo"} <= {f"/{each.name}" for each in commands.summaries()}
            assert any("theme" in item.text for item in await commands.suggestions("/the"))
            chooser = FakePrompter(choices=[0])
            await commands.run("/theme", chooser)
            assert chooser.output

    run(use())


def test_a_shell_line_shows_its_output_and_cannot_use_the_session(env: ProgramEnv) -> None:
    live = waiting(env)
    result = env.base / "result.json"

    async def use() -> None:
        async with attached(live) as one:
            shown: list[str] = []
            ended = await one.session.run_shell("echo first; sleep 0.3; echo second", shown.append)
            assert "second" in ended or any("second" in each for each in shown)
            await one.session.run_shell(f"python3 {attack_program} {Path(live.path).parent} {result}", shown.append)
            assert one.session.pending_questions

    run(use())
    assert set(result.read_text().split('"')[3::4]) == {"refused"}


def test_files_and_modes(env: ProgramEnv) -> None:
    (env.project / "some-file.txt").write_text("x")
    live = waiting(env)

    async def use() -> None:
        async with attached(live) as one, attached(live) as other:
            assert "some-file.txt" in await one.session.files.find("some-f")
            before = one.session.status.mode
            await one.session.next_mode(FakePrompter())
            assert one.session.status.mode != before
            one.session.answer(one.session.pending_questions[0].question_id, NO)
            await wait_until_async(lambda: other.session.status.mode == one.session.status.mode)

    run(use())


def test_a_text_is_sent_to_the_model_during_a_run(env: ProgramEnv) -> None:
    live = waiting(env, command="sleep 0.5")

    async def use() -> None:
        async with attached(live) as one:
            assert one.session.steer("and hurry")
            one.session.answer(one.session.pending_questions[0].question_id, YES)
            await one.wait_for(RunEnded)
            assert not one.session.steer("too late")

    run(use())
    assert "and hurry" in next((env.home / ".local/state/tejat/sessions").rglob("*.jsonl")).read_text()


def test_a_session_that_is_killed_fails_what_waits(env: ProgramEnv) -> None:
    live = waiting(env, text_script(" ".join(map(str, range(100))), pause=0.1))

    async def use() -> None:
        async with attached(live) as one:
            one.session.answer(one.session.pending_questions[0].question_id, NO)
            await one.wait_for(RunEnded)
            prompt = asyncio.create_task(one.session.prompt("more"))
            await one.wait_for(TextStreamed)
            env.run("sessions", "stop", live.session_id)
            with pytest.raises(UsageError):
                await prompt
            await one.session.peer.wait_closed()
            with pytest.raises(UsageError):
                await one.session.prompt("nobody")
            assert await one.session.files.find("x") == ()
            assert one.session.resume_hint == ""

    run(use())
    assert find_live(env, live.session_id) is None


def test_attaching_to_nothing_is_an_error(tmp_path: Path) -> None:
    async def use(check: Callable[[], None] = lambda: None) -> None:
        with pytest.raises(UsageError, match="Could not reach the session"):
            async with attach_session(str(tmp_path / "1-a.sock"), lambda _: None):
                check()

    run(use())


def test_an_answered_question_is_not_asked_again(env: ProgramEnv) -> None:
    live = waiting(env)

    async def use() -> None:
        async with attached(live) as one:
            one.session.answer(one.session.pending_questions[0].question_id, YES)
            await one.wait_for(RunEnded)
            async with attached(live) as late:
                assert late.session.pending_questions == ()
                await late.wait_for(RunEnded)

    run(use())


class AnswerAndEvents:
    """The input of a front end that gets the answer to `attach` together with what happened right after it."""

    def __init__(self, *lines: JsonObject) -> None:
        self._data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        self._requested = asyncio.Event()

    async def write(self, line: bytes) -> None:
        assert json.loads(line)["method"] == "attach"
        self._requested.set()

    async def read(self) -> bytes:
        await self._requested.wait()
        if data := self._data:
            self._data = b""
            return data
        return await asyncio.Future()


def test_what_comes_together_with_the_answer_is_newer_than_it() -> None:
    question = PendingQuestion("q1", ApprovalRequest(ExecConfirmation("t", "ls", "/w"), "run_shell_command"), 1.0)
    state = {
        "status": value_to_json(Status("m", "default", "/w")),
        "preferences": value_to_json(Preferences()),
        "commands": [],
        "resumable_id": None,
        "title": "",
        "root": "/w",
    }
    answer = {"protocol": PROTOCOL, "is_running": True, "events": [], "questions": [], "state": state, "agents": []}

    async def main() -> None:
        session = RemoteSession(lambda _: None)
        pipe = AnswerAndEvents(
            {"jsonrpc": "2.0", "id": 1, "result": {**answer, "preview": None}},
            *(
                {"jsonrpc": "2.0", "method": "event", "params": {"event": value_to_json(event)}}
                for event in (QuestionAsked(question), RunEnded(EndReason.FINISHED))
            ),
        )
        serving = asyncio.create_task(session.peer.serve(session, pipe, pipe))
        await session.attach(with_history=False)
        assert [each.question_id for each in session.pending_questions] == ["q1"]
        assert not session.is_running
        session.peer.close()
        await serving

    asyncio.run(main())
