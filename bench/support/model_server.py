"""A model server with prepared answers that adds as little delay as possible."""

import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from tests.support.model_servers.gemini import Received, Reply, find_problem

_LARGEST_REQUEST = 64 << 20


class Stopwatch:
    """Serves one run and records when each request was complete and each answer was sent.

    Memory for requests is allocated beforehand, so that it does not count against the client.
    """

    def __init__(self, answers: Sequence[Reply]) -> None:
        self.asked: list[float] = []
        self.answered: list[float] = []
        self.last_request: Received | None = None
        self._sizes: list[int] = []
        self._answers = [_response(answer) for answer in answers]
        self._room = bytearray(_LARGEST_REQUEST)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "Stopwatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    @property
    def waits(self) -> list[float]:
        """Return the seconds from each answer to the complete next request. Raises AssertionError for a bad run."""
        assert self.last_request is not None
        assert find_problem(self.last_request) is None, find_problem(self.last_request)
        assert len(self.asked) == len(self._answers), f"{len(self.asked)} requests"
        return [asked - answered for answered, asked in zip(self.answered, self.asked[1:], strict=False)]

    @property
    def sizes(self) -> list[int]:
        """Return the bytes of each request."""
        return self._sizes

    def _serve(self) -> None:
        with suppress(OSError):
            connection, _ = self._listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for answer in self._answers:
                    size = self._receive(connection)
                    self.asked.append(time.perf_counter())
                    self._sizes.append(size)
                    if answer is self._answers[-1]:
                        self.last_request = _read(bytes(self._room[:size]))
                    self.answered.append(time.perf_counter())
                    connection.sendall(answer)

    def _receive(self, connection: socket.socket) -> int:
        """Return the length of the next request. Raises OSError if there is none."""
        room = memoryview(self._room)
        filled, size = 0, None
        while size is None or filled < size:
            count = connection.recv_into(room[filled:])
            if not count:
                raise ConnectionError("the conversation ended early")
            filled += count
            size = size or self._size(filled)
        return size

    def _size(self, filled: int) -> int | None:
        end = self._room.find(b"\r\n\r\n", 0, filled)
        if end < 0:
            return None
        head = self._room[:end].lower()
        return end + 4 + int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])


def send_plainly(sizes: Sequence[int]) -> list[float]:
    """Return the seconds from each answer to the complete next request, with requests of these sizes.

    They are sent by a blocking socket that does nothing else: the least that any client needs with this server.
    """
    answer, payload = Reply((b"{}",)), memoryview(b"x" * max(sizes))
    with Stopwatch([answer] * len(sizes)) as model:
        host, _, port = model.address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for size in sizes:
                connection.sendall(_plain_head(size))
                connection.sendall(payload[:size])
                while not connection.recv(1 << 16).endswith(b"{}"):
                    pass
    return [asked - answered for answered, asked in zip(model.answered, model.asked[1:], strict=False)]


def _plain_head(size: int) -> bytes:
    return f"POST / HTTP/1.1\r\nContent-Length: {size}\r\n\r\n".encode()


def _read(request: bytes) -> Received:
    head, _, body = request.partition(b"\r\n\r\n")
    start, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = start.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Received(method, target, headers, bytes(body))


def _response(reply: Reply) -> bytes:
    headers = {**reply.headers, "Content-Length": sum(map(len, reply.pieces))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.status} OK\r\n{lines}\r\n".encode() + b"".join(reply.pieces)
