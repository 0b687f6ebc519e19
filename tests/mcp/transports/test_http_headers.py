import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import decode_header_value

from tejat.mcp.protocol import META_REVISION, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest
from tejat.mcp.transports.http_headers import encode_header_value, protocol_headers

ABOUT = {"_meta": {META_REVISION: "2026-07-28"}}
STATED = {"MCP-Protocol-Version": "2026-07-28"}
AGREED = {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "s"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (None, AGREED),
        (JsonRpcNotification("x"), AGREED),
        (JsonRpcNotification("x", ABOUT), AGREED),
        (JsonRpcRequest(1, "initialize", {}), {}),
        (JsonRpcRequest(1, "tools/call", {"name": "a"}), AGREED),
        (JsonRpcRequest(1, "tools/call", {"name": "a", "_meta": {META_REVISION: 3}}), AGREED),
        (JsonRpcRequest(1, "tools/call", {"name": "a", "_meta": 3}), AGREED),
        (JsonRpcRequest(1, "tools/list", ABOUT), {**STATED, "Mcp-Method": "tools/list"}),
        (
            JsonRpcRequest(1, "tools/call", {**ABOUT, "name": "a"}),
            {**STATED, "Mcp-Method": "tools/call", "Mcp-Name": "a"},
        ),
        (
            JsonRpcRequest(1, "prompts/get", {**ABOUT, "name": "a"}),
            {**STATED, "Mcp-Method": "prompts/get", "Mcp-Name": "a"},
        ),
        (
            JsonRpcRequest(1, "resources/read", {**ABOUT, "uri": "x:y", "name": "a"}),
            {**STATED, "Mcp-Method": "resources/read", "Mcp-Name": "x:y"},
        ),
        (JsonRpcRequest(1, "tools/call", {**ABOUT, "name": 3}), {**STATED, "Mcp-Method": "tools/call"}),
    ],
)
def test_headers(message: JsonRpcMessage | None, expected: dict[str, str]) -> None:
    assert protocol_headers(message, revision="2025-11-25", session="s") == expected


def test_before_anything_was_agreed_on() -> None:
    assert protocol_headers(JsonRpcRequest(1, "x"), revision=None, session=None) == {}


@given(st.text() | st.sampled_from([" a", "a ", "=?base64?YQ==?=", "=?base64??=", "ä", "a\nb", ""]))
def test_the_official_package_reads_the_same_text(text: str) -> None:
    value = encode_header_value(text)
    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()
    assert decode_header_value(value) == text.encode("utf-8", "replace").decode()
