"""Parser for the response to one HTTP/1.1 request. It gets bytes, returns events and touches no socket.

It accepts and rejects what h11 does, which `tests/workspace/http/test_response_parser.py` compares. h11 itself takes as
long to import as a tenth of a short run, because it serves servers too and declares its events as dataclasses.
"""

from collections.abc import Iterator, Sequence

from tejat.workspace.http.chunks import take_plain_chunks

_TOKEN = b"!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~"
_HEX_DIGITS = b"0123456789ABCDEFabcdef"
_FORBIDDEN = b"\0\n\v\f\r"
_BLANKS = b" \t"
_FIRST_VISIBLE = 0x21
_MAX_DIGITS = 20


class ProtocolViolation(Exception):
    """The bytes are no HTTP/1.1 response, or a part of it is longer than allowed. Its text never quotes them."""

    def __init__(self, reason: str, *, is_too_large: bool = False) -> None:
        super().__init__(reason)
        self.is_too_large = is_too_large


class ResponseHead:
    """Status line and headers. Those with a status below 200 are interim: another head follows."""

    __slots__ = ("headers", "keeps_alive", "reason", "status")

    def __init__(self, status: int, reason: str, headers: Sequence[tuple[str, str]], *, keeps_alive: bool) -> None:
        self.status = status
        self.reason = reason
        self.headers = headers
        self.keeps_alive = keeps_alive


class ResponseParser:
    """One response. `method` is that of the request; a head or a line of the framing has at most `max_head` bytes."""

    def __init__(self, method: str, *, max_head: int) -> None:
        self._method = method
        self._max_head = max_head
        self._buffer = bytearray()
        self._searched = 0
        self._remaining = 0
        self._keeps_alive = False
        self._has_head = False
        self._read = self._read_head
        self.is_complete = False

    @property
    def is_in_body(self) -> bool:
        return self._has_head and not self.is_complete

    @property
    def can_be_followed(self) -> bool:
        """Whether the connection can take another request: the response is complete, and nothing came after it."""
        return self.is_complete and self._keeps_alive and not self._buffer

    @property
    def has_trailing_data(self) -> bool:
        """Whether there are bytes that were not used yet."""
        return bool(self._buffer)

    @property
    def ends_with_connection(self) -> bool:
        """Whether the body has no other end than that of the connection."""
        return self._read == self._read_until_close

    def receive(self, data: bytes) -> None:
        self._buffer += data

    def finish(self) -> None:
        """The connection has ended the body."""
        self.is_complete = True

    def next_event(self) -> ResponseHead | bytes | None:
        """Return a head, a part of the body, empty bytes at its end, or None if more bytes are needed.

        Raises ProtocolViolation.
        """
        if self.is_complete:
            return b""
        event = self._read()
        if event is None and len(self._buffer) > self._max_head:
            raise ProtocolViolation("a head or a line that does not end", is_too_large=True)
        return event

    def _read_head(self) -> ResponseHead | None:
        lines = self._take_lines()
        if lines is None:
            if self._buffer and self._buffer[0] < _FIRST_VISIBLE:
                raise ProtocolViolation("no status line")
            return None
        if not lines:
            raise ProtocolViolation("no status line")
        version, status, reason = _parse_status_line(lines[0])
        headers = list(_parse_headers(lines[1:]))
        connection = [value for name, value in headers if name.lower() == b"connection"]
        options = {word.strip().lower() for value in connection for word in value.split(b",")}
        texts = [(name.decode("ascii"), value.decode("latin-1")) for name, value in headers]
        head = ResponseHead(status, reason, texts, keeps_alive=version >= b"1.1" and b"close" not in options)
        if status >= 200:
            self._start_body(head)
        return head

    def _start_body(self, head: ResponseHead) -> None:
        self._has_head = True
        self._keeps_alive = head.keeps_alive
        framing = {name.lower(): value for name, value in head.headers}
        is_tunnel = self._method == "CONNECT" and head.status < 300
        if self._method == "HEAD" or head.status in (204, 304) or is_tunnel:
            self._read = self._read_counted
        elif "transfer-encoding" in framing:
            self._read = self._read_chunk_size
        elif "content-length" in framing:
            self._remaining = int(framing["content-length"])
            self._read = self._read_counted
        else:
            self._keeps_alive = False
            self._read = self._read_until_close

    def _read_counted(self) -> bytes | None:
        if self._remaining == 0:
            self.is_complete = True
            return b""
        return self._take_body()

    def _read_until_close(self) -> bytes | None:
        return self._take(len(self._buffer)) if self._buffer else None

    def _read_chunk_size(self) -> bytes | None:
        content = take_plain_chunks(self._buffer)
        if content:
            self._searched = 0
            return content
        line = self._take_line()
        if line is None:
            return None
        digits, mark, _ = line.partition(b";")
        digits = digits if mark else digits.rstrip(_BLANKS)
        if not 0 < len(digits) <= _MAX_DIGITS or digits.translate(None, _HEX_DIGITS) or b"\n" in line:
            raise ProtocolViolation("illegal size of a chunk")
        self._remaining = int(digits, 16)
        self._read = self._read_chunk if self._remaining else self._read_trailer
        return self._read()

    def _read_chunk(self) -> bytes | None:
        data = self._take_body()
        if data is not None and self._remaining == 0:
            self._read = self._read_chunk_end
        return data

    def _read_chunk_end(self) -> bytes | None:
        if not b"\r\n".startswith(self._buffer[:2]):
            raise ProtocolViolation("a chunk that is longer than its size")
        if len(self._buffer) < 2:
            return None
        del self._buffer[:2]
        self._read = self._read_chunk_size
        return self._read_chunk_size()

    def _read_trailer(self) -> bytes | None:
        lines = self._take_lines()
        if lines is None:
            return None
        for _ in _parse_headers(lines):
            pass  # they are checked, and nobody asks for them
        self.is_complete = True
        return b""

    def _take_body(self) -> bytes | None:
        if not self._buffer:
            return None
        data = self._take(self._remaining)
        self._remaining -= len(data)
        return data

    def _take(self, size: int) -> bytes:
        """Take at most so many bytes."""
        data = bytes(self._buffer) if size >= len(self._buffer) else bytes(self._buffer[:size])
        del self._buffer[: len(data)]
        return data

    def _take_line(self) -> bytes | None:
        """Take a line without its end, which is CR LF."""
        end = self._buffer.find(b"\r\n", self._searched)
        if end < 0:
            self._searched = max(0, len(self._buffer) - 1)
            return None
        self._searched = 0
        line = self._take(end)
        del self._buffer[:2]
        return line

    def _take_lines(self) -> list[bytes] | None:
        """Take all lines before an empty one, and that one. Lines may end with LF alone."""
        for empty in (b"\n", b"\r\n"):
            if self._buffer.startswith(empty):
                del self._buffer[: len(empty)]
                return []
        ends = [
            (found + len(mark), mark)
            for mark in (b"\n\n", b"\n\r\n")
            if (found := self._buffer.find(mark, self._searched)) >= 0
        ]
        if not ends:
            self._searched = max(0, len(self._buffer) - 2)
            return None
        self._searched = 0
        end, mark = min(ends)
        block = self._take(end)[: -len(mark)]
        return [line.removesuffix(b"\r") for line in block.split(b"\n")]


