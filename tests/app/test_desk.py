"""A desk: what it shows at a glance, steering, modes, shell lines, and stopping from every state."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from command_checks import Always
from desk_checks import Room, Sitting
from foreign_checks import gated, hostile
from mcp_links import eventually
from model_server import ModelServer, say
from process_marks import living
from program_checks import answer, said
from tejat.core.agent_events import (
    EndReason,
    RunEnded,
    SessionStarted,
    Steered,
    TextStreamed,
)
from tejat.core.commands import ClearScreen
from tejat.core.confirm import Answer, Outcome, Question
from tejat.core.events import CallState, OutputUpdated, StateChanged
from tejat.core.status import ServerState, Status
from tejat.frontends.desk import Desk

QUICK = 1.0
"""Seconds; half a second is meant, and the machine may be busy."""


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def shell(command: str) -> tuple[str, dict[str, object]]:
    return "run_shell_command", {"command": command}


class TestStatus:
    def test_at_a_glance(self, room: Room) -> None:
        subprocess.run(["git", "init", "-q", "-b", "topic/one", room.project], check=True)

        async def work(sitting: Sitting) -> tuple[Status, Status]:
            before = sitting.desk.status
            await sitting.ask("hi")
            return before, sitting.desk.status

        before, after = room.sit(work)
        assert after == Status(
            model=f"scripted:{room.base}/script.toml",
            mode="default",
            folder=str(room.project),
            branch="topic/one",
            context_used=15 / 1_000_000,
            tokens=15,
            cost=0.0,
        )
        assert (before.tokens, before.context_used is not None and before.context_used < 0.001) == (0, True)

    def test_a_folder_at_home_begins_with_a_tilde(self, room: Room) -> None:
        inner = room.home / "work"
        inner.mkdir()

        async def work(sitting: Sitting) -> str:
            return sitting.desk.status.folder

        assert room.sit(work, directories=(str(inner),)) == "~/work"

    def test_servers_while_they_start_and_then(self, room: Room) -> None:
        gate = room.base / "gate"
        room.person_sets(mcpServers={"slow": gated(gate), "broken": {"command": "/does/not/exist"}})

        async def work(sitting: Sitting) -> list[ServerState]:
            seen: list[ServerState] = []
            await eventually(lambda: sitting.desk.status.servers.failed == 1)
            seen.append(sitting.desk.status.servers)
            gate.touch()
            await eventually(lambda: sitting.desk.status.servers.ready == 1)
            return [*seen, sitting.desk.status.servers]

        assert room.sit(work) == [ServerState(2, 0, 1), ServerState(2, 1, 1)]

    def test_it_is_what_front_ends_want(self, room: Room) -> None:
        async def work(sitting: Sitting) -> Desk:
            return sitting.desk

        assert room.sit(work).preferences.vi_keys is False

    def test_it_is_cheap(self, room: Room) -> None:
        async def work(sitting: Sitting) -> float:
            await sitting.ask("x" * 500_000)
            _ = sitting.desk.status
            began = time.perf_counter()
            for _ in range(200):
                _ = sitting.desk.status
            return time.perf_counter() - began

        assert room.sit(work) < 0.2


class TestModes:
    def test_the_round(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            modes = [sitting.desk.next_mode() for _ in range(4)]
            assert sitting.desk.status.mode == modes[-1]
            return modes

        assert room.sit(work) == ["auto_edit", "plan", "default", "auto_edit"]

    def test_everything_at_once_only_for_those_who_asked_for_it(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            return [sitting.desk.status.mode, *(sitting.desk.next_mode() for _ in range(5))]

        assert room.sit(work, mode="yolo") == ["yolo", "default", "auto_edit", "plan", "yolo", "default"]

    def test_only_tighter_in_a_folder_without_trust(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            return [sitting.desk.next_mode() for _ in range(3)] + [sitting.desk.status.mode]

        assert room.sit(work, trusts_folder=False) == ["plan", "default", "plan", "plan"]

    def test_it_counts_at_once(self, room: Room) -> None:
        write = ("write_file", {"file_path": "${root}/a.txt", "content": "a"})
        script = answer(say="One.", calls=[write]) + answer(say="Done.") + answer(say="Two.", calls=[write])
        person = Always(Outcome.CANCEL)

        async def work(sitting: Sitting) -> list[EndReason]:
            sitting.desk.next_mode()
            first = await sitting.ask("go")
            sitting.desk.next_mode(), sitting.desk.next_mode()
            return [first.reason, (await sitting.ask("go")).reason]

        assert room.sit(work, script=script, approver=person) == [EndReason.FINISHED, EndReason.NOT_ALLOWED]
        assert len(person.questions) == 1


class TestSteering:
    def test_words_reach_the_model_behind_the_calls(self, room: Room) -> None:
        script = answer(say="I wait.", calls=[shell("echo started; sleep 0.3")]) + answer(say="As you say.")

        async def work(sitting: Sitting) -> tuple[RunEnded, list[str]]:
            run = asyncio.create_task(sitting.ask("go"))
            await sitting.until(OutputUpdated)
            assert sitting.desk.steer("Be quick.")
            assert sitting.desk.steer("And kind.")
            ended = await run
            assert not sitting.desk.steer("Too late.")
            return ended, [event.text for event in sitting.heard(Steered)]

        ended, steered = room.sit(work, script=script)
        assert (ended.text, ended.undelivered, steered) == (
            "I wait.\nAs you say.",
            (),
            ["Be quick.", "And kind."],
        )

    def test_they_are_in_the_session_that_is_read_back(self, room: Room) -> None:
        script = answer(say="I wait.", calls=[shell("echo started; sleep 0.3")]) + said("As you say.")

        async def work(sitting: Sitting) -> list[tuple[object, ...]]:
            run = asyncio.create_task(sitting.ask("go"))
            await sitting.until(OutputUpdated)
            sitting.desk.steer("Be quick.")
            await run
            return [message.parts for message in sitting.messages]

        async def look(sitting: Sitting) -> list[tuple[object, ...]]:
            return [message.parts for message in sitting.messages]

        lived = room.sit(work, script=script)
        assert room.sit(look, resume="latest") == lived
        assert [type(part).__name__ for part in lived[2]] == ["FunctionResponse", "Text"]

    def test_where_the_model_has_ended_it_goes_on(self, room: Room) -> None:
        script = answer(say="a b c d e f g h", pause=0.02) + said("More.")

        async def work(sitting: Sitting) -> RunEnded:
            run = asyncio.create_task(sitting.ask("go"))
            await sitting.until(TextStreamed)
            assert sitting.desk.steer("Go on.")
            return await run

        assert room.sit(work, script=script).text == "a b c d e f g h\nMore."

    def test_what_was_not_delivered_comes_back(self, room: Room) -> None:
        script = answer(say="I wait.", calls=[shell("echo started; sleep 60")]) + said("Next.")

        async def work(sitting: Sitting) -> list[str]:
            run = asyncio.create_task(sitting.ask("go"))
            await sitting.until(OutputUpdated)
            sitting.desk.steer("Stop that.")
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            ended = sitting.heard(RunEnded)[-1]
            again = await sitting.ask("again")
            assert again.undelivered == ()
            return [*ended.undelivered, again.text]

        assert room.sit(work, script=script) == ["Stop that.", "Next."]

    def test_nothing_is_no_word(self, room: Room) -> None:
        async def work(sitting: Sitting) -> bool:
            return sitting.desk.steer("Hello?") or sitting.desk.steer("  ")

        assert room.sit(work) is False


class TestShellLines:
    def test_the_model_gets_to_know_with_the_next_prompt(self, room: Room) -> None:
        with ModelServer([say("I see.")]) as service:
            room.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": service.address}

            async def work(sitting: Sitting) -> str:
                shown = await sitting.desk.run_shell("echo hi", lambda _: None)
                await sitting.ask("What was that?")
                return shown

            assert room.sit(work, model="gemini-2.5-pro") == "hi"
        parts = [part["text"] for part in service.requests[0].body["contents"][-1]["parts"]]
        told = (
            "I ran the following shell command:\n```sh\necho hi\n```\n\n"
            "This produced the following result:\n```\nhi\n```"
        )
        assert parts == [told, "What was that?"]

    def test_they_stay_when_the_next_prompt_comes_to_nothing(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            await sitting.desk.run_shell("echo hi", lambda _: None)
            ended = await sitting.ask("go")
            assert ended.reason is EndReason.MODEL_FAILED
            return sitting.said

        lived = room.sit(work, script=answer(fail="bad_request", detail="No."))
        assert len(lived) == 1
        assert lived[0].startswith("I ran the following shell command:\n```sh\necho hi\n```")

        async def look(sitting: Sitting) -> list[str]:
            return sitting.said

        assert room.sit(look, resume="latest") == lived

    def test_one_that_ends_while_the_model_is_at_work_is_kept_for_later(self, room: Room) -> None:
        script = answer(say="a b c d e f g h i j", pause=0.05) + said("Yes.")

        async def work(sitting: Sitting) -> list[str]:
            run = asyncio.create_task(sitting.ask("go"))
            await sitting.until(TextStreamed)
            assert await sitting.desk.run_shell("echo aside", lambda _: None) == "aside"
            await run
            return sitting.said

        texts = room.sit(work, script=script)
        assert texts[:2] == ["go", "a b c d e f g h i j"]
        assert "echo aside" in texts[2]

    def test_secrets_stay_secret(self, room: Room) -> None:
        room.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"
        seen: list[str] = []

        async def work(sitting: Sitting) -> str:
            shown = await sitting.desk.run_shell("echo $SERVICE_TOKEN", seen.append)
            return shown + sitting.said[0]

        assert "a-secret-of-some-length" not in room.sit(work) + "".join(seen)
        assert seen[-1] == "[the secret SERVICE_TOKEN]\n"


class Slow:
    """Somebody who never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, question: Question) -> Answer:
        del question
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


