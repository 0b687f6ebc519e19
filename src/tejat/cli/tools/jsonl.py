"""`tejat tools call --jsonl`: one call per input line, one answer per output line, in order."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import closing
from typing import BinaryIO, TypeGuard

from tejat.core.errors import ErrorType
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import FunctionCall, JsonValue
from tejat.core.tools.base import ToolError, ToolResult

RunCall = Callable[[FunctionCall], Coroutine[None, None, ToolResult]]
Close = Callable[[], Coroutine[None, None, None]]

_BLOCK = 1 << 16


def serve_jsonl(
    run: RunCall, lines: BinaryIO, answers: BinaryIO, close: Close, *, is_listening: Callable[[], bool]
) -> None:
    """Answer every line until the input ends, then close. A bad line gets an error answer with its number.

    While `is_listening`, the event loop keeps running between the lines. Blocking is faster if nothing else can happen.
    """
    with closing(asyncio.new_event_loop()) as loop:
        answering = loop.create_task(_answer_all(run, _read_lines(lines, is_listening), answers))
        try:
            loop.run_until_complete(answering)
        finally:
            loop.run_until_complete(_shut_down(answering, close))


async def _answer_all(run: RunCall, lines: AsyncGenerator[bytes], answers: BinaryIO) -> None:
    number = 0
    async for line in lines:
        number += 1
        if not line.strip():
            continue
        try:
            call_id, call = _read_call(line)
        except _BadRequest as bad:
            call_id, reason = bad.call_id, f"Line {number}: {bad}"
            result = ToolResult(reason, reason, ToolError(reason, ErrorType.INVALID_TOOL_PARAMS))
        else:
            result = await run(call)
        answers.write((dump_json({"id": call_id, **result.to_json()}) + "\n").encode())
        answers.flush()


async def _read_lines(stream: BinaryIO, is_listening: Callable[[], bool]) -> AsyncGenerator[bytes]:
    """Yield lines as they come."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        for line in stream:
            yield line
        return
    pieces: list[bytes] = []
    while True:
        if is_listening():
            await _wait_readable(descriptor)
        block = os.read(descriptor, _BLOCK)
        if not block:
            break
        *ends, rest = block.split(b"\n")
        for end in ends:
            yield b"".join((*pieces, end))
            pieces.clear()
        pieces.append(rest)
    if any(pieces):
        yield b"".join(pieces)


async def _wait_readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    is_readable = asyncio.Event()
    try:
        loop.add_reader(descriptor, is_readable.set)
    except PermissionError:  # a regular file, which never makes anybody wait
        return
    try:
        await is_readable.wait()
    finally:
        loop.remove_reader(descriptor)


async def _shut_down(answering: "asyncio.Task[None]", close: Close) -> None:
    """Cancel the running call, so that an interrupt does not continue with the next line, and close."""
    answering.cancel()
    await asyncio.wait((answering,))
    if not answering.cancelled():
        answering.exception()  # raised by run_until_complete
    await close()


class _BadRequest(ValueError):
    def __init__(self, reason: str, call_id: JsonValue = None) -> None:
        super().__init__(reason)
        self.call_id = call_id


def _read_call(line: bytes) -> tuple[JsonValue, FunctionCall]:
    try:
        request = load_json(line.strip())
    except InvalidJson as error:
        raise _BadRequest(f"not JSON: {error}") from None
    if not _is_object(request):
        raise _BadRequest('must be an object like {"id": 1, "name": "read_file", "args": {"path": "a.txt"}}')
    given_id = request.get("id")
    call_id = given_id if isinstance(given_id, str | int | float) else None
    name, args = request.get("name"), request.get("args", {})
    if not isinstance(name, str):
        raise _BadRequest('"name" must be the name of a tool', call_id)
    if not _is_object(args):
        raise _BadRequest('"args" must be an object', call_id)
    return call_id, FunctionCall(name, args)


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