def _parse_status_line(line: bytes) -> tuple[bytes, int, str]:
    """The version, the status and the reason. Raises ProtocolViolation."""
    version, status, rest = line[5:8], line[9:12], line[12:]
    is_version = line.startswith(b"HTTP/") and version[:1].isdigit() and version[1:2] == b"." and version[2:].isdigit()
    is_status = line[8:9] == b" " and len(status) == 3 and status.isdigit() and status >= b"100"
    is_reason = rest[:1] in (b"", b" ") and len(rest.translate(None, _FORBIDDEN)) == len(rest)
    if not (is_version and is_status and is_reason) or status == b"101":
        raise ProtocolViolation("illegal status line")
    return version, int(status), rest[1:].decode("latin-1")


def _parse_headers(lines: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The headers, with one Content-Length at most. Raises ProtocolViolation."""
    length = b""
    is_chunked = False
    for line in _unfold(lines):
        name, mark, value = line.partition(b":")
        value = value.strip(_BLANKS)
        is_value = len(value.translate(None, _FORBIDDEN)) == len(value)
        if not (name and mark and is_value) or name.translate(None, _TOKEN):
            raise ProtocolViolation("illegal header")
        match name.lower():
            case b"content-length":
                value = _parse_length(value)
                if length and value != length:
                    raise ProtocolViolation("several lengths")
                if length:
                    continue
                length = value
            case b"transfer-encoding":
                value = value.lower()
                if is_chunked or value != b"chunked":
                    raise ProtocolViolation("unknown transfer encoding")
                is_chunked = True
            case _:
                pass
        yield name, value


def _parse_length(value: bytes) -> bytes:
    """The length, which some servers repeat in one header. Raises ProtocolViolation."""
    lengths = {part.strip() for part in value.split(b",")}
    length = lengths.pop()
    if lengths or not length.isdigit() or len(length) > _MAX_DIGITS:
        raise ProtocolViolation("illegal length")
    return length


def _unfold(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Join lines that begin with a blank to the line before, as old servers mean it. Raises ProtocolViolation."""
    parts: list[bytes] = []
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            if not parts:
                raise ProtocolViolation("a continued line without a beginning")
            parts.append(line.lstrip(_BLANKS))
            continue
        if parts:
            yield b" ".join(parts)
        parts = [line]
    if parts:
        yield b" ".join(parts)