async def stopped(sitting: Sitting, work: "asyncio.Task[object]") -> float:
    """Stop the work, and tell how long that took."""
    began = time.perf_counter()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    took = time.perf_counter() - began
    assert sitting.messages is not None  # and so they are legal
    return took


class TestStopping:
    """From every state, at once, and then the next prompt is answered."""

    def stop(
        self,
        room: Room,
        waiting: Callable[[Sitting], Awaitable[object]],
        script: str,
        *,
        ends: bool = True,
        **more: object,
    ) -> list[str]:
        async def work(sitting: Sitting) -> list[str]:
            run = asyncio.create_task(sitting.ask("go"))
            await waiting(sitting)
            assert await stopped(sitting, run) < QUICK
            assert [event.reason for event in sitting.heard(RunEnded)] == [EndReason.INTERRUPTED]
            if ends:
                assert (await sitting.ask("again")).text == "Next."
            return sitting.said

        return room.sit(work, script=script + said("Next."), **more)

    def test_while_the_model_is_waited_for(self, room: Room) -> None:
        async def waiting(sitting: Sitting) -> None:
            await sitting.until(SessionStarted)
            await asyncio.sleep(0.1)

        texts = self.stop(room, waiting, answer(say="never", pause=30), ends=False)
        assert texts == []

    def test_while_it_speaks(self, room: Room) -> None:
        async def waiting(sitting: Sitting) -> None:
            await sitting.until(TextStreamed, 2)

        texts = self.stop(room, waiting, answer(say="one two three four", pause=0.2))
        assert texts[0] == "go"
        assert texts[1].startswith("one ")
        assert texts[1].endswith("[This answer was cut short: interrupted]")
        assert texts[2:] == ["again", "Next."]

    def test_while_a_command_runs(self, room: Room, mark: str) -> None:
        async def waiting(sitting: Sitting) -> None:
            await sitting.until(OutputUpdated)

        line = f"echo started; (setsid sleep {mark} &) ; sleep {mark}"
        texts = self.stop(room, waiting, answer(say="I run.", calls=[shell(line)]))
        assert texts[:2] == ["go", "I run."]
        assert living(mark) == []

    def test_while_a_person_is_asked(self, room: Room) -> None:
        person = Slow()

        async def waiting(sitting: Sitting) -> None:
            del sitting
            await person.asked.wait()

        self.stop(room, waiting, answer(say="I ask.", calls=[shell("touch a")]), approver=person)
        assert not (room.project / "a").exists()

    def test_while_a_server_works(self, room: Room) -> None:
        room.person_sets(mcpServers={"far": hostile(trust=True)})

        async def waiting(sitting: Sitting) -> None:
            async with asyncio.timeout(30):
                while not any(event.state is CallState.EXECUTING for event in sitting.heard(StateChanged)):  # noqa: ASYNC110
                    await asyncio.sleep(0.002)

        self.stop(room, waiting, answer(say="I call.", calls=[("far__hang", {})]))

    def test_while_a_hook_runs(self, room: Room, mark: str) -> None:
        room.person_sets(hooks={"BeforeAgent": [{"hooks": [{"type": "command", "command": f"sleep {mark}"}]}]})

        async def waiting(sitting: Sitting) -> None:
            del sitting
            await eventually(lambda: bool(living(mark)))

        self.stop(room, waiting, "", ends=False)
        assert living(mark) == []

    def test_while_the_conversation_is_summarised(self, room: Room) -> None:
        script = (
            said(" ".join(map(str, range(3000))), "More.")
            + answer(say="never", pause=30, purpose="compression")
            + said("Next.")
        )

        async def work(sitting: Sitting) -> list[str]:
            await sitting.ask("go")
            await sitting.ask("on")
            before = sitting.said
            compressing = asyncio.create_task(sitting.obey("/compress"))
            await eventually(lambda: sitting.session.is_busy)
            await asyncio.sleep(0.05)
            assert await stopped(sitting, compressing) < QUICK
            assert sitting.said == before
            return [(await sitting.ask("again")).text]

        assert room.sit(work, script=script) == ["Next."]

    def test_while_a_line_of_the_person_runs(self, room: Room, mark: str) -> None:
        async def work(sitting: Sitting) -> list[str]:
            shown: list[str] = []
            line = f"echo started; sleep {mark}"
            run = asyncio.create_task(sitting.desk.run_shell(line, shown.append))
            await eventually(lambda: bool(shown))
            assert await stopped(sitting, run) < QUICK
            return sitting.said

        (told,) = room.sit(work)
        assert told.endswith("```\nCommand was cancelled.\nstarted\n```")
        assert living(mark) == []


