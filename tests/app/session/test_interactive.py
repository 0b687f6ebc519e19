"""A desk: what it shows at a glance, steering, modes, shell lines, and stopping from every state."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.approver import FakeApprover
from support.external_tools import gated_server, hostile_server
from support.interactive import InteractiveEnv, InteractiveRunner
from support.model_servers.gemini import ModelServer, text_reply
from support.process_marks import living_pids
from support.program import script_answer, text_script
from support.prompter import FakePrompter
from support.wait import wait_until_async
from tejat import __version__
from tejat.core.agent.events import (
    EndReason,
    Noticed,
    RunEnded,
    SessionStarted,
    Steered,
    TextStreamed,
)
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.core.ui.commands import ClearScreenAction
from tejat.core.ui.status import SandboxState, ServerCounts, Status
from tejat.ui.contract import UiSession

QUICK = 1.0
"""Seconds; half a second is meant, and the machine may be busy."""


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def shell(command: str) -> tuple[str, dict[str, object]]:
    return "run_shell_command", {"command": command}


class TestStatus:
    def test_at_a_glance(self, env: InteractiveEnv) -> None:
        subprocess.run(["git", "init", "-q", "-b", "topic/one", env.project], check=True)

        async def work(runner: InteractiveRunner) -> tuple[Status, Status]:
            before = runner.interactive.status
            await runner.prompt("hi")
            return before, runner.interactive.status

        before, after = env.run_with(work)
        assert after == Status(
            model="scripted:script.toml",
            mode="default",
            folder=str(env.project),
            branch="topic/one",
            context_used=15 / 1_000_000,
            tokens=15,
            cost=0.0,
            sandbox=SandboxState.NONE,
            version=__version__,
            session_id=before.session_id,
            host=os.uname().nodename,
        )
        assert (before.tokens, before.context_used is not None and 0 < before.context_used < 0.01) == (0, True)

    @pytest.mark.parametrize(("mode", "runs_sandboxed"), [(None, True), ("auto_edit", True), ("default", False)])
    def test_whether_sandboxed_commands_run_without_asking(
        self, env: InteractiveEnv, mode: str | None, runs_sandboxed: bool
    ) -> None:
        env.own_file.parent.mkdir(parents=True)
        env.own_file.write_text('{"tools": {"shell": {"autoAllowSandboxed": true}}}')

        async def work(runner: InteractiveRunner) -> list[bool]:
            before = runner.interactive.status.runs_sandboxed
            await runner.interactive.next_mode(FakePrompter())  # loads the rules
            return [before, runner.interactive.status.runs_sandboxed]

        assert env.run_with(work, mode=mode) == [runs_sandboxed, runs_sandboxed]

    def test_a_missing_sandbox_is_told_before_the_first_command(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[list[str], SandboxState]:
            await runner.wait_for_events(Noticed)
            return [event.message for event in runner.events_of(Noticed)], runner.interactive.status.sandbox

        (message,), sandbox = env.run_with(work, directories=("/",), sandbox="auto")
        assert message == (
            "NO SANDBOX: commands run with all your permissions. "
            "Reason: the workspace is /, so there is nothing to isolate. Start Tejat in a directory below /."
        )
        assert sandbox is SandboxState.NONE

    def test_a_folder_at_home_begins_with_a_tilde(self, env: InteractiveEnv) -> None:
        inner = env.home / "work"
        inner.mkdir()

        async def work(runner: InteractiveRunner) -> str:
            return runner.interactive.status.folder

        assert env.run_with(work, directories=(str(inner),)) == "~/work"

    def test_servers_while_they_start_and_then(self, env: InteractiveEnv) -> None:
        gate = env.base / "gate"
        env.write_user_settings(mcpServers={"slow": gated_server(gate), "broken": {"command": "/does/not/exist"}})

        async def work(runner: InteractiveRunner) -> list[ServerCounts]:
            seen: list[ServerCounts] = []
            assert runner.interactive.status.servers.total == 2  # also before any of them is started
            await wait_until_async(lambda: runner.interactive.status.servers.failed == 1)
            seen.append(runner.interactive.status.servers)
            gate.touch()
            await wait_until_async(lambda: runner.interactive.status.servers.ready == 1)
            return [*seen, runner.interactive.status.servers]

        assert env.run_with(work) == [ServerCounts(2, 0, 1), ServerCounts(2, 1, 1)]

    def test_it_is_what_front_ends_want(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> UiSession:
            return runner.interactive

        assert env.run_with(work).preferences.vi_mode is False

    def test_it_is_cheap(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> float:
            await runner.prompt("x" * 500_000)
            _ = runner.interactive.status
            began = time.perf_counter()
            for _ in range(200):
                _ = runner.interactive.status
            return time.perf_counter() - began

        assert env.run_with(work) < 0.2


class TestModes:
    def test_the_round(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            user = FakePrompter(choices=[1])
            modes = [(await runner.interactive.next_mode(user)).mode for _ in range(4)]
            assert runner.interactive.status.mode == modes[-1]
            modes += [(await runner.interactive.toggle_yolo(user)).mode, runner.interactive.status.mode]
            return modes

        assert env.run_with(work) == ["auto_edit", "plan", "yolo", "default", "yolo", "yolo"]

    def test_it_counts_at_once(self, env: InteractiveEnv) -> None:
        write = ("write_file", {"file_path": "${root}/a.txt", "content": "a"})
        script = (
            script_answer(say="One.", calls=[write])
            + script_answer(say="Done.")
            + script_answer(say="Two.", calls=[write])
            + script_answer(say="I see.")
        )
        person = FakeApprover(ApprovalReply(Outcome.CANCEL))

        async def work(runner: InteractiveRunner) -> list[EndReason]:
            await runner.interactive.next_mode(FakePrompter())
            first = await runner.prompt("go")
            for _ in range(2):
                await runner.interactive.next_mode(FakePrompter())
            return [first.reason, (await runner.prompt("go")).reason]

        assert env.run_with(work, script=script, approver=person) == [EndReason.FINISHED, EndReason.FINISHED]
        assert len(person.questions) == 1


class TestSteering:
    def test_words_reach_the_model_behind_the_calls(self, env: InteractiveEnv) -> None:
        script = script_answer(say="I wait.", calls=[shell("echo started; sleep 0.3")]) + script_answer(
            say="As you say."
        )

        async def work(runner: InteractiveRunner) -> tuple[RunEnded, list[str]]:
            run = asyncio.create_task(runner.prompt("go"))
            await runner.wait_for_events(OutputUpdated)
            assert runner.interactive.steer("Be quick.")
            assert runner.interactive.steer("And kind.")
            ended = await run
            assert not runner.interactive.steer("Too late.")
            return ended, [event.text for event in runner.events_of(Steered)]

        ended, steered = env.run_with(work, script=script)
        assert (ended.text, ended.undelivered, steered) == (
            "I wait.\nAs you say.",
            (),
            ["Be quick.", "And kind."],
        )

    def test_they_are_in_the_session_that_is_read_back(self, env: InteractiveEnv) -> None:
        script = script_answer(say="I wait.", calls=[shell("echo started; sleep 0.3")]) + text_script("As you say.")

        async def work(runner: InteractiveRunner) -> list[tuple[object, ...]]:
            run = asyncio.create_task(runner.prompt("go"))
            await runner.wait_for_events(OutputUpdated)
            runner.interactive.steer("Be quick.")
            await run
            return [message.parts for message in runner.messages]

        async def read_messages(runner: InteractiveRunner) -> list[tuple[object, ...]]:
            return [message.parts for message in runner.messages]

        lived = env.run_with(work, script=script)
        assert env.run_with(read_messages, resume="latest") == lived
        assert [type(part).__name__ for part in lived[2]] == ["FunctionResponse", "Text"]

    def test_where_the_model_has_ended_it_goes_on(self, env: InteractiveEnv) -> None:
        script = script_answer(say="a b c d e f g h", pause=0.02) + text_script("More.")

        async def work(runner: InteractiveRunner) -> RunEnded:
            run = asyncio.create_task(runner.prompt("go"))
            await runner.wait_for_events(TextStreamed)
            assert runner.interactive.steer("Go on.")
            return await run

        assert env.run_with(work, script=script).text == "a b c d e f g h\nMore."

    def test_what_was_not_delivered_comes_back(self, env: InteractiveEnv) -> None:
        script = script_answer(say="I wait.", calls=[shell("echo started; sleep 60")]) + text_script("Next.")

        async def work(runner: InteractiveRunner) -> list[str]:
            run = asyncio.create_task(runner.prompt("go"))
            await runner.wait_for_events(OutputUpdated)
            runner.interactive.steer("Stop that.")
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            ended = runner.events_of(RunEnded)[-1]
            again = await runner.prompt("again")
            assert again.undelivered == ()
            return [*ended.undelivered, again.text]

        assert env.run_with(work, script=script) == ["Stop that.", "Next."]

    def test_nothing_is_no_word(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> bool:
            return runner.interactive.steer("Hello?") or runner.interactive.steer("  ")

        assert env.run_with(work) is False


class TestShellLines:
    def test_the_model_gets_to_know_with_the_next_prompt(self, env: InteractiveEnv) -> None:
        with ModelServer([text_reply("I see.")]) as service:
            env.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": service.address}

            async def work(runner: InteractiveRunner) -> str:
                shown = await runner.interactive.run_shell("echo hi", lambda _: None)
                await runner.prompt("What was that?")
                return shown

            assert env.run_with(work, model="gemini-2.5-pro") == "hi"
        parts = [part["text"] for part in service.requests[0].body["contents"][-1]["parts"]]
        told = (
            "I ran the following shell command:\n```sh\necho hi\n```\n\n"
            "This produced the following result:\n```\nhi\n```"
        )
        assert parts == [told, "What was that?"]

    def test_they_stay_when_the_next_prompt_comes_to_nothing(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            await runner.interactive.run_shell("echo hi", lambda _: None)
            ended = await runner.prompt("go")
            assert ended.reason is EndReason.MODEL_FAILED
            return runner.texts

        lived = env.run_with(work, script=script_answer(fail="bad_request", detail="No."))
        assert len(lived) == 1
        assert lived[0].startswith("I ran the following shell command:\n```sh\necho hi\n```")

        async def read_messages(runner: InteractiveRunner) -> list[str]:
            return runner.texts

        assert env.run_with(read_messages, resume="latest") == lived

    def test_one_that_ends_while_the_model_is_at_work_is_kept_for_later(self, env: InteractiveEnv) -> None:
        script = script_answer(say="a b c d e f g h i j", pause=0.05) + text_script("Yes.")

        async def work(runner: InteractiveRunner) -> list[str]:
            run = asyncio.create_task(runner.prompt("go"))
            await runner.wait_for_events(TextStreamed)
            assert await runner.interactive.run_shell("echo aside", lambda _: None) == "aside"
            await run
            return runner.texts

        texts = env.run_with(work, script=script)
        assert texts[:2] == ["go", "a b c d e f g h i j"]
        assert "echo aside" in texts[2]

    def test_secrets_stay_secret(self, env: InteractiveEnv) -> None:
        env.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"
        seen: list[str] = []

        async def work(runner: InteractiveRunner) -> str:
            shown = await runner.interactive.run_shell("echo $SERVICE_TOKEN", seen.append)
            return shown + runner.texts[0]

        assert "a-secret-of-some-length" not in env.run_with(work) + "".join(seen)
        assert seen[-1] == "[the secret SERVICE_TOKEN]\n"


class Slow:
    """Somebody who never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        del question
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


