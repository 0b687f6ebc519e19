"""Calls in writing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall
from tejat.models.wire.common import wire_name
from tejat.models.wire.text_tool_calls import (
    may_be_tool_calls,
    parse_text_tool_calls,
    split_before_calls,
    tools_prompt,
    write_calls,
)

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


class TestCallsInWritingOnly:
    """Where a server drops tools, calls are described in the prompt and come at the end of the text."""

    def test_what_was_written_is_read_back(self) -> None:
        calls = (READ, FunctionCall("search.web", {"limit": 2, "deep": True}))
        assert parse_text_tool_calls(write_calls(calls), TOOLS) == calls
        assert parse_text_tool_calls(write_calls(calls) + "\nThat is it.", TOOLS, ignores_rest=True) == calls

    def test_the_last_call_need_not_be_closed(self) -> None:
        text = IN_JSON.removesuffix("</tool_call>")
        assert parse_text_tool_calls(text, TOOLS) == ()
        assert parse_text_tool_calls(text, TOOLS, ignores_rest=True) == (READ,)

    def test_the_prompt_names_every_tool(self) -> None:
        prompt = tools_prompt(TOOLS)
        assert '"name":"read_file"' in prompt.replace(": ", ":")
        assert SEARCH in prompt

    @pytest.mark.parametrize(
        ("text", "begin"), [("", 0), ("words", 5), ("words <tool", 6), ("a<tool_call>{", 1), ("a < b", 5), ("x<", 1)]
    )
    def test_where_calls_may_begin(self, text: str, begin: int) -> None:
        assert split_before_calls(text) == begin
