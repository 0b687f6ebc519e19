"""The tools for the OpenAI Agents SDK: its runner and client against a server that rejects what the service would."""

import asyncio
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Model, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner
from openai import AsyncOpenAI

from support.framework_tools import NOTE, PICTURE, Waiter, cancel_during_call, fill
from support.model_servers.conversation import Call, ConversationServer, Turn
from tejat import ApprovalRequest, Toolset, open_tools
from tejat.integrations.openai_agents import openai_agents_tools

READ_NOTE = Call("read_file", {"path": "note.txt"})
READ_PICTURE = Call("read_file", {"path": "picture.png"})


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Toolset]:
    with open_tools(fill(tmp_path)) as tools:
        yield tools


async def run(tools: Toolset, *turns: Turn, chat: bool = False) -> list[Any]:
    """Run an agent with a model that takes these turns, and return the last input that the server got."""
    with ConversationServer(*turns) as server:
        async with AsyncOpenAI(base_url=f"{server.address}/v1", api_key="a-key-for-tests", max_retries=0) as client:
            model: Model = (OpenAIChatCompletionsModel if chat else OpenAIResponsesModel)("gpt", client)
            agent = Agent(name="Tester", model=model, tools=openai_agents_tools(tools))
            result = await Runner.run(agent, "Go.", run_config=RunConfig(tracing_disabled=True))
            assert result.final_output == turns[-1]
        return server.last_body["messages" if chat else "input"]


def outputs_in(items: list[Any]) -> list[Any]:
    return [item["output"] for item in items if item.get("type") == "function_call_output"]


def test_a_call_and_its_result_make_two_turns(tools: Toolset) -> None:
    assert outputs_in(asyncio.run(run(tools, [READ_NOTE], "It is heron."))) == [NOTE]


def test_the_chat_api_works_too(tools: Toolset) -> None:
    messages = asyncio.run(run(tools, [READ_NOTE], "It is heron.", chat=True))
    assert [message["content"] for message in messages if message["role"] == "tool"] == [NOTE]


def test_results_hold_their_pictures(tools: Toolset) -> None:
    ((_, image),) = outputs_in(asyncio.run(run(tools, [READ_PICTURE], "Seen.")))
    assert image["image_url"] == f"data:image/png;base64,{b64encode(PICTURE).decode()}"


def test_calls_of_one_turn_all_get_their_results(tools: Toolset) -> None:
    assert outputs_in(asyncio.run(run(tools, [READ_NOTE] * 5, "Five times."))) == [NOTE] * 5


def test_failures_are_texts(tools: Toolset) -> None:
    turns = [[Call("read_file", {"path": "nothing.txt"}), Call("read_file", {"path": 3})], "I see."]
    missing, invalid = outputs_in(asyncio.run(run(tools, *turns)))
    assert missing.startswith("Error: ")
    assert "nothing.txt" in missing
    assert invalid.startswith("Error: ")


def test_arguments_that_are_no_object_are_told(tools: Toolset) -> None:
    read_file: Any = next(tool for tool in openai_agents_tools(tools) if tool.name == "read_file")
    told = asyncio.run(read_file.on_invoke_tool(None, '{"path": '))
    assert told == "Error: The arguments of read_file are not a JSON object."


@pytest.mark.parametrize("answer", [True, False])
def test_calls_need_approval(tmp_path: Path, answer: bool) -> None:
    asked: list[ApprovalRequest] = []

    async def approve(question: ApprovalRequest) -> bool:
        asked.append(question)
        return answer

    with open_tools(tmp_path, approve) as tools:
        asyncio.run(run(tools, [Call("write_file", {"file_path": "new.txt", "content": "x"})], "Done."))
    assert len(asked) == 1
    assert (tmp_path / "new.txt").exists() is answer


def test_cancelling_a_run_cancels_the_call(tmp_path: Path) -> None:
    async def main() -> Waiter:
        waiter = Waiter()
        async with open_tools(tmp_path, tools=waiter.tool) as tools:
            await cancel_during_call(asyncio.ensure_future(run(tools, [Call("wait", {})], "Never.")), waiter)
        return waiter

    assert asyncio.run(main()).was_cancelled


def test_a_missing_package_is_named_with_its_extra() -> None:
    program = "import sys; sys.modules['agents'] = None; import tejat.integrations.openai_agents"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "openai-agents is not installed. Install it with `pip install 'tejat[openai-agents]'`." in done.stderr
