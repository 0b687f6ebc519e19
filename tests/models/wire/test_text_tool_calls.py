"""Calls in writing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import FunctionDeclaration
from tejat.models.wire.common import wire_name
from tejat.models.wire.text_tool_calls import may_be_tool_calls, parse_text_tool_calls

TOOLS = (
    FunctionDeclaration("read_file", "", {"type": "object", "properties": {"path": {"type": "string"}}}),
    FunctionDeclaration(
        "search.web",
        "",
        {
            "type": "object",
            "properties": {
                "limit": {"type": "integer"},
                "deep": {"type": "boolean"},
                "tags": {"type": "array"},
                "either": {"type": ["string", "integer"]},
                "untyped": {},
            },
        },
    ),
)
SEARCH = wire_name("search.web")
READ = FunctionCall("read_file", {"path": "a"})
IN_JSON = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'

CALLS = [
    (IN_JSON, (READ,)),
    (f"\n\n{IN_JSON}\n", (READ,)),
    (IN_JSON + "\n" + IN_JSON, (READ, READ)),
    (IN_JSON + IN_JSON, (READ, READ)),
    ('<tool_call>{"name":"read_file","arguments":{"path":"a",}}</tool_call>', (READ,)),
    ('<tool_call>{"name":"read_file","arguments":"{\\"path\\":\\"a\\"}"}</tool_call>', (READ,)),
    ('<tool_call>{"name":"read_file"}</tool_call>', (FunctionCall("read_file", {}),)),
    (
        f'<tool_call>{{"name":"{SEARCH}","arguments":{{"limit":2}}}}</tool_call>',
        (FunctionCall("search.web", {"limit": 2}),),
    ),
    ("<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>", (READ,)),
    ("<tool_call><function=read_file><parameter=path>a</parameter></function></tool_call>", (READ,)),
    ("<tool_call><function=read_file>\n</function></tool_call>", (FunctionCall("read_file", {}),)),
    (
        (
            f"<tool_call><function={SEARCH}><parameter=limit>\n3\n</parameter><parameter=deep>True</parameter>"
            '<parameter=tags>["x"]</parameter><parameter=either>7</parameter><parameter=untyped>8</parameter>'
            "</function></tool_call>"
        ),
        (FunctionCall("search.web", {"limit": 3, "deep": True, "tags": ["x"], "either": "7", "untyped": "8"}),),
    ),
    (
        "<tool_call><function=read_file><parameter=path>\nline 1\n  line 2\n\n</parameter></function></tool_call>",
        (FunctionCall("read_file", {"path": "line 1\n  line 2\n"}),),
    ),
    (
        f"<tool_call><function={SEARCH}><parameter=limit>many</parameter></function></tool_call>",
        (FunctionCall("search.web", {"limit": "many"}),),
    ),
]
NO_CALLS = [
    "",
    "Hello",
    f"I will read it: {IN_JSON}",
    f"{IN_JSON} Done.",
    f"For example:\n```\n{IN_JSON}\n```",
    f"> {IN_JSON}",
    f"`{IN_JSON}`",
    f"{IN_JSON} and {IN_JSON}",
    '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
    IN_JSON + '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": [1]}</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}',
    '<tool_call>{"name": "read_file", "arguments": {"path": "a"</tool_call>',
    '<tool_call>{"name": ["read_file"], "arguments": {}}</tool_call>',
    '<tool_call>{"tool": "read_file"}</tool_call>',
    "<tool_call></tool_call>",
    "<tool_call>",
    "</tool_call>",
    "<tool_call>read_file</tool_call>",
    '{"name": "read_file", "arguments": {"path": "a"}}',
    "<tool_call><function=rm></function></tool_call>",
    "<tool_call><function=read_file></tool_call>",
    "<tool_call><function=read_file><parameter=path>a</function></tool_call>",
    "<tool_call><function=read_file>stray<parameter=path>a</parameter></function></tool_call>",
    "<tool_call><function=read_file><parameter=path>a</parameter>stray</function></tool_call>",
    "<tool_call><function=read_file></function>stray</tool_call>",
    "<tool_call><function=read_file</function></tool_call>",
    "<function=read_file></function>",
    "<tool_call><function=search.web></function></tool_call>",
    "<tool_call><tool_call>" + IN_JSON + "</tool_call></tool_call>",
    "<TOOL_CALL>{}</TOOL_CALL>",
]


@pytest.mark.parametrize(("text", "calls"), CALLS)
def test_an_answer_that_is_nothing_but_calls(text: str, calls: tuple[FunctionCall, ...]) -> None:
    assert parse_text_tool_calls(text, TOOLS) == calls
    assert all(may_be_tool_calls(text[:size]) for size in range(len(text)))


@pytest.mark.parametrize("text", NO_CALLS)
def test_anything_else_is_text(text: str) -> None:
    assert parse_text_tool_calls(text, TOOLS) == ()


def test_without_tools_there_are_no_calls() -> None:
    assert parse_text_tool_calls(IN_JSON, ()) == ()


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1).filter(str.strip), st.booleans())
def test_a_quoted_call_is_never_one(around: str, before: bool) -> None:
    text = around + IN_JSON if before else IN_JSON + around
    assert parse_text_tool_calls(text, TOOLS) == ()


def test_an_answer_shows_early_that_it_is_text() -> None:
    assert all(map(may_be_tool_calls, ["", " ", "<", "\n<tool_call", "<tool_call>{", "<tool"]))
    assert not any(map(may_be_tool_calls, ["<tools>", "a", "\n#", "<tool_calls>"]))
