"""Messages as they leave the server."""

from tejat.mcp.framing import Unsendable, encode_message
from tejat.mcp.protocol import INTERNAL_ERROR, Message, Refusal, Result


def encoded(message: Message) -> bytes:
    """A line. A result that cannot be sent is told as an error, so that nobody waits for it."""
    try:
        return encode_message(message)
    except Unsendable as error:
        if not isinstance(message, Result):
            raise
        return encode_message(Refusal(message.id, INTERNAL_ERROR, f"The result cannot be sent: {error}."))
