"""The official Python package as the client: its files and its terminals."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from support.acp.scripts import call_topic
from support.acp.sdk_client import FILES, Agent, SdkClient, run_agent
from support.process_marks import living_pids
from support.program import ProgramEnv

EDIT = {"file_path": "${root}/price.py", "old_string": "cost = 1", "new_string": "cost = 2"}
SAVED = b"cost = 1\nprint(cost)\n"


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    env = ProgramEnv(tmp_path)
    (env.project / "price.py").write_bytes(SAVED)
    return env


def ask(env: ProgramEnv, script: str, client: SdkClient, **capabilities: Any) -> Agent:
    async def main() -> Agent:
        async with run_agent(env, "-m", env.script(script), client=client) as agent:
            await agent.initialize(**capabilities)
            assert await agent.prompt(await agent.new_session(), "Go.") == "end_turn"
        return agent

    return asyncio.run(main())


class TestFiles:
    def test_an_unsaved_buffer_is_edited_and_saved(self, env: ProgramEnv) -> None:
        path = str(env.project / "price.py")
        client = SdkClient(buffers={path: "# not saved\ncost = 1\nprint(cost)\n"})
        agent = ask(env, call_topic("Go", "replace", EDIT), client, fs=FILES)
        assert agent.text().endswith("Done.")
        assert client.buffers[path] == "# not saved\ncost = 2\nprint(cost)\n"
        assert Path(path).read_text() == client.buffers[path]
        (asked,) = agent.log.requests("session/request_permission")
        (diff,) = [each for each in asked["toolCall"]["content"] if each["type"] == "diff"]
        assert (diff["oldText"], diff["newText"]) == (
            "# not saved\ncost = 1\nprint(cost)\n",
            "# not saved\ncost = 2\nprint(cost)\n",
        )

    @pytest.mark.parametrize(
        ("saved", "expected"),
        [
            (b"cost = 1\nprint(cost)\n", b"cost = 2\nprint(cost)\n"),
            (b"cost = 1\r\nprint(cost)\r\n", b"cost = 2\r\nprint(cost)\r\n"),
            (b"\xef\xbb\xbfcost = 1\nprint(cost)", b"\xef\xbb\xbfcost = 2\nprint(cost)"),
        ],
    )
    @pytest.mark.parametrize("form", ["as it is", "without the last newline", "with LF"])
    def test_no_byte_is_lost_however_the_client_shows_files(
        self, env: ProgramEnv, form: str, saved: bytes, expected: bytes
    ) -> None:
        """Some clients hide the last newline, and some convert line endings, in what they give to an agent."""
        path = env.project / "price.py"
        path.write_bytes(saved)
        shown = saved.decode()
        if form == "without the last newline":
            shown = shown.removesuffix("\n").removesuffix("\r")
        elif form == "with LF":
            shown = shown.replace("\r\n", "\n")
        agent = ask(env, call_topic("Go", "replace", EDIT), SdkClient(shown={str(path): shown}), fs=FILES)
        assert agent.text().endswith("Done.")
        assert path.read_bytes() == expected

    def test_a_new_file(self, env: ProgramEnv) -> None:
        args = {"file_path": "${root}/a/new/file.txt", "content": "New.\n"}
        agent = ask(env, call_topic("Go", "write_file", args), SdkClient(), fs=FILES)
        assert agent.text().endswith("Done.")
        assert (env.project / "a" / "new" / "file.txt").read_bytes() == b"New.\n"

    def test_files_elsewhere_are_never_asked_for(self, env: ProgramEnv) -> None:
        agent = ask(env, call_topic("Go", "read_file", {"file_path": "/etc/hostname"}), SdkClient(), fs=FILES)
        assert agent.text().endswith("Then not.")
        assert agent.log.requests("fs/read_text_file") == []

    def test_a_client_without_files_is_never_asked(self, env: ProgramEnv) -> None:
        agent = ask(env, call_topic("Go", "replace", EDIT), SdkClient())
        assert agent.text().endswith("Done.")
        assert agent.log.requests("fs/read_text_file") == []
        assert agent.log.requests("fs/write_text_file") == []


class TestTerminals:
    def test_the_output_of_a_command_is_in_one(self, env: ProgramEnv) -> None:
        client = SdkClient()
        agent = ask(env, call_topic("Go", "run_shell_command", {"command": "echo out"}), client, terminal=True)
        assert agent.text().endswith("Done.")
        (call,) = agent.calls().values()
        assert call["status"] == "completed"
        shown = [update.get("content") or [] for update in agent.log.updates("tool_call_update")]
        terminals = {each["terminalId"] for content in shown for each in content if each["type"] == "terminal"}
        assert terminals == {"terminal-1"}
        assert client.outputs() == {"terminal-1": "out\n"}
        assert client.released == ["terminal-1"]

    def test_a_cancelled_command_leaves_nothing(self, env: ProgramEnv, mark: str) -> None:
        async def main() -> None:
            client = SdkClient()
            script = call_topic("Go", "run_shell_command", {"command": f"sleep {mark}"})
            async with run_agent(env, "-m", env.script(script), client=client) as agent:
                await agent.initialize(terminal=True)
                session = await agent.new_session()
                answer = asyncio.create_task(agent.prompt(session, "Go."))
                await agent.wait_for(lambda: living_pids(f"sleep\0{mark}"))
                await agent.connection.cancel(session)
                assert await answer == "cancelled"
                assert living_pids(f"sleep\0{mark}") == []
                await agent.wait_for(lambda: client.released == ["terminal-1"])

        asyncio.run(main())

    def test_a_client_without_them_is_never_asked(self, env: ProgramEnv) -> None:
        client = SdkClient()
        agent = ask(env, call_topic("Go", "run_shell_command", {"command": "echo out"}), client)
        assert agent.text().endswith("Done.")
        assert client.commands == []


def test_a_client_that_says_nothing_about_itself(env: ProgramEnv) -> None:
    """Without capabilities nothing but updates and permissions is sent."""

    async def main() -> Agent:
        async with run_agent(env, "-m", env.script(call_topic("Go", "replace", EDIT))) as agent:
            await agent.request("initialize", {"protocolVersion": 1})
            assert await agent.prompt(await agent.new_session(), "Go.") == "end_turn"
        return agent

    methods = {message["method"] for message in asyncio.run(main()).log.received if "method" in message}
    assert methods == {"session/update", "session/request_permission"}
