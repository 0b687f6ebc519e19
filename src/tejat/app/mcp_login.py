"""Logging in at a remote MCP server of the settings, and forgetting that."""

from tejat.app.ground import Ground
from tejat.app.mcp_looking import find_server
from tejat.app.server_tools import token_store
from tejat.core.errors import UsageError
from tejat.core.words import say
from tejat.mcp.failures import McpFailure
from tejat.mcp.oauth import ReadAddress, ShowAddress, login
from tejat.mcp.oauth_wish import holder_of
from tejat.mcp.remote import is_remote
from tejat.workspace.crew import dismiss
from tejat.workspace.http.client import HttpClient


class ServerLogin:
    """The login at the server of this name. Raises UsageError, NoSuchServer where there is none."""

    def __init__(self, name: str, ground: Ground) -> None:
        self._ground = ground
        self._name = name
        self._server = find_server(self._ground, name).value
        self._store = token_store(self._ground.places)
        try:
            if is_remote(self._server):
                return
        except McpFailure as failure:
            raise UsageError(failure.message) from None
        raise UsageError(
            say('The MCP server "{name}" is a program that is started here: there is nowhere to log in.', name=name)
        )

    @property
    def directory(self) -> str:
        """Where what was granted is kept."""
        return self._store.directory

    async def log_in(self, show: ShowAddress, read_address: ReadAddress | None) -> None:
        """Let the person log in with a browser. Raises McpFailure."""
        client = HttpClient(environment=self._ground.environment)
        try:
            await login(
                self._name, self._server, client=client, store=self._store, show=show, read_address=read_address
            )
        finally:
            await client.close()
            await dismiss()

    def forget(self) -> bool:
        """Forget what was granted; whether there was something. Raises McpFailure."""
        return self._store.remove(holder_of(self._name, self._server))
