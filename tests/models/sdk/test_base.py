"""What SDKs return is read by its fields: objects and dicts alike."""

from types import SimpleNamespace

import pytest

from tejat.core.errors import ToolFailure
from tejat.core.messages.sdk import sdk_format
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.models.sdk.base import field_of, items_of, text_of


@pytest.mark.parametrize("value", [{"name": "x", "items": (1, 2)}, SimpleNamespace(name="x", items=[1, 2])])
def test_fields_of_objects_and_dicts(value: object) -> None:
    assert text_of(value, "name") == field_of(value, "name") == "x"
    assert list(items_of(value, "items")) == [1, 2]
    assert (field_of(value, "other"), text_of(value, "items"), list(items_of(value, "name"))) == (None, "", [])


def test_a_call_without_a_name_stays_a_call() -> None:
    assert sdk_format("anthropic").read_call({"input": {}}) == FunctionCall("undefined_tool_name", {})


def test_arguments_must_be_an_object() -> None:
    with pytest.raises(ToolFailure):
        sdk_format("anthropic").read_call({"name": "read_file", "input": ["a"]})


@pytest.mark.parametrize("sdk", ["gemini", "openai", "openai_responses", "anthropic"])
@pytest.mark.parametrize("given", [None, 5, "read_file", {}])
def test_what_is_no_call_is_refused(sdk: str, given: object) -> None:
    with pytest.raises(TypeError, match="This is no call of the SDK, because it has no field"):
        getattr(FunctionCall, f"from_{sdk}")(given)


@pytest.mark.parametrize("sdk", ["gemini", "openai", "openai_responses", "anthropic"])
def test_results_need_the_call_that_was_run(sdk: str) -> None:
    given = {"id": "1", "function": {"name": "read_file", "arguments": "{}"}}
    with pytest.raises(TypeError, match=f"`FunctionCall.from_{sdk}` reads a call of the SDK"):
        getattr(ToolResult("x"), f"to_{sdk}")(given)
