"""Streamed answers: the cost of a chunk, and of a long answer, in each protocol and each headless format."""

import json
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from tests.support.model_servers.gemini import LoopbackServer, Received, Reply, error_reply, text_reply

from bench.measurement import Measurement
from bench.support import agents
from bench.support.launcher import launch
from bench.support.tool_process import TEJAT

_CHUNKS = 20_000
_ROUNDS = 4
_LONG = 5_000_000, 10_000_000
_MAX_CHUNK_MICROSECONDS = 40
_MAX_LONG_SECONDS = 5
_MAX_GROWTH = 2.2
_PIECE_CHARS = 50


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "streaming")
    os.makedirs(os.path.join(root, "home"))
    for output_format in ("text", "stream-json"):
        yield _chunk(root, output_format)
    for service in _SERVICES:
        yield from _long_answer(root, service)


def _chunk(root: str, output_format: str) -> Measurement:
    """The wall time of a run with very many chunks more than with one, for each chunk."""
    many, one = (_Answer(root, "Gemini", _pieces(count, 10)) for count in (_CHUNKS, 1))
    best_many = best_one = float("inf")
    for _ in range(_ROUNDS):
        best_one = min(best_one, one.run(output_format)[0])
        best_many = min(best_many, many.run(output_format)[0])
    value = (best_many - best_one) / _CHUNKS * 1e6
    detail = f"{best_many * 1000:.0f} ms for {_CHUNKS:,} chunks against {best_one * 1000:.0f} ms for one"
    return Measurement(f"a streamed chunk, {output_format}", value, _MAX_CHUNK_MICROSECONDS, "us", detail)


def _long_answer(root: str, service: str) -> Iterator[Measurement]:
    """The processor time of an answer of 5 MB, and how it grows to 10 MB."""
    whole, double = (
        min(answer.run("text")[1] for _ in range(2))
        for answer in (_Answer(root, service, _pieces(size // _PIECE_CHARS, _PIECE_CHARS)) for size in _LONG)
    )
    detail = f"{_LONG[0] // _PIECE_CHARS:,} chunks, processor time of the whole run"
    yield Measurement(f"an answer of 5 MB, {service}", whole, _MAX_LONG_SECONDS, "s", detail)
    detail = f"{double:.2f} s against {whole:.2f} s"
    yield Measurement(f"an answer of 10 MB over 5 MB, {service}", double / whole, _MAX_GROWTH, "x", detail)


def _gemini_events(pieces: Sequence[str]) -> Sequence[bytes]:
    return text_reply(*pieces).pieces


def _openai_events(pieces: Sequence[str]) -> Sequence[bytes]:
    deltas: list[dict[str, object]] = [{"delta": {"content": piece}} for piece in pieces]
    deltas.append({"delta": {}, "finish_reason": "stop"})
    chunks = ({"id": "1", "model": "gpt-test", "choices": [{"index": 0, **delta}]} for delta in deltas)
    return [*(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks), b"data: [DONE]\n\n"]


def _anthropic_events(pieces: Sequence[str]) -> Sequence[bytes]:
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": {"model": "claude-test", "usage": {"input_tokens": 11}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


_SERVICES: dict[str, tuple[str, Callable[[Sequence[str]], Sequence[bytes]]]] = {
    "Gemini": ("gemini-2.5-flash", _gemini_events),
    "Chat Completions": ("openai:gpt-test", _openai_events),
    "Anthropic": ("anthropic:claude-test", _anthropic_events),
}
"""A model of each service, and the events of an answer in these pieces."""


def _pieces(count: int, length: int) -> list[str]:
    """Words that do not repeat themselves, in lines."""
    words = (f"{number * 2654435761 % 2**32:08x}{number * 40503 % 2**24:06x} " for number in range(10 * count))
    text = "".join(islice(words, count * length // 15 + 1))
    pieces = [text[number * length : (number + 1) * length] for number in range(count)]
    return [piece if number % 10 else f"{piece[:-1]}\n" for number, piece in enumerate(pieces, 1)]


class _Answer:
    """A prepared answer, sent at once. Each event is an HTTP chunk of its own, as services send them."""

    def __init__(self, root: str, service: str, pieces: Sequence[str]) -> None:
        self._root = root
        self._model, events_of = _SERVICES[service]
        self._text = "".join(pieces)
        wire = b"".join(b"%x\r\n%s\r\n" % (len(event), event) for event in events_of(pieces)) + b"0\r\n\r\n"
        headers = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
        self._reply = Reply((wire,), headers=headers, framing="close")

    def run(self, output_format: str) -> tuple[float, float]:
        """Return the wall time and the processor time of a run. Raises AssertionError if the answer is another."""
        with LoopbackServer(self._respond) as server:
            variables = agents.environment(self._root, server.address)
            if self._model.startswith("openai:"):
                variables |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{server.address}/v1"}
            variables |= {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": server.address}
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = launch([TEJAT, "-m", self._model, "-o", output_format, "-p", "go"], self._root, variables)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if output_format == "text":
            assert done.output.strip() == self._text.strip(), f"{len(done.output)} of {len(self._text)} characters"
        return done.seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def _respond(self, received: Received) -> Reply:
        return self._reply if received.method == "POST" else error_reply(404, "not found")
