"""The conversions of values: without an import of an SDK, the same for one and for many."""

import json
import subprocess
import sys

import pytest

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.sdk import SdkName, sdk_format
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData
from tejat.core.tools.base import ToolResult
from tejat.tools.registry import ToolRegistry

NAMES: tuple[SdkName, ...] = ("gemini", "openai", "openai_responses", "anthropic")
TOOL = FunctionDeclaration("read_file", "Reads.", {"type": "object", "properties": {}})
CALL = FunctionCall("read_file", {}, "call_1")


@pytest.mark.parametrize("name", NAMES)
def test_values_convert_themselves(name: SdkName) -> None:
    sdk = sdk_format(name)
    response = FunctionResponse("read_file", {"output": "x"}, "call_1")
    assert getattr(TOOL, f"to_{name}")() == sdk.declare(TOOL)
    assert getattr(response, f"to_{name}")() == sdk.encode_response(response)
    assert getattr(ToolResult("x"), f"to_{name}")(CALL) == sdk.encode_results([[response]])
    assert getattr(ToolRegistry(), f"to_{name}")() == []
    json.dumps(sdk.encode_results([[response, InlineData("application/pdf", b"%PDF")]]))


def test_a_call_is_read_from_what_each_sdk_returns() -> None:
    read = FunctionCall("read_file", {"path": "a"}, "1")
    text = '{"path": "a"}'
    assert FunctionCall.from_gemini({"name": "read_file", "args": {"path": "a"}, "id": "1"}) == read
    assert FunctionCall.from_openai({"id": "1", "function": {"name": "read_file", "arguments": text}}) == read
    assert FunctionCall.from_openai_responses({"call_id": "1", "name": "read_file", "arguments": text}) == read
    assert FunctionCall.from_anthropic({"id": "1", "name": "read_file", "input": {"path": "a"}}) == read


def test_a_model_since_gemini_3_gets_media_inside_of_the_response() -> None:
    result = ToolResult(InlineData("application/pdf", b"%PDF"))
    contents = [result.to_gemini(CALL, model=model)[0] for model in ("gemini-3-flash", "", "gemini-2.5-pro")]
    assert [len(content["parts"]) for content in contents] == [1, 2, 2]


def test_no_sdk_is_imported() -> None:
    program = (
        "import sys, tejat\n"
        "tool = tejat.FunctionDeclaration('a', 'b', {})\n"
        "for name in ('gemini', 'openai', 'openai_responses', 'anthropic'): getattr(tool, f'to_{name}')()\n"
        "print(sorted({'openai', 'anthropic', 'google.genai', 'pydantic'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
