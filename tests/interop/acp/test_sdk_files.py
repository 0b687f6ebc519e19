"""The official Python package as the client: files of the editor, in the whole program."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp import schema

from support.acp.message_log import Json
from support.acp.scripts import call_topic, topic
from support.acp.sdk_client import FILES, Agent, SdkClient, choose, run_agent
from support.editor import write_old
from support.program import ProgramEnv, script_answer

READ = ("read_file", {"path": "${root}/f"})
EDIT = ("replace", {"file_path": "${root}/f", "old_string": "typed", "new_string": "edited"})


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    env = ProgramEnv(tmp_path.resolve())
    write_old(env.project / "f", b"saved\n")
    return env


def run(
    env: ProgramEnv,
    script: str,
    scenario: Callable[[Agent, str], Awaitable[None]],
    client: SdkClient,
    files: schema.FileSystemCapabilities = FILES,
) -> Agent:
    """Run a scenario in a new session of a client that offers its files."""

    async def main() -> Agent:
        async with run_agent(env, "-m", env.script(script), client=client) as agent:
            await agent.initialize(fs=files)
            await scenario(agent, await agent.new_session())
        return agent

    return asyncio.run(main())


async def ask(agent: Agent, session: str) -> None:
    assert await agent.prompt(session, "Change it.") == "end_turn"


def edit_script() -> str:
    return topic("Change", script_answer(calls=[READ]), script_answer(calls=[EDIT]), script_answer(say="Done."))


def test_an_edit_of_unsaved_text(env: ProgramEnv) -> None:
    path = env.project / "f"
    client = SdkClient(buffers={str(path): "typed\n"})
    agent = run(env, edit_script(), ask, client)
    assert (path.read_bytes(), client.buffers[str(path)]) == (b"edited\n", "edited\n")
    (question,) = agent.log.requests("session/request_permission")
    (diff,) = [each for each in question["toolCall"]["content"] if each["type"] == "diff"]
    assert (diff["oldText"], diff["newText"]) == ("typed\n", "edited\n")


def test_the_user_types_while_the_question_is_open(env: ProgramEnv) -> None:
    path = env.project / "f"
    client = SdkClient(buffers={str(path): "typed\n"})

    def decide(request: Json) -> str | None:
        client.buffers[str(path)] = "typed more\n"
        return choose("allow_once")(request)

    client.decide = decide
    agent = run(env, edit_script(), ask, client)
    assert (path.read_bytes(), client.buffers[str(path)]) == (b"saved\n", "typed more\n")
    assert [call["status"] for call in agent.calls().values()] == ["completed", "failed"]


@pytest.mark.parametrize("path", ["new", "a/b/new"])
def test_a_new_file(env: ProgramEnv, path: str) -> None:
    """The client answers that there is no such file, which is no error."""
    script = call_topic("Change", "write_file", {"file_path": f"${{root}}/{path}", "content": "new\n"})
    agent = run(env, script, ask, SdkClient())
    assert (env.project / path).read_bytes() == b"new\n"
    (written,) = agent.log.requests("fs/write_text_file")
    assert (written["path"], written["content"]) == (str(env.project / path), "new\n")


@pytest.mark.parametrize(("reads", "writes"), [(True, False), (False, True), (False, False)])
def test_only_what_the_client_offers_is_asked_for(env: ProgramEnv, reads: bool, writes: bool) -> None:
    script = call_topic("Change", "write_file", {"file_path": "${root}/f", "content": "new\n"})
    offered = schema.FileSystemCapabilities(read_text_file=reads, write_text_file=writes)
    agent = run(env, script, ask, SdkClient(), offered)
    assert (env.project / "f").read_bytes() == b"new\n"
    asked = [bool(agent.log.requests(f"fs/{name}_text_file")) for name in ("read", "write")]
    assert asked == [reads, writes]


class SlowClient(SdkClient):
    """Takes its time to save."""

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse:
        await asyncio.sleep(0.4)
        return await super().write_text_file(session_id, path, content, **kwargs)


def test_a_turn_that_is_cancelled_while_the_client_saves_can_be_undone(env: ProgramEnv) -> None:
    path = env.project / "f"
    client = SlowClient(buffers={str(path): "typed\n"})

    async def scenario(agent: Agent, session: str) -> None:
        turn = asyncio.create_task(agent.prompt(session, "Change it."))
        await agent.wait_for(lambda: agent.log.requests("fs/write_text_file"))
        await agent.connection.cancel(session_id=session)
        assert await turn == "cancelled"
        assert path.read_bytes() == b"edited\n"
        client.decide = lambda request: str(request["options"][0]["optionId"])
        assert await agent.prompt(session, "/undo") == "end_turn"
        assert path.read_bytes() == b"typed\n"

    run(env, edit_script(), scenario, client)
