"""Messages out of a stream of bytes, one JSON text in each line, and back. Nothing that arrives ends the reading."""

import json
import re
from typing import TypeAlias, cast

from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.mcp.protocol import MAX_CONTAINERS, InvalidMessage, JsonRpcMessage, RequestId, message_to_json, parse_message

MAX_LINE_BYTES = 16 << 20
"""The longest line that is read or written, without its end."""
_SKIP_FACTOR = 4
"""A line is skipped up to so many times the limit; who goes on after that will not stop."""
_SCAN_BYTES = 512
"""Bytes at each end of a line in which the id of its message is looked for."""
_EXCERPT_LENGTH = 200
_MAX_BATCH = 1000


@frozen
class InvalidLine:
    """A line, or an item of a batch, that is no message, and why.

    `answer_to` is the request that it was to answer, `request_id` that of the request that it was to be: one of them at
    most, and only where that can be told. `start` is how the line begins, as it came.
    """

    reason: str
    is_too_long: bool = False
    answer_to: RequestId | None = None
    request_id: RequestId | None = None
    start: str = ""


@frozen
class EndlessLine:
    """A line has gone so far beyond the limit that its end is not waited for. Nothing is read any more."""


DecodedLine: TypeAlias = JsonRpcMessage | InvalidLine | EndlessLine


class UnencodableMessage(ValueError):
    """There is no line for this message; the text says why."""

    def __init__(self, reason: str, *, is_too_long: bool) -> None:
        super().__init__(reason)
        self.is_too_long = is_too_long


class NdjsonDecoder:
    """Takes bytes as they come and gives messages. Keeps one line at most, and of a line that is too long its ends."""

    def __init__(self, *, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._line = bytearray()
        self._size = 0
        self._tail: bytes | None = None  # known only of a line that is too long
        self._is_done = False

    def feed(self, data: bytes) -> list[DecodedLine]:
        """What these bytes complete. Raises nothing."""
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
        """What the last line is, where the stream is over before it. Raises nothing."""
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
            return [
                _invalid_line(
                    gettext_lazy("it is longer than {most:,} bytes", most=self._max_bytes), line, tail, is_too_long=True
                )
            ]
        return _parse_line(line) if line and not line.isspace() else []


def encode_message(message: JsonRpcMessage, *, max_bytes: int = MAX_LINE_BYTES) -> bytes:
    """The line of a message, with its end. Raises Unsendable."""
    try:
        line = dump_json(message_to_json(message)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UnencodableMessage(
            gettext_lazy("it holds something that JSON has no form for"), is_too_long=False
        ) from error
    if len(line) > max_bytes:
        raise UnencodableMessage(gettext_lazy("it is longer than {most:,} bytes", most=max_bytes), is_too_long=True)
    return line + b"\n"


_JSON_START = b'{["-0123456789tfnIN \t\r\xef'
_NO_VALUE = gettext_lazy("it is not JSON: {why}", why="Expecting value at line 1, column 1")


def _parse_line(line: bytearray) -> list[DecodedLine]:
    if line[0] not in _JSON_START and line.isascii():
        # Plain text, as programs print it by the thousand: parsing it would take far longer than seeing that.
        return [InvalidLine(_NO_VALUE, start=_excerpt(line))]
    try:
        # Decoded here: the reader of JSON would let half characters pass, and guess at other encodings.
        given = load_json(line.decode().removeprefix("\ufeff"), max_containers=MAX_CONTAINERS)
    except UnicodeDecodeError as error:
        return [
            _invalid_line(gettext_lazy("it is not UTF-8: byte {number} is wrong", number=error.start + 1), line, line)
        ]
    except InvalidJson as error:
        return [_invalid_line(gettext_lazy("it is not JSON: {why}", why=error), line, line, is_broken=True)]
    if not isinstance(given, list):
        return [_parse_item(given, line)]
    items = cast("list[object]", given)
    if not 0 < len(items) <= _MAX_BATCH:
        return [
            InvalidLine(
                gettext_lazy("a batch has 1 to {most:,} messages, not {items:,}", most=_MAX_BATCH, items=len(items)),
                start=_excerpt(line),
            )
        ]
    return [_parse_item(item, line) for item in items]


def _parse_item(given: object, line: bytearray) -> JsonRpcMessage | InvalidLine:
    try:
        return parse_message(given)
    except InvalidMessage as error:
        is_request = isinstance(given, dict) and "method" in given
        return InvalidLine(
            str(error),
            answer_to=None if is_request else error.id,
            request_id=error.id if is_request else None,
            start=_excerpt(line),
        )


def _invalid_line(
    reason: str,
    head: bytes | bytearray,
    tail: bytes | bytearray,
    *,
    is_too_long: bool = False,
    is_broken: bool = False,
) -> InvalidLine:
    """For a line of which only the ends are looked at. Where they leave a doubt, the line was meant for nobody.

    One that `is_broken` may have lost its end, and what it ends with may belong to something inside of it.
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


# Compiled when first needed: most servers send nothing but messages.
_STRING = rb'"(?:[^"\\\x00-\x1f]|\\.)*+"'
_PLAIN = rb"(?:" + _STRING + rb"|-?[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false|null)"
_MEMBER = rb"\s*+(" + _STRING + rb")\s*+:\s*+(?:(" + _PLAIN + rb")\s*+([,}]))?+"
_LAST_MEMBERS = rb"(?:,\s*+" + _STRING + rb"\s*+:\s*+" + _PLAIN + rb"\s*+)++\}\s*+\Z"


def _first_members(head: bytes) -> tuple[dict[bytes, bytes], bytes]:
    """The plain members that an object begins with, names and values as written, and the name of the next one."""
    members: dict[bytes, bytes] = {}
    begun = re.match(rb"(?:\xef\xbb\xbf)?\s*+\{", head)
    position = begun.end() if begun else len(head)
    while found := re.compile(_MEMBER).match(head, position):
        if found[2] is None:
            return members, found[1]
        members[found[1]] = found[2]
        position = found.end()
        if found[3] == b"}":
            break
    return members, b""


def _last_members(tail: bytes) -> dict[bytes, bytes]:
    """The plain members that an object ends with."""
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
