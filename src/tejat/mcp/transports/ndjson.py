"""Newline-delimited JSON: messages to lines and back. Invalid input never stops the decoder."""

import json
import re
from collections.abc import Callable
from typing import TypeAlias, cast

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.mcp.protocol import MAX_CONTAINERS, InvalidMessage, JsonRpcMessage, RequestId, message_to_json, parse_message

MAX_LINE_BYTES = 16 << 20
"""The longest line that is read or written, without its end."""
_SKIP_FACTOR = 4
"""A line of up to this many times the limit is skipped; a longer one is considered endless."""
_SCAN_BYTES = 512
"""Bytes at each end of an invalid line that are searched for the id of the message."""
_EXCERPT_LENGTH = 200
_MAX_BATCH = 1000


class InvalidLine(Frozen):
    """A line, or an item of a batch, that is not a message, and why.

    `answer_to` is the request that it was meant to answer, `request_id` its own id if it was meant as a request: at
    most one of them, if known. `start` is the unsanitized beginning of the line.
    """

    reason: str
    is_too_long: bool = False
    answer_to: RequestId | None = None
    request_id: RequestId | None = None
    start: str = ""


class EndlessLine(Frozen):
    """A line is too far over the limit to wait for its end. Nothing more is read."""


DecodedLine: TypeAlias = JsonRpcMessage | InvalidLine | EndlessLine


class UnencodableMessage(ValueError):
    """The message cannot be encoded; the text says why."""

    def __init__(self, reason: str, *, is_too_long: bool) -> None:
        super().__init__(reason)
        self.is_too_long = is_too_long


class NdjsonDecoder:
    """Decodes a stream of bytes. Keeps one line at most, and only the ends of one that is too long."""

    def __init__(
        self, *, max_bytes: int = MAX_LINE_BYTES, parse: Callable[[object], JsonRpcMessage] = parse_message
    ) -> None:
        """`parse` makes a message of a JSON value and raises InvalidMessage."""
        self._max_bytes = max_bytes
        self._parse = parse
        self._line = bytearray()
        self._size = 0
        self._tail: bytes | None = None  # only of a line that is too long
        self._is_done = False

    def feed(self, data: bytes) -> list[DecodedLine]:
        """Return what these bytes complete. Never raises."""
        received: list[DecodedLine] = []
        begin = 0
        while not self._is_done and (end := data.find(b"\n", begin)) >= 0:
            self._keep(data[begin:end])
            received += self._finish_line()
            begin = end + 1
        if not self._is_done:
            self._keep(data[begin:])
            if self._size > self._max_bytes * _SKIP_FACTOR:
                received += self._finish_line()
        return received

    def end(self) -> list[DecodedLine]:
        """Return the unfinished last line at the end of the stream. Never raises."""
        return self._finish_line()

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._max_bytes:
            self._line += piece
            return
        before = bytes(self._line[-_SCAN_BYTES:]) if self._tail is None else self._tail
        self._tail = (before + piece[-_SCAN_BYTES:])[-_SCAN_BYTES:]
        self._line = self._line[:_SCAN_BYTES]
        self._line += piece[: _SCAN_BYTES - len(self._line)]

    def _finish_line(self) -> list[DecodedLine]:
        line, size, tail = self._line, self._size, self._tail
        self._line, self._size, self._tail = bytearray(), 0, None
        if size > self._max_bytes * _SKIP_FACTOR:
            self._is_done = True
            return [EndlessLine()]
        if tail is not None:
            reason = lazy("longer than {most:,} bytes", most=self._max_bytes)
            return [_invalid_line(reason, line, tail, is_too_long=True)]
        return _parse_line(line, self._parse) if line and not line.isspace() else []


