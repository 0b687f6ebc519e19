"""State shared by all clients of the server."""

from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.protocol import HANDSHAKE_REVISIONS, STATELESS_REVISIONS
from tejat.ui.mcp_server.client_approver import ChannelApprover, PendingApprovals
from tejat.ui.mcp_server.client_workspace import ClientWorkspace, ToolProvider

_META_SERVER = "io.modelcontextprotocol/serverInfo"
_INSTRUCTIONS = """\
These tools read, search and change files and run commands in the directories that this server was started for, under
the rules of the person who started it. What the rules do not allow is asked through your client, shown exactly as it
would run, or refused with the reason; a refusal is final, so do not try to get around it. Read a file before you change
it. Every change is kept for `tejat undo`."""


class ToolServer:
    """Identity, tools and pending approvals. Stateless clients cannot be told apart and use `shared_workspace`."""

    def __init__(self, host: ToolProvider, *, version: str) -> None:
        self.host = host
        self.shared_workspace = ClientWorkspace(host.start_session(has_plans=False), ChannelApprover())
        self.pending_approvals = PendingApprovals()
        self._info: JsonObject = {"name": "tejat", "title": "Tejat", "version": version}

    def new_workspace(self) -> ClientWorkspace:
        """Open the workspace of a client with a session of its own."""
        return ClientWorkspace(self.host.start_session(has_plans=True), ChannelApprover())

    def initialize_result(self, asked: JsonValue) -> dict[str, JsonValue]:
        """Return the result of `initialize`, in the requested revision if it is supported."""
        revision = asked if isinstance(asked, str) and asked in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[0]
        return {"protocolVersion": revision, **self._capabilities(), "serverInfo": self._info}

    def discover_result(self) -> dict[str, JsonValue]:
        """Return the result of `server/discover`."""
        return {"supportedVersions": [*STATELESS_REVISIONS, *HANDSHAKE_REVISIONS], **self._capabilities(), **NO_CACHE}

    def complete_result(self, result: JsonObject) -> JsonObject:
        """Complete a result of the stateless revisions with its type and the server info."""
        return {"resultType": "complete", **result, "_meta": {_META_SERVER: self._info}}

    def close(self) -> None:
        self.shared_workspace.close()

    def _capabilities(self) -> dict[str, JsonValue]:
        return {"capabilities": {"tools": {}}, "instructions": _INSTRUCTIONS}


NO_CACHE: JsonObject = {"ttlMs": 0, "cacheScope": "private"}
"""How long and for whom a client may cache a result."""