async def stopped(runner: InteractiveRunner, work: "asyncio.Task[object]") -> float:
    """Stop the work, and tell how long that took."""
    began = time.perf_counter()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    took = time.perf_counter() - began
    assert runner.messages is not None  # and so they are legal
    return took


class TestStopping:
    """From every state, at once, and then the next prompt is answered."""

    def stop(
        self,
        env: InteractiveEnv,
        waiting: Callable[[InteractiveRunner], Awaitable[object]],
        script: str,
        *,
        ends: bool = True,
        **more: Any,
    ) -> list[str]:
        async def work(runner: InteractiveRunner) -> list[str]:
            run = asyncio.create_task(runner.prompt("go"))
            await waiting(runner)
            assert await stopped(runner, run) < QUICK
            assert [event.reason for event in runner.events_of(RunEnded)] == [EndReason.INTERRUPTED]
            if ends:
                assert (await runner.prompt("again")).text == "Next."
            return runner.texts

        return env.run_with(work, script=script + text_script("Next."), **more)

    def test_while_the_model_is_waited_for(self, env: InteractiveEnv) -> None:
        async def waiting(runner: InteractiveRunner) -> None:
            await runner.wait_for_events(SessionStarted)
            await asyncio.sleep(0.1)

        texts = self.stop(env, waiting, script_answer(say="never", pause=30), ends=False)
        assert texts == []

    def test_while_it_speaks(self, env: InteractiveEnv) -> None:
        async def waiting(runner: InteractiveRunner) -> None:
            await runner.wait_for_events(TextStreamed, 2)

        texts = self.stop(env, waiting, script_answer(say="one two three four", pause=0.2))
        assert texts[0] == "go"
        assert texts[1].startswith("one ")
        assert texts[1].endswith("[This answer was cut short: interrupted]")
        assert texts[2:] == ["again", "Next."]

    def test_while_a_command_runs(self, env: InteractiveEnv, mark: str) -> None:
        async def waiting(runner: InteractiveRunner) -> None:
            await runner.wait_for_events(OutputUpdated)

        line = f"echo started; (setsid sleep {mark} &) ; sleep {mark}"
        texts = self.stop(env, waiting, script_answer(say="I run.", calls=[shell(line)]))
        assert texts[:2] == ["go", "I run."]
        assert living_pids(mark) == []

    def test_while_a_person_is_asked(self, env: InteractiveEnv) -> None:
        person = Slow()

        async def waiting(runner: InteractiveRunner) -> None:
            del runner
            await person.asked.wait()

        self.stop(env, waiting, script_answer(say="I ask.", calls=[shell("touch a")]), approver=person)
        assert not (env.project / "a").exists()

    def test_while_a_server_works(self, env: InteractiveEnv) -> None:
        env.write_user_settings(mcpServers={"far": hostile_server(trust=True)})

        async def waiting(runner: InteractiveRunner) -> None:
            async with asyncio.timeout(30):
                while not any(event.state is CallState.EXECUTING for event in runner.events_of(StateChanged)):  # noqa: ASYNC110
                    await asyncio.sleep(0.002)

        self.stop(env, waiting, script_answer(say="I call.", calls=[("far__hang", {})]))

    def test_while_a_hook_runs(self, env: InteractiveEnv, mark: str) -> None:
        env.write_user_settings(hooks={"BeforeAgent": [{"hooks": [{"type": "command", "command": f"sleep {mark}"}]}]})

        async def waiting(runner: InteractiveRunner) -> None:
            del runner
            await wait_until_async(lambda: bool(living_pids(mark)))

        self.stop(env, waiting, "", ends=False)
        assert living_pids(mark) == []

    def test_while_the_conversation_is_summarised(self, env: InteractiveEnv) -> None:
        script = (
            text_script(" ".join(map(str, range(3000))), "More.")
            + script_answer(say="never", pause=30, purpose="compression")
            + text_script("Next.")
        )

        async def work(runner: InteractiveRunner) -> list[str]:
            await runner.prompt("go")
            await runner.prompt("on")
            before = runner.texts
            compressing = asyncio.create_task(runner.run_command("/compress"))
            await wait_until_async(lambda: runner.session.is_busy)
            await asyncio.sleep(0.05)
            assert await stopped(runner, compressing) < QUICK
            assert runner.texts == before
            return [(await runner.prompt("again")).text]

        assert env.run_with(work, script=script) == ["Next."]

    def test_while_a_line_of_the_person_runs(self, env: InteractiveEnv, mark: str) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            shown: list[str] = []
            line = f"echo started; sleep {mark}"
            run = asyncio.create_task(runner.interactive.run_shell(line, shown.append))
            await wait_until_async(lambda: bool(shown))
            assert await stopped(runner, run) < QUICK
            return runner.texts

        (told,) = env.run_with(work)
        assert told.endswith("```\nCommand was cancelled.\nstarted\n```")
        assert living_pids(mark) == []


