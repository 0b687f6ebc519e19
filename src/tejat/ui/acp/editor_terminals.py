"""The client's terminals."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from tejat.core.agent.editor import TerminalCommand
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_summary
from tejat.ui.acp.client import AcpClient
from tejat.ui.jsonrpc.peer import PeerError


class OnStarted(Protocol):
    def __call__(self, call_id: str, terminal_id: str, *, agent: str) -> None:
        """`call_id` is the id of the model, `agent` that of the sub-agent that made the call."""
        ...


class ClientTerminals:
    """Implements `core.agent.editor.EditorTerminals` for a session of a client that has terminals."""

    def __init__(self, client: AcpClient, session_id: str) -> None:
        self.on_started: OnStarted = _ignore
        """Called when a terminal works and is to be shown in its call."""
        self._client = client
        self._session_id = session_id
        self._requests: set[asyncio.Task[JsonObject]] = set()

    @property
    def are_optional(self) -> bool:
        """See `EditorTerminals.are_optional`."""
        return self._client.capabilities.shows_terminal_output

    async def start(self, command: TerminalCommand, *, call_id: str, agent: str = "") -> "ClientTerminal":
        """See `EditorTerminals.start`."""
        program, *arguments = command.arguments
        creation = self.send(
            "terminal/create",
            {
                "command": program,
                "args": [*arguments],
                "cwd": command.directory,
                "outputByteLimit": command.max_output_bytes,
            },
        )
        try:
            created = await asyncio.shield(creation)
        except PeerError as error:
            raise _os_error(error) from error
        except asyncio.CancelledError:
            creation.add_done_callback(self._release_unwanted)
            raise
        terminal_id = created.get("terminalId")
        if not isinstance(terminal_id, str):
            raise OSError(_("the client opened a terminal without an id"))
        return ClientTerminal(self, terminal_id, lambda: self.on_started(call_id, terminal_id, agent=agent))

    def send(self, method: str, params: JsonObject) -> asyncio.Task[JsonObject]:
        """Send a request of this session. It goes on if nobody waits for it."""
        request = asyncio.create_task(self._client.request(method, {"sessionId": self._session_id, **params}))
        self._requests.add(request)
        request.add_done_callback(self._forget)
        return request

    def _forget(self, request: "asyncio.Task[JsonObject]") -> None:
        self._requests.discard(request)
        if not request.cancelled():
            request.exception()  # marks it as retrieved

    def _release_unwanted(self, creation: "asyncio.Task[JsonObject]") -> None:
        if creation.cancelled() or creation.exception() is not None:
            return
        terminal_id = creation.result().get("terminalId")
        if isinstance(terminal_id, str):
            self.send("terminal/release", {"terminalId": terminal_id})


class ClientTerminal:
    """Implements `core.agent.editor.EditorTerminal`."""

    def __init__(self, terminals: ClientTerminals, terminal_id: str, show: Callable[[], None]) -> None:
        self.show = show
        self._terminals = terminals
        self._terminal_id = terminal_id
        self._is_released = False

    async def wait(self) -> int | None:
        """See `EditorTerminal.wait`."""
        try:
            ended = await self._terminals.send("terminal/wait_for_exit", {"terminalId": self._terminal_id})
        except PeerError as error:
            raise _os_error(error) from error
        code = ended.get("exitCode")
        return code if isinstance(code, int) else None

    def release(self) -> None:
        """See `EditorTerminal.release`."""
        if not self._is_released:
            self._is_released = True
            self._terminals.send("terminal/release", {"terminalId": self._terminal_id})


def _ignore(call_id: str, terminal_id: str, *, agent: str) -> None:
    """Do nothing."""


def _os_error(error: PeerError) -> OSError:
    return OSError(_("the client answered: {message}", message=sanitize_summary(str(error))))
