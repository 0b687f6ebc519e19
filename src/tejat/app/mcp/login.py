"""Login at a remote MCP server."""

from tejat.app.mcp.inspection import find_server
from tejat.app.mcp.manager import token_store
from tejat.app.run_config import RunConfig
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.switches import is_truthy
from tejat.mcp.errors import McpFailure
from tejat.mcp.oauth.callback import callback_listener
from tejat.mcp.oauth.credentials import ReadUrl, ShowUrl, login
from tejat.mcp.oauth.settings import token_key
from tejat.mcp.transports.server_kind import uses_url
from tejat.workspace.http.client import HttpClient
from tejat.workspace.threads.pool import shutdown


class ServerLogin:
    """The login at a configured server. Raises UsageError, NoSuchServer if there is none of this name."""

    def __init__(self, name: str, run_config: RunConfig) -> None:
        self._run_config = run_config
        self._name = name
        self._server = find_server(self._run_config, name).value
        self._store = token_store(self._run_config.paths)
        try:
            if uses_url(self._server):
                return
        except McpFailure as failure:
            raise UsageError(failure.message) from None
        raise UsageError(_('MCP server "{name}" is a local program and needs no login.', name=name))

    @property
    def may_open_browser(self) -> bool:
        """False if `NO_BROWSER` is set."""
        return not is_truthy(self._run_config.environment.get("NO_BROWSER"))

    @property
    def directory(self) -> str:
        """The directory of the token store."""
        return self._store.directory

    async def log_in(self, show: ShowUrl, read_address: ReadUrl | None) -> None:
        """Let the user log in with a browser. Raises McpFailure."""
        environment = self._run_config.environment
        listener = callback_listener(environment)
        client = HttpClient(environment=environment)
        try:
            await login(
                self._name,
                self._server,
                client=client,
                store=self._store,
                show_url=show,
                read_url=read_address,
                listener=listener,
            )
        finally:
            await client.close()
            await shutdown()

    def forget(self) -> bool:
        """Delete the tokens and return whether there were any. Raises McpFailure."""
        return self._store.remove(token_key(self._name, self._server))
