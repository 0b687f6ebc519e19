"""The client of a connection: what it can do, and requests to it."""

from collections.abc import Callable
from typing import Protocol

from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.jsonrpc.peer import JsonRpcPeer

AUTH_REQUIRED = -32000


class ClientCapabilities(Frozen):
    """What a client said it can do in `initialize`. Anything it did not say counts as missing.

    `shows_terminal_output` is an extension: the client shows output that comes in `_meta` of a tool call as a terminal.
    """

    reads_files: bool = False
    writes_files: bool = False
    has_terminals: bool = False
    shows_forms: bool = False
    opens_urls: bool = False
    has_boolean_options: bool = False
    can_log_in: bool = False
    shows_terminal_output: bool = False


class AcpClient(Protocol):
    @property
    def capabilities(self) -> ClientCapabilities: ...

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request and wait for its result; a result of null is an empty object.

        Cancelling it sends `$/cancel_request`. Raises PeerError.
        """
        ...

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification. The order of notifications and requests is kept. Never raises."""
        ...


class AcpConnection(JsonRpcPeer):
    """The connection to one client. Implements `AcpClient`; `warn` gets messages for the log."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        super().__init__(warn, name="ACP")
        self.capabilities = ClientCapabilities()


def parse_capabilities(given: JsonValue) -> ClientCapabilities:
    """Read `clientCapabilities`. What is wrong or unknown counts as missing."""
    files, auth, elicitation, meta = (_member(given, name) for name in ("fs", "auth", "elicitation", "_meta"))
    options = _member(_member(given, "session"), "configOptions")
    return ClientCapabilities(
        reads_files=_member(files, "readTextFile") is True,
        writes_files=_member(files, "writeTextFile") is True,
        has_terminals=_member(given, "terminal") is True,
        shows_forms=isinstance(_member(elicitation, "form"), dict),
        opens_urls=isinstance(_member(elicitation, "url"), dict),
        has_boolean_options=isinstance(_member(options, "boolean"), dict),
        can_log_in=_member(auth, "terminal") is True or _member(meta, "terminal-auth") is True,
        shows_terminal_output=_member(meta, "terminal_output") is True,
    )


def _member(given: JsonValue, name: str) -> JsonValue:
    return given.get(name) if isinstance(given, dict) else None
