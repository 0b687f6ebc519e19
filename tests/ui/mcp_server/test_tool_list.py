"""What other agents are told of the tools."""

import asyncio
from pathlib import Path
from typing import Any, cast

from support.mcp.tool_server import tool_server
from support.note_tool import NoteTool
from tejat.app.tools.tool_host import ToolHostOptions
from tejat.ui.mcp_server.tool_list import is_offered, list_tools

READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
CHANGES = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": False}
RUNS = {**CHANGES, "openWorldHint": True}
ADDS = {**CHANGES, "destructiveHint": False}

EXPECTED = {
    "list_directory": {**READS, "title": "ReadFolder"},
    "read_file": {**READS, "title": "ReadFile"},
    "search_file_content": {**READS, "title": "SearchText"},
    "glob": {**READS, "title": "FindFiles"},
    "replace": {**CHANGES, "title": "Edit"},
    "write_file": {**CHANGES, "idempotentHint": True, "title": "WriteFile"},
    "read_many_files": {**READS, "title": "ReadManyFiles"},
    "run_shell_command": {**RUNS, "title": "Shell"},
    "list_background_processes": {**READS, "title": "ListBackgroundProcesses"},
    "read_background_output": {**READS, "title": "ReadBackgroundOutput"},
    "stop_background_process": {**RUNS, "title": "StopBackgroundProcess"},
    "save_memory": {**ADDS, "title": "SaveMemory"},
    "web_fetch": {**READS, "openWorldHint": True, "title": "WebFetch"},
    "ask_user": {**ADDS, "openWorldHint": True, "title": "Ask User"},
    "write_todos": {**ADDS, "idempotentHint": True, "title": "WriteTodos"},
    "enter_plan_mode": {**ADDS, "title": "Enter Plan Mode"},
    "exit_plan_mode": {**ADDS, "title": "Exit Plan Mode"},
    "get_internal_docs": {**READS, "title": "GetInternalDocs"},
    "note": {**CHANGES, "openWorldHint": True, "title": "Note"},
}
PLAN_TOOLS = {"enter_plan_mode", "exit_plan_mode"}


def listed(
    directory: Path,
    options: ToolHostOptions,
    *,
    can_ask: bool = True,
    has_session: bool = True,
    revision: str = "2025-11-25",
) -> list[dict[str, Any]]:
    async def main() -> list[dict[str, Any]]:
        async with tool_server(directory, options) as server:
            workspace = server.new_workspace() if has_session else server.shared_workspace
            with workspace.tools() as tools:
                found = cast("list[dict[str, Any]]", list_tools(tools, can_ask=can_ask, revision=revision))
                assert all(is_offered(tools, tool["name"], can_ask=can_ask) for tool in found)
                assert not is_offered(tools, "nothing", can_ask=can_ask)
            workspace.close()
            return found

    return asyncio.run(main())


def test_every_tool_with_its_annotations_in_the_order_of_the_registry(tmp_path: Path) -> None:
    tools = listed(tmp_path, ToolHostOptions(tools=(NoteTool(),)))
    assert [(tool["name"], tool["annotations"]) for tool in tools] == list(EXPECTED.items())
    fields = {"name", "title", "description", "inputSchema", "annotations"}
    assert all(tool.keys() - {"outputSchema"} == fields for tool in tools)
    assert tools[1]["title"] == "ReadFile"
    assert tools[1]["inputSchema"]["required"] == ["path"]


def test_todos_have_structured_content_where_the_revision_has_it(tmp_path: Path) -> None:
    for revision, expected in (("2025-11-25", ["write_todos"]), ("2025-06-18", ["write_todos"]), ("2025-03-26", [])):
        tools = listed(tmp_path, ToolHostOptions(), revision=revision)
        assert [tool["name"] for tool in tools if "outputSchema" in tool] == expected


def test_questions_and_plans_need_a_client_that_can_ask(tmp_path: Path) -> None:
    names = [tool["name"] for tool in listed(tmp_path, ToolHostOptions(), can_ask=False)]
    assert set(EXPECTED) - set(names) == {"ask_user", "note", *PLAN_TOOLS}


def test_plans_need_a_session(tmp_path: Path) -> None:
    names = [tool["name"] for tool in listed(tmp_path, ToolHostOptions(), has_session=False)]
    assert set(EXPECTED) - set(names) == {"note", *PLAN_TOOLS}


def test_what_is_switched_off_or_forbidden_is_not_told_of(tmp_path: Path) -> None:
    names = [tool["name"] for tool in listed(tmp_path, ToolHostOptions(excluded_tools=("web_fetch",), mode="plan"))]
    assert [name for name in EXPECTED if name not in names] == [
        "replace",
        "write_file",
        "stop_background_process",
        "save_memory",
        "web_fetch",
        "enter_plan_mode",
        "exit_plan_mode",
        "note",
    ]
