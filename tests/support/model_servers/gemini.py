"""A loopback HTTP server with the Gemini REST API, which can misbehave on demand.

The HTTP part serves any API. Used by tests and benchmarks.
"""

import base64
import json
import multiprocessing
import re
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, Self

from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    MessagePart,
    Opaque,
    Text,
    Thought,
)

USAGE = {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}


@dataclass(frozen=True)
class Received:
    """One request. `body` is parsed JSON, `raw` its bytes."""

    method: str
    target: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass(frozen=True)
class Reply:
    """One response. `pieces` are sent one by one, each after `pause` seconds.

    `cut_after` bytes of the body the connection is closed without a word, `stall_after` so many nothing more comes.
    A `black_hole` does not answer at all. `framing` is "chunked", "length" or "close".
    """

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    pause: float = 0.0
    cut_after: int | None = None
    stall_after: int | None = None
    black_hole: bool = False
    framing: str = "chunked"


RequestHandler = Callable[[Received], Reply]


class LoopbackServer:
    """Serves in threads while the context is open. Keeps all requests in order."""

    def __init__(self, respond: RequestHandler) -> None:
        self._respond = respond
        self.requests: list[Received] = []
        self.connections = 0
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open.add(connection)
                self.connections += 1
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with suppress(OSError), connection.makefile("rb") as incoming:
                while not self._closing.is_set():
                    received = _receive(incoming)
                    if received is None:
                        return
                    with self._lock:
                        self.requests.append(received)
                    if not self._send(connection, self._respond(received)):
                        return
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _send(self, connection: socket.socket, reply: Reply) -> bool:
        """Whether the connection can be used again."""
        if reply.black_hole:
            self._closing.wait()
            return False
        framing = {
            "chunked": "Transfer-Encoding: chunked\r\n",
            "length": f"Content-Length: {sum(map(len, reply.pieces))}\r\n",
            "close": "Connection: close\r\n",
        }[reply.framing]
        lines = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        connection.sendall(f"HTTP/1.1 {reply.status} Status\r\n{lines}{framing}\r\n".encode())
        sent = 0
        for piece in reply.pieces:
            if self._closing.wait(reply.pause) if reply.pause else False:
                return False
            limit = min((at for at in (reply.cut_after, reply.stall_after) if at is not None), default=None)
            data = piece if limit is None else piece[: max(0, limit - sent)]
            if data:
                connection.sendall(b"%x\r\n%s\r\n" % (len(data), data) if reply.framing == "chunked" else data)
            sent += len(piece)
            if limit is not None and sent >= limit:
                if reply.stall_after is not None:
                    self._closing.wait()
                return False
        if reply.framing == "chunked":
            connection.sendall(b"0\r\n\r\n")
        return reply.framing != "close"


def _receive(incoming: Any) -> Received | None:
    start = incoming.readline().decode("ascii")
    if not start:
        return None
    method, target, _ = start.split(" ")
    headers: dict[str, str] = {}
    while line := incoming.readline().decode("latin-1").rstrip("\r\n"):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Received(method, target, headers, incoming.read(int(headers.get("content-length", "0"))))


class ModelServer(LoopbackServer):
    """A Gemini service that gives the replies in turn, to valid requests only.

    A token count is answered with `count`, or an error; it consumes no reply.
    """

    def __init__(self, replies: Iterable[Reply] = (), *, count: int | None = None) -> None:
        super().__init__(self._answer)
        self._replies = iter(replies)
        self._count = count

    def _answer(self, received: Received) -> Reply:
        if received.target.endswith(":countTokens"):
            if self._count is None:
                return error_reply(404, "no such method")
            return json_reply({"totalTokens": self._count})
        wrong = find_problem(received)
        if wrong:
            return error_reply(400, wrong, status_name="INVALID_ARGUMENT")
        with self._lock:
            return next(self._replies, None) or error_reply(400, "the test has no more replies")