def test_clearing_while_servers_start_keeps_them(room: Room) -> None:
    gate = room.base / "gate"
    room.person_sets(mcpServers={"far": gated(gate, trust=True)})
    script = said("One.") + answer(say="I call.", calls=[("far__echo", {"text": "hi"})]) + said("Done.")

    async def work(sitting: Sitting) -> list[str]:
        first = await sitting.ask("go")
        effect, _ = await sitting.obey("/clear")
        assert isinstance(effect, ClearScreen)
        gate.touch()
        await eventually(lambda: sitting.desk.status.servers.ready == 1)
        second = await sitting.ask("again")
        assert sitting.messages[0].text == "again"
        return [
            first.text,
            second.text,
            *(message.responses[0].name for message in sitting.messages if message.responses),
        ]

    assert room.sit(work, script=script) == ["One.", "I call.\nDone.", "far__echo"]


def test_the_figures_are_those_of_all_sessions_at_the_desk(room: Room) -> None:
    async def work(sitting: Sitting) -> int:
        await sitting.ask("one")
        await sitting.obey("/clear")
        await sitting.ask("two")
        return sitting.desk.status.tokens

    assert room.sit(work, script=said("a", "b", usage={"prompt": 10, "output": 5})) == 30


def test_a_hangup_of_the_shell_is_no_news(room: Room) -> None:
    async def work(sitting: Sitting) -> str:
        return await sitting.desk.run_shell(f"kill -{signal.SIGTERM.value} $$", lambda _: None)

    assert room.sit(work) == "Command terminated by signal: SIGTERM.\n(Command produced no output)"
    assert os.path.isdir(room.project)
