"""Who answers for the person when a call of a client must be asked about: the client, as its revision has it."""

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Protocol

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Confirmation, Outcome
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.mcp_server.approval_form import ApprovalForm, build_approval_form, parse_approval_reply

APPROVAL_INPUT = "approval"
"""The name of our question among those that an answer may hold."""

_MAX_PENDING = 256
_PENDING_SECONDS = 900.0


class ApprovalChannel(Protocol):
    """Whoever made the call that is being run."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Raises ToolFailure."""
        ...


current_channel: ContextVar[ApprovalChannel] = ContextVar("caller")
"""The one whose call the running task belongs to."""


class ClientApprover:
    """Asks whoever made the call."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        return await current_channel.get().ask(question)


class NoApprovalChannel:
    """A client that has nobody to ask. What needs an answer is refused, with the rule that would have allowed it."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        hint = "" if question.always is None else f" A rule that would allow it: {question.always}"
        raise ToolFailure(
            f'Calling "{question.tool_name}" needs the confirmation of a person, and this client cannot ask one: it '
            "did not declare elicitation in form mode." + (f" {question.reason}" if question.reason else "") + hint,
            ErrorType.POLICY_VIOLATION,
        )


class ElicitationChannel:
    """A client that is asked while the call waits. `elicit` gives its answer, None where none came."""

    def __init__(self, elicit: Callable[[ApprovalForm], Awaitable[JsonObject | None]]) -> None:
        self._elicit = elicit

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        form = build_approval_form(question)
        result = await self._elicit(form)
        return ApprovalReply(Outcome.CANCEL) if result is None else parse_approval_reply(result, form)


class PendingApprovals:
    """What stateless clients were asked and have not answered yet. A state is good for one answer to one question."""

    def __init__(self) -> None:
        self._pending: dict[str, tuple[str, float]] = {}

    def register(self, fingerprint: str) -> str:
        """The state to be given back with the answer."""
        state = secrets.token_urlsafe(24)
        while len(self._pending) >= _MAX_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[state] = fingerprint, time.monotonic() + _PENDING_SECONDS
        return state

    def take(self, state: str) -> str | None:
        """The mark of the question that the state belongs to; it belongs to none any more after this."""
        fingerprint, until = self._pending.pop(state, ("", 0.0))
        return fingerprint if time.monotonic() < until else None


class InputRequiredChannel:
    """A client that comes back with the answer and makes the same call again.

    The answer counts once, and only for the very question that it was given to. Any other question is kept in `asked`,
    and the call ends there with nothing done.
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
        form = build_approval_form(question)
        fingerprint = _fingerprint(self._call, form, question)
        if (
            self._answer is not None
            and self._expected_fingerprint is not None
            and secrets.compare_digest(fingerprint, self._expected_fingerprint)
        ):
            answer, self._answer = self._answer, None
            return parse_approval_reply(answer, form)
        self.pending = self._pending_approvals.register(fingerprint), form
        return ApprovalReply(Outcome.CANCEL)


def _fingerprint(call: str, form: ApprovalForm, question: ApprovalRequest) -> str:
    """Two questions have the same mark where the same would run: the call, all that is shown, and what is too long."""
    digest = question.confirmation.digest if isinstance(question.confirmation, Confirmation) else ""
    parts: list[JsonValue] = [call, form.message, list(form.choices), digest]
    return hashlib.sha256(dump_json(parts).encode()).hexdigest()
