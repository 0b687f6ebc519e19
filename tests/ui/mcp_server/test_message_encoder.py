"""Messages as they leave the server."""

import pytest

from tejat.mcp.protocol import JsonRpcNotification, JsonRpcResponse
from tejat.mcp.transports.ndjson import UnencodableMessage
from tejat.ui.mcp_server.message_encoder import encode_reply


def test_a_line() -> None:
    assert (
        encode_reply(JsonRpcResponse(1, {"a": "\n\ud800"}))
        == '{"jsonrpc":"2.0","id":1,"result":{"a":"\\n\ufffd"}}\n'.encode()
    )


def test_a_result_that_cannot_be_sent_is_an_error() -> None:
    assert encode_reply(JsonRpcResponse(1, {"a": "x" * (17 << 20)})) == (
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,'
        b'"message":"The result cannot be sent: longer than 16,777,216 bytes."}}\n'
    )


def test_anything_else_is_our_own_fault() -> None:
    with pytest.raises(UnencodableMessage):
        encode_reply(JsonRpcNotification("x", {"a": "x" * (17 << 20)}))
