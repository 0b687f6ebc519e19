"""The toolset for google-adk, with its runner and a model that is a script. Runs in the environment `.venv-adk`."""

# pyright: reportMissingModuleSource=false

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import Field

from support.framework_tools import NOTE, PICTURE, Waiter, cancel_during_call, fill
from tejat import ApprovalRequest, Toolset, open_tools
from tejat.integrations.google_adk import AdkToolset


class Script(BaseLlm):
    """Makes calls, then answers. Keeps the requests."""

    calls: list[tuple[str, dict[str, Any]]]
    requests: list[LlmRequest] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request)
        if len(self.requests) == 1 and self.calls:
            parts = [types.Part.from_function_call(name=name, args=args) for name, args in self.calls]
        else:
            parts = [types.Part(text="Done.")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


async def run(tools: Toolset, *calls: tuple[str, dict[str, Any]]) -> Script:
    """Run an agent that makes these calls."""
    script = Script(model="script", calls=list(calls))
    agent = LlmAgent(name="tester", model=script, tools=[AdkToolset(tools)])
    async with InMemoryRunner(agent=agent, app_name="tests") as runner:
        session = await runner.session_service.create_session(app_name="tests", user_id="me")
        message = types.Content(role="user", parts=[types.Part(text="Go.")])
        texts = [
            part.text
            async for event in runner.run_async(user_id="me", session_id=session.id, new_message=message)
            for part in (event.content.parts if event.content else None) or ()
            if part.text
        ]
    assert texts == ["Done."]
    return script


def responses_in(script: Script) -> list[types.FunctionResponse]:
    parts = script.requests[-1].contents[-1].parts or []
    return [part.function_response for part in parts if part.function_response is not None]


def test_models_get_the_declarations(tmp_path: Path) -> None:
    with open_tools(fill(tmp_path)) as tools:
        script = asyncio.run(run(tools))
        declared: Any = (script.requests[0].config.tools or [])[0]
        found = {each.name: each.parameters_json_schema for each in declared.function_declarations}
        assert found == {each.name: each.parameters_json_schema for each in tools.declarations()}


def test_results_are_text_and_pictures(tmp_path: Path) -> None:
    with open_tools(fill(tmp_path)) as tools:
        read = [("read_file", {"path": name}) for name in ("note.txt", "picture.png")]
        note, picture = responses_in(asyncio.run(run(tools, *read)))
    assert note.response == {"output": NOTE}
    (part,) = picture.parts or []
    assert part.inline_data
    assert (part.inline_data.data, part.inline_data.mime_type) == (PICTURE, "image/png")


def test_failures_are_errors(tmp_path: Path) -> None:
    with open_tools(tmp_path) as tools:
        calls = [("read_file", {"path": "nothing.txt"}), ("read_file", {"path": 3})]
        missing, invalid = responses_in(asyncio.run(run(tools, *calls)))
    assert missing.response
    assert "nothing.txt" in missing.response["error"]
    assert invalid.response
    assert "path" in invalid.response["error"]


@pytest.mark.parametrize("answer", [True, False])
def test_calls_need_approval(tmp_path: Path, answer: bool) -> None:
    asked: list[ApprovalRequest] = []

    def approve(question: ApprovalRequest) -> bool:
        asked.append(question)
        return answer

    with open_tools(tmp_path, approve) as tools:
        asyncio.run(run(tools, ("write_file", {"file_path": "new.txt", "content": "x"})))
    assert len(asked) == 1
    assert (tmp_path / "new.txt").exists() is answer


def test_cancelling_a_run_cancels_the_call(tmp_path: Path) -> None:
    async def main() -> Waiter:
        waiter = Waiter()
        async with open_tools(tmp_path, tools=waiter.tool) as tools:
            await cancel_during_call(asyncio.ensure_future(run(tools, ("wait", {}))), waiter)
        return waiter

    assert asyncio.run(main()).was_cancelled


def test_tools_that_are_not_open_are_refused(tmp_path: Path) -> None:
    given: Any = open_tools(tmp_path)
    with pytest.raises(TypeError, match="These tools are not open"):
        AdkToolset(given)
