"""Replies of Amazon Bedrock: events of Anthropic inside the binary stream of AWS."""

import json
import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from support.model_servers.gemini import Reply


def frame(payload: bytes, headers: Mapping[str, str]) -> bytes:
    """One message of the stream."""
    encoded = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(encoded) + len(payload), len(encoded))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + encoded + payload
    return message + struct.pack(">I", zlib.crc32(message))


def event_frame(event: Mapping[str, Any]) -> bytes:
    payload = json.dumps({"bytes": b64encode(json.dumps(event).encode()).decode(), "p": "abcdef"}).encode()
    headers = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    return frame(payload, headers)


def exception_frame(kind: str, message: str) -> bytes:
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return frame(json.dumps({"message": message}).encode(), headers)


def stream(*frames: bytes, split: int = 7) -> Reply:
    """The frames in pieces that do not respect their borders."""
    data = b"".join(frames)
    pieces = tuple(data[place : place + split] for place in range(0, len(data), split))
    return Reply(pieces, headers={"Content-Type": "application/vnd.amazon.eventstream"})
