"""Messages as they leave the server."""

from tejat.mcp.protocol import INTERNAL_ERROR, JsonRpcError, JsonRpcMessage, JsonRpcResponse
from tejat.mcp.transports.ndjson import UnencodableMessage, encode_message


def encode_reply(message: JsonRpcMessage) -> bytes:
    """A line. A result that cannot be sent is told as an error, so that nobody waits for it."""
    try:
        return encode_message(message)
    except UnencodableMessage as error:
        if not isinstance(message, JsonRpcResponse):
            raise
        return encode_message(JsonRpcError(message.id, INTERNAL_ERROR, f"The result cannot be sent: {error}."))
