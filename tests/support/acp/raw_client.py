"""A client of the Agent Client Protocol that writes and reads lines, right or wrong."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from support.acp.message_log import Json
from support.acp.sdk_client import SECONDS, end
from support.program import TEJAT, ProgramEnv

_LINE_LIMIT = 128 << 20


@dataclass
class RawClient:
    """A running agent. `received` are its messages so far."""

    process: asyncio.subprocess.Process
    env: ProgramEnv
    received: list[Json] = field(default_factory=list[Json])
    _next_id: int = 100

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def receive(self, matches: Callable[[Json], object]) -> Json:
        """The next message that matches; others are kept in `received`."""
        assert self.process.stdout is not None
        while line := await asyncio.wait_for(self.process.stdout.readline(), SECONDS):
            message = json.loads(line)
            self.received.append(message)
            if matches(message):
                return message
        raise AssertionError("the agent has ended")

    async def request(self, method: str, params: object) -> Json:
        """Send a request and return the whole answer."""
        self._next_id += 1
        request_id = self._next_id
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return await self.receive(lambda message: message.get("id") == request_id and "method" not in message)

    async def open_session(self, **capabilities: object) -> str:
        await self.request("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
        opened = await self.request("session/new", {"cwd": str(self.env.project), "mcpServers": []})
        return opened["result"]["sessionId"]

    def start_prompt(self, session: str, text: str, request_id: Any = 1) -> None:
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        self.send({"jsonrpc": "2.0", "id": request_id, "method": "session/prompt", "params": params})

    async def receive_request(self, method: str) -> Json:
        return await self.receive(lambda message: message.get("method") == method)

    async def receive_answer(self, request_id: object = 1) -> Json:
        return await self.receive(lambda message: message.get("id") == request_id and "method" not in message)


@asynccontextmanager
async def run_raw_agent(env: ProgramEnv, *words: str) -> AsyncGenerator[RawClient]:
    """Start `tejat acp` with these words. It must end with its input."""
    process = await asyncio.create_subprocess_exec(
        *TEJAT,
        "acp",
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=env.base,
        env=env.environment,
        limit=_LINE_LIMIT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield RawClient(process, env)
    finally:
        with suppress(ConnectionError):
            process.stdin.close()
        rest = asyncio.ensure_future(process.stdout.read())
        await end(process)
        await rest
