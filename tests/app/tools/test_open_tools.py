"""The tools as a program opens and calls them."""

import asyncio
import inspect
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.external_tools import ExternalToolsEnv, hostile_server
from support.note_tool import NoteTool
from tejat.app.tools.open_tools import ToolSettings, open_tools
from tejat.app.tools.toolset import Toolset
from tejat.core.approval.confirmation import ApprovalRequest, ToolOrigin
from tejat.core.errors import ErrorType, UsageError
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.core.tools.call_events import CallFinished, CallState, Event


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("first\n")
    return tmp_path


def opened(project: Path, approver: Any = None, **settings: Any) -> Any:
    return open_tools(project, approver, sandbox="off", **settings)


async def print_later(_: object) -> None: ...


class TestOpening:
    def test_the_settings_are_those_of_the_typed_dict(self) -> None:
        parameters = inspect.signature(open_tools).parameters.values()
        assert {each.name for each in parameters if each.kind is each.KEYWORD_ONLY} == set(ToolSettings.__annotations__)

    def test_the_current_directory_without_arguments(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(project)
        with open_tools() as tools:
            assert asyncio.run(tools.call("read_file", path="a.txt")) == ToolResult("first\n")

    @pytest.mark.parametrize(
        ("arguments", "settings", "message"),
        [
            ((b"/tmp",), {}, "directories must be a path or several paths, not b'/tmp'"),
            ((5,), {}, "directories must be a path or several paths, not 5"),
            (([5],), {}, "directories must be a path, not 5"),
            ((".", "yes"), {}, "The approver 'yes' has no method `ask`"),
            ((".", lambda: True), {}, "must take one argument"),
            ((".",), {"tools": NoteTool}, "tools must be a tool or several tools, not <class"),
            ((".",), {"tools": "glob"}, "tools must be a tool or several tools, not 'glob'"),
            ((".",), {"tools": [NoteTool]}, r"NoteTool is a class. Pass a tool, for example NoteTool\(\)"),
            ((".",), {"tools": [print]}, "is not a tool. A function becomes one with `@tool`"),
            ((".",), {"excluded_tools": 5}, "excluded_tools must be a name or several names, not 5"),
            ((".",), {"allowed_tools": [None]}, "allowed_tools must be a name, not None"),
            (
                (".",),
                {"mcp_servers": "server"},
                "mcp_servers must be a mapping from names to servers, not an",
            ),
            ((".",), {"mcp_servers": {"a": "b"}}, "mcp_servers must be a mapping from names to servers"),
            ((".",), {"mcp_servers": {5: {}}}, "mcp_servers must be a mapping from names to servers"),
            ((".",), {"policy_paths": 5}, "policy_paths must be a path or several paths"),
            ((".",), {"trusts_folder": "no"}, "trusts_folder must be True or False, not 'no'"),
            ((".",), {"mode": 5}, "mode must be one of 'default', 'auto_edit', 'plan', 'yolo', not 5"),
            ((".",), {"sandbox": True}, "sandbox must be one of 'auto', 'required', 'off', .*, not True"),
            ((".",), {"excluded_tools": {"glob": 1}}, "excluded_tools must be a name or several names, not {'glob'"),
            ((".",), {"tools": {"note": NoteTool()}}, "tools must be a tool or several tools, not {'note'"),
            ((".",), {"environment": {"A": 5}}, "mapping of strings to strings, not a mapping in which 'A' is of the "),
        ],
    )
    def test_wrong_arguments_are_refused_before_anything_is_opened(
        self, arguments: tuple[Any, ...], settings: Any, message: str
    ) -> None:
        with pytest.raises(TypeError, match=message):
            open_tools(*arguments, **settings)

    def test_no_directory_at_all(self) -> None:
        with pytest.raises(ValueError, match="directories is empty"):
            open_tools([])
        with pytest.raises(ValueError, match="directories has an empty path"):
            open_tools("")

    @pytest.mark.parametrize("name", ["policy_paths", "admin_policy_paths"])
    def test_an_empty_path_is_not_the_project(self, name: str) -> None:
        settings: Any = {name: ["rules", ""]}
        with pytest.raises(ValueError, match=f"^{name} must be a path or several paths, not ''"):
            open_tools(**settings)

    def test_messages_name_the_arguments_of_a_program(self, project: Path) -> None:
        with opened(project, excluded_tools="nope", allowed_tools="none") as tools:
            assert tools.policy_notes == ()
            assert [note.partition(": ")[0] for note in tools.notes] == [
                "excluded_tools (tools.exclude)",
                "allowed_tools",
            ]
            result = asyncio.run(tools.call("write_file", file_path="b.txt", content=""))
            assert "Use an approver or allowed_tools='write_file' or mode='auto_edit'." in str(result.return_display)
        with pytest.raises(UsageError, match=r"^policy_paths: "), opened(project, policy_paths="gone.toml"):
            pass
        servers: Any = {"a": {"command": 5}}
        with pytest.raises(UsageError, match=r"^mcp_servers\.a\.command must be a string, not the number 5"):
            open_tools(project, mcp_servers=servers).__enter__()

    @pytest.mark.parametrize("settings", [{"mode": "YOLO"}, {"mode": ""}, {"sandbox": "on"}])
    def test_wrong_words_are_refused_before_anything_is_opened(self, settings: Any) -> None:
        (name,) = settings
        with pytest.raises(ValueError, match=f"{name} must be one of"):
            open_tools(**settings)

    @pytest.mark.parametrize("name", ["call", "call_many", "declarations", "registry"])
    def test_what_is_used_before_it_is_open_says_so(self, name: str, project: Path) -> None:
        message = (
            f"These tools are not open, so they have no {name!r}. Use them inside of `with open_tools() as tools`."
        )
        with pytest.raises(AttributeError, match=f"^{re.escape(message)}$"):
            getattr(opened(project), name)

    def test_it_shows_itself(self, project: Path) -> None:
        context = opened(project)
        assert repr(context) == f"<Tools in {project}, not open>"
        with context:
            assert repr(context) == f"<Tools in {project}, opened>"

    @pytest.mark.parametrize("on_event", [5, print_later])
    def test_a_wrong_event_function_is_refused_before_the_call(self, project: Path, on_event: Any) -> None:
        with opened(project, lambda _: True) as tools, pytest.raises(TypeError, match="on_event must be"):
            asyncio.run(tools.call("write_file", file_path="new.txt", content="x", on_event=on_event))
        assert not (project / "new.txt").exists()

    def test_paths_are_arguments_too(self, project: Path) -> None:
        with opened(project) as tools:
            assert asyncio.run(tools.call("read_file", path=Path("a.txt"))) == ToolResult("first\n")

    def test_one_string_is_one_of_several(self, project: Path) -> None:
        rules = project / "rules.toml"
        rules.write_text('[[rule]]\ntoolName = "glob"\ndecision = "deny"\n')
        with opened(project, excluded_tools="web_fetch", policy_paths=str(rules), tools=NoteTool()) as tools:
            assert "web_fetch" not in tools.registry
            assert {"note", "read_file"} <= set(tools.registry)
            assert "glob" not in [each.name for each in tools.declarations()]
            assert "glob" in [each.name for each in tools.registry.declarations()]

    def test_it_opens_once(self, project: Path) -> None:
        context = opened(project)
        with context:
            pass
        with pytest.raises(UsageError, match="opened already"), context:
            pass

    def test_a_closed_toolset_says_so(self, project: Path) -> None:
        with opened(project) as tools:
            pass
        for use in (lambda: tools.call("glob", pattern="*"), tools.discover_tools, lambda: tools.call_many([])):
            with pytest.raises(UsageError, match="closed"):
                asyncio.run(use())
        with pytest.raises(UsageError, match="closed"):
            _ = tools.scheduler
        result = asyncio.run(validate_and_execute(tools.registry["read_file"], {"path": "a.txt"}))
        assert result.error is not None
        assert "The workspace is closed" in result.error.message

    def test_plain_with_finds_no_external_tools_and_async_with_closes_them(self, tmp_path: Path) -> None:
        env = ExternalToolsEnv(tmp_path, {"GEMINI_CLI_TRUST_WORKSPACE": "1"})
        env.write_user_settings(tools={"discoveryCommand": ["/bin/echo", '[{"name": "tide"}]']})
        servers = {"bad": hostile_server(trust=True), "dead": hostile_server("die=start")}
        given: dict[str, Any] = {"mcp_servers": servers, "sandbox": "off", "environment": env.environment}

        async def main() -> Toolset:
            async with open_tools(env.project, **given) as tools:
                assert {"tide", "bad__echo"} <= set(tools.registry)
                assert any("MCP server dead" in note for note in tools.notes)
                assert (await tools.call("bad__echo", a=1)).error is None
                return tools

        with open_tools(env.project, **given) as tools:
            assert {"tide", "bad__echo"}.isdisjoint(tools.registry)
        closed = asyncio.run(main())
        with pytest.raises(UsageError, match="closed"):
            asyncio.run(closed.call("bad__echo", a=1))


class TestCalls:
    @pytest.mark.parametrize(
        "call",
        [
            lambda tools: tools.call(FunctionCall("read_file", {"path": "a.txt"})),
            lambda tools: tools.call("read_file", path="a.txt"),
            lambda tools: tools.call("read_file", {"path": "a.txt"}),
            lambda tools: tools.call("read_file", {"path": "nothing"}, path="a.txt"),
        ],
    )
    def test_one_call_in_each_form(self, project: Path, call: Callable[[Toolset], Any]) -> None:
        with opened(project) as tools:
            assert asyncio.run(call(tools)) == ToolResult("first\n")

    def test_many_calls_with_results_responses_and_events(self, project: Path) -> None:
        events: list[Event] = []
        calls = [
            FunctionCall("read_file", {"path": "a.txt"}, "1"),
            FunctionCall("nothing", {}, "2"),
            FunctionCall("write_file", {"file_path": str(project / "b.txt"), "content": "b"}, "3"),
        ]
        with opened(project, lambda _: True) as tools:
            finished = asyncio.run(tools.call_many(calls, on_event=events.append))
        assert [each.call for each in finished] == calls
        assert [each.state for each in finished] == [CallState.SUCCESS, CallState.ERROR, CallState.SUCCESS]
        assert finished[0].function_response == FunctionResponse("read_file", {"output": "first\n"}, "1")
        assert [each.function_response.id for each in finished] == ["1", "2", "3"]
        assert finished == sorted((e for e in events if isinstance(e, CallFinished)), key=lambda each: each.index)
        assert (project / "b.txt").read_text() == "b"

    def test_one_call_among_many_and_none(self, project: Path) -> None:
        with opened(project) as tools:
            (finished,) = asyncio.run(tools.call_many(FunctionCall("read_file", {"path": "a.txt"})))
            assert finished.result.llm_content == "first\n"
            assert asyncio.run(tools.call_many(())) == []

    @pytest.mark.parametrize("method", ["call", "call_many"])
    @pytest.mark.parametrize("wrong", [5, None, {"name": "glob"}, ["glob"], b"glob"])
    def test_what_is_no_call_is_refused(self, project: Path, method: str, wrong: Any) -> None:
        with opened(project) as tools, pytest.raises(TypeError, match="Expected"):
            asyncio.run(getattr(tools, method)(wrong))

    def test_the_id_of_a_call_is_text(self, project: Path) -> None:
        wrong: Any = 5
        with opened(project) as tools, pytest.raises(TypeError, match="id of a FunctionCall must be a string or None"):
            asyncio.run(tools.call(FunctionCall("glob", {}, wrong)))

    def test_a_string_is_not_several_calls(self, project: Path) -> None:
        with opened(project) as tools, pytest.raises(TypeError, match="Expected FunctionCalls, not 'glob'"):
            asyncio.run(tools.call_many("glob"))

    def test_arguments_in_two_places_or_of_another_type(self, project: Path) -> None:
        with opened(project) as tools:
            with pytest.raises(TypeError, match="has its arguments in `args`"):
                asyncio.run(tools.call(FunctionCall("glob", {}), pattern="*"))
            with pytest.raises(TypeError, match="must be a mapping"):
                asyncio.run(tools.call("glob", "*"))

    def test_without_an_approver_the_call_is_refused(self, project: Path) -> None:
        with opened(project) as tools:
            result = asyncio.run(tools.call("write_file", file_path=str(project / "b.txt"), content=""))
        assert result.error is not None
        assert result.error.type is ErrorType.POLICY_VIOLATION

    def test_the_approver_sees_whose_tool_it_is(self, project: Path) -> None:
        asked: list[ApprovalRequest] = []

        async def ask(question: ApprovalRequest) -> bool:
            asked.append(question)
            return True

        with opened(project, ask, tools=[NoteTool()]) as tools:
            assert asyncio.run(tools.call("note", text="a")) == ToolResult("wrote a", "written")
        assert asked[0].origin == ToolOrigin(ToolSource.PYTHON)

    def test_what_an_approver_raises_is_raised_as_it_is(self, project: Path) -> None:
        def ask(_: ApprovalRequest) -> bool:
            try:
                raise ValueError("cause")
            except ValueError as error:
                raise KeyError("lost") from error

        with opened(project, ask, tools=[NoteTool()]) as tools:
            with pytest.raises(KeyError, match="lost") as raised:
                asyncio.run(tools.call("note", text="a"))
            assert isinstance(raised.value.__cause__, ValueError)
            assert isinstance(raised.value.__context__, ValueError)
            assert asyncio.run(tools.call("read_file", path="a.txt")).error is None

    def test_what_a_listener_raises_is_raised_when_the_calls_have_ended(self, project: Path) -> None:
        def watch(_: Event) -> None:
            raise KeyError("lost")

        tool = NoteTool(asks=False)
        with opened(project, tools=tool) as tools, pytest.raises(KeyError, match="lost"):
            asyncio.run(tools.call_many([FunctionCall("note", {"text": text}) for text in "ab"], on_event=watch))
        assert [text for text, _ in tool.written] == ["a", "b"]

    def test_calls_that_read_do_not_wait_for_one_that_writes(self, project: Path) -> None:
        async def main() -> None:
            with opened(project, tools=NoteTool(asks=False)) as tools:
                waiting = asyncio.create_task(tools.call("note", text="wait"))
                await asyncio.sleep(0)
                assert (await tools.call("read_file", path="a.txt")).error is None
                assert not waiting.done()
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting

        asyncio.run(main())

    def test_a_second_event_loop_is_refused_in_words(self, project: Path) -> None:
        has_started, may_end = threading.Event(), threading.Event()

        async def wait(_: ApprovalRequest) -> bool:
            has_started.set()
            await asyncio.to_thread(may_end.wait)
            return True

        with opened(project, wait, tools=NoteTool()) as tools:
            thread = threading.Thread(target=lambda: asyncio.run(tools.call("note", text="a")))
            thread.start()
            try:
                assert has_started.wait(60)
                with pytest.raises(UsageError, match=r"in use in another event loop\. Use SyncTools"):
                    asyncio.run(tools.call("read_file", path="a.txt"))
            finally:
                may_end.set()
                thread.join()
            assert asyncio.run(tools.call("read_file", path="a.txt")).error is None
