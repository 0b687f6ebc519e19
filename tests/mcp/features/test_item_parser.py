from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.types import JsonValue
from tejat.mcp.features.item_parser import InvalidItem, parse_prompt, parse_resource, parse_tool, quote_name
from tejat.mcp.types import PromptArgument, ServerPrompt, ServerResource, ServerTool, ToolAnnotations

KEYS = st.sampled_from(
    (
        *("name", "uri", "title", "description", "inputSchema", "outputSchema", "annotations", "readOnlyHint"),
        "arguments",
    )
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6))


def test_a_tool_with_everything() -> None:
    schema = {"type": "object", "properties": {}}
    marks = {
        "title": "Read it",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    item: JsonValue = {
        "name": "read it",
        "title": "Read",
        "description": "Reads \u202e it.",
        "inputSchema": schema,
        "outputSchema": schema,
        "annotations": marks,
        "_meta": {},
    }
    assert parse_tool(item) == ServerTool(
        name="read it",
        description="Reads \u202e it.",
        title="Read",
        input_schema=schema,
        output_schema=schema,
        annotations=ToolAnnotations("Read it", True, False, True, False),
    )


def test_what_is_of_the_wrong_kind_counts_as_absent() -> None:
    item: JsonValue = {
        "name": "t",
        "title": 1,
        "description": ["no"],
        "inputSchema": True,
        "outputSchema": "no",
        "annotations": {"readOnlyHint": "true", "idempotentHint": 1},
    }
    assert parse_tool(item) == ServerTool("t")
    assert parse_resource({"uri": "a:b", "name": 1, "mimeType": 2}) == ServerResource("a:b")
    assert parse_prompt({"name": "p", "arguments": None}) == ServerPrompt("p")


def test_a_prompt_and_a_resource() -> None:
    prompt: JsonValue = {
        "name": "p",
        "arguments": [{"name": "who", "description": "d", "required": True}, {"name": "x"}],
    }
    assert parse_prompt(prompt) == ServerPrompt(
        "p", arguments=(PromptArgument("who", "d", is_required=True), PromptArgument("x"))
    )
    resource: JsonValue = {"uri": "memo://1", "name": "n", "title": "T", "description": "d", "mimeType": "text/plain"}
    assert parse_resource(resource) == ServerResource("memo://1", "n", "d", "T", "text/plain")


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (None, "A tool was skipped: not an object."),
        ({}, "A tool was skipped: no name."),
        ({"name": " \n"}, "A tool was skipped: no name."),
        ({"name": 1}, "A tool was skipped: no name."),
        (
            {"name": "\x1b" + "n" * 1_024},
            f"A tool was skipped: its name is longer than 1,024 characters ('<U+001B>{'n' * 71}…').",
        ),
    ],
)
def test_tools_that_are_left_out(item: JsonValue, problem: str) -> None:
    with pytest.raises(InvalidItem) as caught:
        parse_tool(item)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({"name": "p", "arguments": {}}, "Skipped prompt 'p': its arguments are not a list, or there are too many."),
        (
            {"name": "p", "arguments": [{}] * 101},
            "Skipped prompt 'p': its arguments are not a list, or there are too many.",
        ),
        ({"name": "p", "arguments": [1]}, "Skipped prompt 'p': an argument is not an object."),
        (
            {"name": "p", "arguments": [{}]},
            "Skipped prompt 'p': an argument has no valid name.",
        ),
        ("p", "A prompt was skipped: not an object."),
    ],
)
def test_prompts_that_are_left_out(item: JsonValue, problem: str) -> None:
    with pytest.raises(InvalidItem) as caught:
        parse_prompt(item)
    assert str(caught.value) == problem


def test_an_address_is_never_cut_and_texts_are() -> None:
    with pytest.raises(InvalidItem):
        parse_resource({"uri": "a:" + "b" * 8_192})
    long = "d" * 30_000
    assert parse_tool({"name": "t", "description": long}).description == "d" * 20_000 + "…"
    assert parse_tool({"name": "t", "title": long}).title == "d" * 1_024


@given(JSON)
def test_whatever_is_listed_is_taken_or_named(item: object) -> None:
    for read in (parse_tool, parse_prompt, parse_resource):
        problem = ""
        try:
            offer = read(cast("JsonValue", item))
        except InvalidItem as reason:
            problem = str(reason)
            offer = None
        assert len(problem) < 300
        assert (offer is None) == bool(problem)
        if offer is not None:
            assert isinstance(item, dict)
            assert offer.uri == item["uri"] if isinstance(offer, ServerResource) else offer.name == item["name"]


def test_mention() -> None:
    assert quote_name("a\nb") == "'a\nb'"
    assert quote_name("\u202eb") == "'<U+202E>b'"
    assert quote_name("x" * 81) == "'" + "x" * 79 + "…'"
