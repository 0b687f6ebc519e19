"""Calls of frameworks, in tools of either kind."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.framework_tools import NOTE, PICTURE, Waiter, cancel_during_call, fill
from tejat import (
    BaseTool,
    ErrorType,
    FileData,
    FunctionResponse,
    InlineData,
    SyncTools,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSource,
    UsageError,
    open_tools,
    tool,
)
from tejat.core.messages.types import Text
from tejat.integrations.framework_calls import CallOutput, declare_tools, run_call, run_call_sync
from tejat.integrations.langchain import langchain_tools
from tejat.integrations.openai_agents import openai_agents_tools
from tejat.integrations.pydantic_ai import TejatToolset
from tejat.tools.registry import entry_for


@tool
def answer(kind: str) -> ToolResult:
    """Answers in many ways."""
    return {
        "list": ToolResult(["a", InlineData("image/png", PICTURE), Text("b")]),
        "file": ToolResult(["at", FileData("video/mp4", "gs://film")]),
        "json": ToolResult(FunctionResponse("answer", {"value": 1})),
        "timeout": ToolResult("half of it", error=ToolError("It took too long.", ErrorType.TIMEOUT)),
    }[kind]


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[SyncTools]:
    with SyncTools(fill(tmp_path), tools=answer) as tools:
        yield tools


class Dotted(BaseTool):
    """A tool with a name as MCP servers give them, which most services reject."""

    def __init__(self) -> None:
        super().__init__(name="plain", description="Has a dot in its name.", parameter_schema={"type": "object"})
        self.name = "server.one__read"

    async def execute(self, params: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult("read")


def test_names_that_services_reject(tools: SyncTools) -> None:
    tools.registry.register_entry(entry_for(Dotted(), source=ToolSource.MCP))
    names = [declared.name for declared in declare_tools(tools)]
    (name,) = (each for each in names if each not in tools.registry)
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", name)
    assert {"read_file", "answer"} < set(names)
    assert run_call_sync(tools, name, {}).text == "read"
    assert asyncio.run(run_call(tools, name, {})).text == "read"
    assert "not found in registry" in (run_call_sync(tools, "nothing", {}).error or "")


class TestGivenTools:
    @pytest.mark.parametrize("adapt", [declare_tools, langchain_tools, openai_agents_tools, TejatToolset])
    def test_they_must_be_open(self, adapt: Callable[[Any], object], tmp_path: Path) -> None:
        with pytest.raises(TypeError, match=r"^These tools are not open\. Use them inside of `with open_tools"):
            adapt(open_tools(tmp_path))

    @pytest.mark.parametrize("adapt", [declare_tools, langchain_tools, openai_agents_tools, TejatToolset])
    @pytest.mark.parametrize(
        ("given", "described"),
        [
            ([answer], "an object of the type list"),
            (SyncTools, "the class SyncTools"),
            (None, "an object of the type NoneType"),
        ],
    )
    def test_nothing_else_is_accepted(self, adapt: Callable[[Any], object], given: object, described: str) -> None:
        with pytest.raises(TypeError, match=f"^The tools must come from `open_tools` or `SyncTools`, not {described}"):
            adapt(given)


class TestOutput:
    def test_text(self, tools: SyncTools) -> None:
        assert run_call_sync(tools, "read_file", {"path": "note.txt"}) == CallOutput((Text(NOTE),))

    def test_several_parts(self, tools: SyncTools) -> None:
        output = run_call_sync(tools, "answer", {"kind": "list"})
        assert output.media == (InlineData("image/png", PICTURE),)
        assert output.text.splitlines()[1:] == ["a", "b"]

    def test_what_is_neither_text_nor_data(self, tools: SyncTools) -> None:
        assert run_call_sync(tools, "answer", {"kind": "file"}).text.splitlines()[1:] == ["at", "gs://film"]
        assert run_call_sync(tools, "answer", {"kind": "json"}).text == '{"value":1}'

    def test_an_error_has_the_output_so_far(self, tools: SyncTools) -> None:
        output = run_call_sync(tools, "answer", {"kind": "timeout"})
        assert (output.error, output.content) == ("It took too long.\nhalf of it", ())


class TestSyncToolsInLoops:
    def test_several_loops_at_once(self, tools: SyncTools) -> None:
        found: list[str] = []

        async def read() -> None:
            outputs = await asyncio.gather(*(run_call(tools, "read_file", {"path": "note.txt"}) for _ in range(5)))
            found.extend(output.text for output in outputs)

        threads = [threading.Thread(target=asyncio.run, args=(read(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [NOTE] * 20

    def test_a_cancelled_call_has_ended(self, tmp_path: Path) -> None:
        has_started, was_cancelled = threading.Event(), threading.Event()

        @tool
        async def wait() -> str:
            """Waits."""
            has_started.set()
            try:
                await asyncio.Event().wait()
            finally:
                was_cancelled.set()
            return "never"

        async def main(tools: SyncTools) -> None:
            running = asyncio.ensure_future(run_call(tools, "wait", {}))
            await asyncio.to_thread(has_started.wait, 60)
            running.cancel()
            await asyncio.wait((running,))
            assert running.cancelled()
            assert was_cancelled.is_set()

        with SyncTools(tmp_path, tools=wait) as tools:
            asyncio.run(main(tools))

    def test_the_approver_is_asked(self, tmp_path: Path) -> None:
        with SyncTools(tmp_path, lambda _: True) as tools:
            asyncio.run(run_call(tools, "write_file", {"file_path": "new.txt", "content": "x"}))
        assert (tmp_path / "new.txt").read_text() == "x"

    def test_tools_that_are_closed_say_so(self, tmp_path: Path) -> None:
        has_started = threading.Event()

        @tool
        async def wait() -> str:
            """Waits."""
            has_started.set()
            await asyncio.Event().wait()
            return "never"

        tools = SyncTools(tmp_path, tools=wait)
        with pytest.raises(UsageError):
            asyncio.run(run_call(tools, "wait", {}))
        failures: list[BaseException] = []

        def call() -> None:
            try:
                asyncio.run(run_call(tools, "wait", {}))
            except UsageError as error:
                failures.append(error)

        with tools:
            thread = threading.Thread(target=call)
            thread.start()
            assert has_started.wait(60)
        thread.join()
        assert [str(failure) for failure in failures] == ["These tools were closed during the call."]


class TestToolset:
    def test_a_call_in_its_loop(self, tmp_path: Path) -> None:
        async def main() -> CallOutput:
            async with open_tools(fill(tmp_path)) as tools:
                return await run_call(tools, "read_file", {"path": "note.txt"}, "call_1")

        assert asyncio.run(main()).text == NOTE

    def test_a_cancelled_call_has_ended(self, tmp_path: Path) -> None:
        async def main() -> Waiter:
            waiter = Waiter()
            async with open_tools(tmp_path, tools=waiter.tool) as tools:
                await cancel_during_call(asyncio.ensure_future(run_call(tools, "wait", {})), waiter)
            return waiter

        assert asyncio.run(main()).was_cancelled

    def test_a_synchronous_call_is_refused(self, tmp_path: Path) -> None:
        with open_tools(tmp_path) as tools, pytest.raises(UsageError, match="open them with SyncTools"):
            run_call_sync(tools, "list_directory", {"path": "."})
