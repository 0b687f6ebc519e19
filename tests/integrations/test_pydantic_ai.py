"""The toolset for Pydantic AI, in agents of the real package with a model that is a function."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, BinaryContent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from support.framework_tools import NOTE, PICTURE, Waiter, cancel_during_call, fill
from tejat import ApprovalRequest, Toolset, open_tools
from tejat.integrations.pydantic_ai import TejatToolset


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Toolset]:
    with open_tools(fill(tmp_path)) as tools:
        yield tools


class Script:
    """A model that makes calls, then answers. Keeps what it was given."""

    def __init__(self, *calls: ToolCallPart) -> None:
        self._calls = calls
        self.infos: list[AgentInfo] = []
        self.model = FunctionModel(self._respond)

    def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.infos.append(info)
        is_last = len(messages) > 1 or not self._calls
        return ModelResponse(parts=[TextPart("Done.")] if is_last else list(self._calls))


def run(tools: Toolset, *calls: ToolCallPart) -> list[ToolReturnPart]:
    """Run an agent that makes these calls, and return their results."""
    agent = Agent(Script(*calls).model, toolsets=[TejatToolset(tools)])
    result = asyncio.run(agent.run("Go."))  # `run_sync` leaves its event loop open
    assert result.output == "Done."
    return returns_in(result.all_messages())


def returns_in(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


def test_models_get_the_declarations(tools: Toolset) -> None:
    script = Script()
    asyncio.run(Agent(script.model, toolsets=[TejatToolset(tools, id="tejat")]).run("Go."))
    declared = {tool.name: tool.parameters_json_schema for tool in script.infos[0].function_tools}
    assert declared == {tool.name: tool.parameters_json_schema for tool in tools.declarations()}


def test_results_are_text_and_pictures(tools: Toolset) -> None:
    note, picture = run(
        tools, ToolCallPart("read_file", {"path": "note.txt"}), ToolCallPart("read_file", '{"path": "picture.png"}')
    )
    assert (note.content, note.outcome) == (NOTE, "success")
    contents: Any = picture.content
    media = [item for item in contents if isinstance(item, BinaryContent)]
    assert [(item.data, item.media_type) for item in media] == [(PICTURE, "image/png")]


def test_a_failed_call_is_a_failed_result_and_no_retry(tools: Toolset) -> None:
    calls = [ToolCallPart("read_file", {"path": f"nothing{number}.txt"}) for number in range(5)]
    failed = run(tools, *calls, ToolCallPart("read_file", {}))
    assert {part.outcome for part in failed} == {"failed"}
    assert "nothing0.txt" in str(failed[0].content)
    assert "path" in str(failed[5].content)


@pytest.mark.parametrize("answer", [True, False])
def test_calls_need_approval(tmp_path: Path, answer: bool) -> None:
    asked: list[ApprovalRequest] = []

    def approve(question: ApprovalRequest) -> bool:
        asked.append(question)
        return answer

    with open_tools(tmp_path, approve) as tools:
        (written,) = run(tools, ToolCallPart("write_file", {"file_path": "new.txt", "content": "x"}))
    assert len(asked) == 1
    assert written.outcome == ("success" if answer else "failed")
    assert (tmp_path / "new.txt").exists() is answer


def test_cancelling_a_run_cancels_the_call(tmp_path: Path) -> None:
    async def main() -> Waiter:
        waiter = Waiter()
        async with open_tools(tmp_path, tools=waiter.tool) as tools:
            agent = Agent(Script(ToolCallPart("wait", {})).model, toolsets=[TejatToolset(tools)])
            await cancel_during_call(asyncio.ensure_future(agent.run("Go.")), waiter)
        return waiter

    assert asyncio.run(main()).was_cancelled


def test_a_missing_package_is_named_with_its_extra() -> None:
    program = "import sys; sys.modules['pydantic_ai'] = None; import tejat.integrations.pydantic_ai"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "pydantic-ai is not installed. Install it with `pip install 'tejat[pydantic-ai]'`." in done.stderr
