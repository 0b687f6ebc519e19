"""The tools for LangChain: called directly, from threads, and by an agent with the client for OpenAI."""

import asyncio
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from support.framework_tools import NOTE, PICTURE, Waiter, cancel_during_call, fill
from support.model_servers.conversation import Call, ConversationServer, Turn
from tejat import ApprovalRequest, SyncTools, UsageError, open_tools
from tejat.integrations.langchain import langchain_tools

READ_NOTE = Call("read_file", {"path": "note.txt"})
IMAGE = {"type": "image", "base64": b64encode(PICTURE).decode(), "mime_type": "image/png"}


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[SyncTools]:
    with SyncTools(fill(tmp_path)) as tools:
        yield tools


def find(tools: Any, name: str) -> BaseTool:
    return next(tool for tool in langchain_tools(tools) if tool.name == name)


def call(name: str, **arguments: object) -> dict[str, Any]:
    return {"type": "tool_call", "id": "1", "name": name, "args": arguments}


class TestDirectCalls:
    def test_declarations(self, tools: SyncTools) -> None:
        declared = {tool.name: tool.args_schema for tool in langchain_tools(tools)}
        assert declared == {tool.name: tool.parameters_json_schema for tool in tools.declarations()}

    def test_invoke_returns_text(self, tools: SyncTools) -> None:
        assert find(tools, "read_file").invoke({"path": "note.txt"}) == NOTE

    def test_ainvoke_returns_text(self, tools: SyncTools) -> None:
        assert asyncio.run(find(tools, "read_file").ainvoke({"path": "note.txt"})) == NOTE

    def test_pictures_are_content_blocks(self, tools: SyncTools) -> None:
        message: ToolMessage = find(tools, "read_file").invoke(call("read_file", path="picture.png"))
        assert message.content[-1] == IMAGE
        assert message.status == "success"

    def test_a_failed_call_is_a_message_with_the_status_error(self, tools: SyncTools) -> None:
        message: ToolMessage = find(tools, "read_file").invoke(call("read_file", path="nothing.txt"))
        assert message.status == "error"
        assert "nothing.txt" in str(message.content)
        invalid: ToolMessage = find(tools, "read_file").invoke(call("read_file"))
        assert invalid.status == "error"

    def test_many_threads_and_loops_at_once(self, tools: SyncTools) -> None:
        read_file = find(tools, "read_file")
        with ThreadPoolExecutor(8) as pool:
            invoked = pool.map(lambda _: read_file.invoke({"path": "note.txt"}), range(24))
            awaited = pool.map(lambda _: asyncio.run(read_file.ainvoke({"path": "note.txt"})), range(24))
            assert {*invoked, *awaited} == {NOTE}

    def test_tools_of_an_event_loop_are_not_invoked_synchronously(self, tmp_path: Path) -> None:
        with open_tools(fill(tmp_path)) as tools:
            with pytest.raises(UsageError, match="SyncTools"):
                find(tools, "read_file").invoke({"path": "note.txt"})
            assert asyncio.run(find(tools, "read_file").ainvoke({"path": "note.txt"})) == NOTE


class TestAgent:
    def run(self, tools: Any, *turns: Turn) -> tuple[AIMessage, list[Any]]:
        """Run an agent whose model takes these turns. Returns its answer, and the messages that the server got."""
        with ConversationServer(*turns) as server:
            agent: Any = create_agent(self.model(server), langchain_tools(tools))
            answer = agent.invoke({"messages": [("user", "Go.")]})["messages"][-1]
            return answer, server.last_body["messages"]

    def model(self, server: ConversationServer) -> ChatOpenAI:
        return ChatOpenAI(
            model="gpt", base_url=f"{server.address}/v1", api_key=SecretStr("a-key-for-tests"), max_retries=0
        )

    def test_calls_of_one_turn_all_get_their_results(self, tools: SyncTools) -> None:
        answer, messages = self.run(tools, [READ_NOTE] * 4, "It is heron.")
        assert answer.content == "It is heron."
        assert [message["content"] for message in messages if message["role"] == "tool"] == [NOTE] * 4

    @pytest.mark.parametrize("answer", [True, False])
    def test_calls_need_approval(self, tmp_path: Path, answer: bool) -> None:
        asked: list[ApprovalRequest] = []

        def approve(question: ApprovalRequest) -> bool:
            asked.append(question)
            return answer

        with SyncTools(tmp_path, approve) as tools:
            self.run(tools, [Call("write_file", {"file_path": "new.txt", "content": "x"})], "Done.")
        assert len(asked) == 1
        assert (tmp_path / "new.txt").exists() is answer

    def test_cancelling_a_run_cancels_the_call(self, tmp_path: Path) -> None:
        async def main(server: ConversationServer) -> Waiter:
            waiter = Waiter()
            async with open_tools(tmp_path, tools=waiter.tool) as tools:
                agent: Any = create_agent(self.model(server), langchain_tools(tools))
                run = asyncio.ensure_future(agent.ainvoke({"messages": [("user", "Go.")]}))
                await cancel_during_call(run, waiter)
            return waiter

        with ConversationServer([Call("wait", {})], "Never.") as server:
            assert asyncio.run(main(server)).was_cancelled


def test_a_missing_package_is_named_with_its_extra() -> None:
    program = "import sys; sys.modules['langchain_core'] = None; import tejat.integrations.langchain"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "langchain-core is not installed. Install it with `pip install 'tejat[langchain]'`." in done.stderr