def test_clearing_while_servers_start_keeps_them(env: InteractiveEnv) -> None:
    gate = env.base / "gate"
    env.write_user_settings(mcpServers={"far": gated_server(gate, trust=True)})
    script = (
        text_script("One.") + script_answer(say="I call.", calls=[("far__echo", {"text": "hi"})]) + text_script("Done.")
    )

    async def work(runner: InteractiveRunner) -> list[str]:
        first = await runner.prompt("go")
        effect, _ = await runner.run_command("/clear")
        assert isinstance(effect, ClearScreenAction)
        gate.touch()
        await wait_until_async(lambda: runner.interactive.status.servers.ready == 1)
        second = await runner.prompt("again")
        assert runner.messages[0].text == "again"
        return [
            first.text,
            second.text,
            *(message.responses[0].name for message in runner.messages if message.responses),
        ]

    assert env.run_with(work, script=script) == ["One.", "I call.\nDone.", "far__echo"]


def test_the_figures_are_those_of_all_sessions_at_the_desk(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> int:
        await runner.prompt("one")
        await runner.run_command("/clear")
        await runner.prompt("two")
        return runner.interactive.status.tokens

    assert env.run_with(work, script=text_script("a", "b", usage={"prompt": 10, "output": 5})) == 30


def test_a_hangup_of_the_shell_is_no_news(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.interactive.run_shell(f"kill -{signal.SIGTERM.value} $$", lambda _: None)

    assert env.run_with(work) == "Command terminated by signal: SIGTERM.\n(Command produced no output)"
    assert os.path.isdir(env.project)
