"""The methods of the protocol that an agent offers."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING

from tejat.core.errors import TejatError
from tejat.core.i18n import _, translate
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.sanitize import sanitize_summary
from tejat.core.ui.client_session import AuthenticationMethod, SessionRequest
from tejat.engine.sessions.session_id import new_session_id
from tejat.mcp.protocol import INTERNAL_ERROR, METHOD_NOT_FOUND
from tejat.ui.acp.client import AUTH_REQUIRED, AcpConnection, parse_capabilities
from tejat.ui.acp.params import (
    directory_list,
    directory_param,
    invalid_params,
    meta_of,
    optional_string,
    string_param,
)
from tejat.ui.jsonrpc.peer import RequestError

if TYPE_CHECKING:
    from tejat.engine.sessions.session_store import SessionSummary
    from tejat.ui.acp.contract import AcpHost
    from tejat.ui.acp.session import EditorSession

PROTOCOL_VERSION = 1
LOGIN_FLAG = "--login"
"""Added to the command line of the agent by clients that let the user log in at a terminal."""

_MAX_LISTED = 100
_MAX_SESSIONS = 1000


class AcpServer:
    """Handles the requests of one client. `load_host` is called when the first session is wanted.

    `login_command` is the whole command for a login at a terminal.
    """

    def __init__(
        self,
        client: AcpConnection,
        load_host: "Callable[[], AcpHost]",
        *,
        version: str,
        methods: Sequence[AuthenticationMethod],
        login_command: Sequence[str],
    ) -> None:
        self._client = client
        self._load_host = load_host
        self._version = version
        self._authentication_methods = {each.method_id: each for each in methods}
        self._login_command = login_command
        self._loaded_host: AcpHost | None = None
        self._sessions: dict[str, EditorSession] = {}
        self._is_initialized = False
        self._methods: dict[str, Callable[[JsonObject], Awaitable[JsonObject]]] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new_session,
            "session/load": self._load_session,
            "session/resume": self._resume_session,
            "session/list": self._list_sessions,
            "session/delete": self._delete_session,
            "session/close": self._close_session,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
        }

    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        """See `MethodHandler`."""
        run = self._methods.get(method)
        if run is None:
            raise RequestError(METHOD_NOT_FOUND, f"Method not found: {sanitize_summary(method)}")
        if not self._is_initialized and method != "initialize":
            raise invalid_params("Send initialize first.")
        try:
            return await run(params)
        except ModelFailure as failure:
            if failure.kind not in (FailureKind.NO_KEY, FailureKind.AUTHENTICATION):
                raise RequestError(INTERNAL_ERROR, translate(str(failure))) from failure
            data: JsonObject = {"authMethods": self._describe_authentication()}
            raise RequestError(AUTH_REQUIRED, translate(str(failure)), data) from failure
        except TejatError as error:
            raise invalid_params(translate(str(error))) from error

    def handle_notification(self, method: str, params: JsonObject) -> None:
        """See `MethodHandler`. Unknown notifications are ignored, as the protocol asks."""
        if method == "session/cancel":
            session = self._sessions.get(str(params.get("sessionId")))
            if session is not None:
                session.cancel()

    async def close(self) -> None:
        """Close all sessions."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)

    async def _initialize(self, params: JsonObject) -> JsonObject:
        self._client.capabilities = parse_capabilities(params.get("clientCapabilities"))
        self._is_initialized = True
        # While the client handles the answer, so that its first session opens faster.
        asyncio.get_running_loop().call_later(_PRELOAD_DELAY_SECONDS, self._preload)
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentInfo": {"name": "tejat", "title": "Tejat", "version": self._version},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": True},
                "sessionCapabilities": {
                    "list": {},
                    "delete": {},
                    "resume": {},
                    "close": {},
                    "additionalDirectories": {},
                },
            },
            "authMethods": self._describe_authentication(),
        }

    def _describe_authentication(self) -> list[JsonValue]:
        methods: list[JsonValue] = [
            {
                "id": each.method_id,
                "name": each.name,
                "description": each.description,
                "_meta": {_KEY_EXTENSION: {"provider": each.provider}},
            }
            for each in self._authentication_methods.values()
        ]
        if self._client.capabilities.can_log_in:
            methods.append(self._describe_login())
        return methods

    def _describe_login(self) -> JsonObject:
        name, description = _("Log in at a terminal"), _("Enter an API key or choose a local model")
        login: JsonObject = {"id": "login", "name": name, "description": description}
        # Zed runs the command in _meta, and other clients their own command with our arguments.
        command, *args = self._login_command
        legacy: JsonObject = {"label": name, "command": command, "args": [*args], "env": {}}
        return {**login, "type": "terminal", "args": [LOGIN_FLAG], "_meta": {_LOGIN_EXTENSION: legacy}}

    async def _authenticate(self, params: JsonObject) -> JsonObject:
        method = self._authentication_methods.get(string_param(params, "methodId"))
        if method is None:
            names = ", ".join(self._authentication_methods)
            raise invalid_params(f"Unknown methodId. Methods: {names}.")
        key = meta_of(params).get(_KEY_EXTENSION)
        self._host.authenticate(method, key if isinstance(key, str) and key else None)
        return {}

    async def _new_session(self, params: JsonObject) -> JsonObject:
        session = await self._open(params, new_session_id(), is_stored=False)
        asyncio.get_running_loop().call_soon(session.attach)  # after the answer, which names the session
        return {"sessionId": session.session_id, **session.state}

    async def _load_session(self, params: JsonObject) -> JsonObject:
        session = await self._open(params, string_param(params, "sessionId"), is_stored=True)
        session.replay()
        asyncio.get_running_loop().call_soon(session.attach)
        return session.state

    async def _resume_session(self, params: JsonObject) -> JsonObject:
        session = await self._open(params, string_param(params, "sessionId"), is_stored=True)
        asyncio.get_running_loop().call_soon(session.attach)
        return session.state

    async def _open(self, params: JsonObject, session_id: str, *, is_stored: bool) -> "EditorSession":
        """Raises RequestError, UsageError, ModelFailure."""
        from tejat.ui.acp.editor_files import ClientFiles
        from tejat.ui.acp.editor_terminals import ClientTerminals
        from tejat.ui.acp.mcp_servers import parse_mcp_servers
        from tejat.ui.acp.session import EditorSession

        if len(self._sessions) >= _MAX_SESSIONS:
            raise RequestError(INTERNAL_ERROR, f"Too many open sessions ({_MAX_SESSIONS}). Close one of them.")
        capabilities = self._client.capabilities
        has_files = capabilities.reads_files or capabilities.writes_files
        directory, additional = directory_param(params, "cwd"), directory_list(params, "additionalDirectories")
        terminals = ClientTerminals(self._client, session_id) if capabilities.has_terminals else None
        request = SessionRequest(
            session_id,
            directory,
            is_stored=is_stored,
            additional_directories=additional,
            mcp_servers=parse_mcp_servers(params.get("mcpServers")),
            buffers=ClientFiles(self._client, session_id, (directory, *additional)) if has_files else None,
            terminals=terminals,
        )
        if (present := self._sessions.pop(session_id, None)) is not None:
            await present.close()
        opened = await self._host.open(request)
        session = self._sessions[session_id] = EditorSession(self._client, opened, directory, terminals)
        return session

    async def _list_sessions(self, params: JsonObject) -> JsonObject:
        directory, cursor = optional_string(params, "cwd"), optional_string(params, "cursor") or "0"
        if directory is not None and not os.path.isabs(directory):
            raise invalid_params("cwd must be an absolute path.")
        if not (cursor.isascii() and cursor.isdecimal()):
            raise invalid_params("Unknown cursor.")
        found = [each for each in self._host.list_sessions(directory) if each.root]
        first, end = int(cursor), int(cursor) + _MAX_LISTED
        sessions: list[JsonValue] = [_describe_session(each) for each in found[first:end]]
        more = {"nextCursor": str(end)} if len(found) > end else {}
        return {"sessions": sessions, **more}

    async def _delete_session(self, params: JsonObject) -> JsonObject:
        session_id = string_param(params, "sessionId")
        if (present := self._sessions.pop(session_id, None)) is not None:
            await present.close()
        self._host.delete_session(session_id)
        return {}

    async def _close_session(self, params: JsonObject) -> JsonObject:
        session = self._session(params)
        del self._sessions[session.session_id]
        await session.close()
        return {}

    async def _prompt(self, params: JsonObject) -> JsonObject:
        return await self._session(params).prompt(params.get("prompt"))

    async def _set_mode(self, params: JsonObject) -> JsonObject:
        self._session(params).set_mode(string_param(params, "modeId"))
        return {}

    async def _set_config_option(self, params: JsonObject) -> JsonObject:
        return await self._session(params).set_option(string_param(params, "configId"), params.get("value"))

    def _session(self, params: JsonObject) -> "EditorSession":
        session_id = string_param(params, "sessionId")
        session = self._sessions.get(session_id)
        if session is None:
            raise invalid_params(f"No open session {sanitize_summary(session_id)!r}. Use session/new or session/load.")
        return session

    @property
    def _host(self) -> "AcpHost":
        if self._loaded_host is None:
            self._loaded_host = self._load_host()
        return self._loaded_host

    def _preload(self) -> None:
        """Import what the first session needs."""
        import_module("tejat.ui.acp.session")
        _ = self._host


_KEY_EXTENSION = "api-key"
"""The extension of Gemini CLI with which a client sends a key that the user entered."""
_LOGIN_EXTENSION = "terminal-auth"
"""The extension of Zed with which a client runs a login command that the agent names."""
_PRELOAD_DELAY_SECONDS = 0.01


def _describe_session(summary: "SessionSummary") -> JsonObject:
    updated = datetime.fromtimestamp(summary.modified, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    known: JsonObject = {"sessionId": summary.session_id, "cwd": summary.root, "updatedAt": updated}
    return {**known, "title": sanitize_summary(summary.title)} if summary.title else known
