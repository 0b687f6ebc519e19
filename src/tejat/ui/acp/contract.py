"""The sessions and the login that the composition root provides for the protocol."""

from collections.abc import Sequence
from typing import Protocol

from tejat.core.messages.types import FunctionCall
from tejat.core.tools.call_details import CallDetails
from tejat.core.ui.client_session import (
    AuthenticationMethod,
    ContextUsage,
    ModelOption,
    ModeOption,
    SessionRequest,
)
from tejat.core.ui.prompter import UserPrompter
from tejat.engine.sessions.session_store import SessionSummary
from tejat.ui.contract import UiSession


class AcpSession(UiSession, Protocol):
    """A session that a client drives."""

    @property
    def session_id(self) -> str: ...

    @property
    def model_name(self) -> str:
        """The full name of the model, with which it can be chosen again."""
        ...

    @property
    def context_usage(self) -> ContextUsage: ...

    def call_details(self, call: FunctionCall) -> CallDetails:
        """Describe a call of the model, also one of an unknown tool or with wrong arguments."""
        ...

    def modes(self) -> Sequence[ModeOption]:
        """The approval modes that may be chosen here; `status.mode` is the current one."""
        ...

    def set_mode(self, mode: str) -> None:
        """Switch the approval mode. Raises UsageError for one that may not be chosen."""
        ...

    def models(self) -> Sequence[ModelOption]:
        """The models that may be chosen, the current one among them. No service is asked."""
        ...

    async def set_model(self, name: str, user: UserPrompter) -> None:
        """Change the model. Raises UsageError and ModelFailure, and keeps it, if the other one cannot be used."""
        ...

    async def prepare(self, user: UserPrompter) -> "AcpSession | None":
        """Ask what must be decided before the first prompt, and return the session to use from now on.

        That is another one if the answers make a difference; this one is closed then. None if the user quits: it is
        asked again next time. Raises as `AcpHost.open` does.
        """
        ...

    async def close(self) -> None: ...


class AcpHost(Protocol):
    """Opens sessions. Several may be open at once."""

    def authenticate(self, method: AuthenticationMethod, key: str | None) -> None:
        """Use a method from now on; `key` is what the user entered in the client. Raises UsageError."""
        ...

    async def open(self, request: SessionRequest) -> AcpSession:
        """Open a new or a stored session. Nothing of a folder is used that the user has not decided about.

        Raises UsageError, and ModelFailure with NO_KEY if no model can be asked before the user logs in.
        """
        ...

    def list_sessions(self, directory: str | None) -> Sequence[SessionSummary]:
        """The stored sessions, of one working directory or of all, newest first."""
        ...

    def delete_session(self, session_id: str) -> None:
        """Delete a stored session, if there is one. Raises UsageError for one in use."""
        ...
