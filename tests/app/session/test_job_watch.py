"""The ends of background commands: a line for the user, the last lines for the model."""

import asyncio
from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer, text_script
from tejat.app.session.lifespan import open_session_manager
from tejat.core.agent.events import AgentEvent, Noticed
from tejat.core.agent.options import AgentOptions

JOB = "for i in $(seq 1 30); do echo line $i; done; while [ ! -e go ]; do sleep 0.05; done; exit 3"


async def notices_of(machine: ProgramEnv, seconds: float) -> tuple[list[str], list[str]]:
    """The notices after a background job has ended, and the messages that the next request begins with."""
    script = script_answer(calls=[("run_shell_command", {"command": JOB, "is_background": True})]) + text_script("ok")
    options = AgentOptions(
        directories=(str(machine.project),),
        model=machine.script(script),
        mode="yolo",
        sandbox="off",
        environment=machine.environment,
    )
    events: list[AgentEvent] = []
    async with open_session_manager(options) as manager:
        manager.events.subscribe(events.append)
        await manager.session.prompt("start it")
        (machine.project / "go").touch()
        for _ in range(round(seconds / 0.1)):
            if any(isinstance(event, Noticed) and "Background process" in event.message for event in events):
                break
            await asyncio.sleep(0.1)
        told = [event.message for event in events if isinstance(event, Noticed)]
        return told, [message.text for message in manager.session.conversation.history.messages[-1:]]


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def ends(told: list[str]) -> list[str]:
    return [line for line in told if line.startswith("Background process")]


@pytest.mark.parametrize("behavior", ["silent", "notify", "inject"])
def test_the_end_of_a_command(machine: ProgramEnv, behavior: str) -> None:
    machine.write_user_settings(tools={"shell": {"backgroundCompletionBehavior": behavior}})
    told, last = asyncio.run(notices_of(machine, seconds=1.5 if behavior == "silent" else 60))
    assert [line.partition(" exited with ")[2][:6] for line in ends(told)] == (
        [] if behavior == "silent" else ["code 3"]
    )
    is_told = "exited with code 3" in last[0] and "line 11\n" in last[0] and "line 10\n" not in last[0]
    assert is_told is (behavior == "inject")