@contextmanager
def serve_in_process(replies: Sequence[Reply]) -> Generator[str]:
    """Run a service in its own process that repeats these replies; yields its address."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve_until_closed, args=(there, tuple(replies)), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        here.close()
        process.join(10)
        process.close()


def _serve_until_closed(parent: Any, replies: tuple[Reply, ...]) -> None:
    with ModelServer(cycle(replies)) as server:
        parent.send(server.address)
        with suppress(EOFError, KeyboardInterrupt):
            parent.recv()


def stream(*chunks: object, **how: Any) -> Reply:
    """The chunks as server-sent events."""
    pieces = tuple(b"data: %s\r\n\r\n" % json.dumps(chunk).encode() for chunk in chunks)
    return replace(Reply(pieces, headers={"Content-Type": "text/event-stream"}), **how)


def chunk(*parts: object, reason: str | None = None, **fields: object) -> dict[str, object]:
    """One chunk of an answer. A string stands for a text part."""
    content = {"role": "model", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}
    candidate = {"content": content, "index": 0, **({"finishReason": reason} if reason else {})}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "gemini-test", **fields}


def text_reply(*parts: object, reason: str = "STOP", **how: Any) -> Reply:
    """A whole answer, one chunk per part."""
    last = len(parts) - 1
    chunks = [chunk(part, reason=reason if index == last else None) for index, part in enumerate(parts)]
    return stream(*(chunks or [chunk(reason=reason)]), **how)


def function_call(name: str, args: object, **fields: object) -> dict[str, object]:
    """A function call part; `id` goes inside it, `thoughtSignature` beside it."""
    identity = {"id": fields.pop("id")} if "id" in fields else {}
    return {"functionCall": {**identity, "name": name, "args": args}, **fields}


def json_reply(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    kind = {"Content-Type": "application/json; charset=UTF-8"}
    return Reply((json.dumps(value).encode(),), status, {**kind, **(headers or {})}, framing="length")


def error_reply(
    status: int,
    message: str,
    *,
    status_name: str = "UNKNOWN",
    retry_after: str | None = None,
    retry_delay: str | None = None,
    details: Sequence[object] = (),
) -> Reply:
    """An error in the format of the service."""
    wait = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}] if retry_delay else []
    error = {"code": status, "message": message, "status": status_name, "details": [*details, *wait]}
    headers = {"Retry-After": retry_after} if retry_after else {}
    return json_reply({"error": error}, status=status, headers=headers)


def find_problem(received: Received) -> str | None:
    """Return why the real service would reject the request."""
    if received.method != "POST" or not received.target.startswith(("/v1beta/", "/v1/models/")):
        return f"no such method: {received.target}"
    if not (received.headers.get("x-goog-api-key") or received.headers.get("authorization")):
        return "Method doesn't allow unregistered callers"
    for tool in received.body.get("tools", ()):
        for place, declared in enumerate(tool.get("functionDeclarations", ())):
            if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", declared["name"]):
                return f"* GenerateContentRequest.tools[0].function_declarations[{place}].name: Invalid function name."
    contents = received.body.get("contents")
    if not contents or contents[0]["role"] != "user":
        return "contents must begin with a user turn"
    open_calls = 0
    for before, content in zip([None, *contents], contents, strict=False):
        if before is not None and before["role"] == content["role"]:
            return "roles must alternate"
        if not content["parts"]:
            return "contents.parts must not be empty."
        responses = sum("functionResponse" in part for part in content["parts"])
        if responses != open_calls:
            return "the number of function response parts must equal the number of function call parts"
        open_calls = sum("functionCall" in part for part in content["parts"])
    return None


OPAQUE_KEYS = frozenset({"args", "response", "parametersJsonSchema", "responseJsonSchema"})
"""Keys whose contents are not part of the protocol."""


def to_camel_case(value: Any) -> Any:
    """Convert field names to camel case; the service accepts snake case too."""
    if isinstance(value, list):
        return [to_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {re.sub(r"_([a-z])", lambda found: found[1].upper(), name): inner for name, inner in value.items()}
    return {name: inner if name in OPAQUE_KEYS else to_camel_case(inner) for name, inner in fields.items()}


def read_message(content: Mapping[str, Any]) -> Message:
    """Parse one of `contents`. Media inside a function response follow it."""
    parts = [part for sent in content["parts"] for part in _read_parts(sent)]
    return Message(Role(content["role"]), tuple(parts))


def _read_parts(part: Mapping[str, Any]) -> Iterable[MessagePart]:
    signature = part.get("thoughtSignature")
    match part:
        case {"text": text, "thought": True}:
            yield Thought(text, signature)
        case {"text": text}:
            yield Text(text, signature)
        case {"functionCall": sent}:
            yield FunctionCall(sent["name"], sent["args"], sent.get("id"), signature)
        case {"functionResponse": sent}:
            yield FunctionResponse(sent["name"], sent["response"], sent.get("id"))
            for nested in sent.get("parts", ()):
                yield from _read_parts(nested)
        case {"inlineData": {"mimeType": kind, "data": data}}:
            # Both alphabets are taken.
            yield InlineData(kind, base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True))
        case {"fileData": {"mimeType": kind, "fileUri": address}}:
            yield FileData(kind, address)
        case _:
            yield Opaque("gemini", part)