def encode_message(message: JsonRpcMessage, *, max_bytes: int = MAX_LINE_BYTES) -> bytes:
    """Encode a message as a line. Raises UnencodableMessage."""
    try:
        line = dump_json(message_to_json(message)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UnencodableMessage(lazy("contains a value that JSON cannot represent"), is_too_long=False) from error
    if len(line) > max_bytes:
        raise UnencodableMessage(lazy("longer than {most:,} bytes", most=max_bytes), is_too_long=True)
    return line + b"\n"


_JSON_START = b'{["-0123456789tfnIN \t\r\xef'
_NO_VALUE = lazy("not JSON: {why}", why="Expecting value at line 1, column 1")


def _parse_line(line: bytearray, parse: Callable[[object], JsonRpcMessage]) -> list[DecodedLine]:
    if line[0] not in _JSON_START and line.isascii():
        # Plain text, often thousands of lines: parsing it would take far longer.
        return [InvalidLine(_NO_VALUE, start=_excerpt(line))]
    try:
        # Decoded here: the JSON parser would accept surrogates and guess other encodings.
        given = load_json(line.decode().removeprefix("\ufeff"), max_containers=MAX_CONTAINERS)
    except UnicodeDecodeError as error:
        return [_invalid_line(lazy("not UTF-8: invalid byte {number}", number=error.start + 1), line, line)]
    except InvalidJson as error:
        return [_invalid_line(lazy("not JSON: {why}", why=error), line, line, is_broken=True)]
    if not isinstance(given, list):
        return [_parse_item(given, line, parse)]
    items = cast("list[object]", given)
    if not 0 < len(items) <= _MAX_BATCH:
        reason = lazy("a batch must have 1 to {most:,} messages, not {items:,}", most=_MAX_BATCH, items=len(items))
        return [InvalidLine(reason, start=_excerpt(line))]
    return [_parse_item(item, line, parse) for item in items]


def _parse_item(
    given: object, line: bytearray, parse: Callable[[object], JsonRpcMessage]
) -> JsonRpcMessage | InvalidLine:
    try:
        return parse(given)
    except InvalidMessage as error:
        is_request = isinstance(given, dict) and "method" in given
        return InvalidLine(
            str(error),
            answer_to=None if is_request else error.id,
            request_id=error.id if is_request else None,
            start=_excerpt(line),
        )


def _invalid_line(
    reason: str, head: bytes | bytearray, tail: bytes | bytearray, *, is_too_long: bool = False, is_broken: bool = False
) -> InvalidLine:
    """Describe an invalid line by its ends. In case of doubt it belongs to no request.

    A line that `is_broken` may be cut off, and its end may belong to a nested object.
    """
    if b"{" not in head[:_SCAN_BYTES]:
        return InvalidLine(reason, is_too_long, start=_excerpt(head))
    first, unfinished = _first_members(bytes(head[:_SCAN_BYTES]))
    last = _last_members(bytes(tail[-_SCAN_BYTES:]))
    if b'"jsonrpc"' not in (last if is_broken else {**first, **last}):
        last = {}
    found = {_parse_id(members[b'"id"']) for members in (first, last) if b'"id"' in members}
    request_id = found.pop() if len(found) == 1 else None
    names = {*first, *last, unfinished}
    is_request = not names.isdisjoint((b'"method"', b'"params"'))
    is_answer = not is_request and not names.isdisjoint((b'"result"', b'"error"'))
    return InvalidLine(
        reason,
        is_too_long=is_too_long,
        answer_to=request_id if is_answer else None,
        request_id=request_id if is_request else None,
        start=_excerpt(head),
    )


# Compiled on first use: most servers send valid messages only.
_STRING = rb'"(?:[^"\\\x00-\x1f]|\\.)*+"'
_PLAIN = rb"(?:" + _STRING + rb"|-?[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false|null)"
_MEMBER = rb"\s*+(" + _STRING + rb")\s*+:\s*+(?:(" + _PLAIN + rb")\s*+([,}]))?+"
_LAST_MEMBERS = rb"(?:,\s*+" + _STRING + rb"\s*+:\s*+" + _PLAIN + rb"\s*+)++\}\s*+\Z"


def _first_members(head: bytes) -> tuple[dict[bytes, bytes], bytes]:
    """Return the leading scalar members of an object, as written, and the name of the next member."""
    members: dict[bytes, bytes] = {}
    opening = re.match(rb"(?:\xef\xbb\xbf)?\s*+\{", head)
    position = opening.end() if opening else len(head)
    while member := re.compile(_MEMBER).match(head, position):
        if member[2] is None:
            return members, member[1]
        members[member[1]] = member[2]
        position = member.end()
        if member[3] == b"}":
            break
    return members, b""


def _last_members(tail: bytes) -> dict[bytes, bytes]:
    """Return the trailing scalar members of an object."""
    if b'"id"' not in tail:
        return {}
    found = re.search(_LAST_MEMBERS, tail)
    return dict(re.findall(rb",\s*+(" + _STRING + rb")\s*+:\s*+(" + _PLAIN + rb")", found[0])) if found else {}


def _parse_id(token: bytes) -> RequestId | None:
    if re.fullmatch(rb"-?[0-9]{1,18}", token):
        return int(token)
    try:
        return str(json.loads(token.decode())) if token.startswith(b'"') else None
    except ValueError:
        return None


def _excerpt(line: bytes | bytearray) -> str:
    return line[:_EXCERPT_LENGTH].decode(errors="replace")
