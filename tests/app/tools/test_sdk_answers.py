"""The calls in a response of an SDK: run under the rules, each of them answered, in tools of either kind."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tejat import SyncTools, Toolset, open_tools

SDKS = ("gemini", "openai", "openai_responses", "anthropic")


def response(sdk: str, *calls: tuple[str, dict[str, str]]) -> Any:
    """A response with calls, as a dict of the SDK."""
    texts = [json.dumps(arguments) for _, arguments in calls]
    match sdk:
        case "gemini":
            parts = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
            return {"candidates": [{"content": {"role": "model", "parts": parts}}]}
        case "openai":
            made = [
                {"id": str(at), "function": {"name": name, "arguments": texts[at]}}
                for at, (name, _) in enumerate(calls)
            ]
            return {"choices": [{"message": {"role": "assistant", "tool_calls": made}}]}
        case "openai_responses":
            items = [
                {"type": "function_call", "call_id": str(at), "name": name, "arguments": texts[at]}
                for at, (name, _) in enumerate(calls)
            ]
            return {"output": items}
        case _:
            blocks = [
                {"type": "tool_use", "id": str(at), "name": name, "input": arguments}
                for at, (name, arguments) in enumerate(calls)
            ]
            return {"content": blocks}


@pytest.mark.parametrize("sdk", SDKS)
def test_calls_run_under_the_rules(sdk: str, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("heron")
    calls = [
        ("read_file", {"path": "note.txt"}),
        ("write_file", {"file_path": "new.txt", "content": "x"}),
        ("no_such_tool", {}),
    ]
    asked: list[object] = []

    def refuse(question: object) -> bool:
        asked.append(question)
        return False

    with SyncTools(tmp_path, refuse) as tools:
        written = json.dumps(getattr(tools, f"answer_{sdk}")(response(sdk, *calls)))
        assert getattr(tools, f"answer_{sdk}")(response(sdk)) == []
    assert len(asked) == 1
    assert not (tmp_path / "new.txt").exists()
    assert "heron" in written
    assert "no_such_tool" in written


@pytest.mark.parametrize("sdk", SDKS)
def test_asynchronous_tools_answer_the_same(sdk: str, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("heron")
    made = response(sdk, ("read_file", {"path": "note.txt"}), ("read_file", {"path": "nothing.txt"}))

    async def main() -> tuple[list[Any], list[Any]]:
        async with open_tools(tmp_path) as tools:
            return await getattr(tools, f"answer_{sdk}")(made), getattr(tools, f"to_{sdk}")()

    with SyncTools(tmp_path) as tools:
        expected = getattr(tools, f"answer_{sdk}")(made), getattr(tools, f"to_{sdk}")()
    assert asyncio.run(main()) == expected


def test_forbidden_tools_are_not_declared(tmp_path: Path) -> None:
    def names(tools: Toolset) -> set[str]:
        return {tool["name"] for tool in tools.to_anthropic()}

    with open_tools(tmp_path) as tools, open_tools(tmp_path, excluded_tools="write_file") as fewer:
        assert names(tools) - names(fewer) == {"write_file"}
