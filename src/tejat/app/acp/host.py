"""The host of the sessions of a client program."""

import os
from collections.abc import Mapping

from tejat.app.acp.hosted_session import HostedSession, open_hosted_session
from tejat.app.run_config import load_startup_config
from tejat.config.credentials import read_api_keys
from tejat.config.paths import app_paths
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.ui.client_session import AuthenticationMethod, SessionRequest
from tejat.engine.sessions.session_store import SessionStore, SessionSummary, list_all_sessions
from tejat.models.catalogue.catalogue_file import builtin_catalogue
from tejat.models.discovery.key_check import API_KEY_SERVICES, ApiKeyService


class AcpSessionHost:
    """Opens sessions with the options of the command line. Implements `ui.acp.contract.AcpHost`."""

    def __init__(self, options: AgentOptions) -> None:
        self._options = options
        self._login: ApiKeyService | None = None
        self._paths = app_paths(self._environment)

    def authenticate(self, method: AuthenticationMethod, key: str | None) -> None:
        """Use the key of a service from now on. Raises UsageError if there is none."""
        variable = method.variable
        key = key or self._environment.get(variable) or read_api_keys(self._paths).get(variable)
        if not key:
            raise UsageError(
                _(
                    "{variable} is not set. Set it in the environment of your editor, or run `tejat` in a terminal and "
                    "use /login.",
                    variable=variable,
                )
            )
        self._options = replace(self._options, environment={**self._environment, variable: key})
        self._login = next(each for each in API_KEY_SERVICES if each.key_variable == variable)

    async def open(self, request: SessionRequest) -> HostedSession:
        """Open a session. What the user has not decided about is left out until `HostedSession.prepare`."""
        options = self._session_options(request)
        config = load_startup_config(options)
        try:
            return await open_hosted_session(options, config)
        except ModelFailure as failure:
            # Some clients log in unasked, so a login must not replace a model that works, or one that was named.
            if failure.kind is not FailureKind.NO_KEY or self._login is None or options.model is not None:
                raise
            return await open_hosted_session(replace(options, model=_first_model(self._login)), config)

    def list_sessions(self, directory: str | None) -> list[SessionSummary]:
        """The stored sessions, of one working directory or of all, newest first."""
        if directory is None:
            return list_all_sessions(self._paths.sessions)[::-1]
        return SessionStore(self._paths.sessions, directory).list_sessions()[::-1]

    def delete_session(self, session_id: str) -> None:
        """Delete a stored session, if there is one. Raises UsageError for one in use."""
        for summary in list_all_sessions(self._paths.sessions):
            if summary.session_id == session_id:
                SessionStore(self._paths.sessions, summary.root or ".").delete(summary)

    @property
    def _environment(self) -> Mapping[str, str]:
        return os.environ if self._options.environment is None else self._options.environment

    def _session_options(self, request: SessionRequest) -> AgentOptions:
        return replace(
            self._options,
            directories=(request.directory, *request.additional_directories),
            mcp_servers=request.mcp_servers,
            buffers=request.buffers,
            terminals=request.terminals,
            session_id=None if request.is_stored else request.session_id,
            resume=request.session_id if request.is_stored else None,
        )


def _first_model(service: ApiKeyService) -> str:
    return builtin_catalogue().first_models[service.provider.value]
