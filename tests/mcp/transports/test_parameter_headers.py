from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import (
    find_invalid_x_mcp_header,
    mcp_param_headers,
    validate_mcp_param_headers,
    x_mcp_header_map,
)

from tejat.core.messages.types import JsonObject
from tejat.mcp.transports.parameter_headers import ParameterHeaders, header_problem

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry-Run"},
        "deep": {"type": "object", "properties": {"er": {"type": "string", "x-mcp-header": "Deep"}}},
        "free": {"type": "string"},
    },
}


def learned(*tools: object) -> ParameterHeaders:
    headers = ParameterHeaders()
    headers.learn(cast("JsonObject", {"tools": list(tools)}))
    return headers


def test_arguments_become_headers() -> None:
    headers = learned({"name": "t", "inputSchema": SCHEMA})
    arguments: JsonObject = {"region": "eu", "count": 3, "dry": True, "deep": {"er": "Ä"}, "free": "x"}
    assert headers.headers_for_call({"name": "t", "arguments": arguments}) == {
        "Mcp-Param-Region": "eu",
        "Mcp-Param-Count": "3",
        "Mcp-Param-Dry-Run": "true",
        "Mcp-Param-Deep": "=?base64?w4Q=?=",
    }
    assert headers.headers_for_call({"name": "t", "arguments": {"region": None, "deep": "x"}}) == {}
    assert headers.headers_for_call({"name": "t"}) == {}
    assert headers.headers_for_call({"name": "other", "arguments": arguments}) == {}
    assert headers.headers_for_call({"arguments": arguments}) == {}


def test_the_last_list_counts() -> None:
    headers = learned({"name": "t", "inputSchema": SCHEMA}, {"name": "t", "inputSchema": {}})
    assert headers.headers_for_call({"name": "t", "arguments": {"region": "eu"}}) == {}


@pytest.mark.parametrize(
    "tool",
    [
        3,
        {"inputSchema": SCHEMA},
        {"name": "t"},
        {"name": "t", "inputSchema": {"x-mcp-header": "Root"}},
        {"name": "t", "inputSchema": {"properties": {"region": {"x-mcp-header": 3}}}},
        {"name": "t", "inputSchema": {"properties": {"region": {"x-mcp-header": "a b"}}}},
        {"name": "t", "inputSchema": {"anyOf": [SCHEMA]}},
    ],
)
def test_what_wants_nothing(tool: object) -> None:
    assert learned(tool).headers_for_call({"name": "t", "arguments": {"region": "eu"}}) == {}


def test_a_schema_without_end() -> None:
    schema: dict[str, object] = {}
    for _ in range(50_000):
        schema = {"properties": {"a": schema}}
    assert learned({"name": "t", "inputSchema": schema}).headers_for_call({"name": "t"}) == {}


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "region": st.text(st.characters(exclude_categories=["Cs"])) | st.none(),
            "count": st.integers(-(10**9), 10**9),
            "dry": st.booleans(),
            "deep": st.fixed_dictionaries({}, optional={"er": st.text(st.characters(exclude_categories=["Cs"]))}),
        },
    )
)
def test_the_official_package_says_the_same(arguments: dict[str, object]) -> None:
    params = cast("JsonObject", {"name": "t", "arguments": arguments})
    found = learned({"name": "t", "inputSchema": SCHEMA}).headers_for_call(params)
    assert found == mcp_param_headers(x_mcp_header_map(SCHEMA), arguments)
    assert validate_mcp_param_headers(SCHEMA, arguments, found) is None


MARKED = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "boolean", "number", "object", None])},
    optional={"x-mcp-header": st.sampled_from(["A", "a", "B.c", "C_d-e", "", "a b", "Ä", 3, None])},
)
SCHEMAS = st.recursive(
    MARKED,
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "$defs": st.dictionaries(st.sampled_from(["x", "x-mcp-header"]), inner, max_size=2),
            "anyOf": st.lists(inner, max_size=2),
            "items": inner,
            "default": inner,
        },
    ),
    max_leaves=6,
)


@given(SCHEMAS)
def test_the_official_package_refuses_the_same(schema: dict[str, object]) -> None:
    refused = find_invalid_x_mcp_header(schema) is not None
    assert (header_problem(cast("JsonObject", schema)) is not None) == refused


def test_what_is_wrong_with_marks_is_said() -> None:
    def wrong(*marked: object) -> str | None:
        return header_problem(cast("JsonObject", {"properties": dict(enumerate(marked))}))

    good = {"type": "string", "x-mcp-header": "A"}
    assert wrong(good) is None
    assert wrong(good, {"type": "string", "x-mcp-header": "a"}) == "two arguments in one header"
    assert wrong({"type": "string", "x-mcp-header": ""}) == "a header argument with an invalid name"
    assert wrong({"items": good}) == "a header that is not a separate argument"
    assert wrong({"type": "number", "x-mcp-header": "A"}) == (
        "a header argument that is not a string, integer or boolean"
    )
