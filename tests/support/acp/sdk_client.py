"""A client of the Agent Client Protocol, made with its official Python package."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp import schema, text_block
from acp.client.connection import ClientSideConnection
from acp.exceptions import RequestError

from support.acp.message_log import Json, MessageLog
from support.acp.sdk_terminals import SdkTerminals
from support.program import TEJAT, ProgramEnv
from support.wait import wait_until_async

SECONDS = 60.0
"""How long a test waits for anything."""
_LINE_LIMIT = 128 << 20

Decide = Callable[[Json], "str | None"]
"""Chooses an option of a permission request by its id; None cancels the request."""


def choose(kind: str) -> Decide:
    """Always choose the first option of this kind. Raises AssertionError if none is offered."""

    def decide(request: Json) -> str:
        found = [option["optionId"] for option in request["options"] if option["kind"] == kind]
        assert found, f"no {kind} in {request['options']}"
        return found[0]

    return decide


@dataclass
class SdkClient(SdkTerminals):
    """Implements `acp.Client`.

    `buffers` are open in the editor: text by path, which counts instead of the file. `shown` is how saved files look.
    """

    decide: Decide = field(default_factory=lambda: choose("allow_once"))
    buffers: dict[str, str] = field(default_factory=dict[str, str])
    shown: dict[str, str] = field(default_factory=dict[str, str])
    elicit: Callable[[Json], Json] = lambda _: {"action": "cancel"}
    log: MessageLog = field(default_factory=MessageLog)
    answer_delay: float = 0.0

    def __post_init__(self) -> None:
        super().__init__()

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        pass  # the log has it

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        await asyncio.sleep(self.answer_delay)
        chosen = self.decide(self.log.requests("session/request_permission")[-1])
        if chosen is None:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen))

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> schema.ReadTextFileResponse:
        try:
            text = self.buffers.get(path) or self.shown.get(path) or read(path)
        except OSError as error:
            raise RequestError(-32002, "Resource not found", {"uri": path}) from error
        if line is not None or limit is not None:
            first = max(line or 1, 1) - 1
            text = "".join(text.splitlines(keepends=True)[first : None if limit is None else first + limit])
        return schema.ReadTextFileResponse(content=text)

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse:
        if path in self.buffers:
            self.buffers[path] = content
        self.shown.pop(path, None)
        write(path, content)
        return schema.WriteTextFileResponse()

    async def create_elicitation(self, message: str, mode: Any, **kwargs: Any) -> Any:
        return self.elicit(self.log.requests("elicitation/create")[-1])

    async def complete_elicitation(self, elicitation_id: str, **kwargs: Any) -> None:
        pass  # the log has it

    async def ext_method(self, method: str, params: Json) -> Json:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: Json) -> None:
        pass


def read(path: str) -> str:
    return Path(path).read_bytes().decode()


def write(path: str, content: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content.encode())


FILES = schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)


@dataclass
class Agent:
    """A running agent and the client that is connected to it."""

    connection: ClientSideConnection
    client: SdkClient
    process: asyncio.subprocess.Process
    env: ProgramEnv

    @property
    def log(self) -> MessageLog:
        return self.client.log

    async def initialize(self, **capabilities: Any) -> schema.InitializeResponse:
        return await self.connection.initialize(
            protocol_version=1,
            client_capabilities=schema.ClientCapabilities(**capabilities),
            client_info=schema.Implementation(name="tests", version="1"),
        )

    async def new_session(self, **more: Any) -> str:
        return (await self.connection.new_session(cwd=str(self.env.project), **more)).session_id

    async def prompt(self, session: str, *blocks: Any) -> str:
        """Send a prompt of texts and content blocks, and return the stop reason."""
        content = [text_block(block) if isinstance(block, str) else block for block in blocks]
        return (await self.connection.prompt(session_id=session, prompt=content)).stop_reason

    async def wait_for(self, condition: Callable[[], object]) -> None:
        await wait_until_async(condition, SECONDS)

    async def request(self, method: str, params: Json) -> Any:
        """Send any request, also one that the official package does not have."""
        return await self.connection._conn.send_request(method, params)

    def text(self, session: str | None = None) -> str:
        """The answers so far."""
        return self._joined("agent_message_chunk", session)

    def thoughts(self) -> str:
        """The thoughts so far, with notes and warnings."""
        return self._joined("agent_thought_chunk")

    def _joined(self, kind: str, session: str | None = None) -> str:
        found = [each for each in self.log.requests("session/update") if session in (None, each["sessionId"])]
        chunks = [each["update"] for each in found if each["update"]["sessionUpdate"] == kind]
        return "".join(chunk["content"]["text"] for chunk in chunks)

    def calls(self) -> dict[str, Json]:
        """The tool calls by id, each with all of its updates applied."""
        calls: dict[str, Json] = {}
        for update in self.log.updates():
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                known = {name: value for name, value in update.items() if name != "sessionUpdate"}
                calls.setdefault(update["toolCallId"], {}).update(known)
        return calls


@asynccontextmanager
async def run_agent(
    env: ProgramEnv, *words: str, client: SdkClient | None = None, variables: Mapping[str, str] | None = None
) -> AsyncGenerator[Agent]:
    """Start `tejat acp` with these words. Afterwards all messages must have been those of the protocol."""
    client = client or SdkClient()
    process = await asyncio.create_subprocess_exec(
        *TEJAT,
        "acp",
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=env.base,
        env={**env.environment, **(variables or {})},
        limit=_LINE_LIMIT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    connection = ClientSideConnection(
        client,
        process.stdin,
        process.stdout,
        use_unstable_protocol=True,  # elicitations, which the protocol calls stable
        observers=[client.log.observe],
    )
    try:
        yield Agent(connection, client, process, env)
    finally:
        with contextlib.suppress(ConnectionError):
            await connection.close()
        process.stdin.close()
        await end(process)
    assert not client.log.problems, "\n".join(client.log.problems)


async def end(process: asyncio.subprocess.Process) -> None:
    """Wait until a process has ended by itself. Raises AssertionError, and kills it, if it does not."""
    assert process.stderr is not None
    reading = asyncio.ensure_future(process.stderr.read())
    try:
        await asyncio.wait_for(process.wait(), SECONDS)
    except TimeoutError:
        os.kill(process.pid, 9)
        raise AssertionError("the agent did not end with its input") from None
    print((await reading).decode())  # noqa: T201 -- shown by pytest if the test fails
