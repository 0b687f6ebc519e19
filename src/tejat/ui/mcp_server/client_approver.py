"""Approvals through the MCP client that made the call, in the way its protocol revision has."""

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Protocol

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    Confirmation,
    Outcome,
)
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.mcp_server.approval_form import ApprovalForm, build_approval_form, parse_approval_reply
from tejat.ui.shared.approval.question_form import build_question_form, parse_question_reply

APPROVAL_INPUT = "approval"
"""Key of the approval among the input requests of a result."""

_MAX_PENDING = 256
_PENDING_SECONDS = 900.0


class ApprovalChannel(Protocol):
    """Way to ask the user of the client that made the running call."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Ask for approval. Raises ToolFailure."""
        ...


current_channel: ContextVar[ApprovalChannel] = ContextVar("caller")
"""Channel of the call that the current task runs."""


class ChannelApprover:
    """Approver that asks through the channel of the current call."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        return await current_channel.get().ask(question)


class NoApprovalChannel:
    """Channel of a client without elicitation. Refuses, naming the rule that would allow the call."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        if isinstance(question.confirmation, AskUserConfirmation):
            raise UserUnavailable
        message = (
            f'"{question.tool_name}" needs approval, but this client cannot ask its user: it did not declare '
            "elicitation in form mode."
        )
        hint = "" if question.always is None else f"Add a rule to allow it: {question.always}"
        raise ToolFailure(" ".join(filter(None, (message, question.reason, hint))), ErrorType.POLICY_VIOLATION)


class ElicitationChannel:
    """Channel of a client that is asked while the call waits. `elicit` returns None if there is no answer."""

    def __init__(self, elicit: Callable[[ApprovalForm], Awaitable[JsonObject | None]]) -> None:
        self._elicit = elicit

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        form = _build_form(question)
        result = await self._elicit(form)
        return ApprovalReply(Outcome.CANCEL) if result is None else _parse_reply(result, form, question)


class PendingApprovals:
    """Unanswered requests of stateless clients. Each state is valid for one answer to one request."""

    def __init__(self) -> None:
        self._pending: dict[str, tuple[str, float]] = {}

    def register(self, fingerprint: str) -> str:
        """Return the state that the client has to send back with the answer."""
        state = secrets.token_urlsafe(24)
        while len(self._pending) >= _MAX_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[state] = fingerprint, time.monotonic() + _PENDING_SECONDS
        return state

    def take(self, state: str) -> str | None:
        """Return the fingerprint of the request for this state and invalidate the state."""
        fingerprint, until = self._pending.pop(state, ("", 0.0))
        return fingerprint if time.monotonic() < until else None


class InputRequiredChannel:
    """Channel of a stateless client that repeats the call together with the answer.

    An answer counts once, and only for the exact request it was given to. Any other request is kept in `pending`, and
    the call ends without having done anything.
    """

    def __init__(
        self, questions: PendingApprovals, call: JsonObject, *, state: str | None, answer: JsonObject | None
    ) -> None:
        self._pending_approvals = questions
        self._call = dump_json(call)
        self._expected_fingerprint = None if state is None else questions.take(state)
        self._answer = answer
        self.pending: tuple[str, ApprovalForm] | None = None

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        form = _build_form(question)
        fingerprint = _fingerprint(self._call, form, question)
        answer, expected = self._answer, self._expected_fingerprint
        if answer is not None and expected is not None and secrets.compare_digest(fingerprint, expected):
            self._answer = None
            return _parse_reply(answer, form, question)
        self.pending = self._pending_approvals.register(fingerprint), form
        return ApprovalReply(Outcome.CANCEL)


def _build_form(question: ApprovalRequest) -> ApprovalForm:
    asked = question.confirmation
    if not isinstance(asked, AskUserConfirmation):
        return build_approval_form(question)
    form = build_question_form(asked)
    return ApprovalForm(form.message, form.schema, ())


def _parse_reply(result: JsonObject, form: ApprovalForm, question: ApprovalRequest) -> ApprovalReply:
    asked = question.confirmation
    if isinstance(asked, AskUserConfirmation):
        return parse_question_reply(result, asked)
    return parse_approval_reply(result, form)


def _fingerprint(call: str, form: ApprovalForm, question: ApprovalRequest) -> str:
    """Hash the call and all that was shown, so that equal fingerprints mean the same action."""
    digest = question.confirmation.digest if isinstance(question.confirmation, Confirmation) else ""
    parts: list[JsonValue] = [call, form.message, list(form.choices), digest]
    return hashlib.sha256(dump_json(parts).encode()).hexdigest()
