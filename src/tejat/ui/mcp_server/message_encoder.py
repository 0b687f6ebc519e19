"""Encoding of outgoing messages."""

from tejat.mcp.protocol import INTERNAL_ERROR, JsonRpcError, JsonRpcMessage, JsonRpcResponse
from tejat.mcp.transports.ndjson import UnencodableMessage, encode_message


def encode_reply(message: JsonRpcMessage) -> bytes:
    """Encode a message as a line. A result that cannot be encoded becomes an error: the client must not wait."""
    try:
        return encode_message(message)
    except UnencodableMessage as error:
        if not isinstance(message, JsonRpcResponse):
            raise
        return encode_message(JsonRpcError(message.id, INTERNAL_ERROR, f"The result cannot be sent: {error}."))
