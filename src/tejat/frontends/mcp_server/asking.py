"""Who answers for the person when a call of a client must be asked about: the client, as its revision has it."""

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Protocol

from tejat.core.confirm import Answer, Confirmation, Outcome, Question
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.json_text import dump_json
from tejat.core.types import JsonObject, JsonValue
from tejat.frontends.mcp_server.questions import Form, answer_of, form_of

QUESTION = "approval"
"""The name of our question among those that an answer may hold."""

_MOST_OPEN = 256
_OPEN_SECONDS = 900.0


class Caller(Protocol):
    """Whoever made the call that is being run."""

    async def ask(self, question: Question) -> Answer:
        """Raises ToolFailure."""
        ...


caller: ContextVar[Caller] = ContextVar("caller")
"""The one whose call the running task belongs to."""


class ClientApprover:
    """Asks whoever made the call."""

    async def ask(self, question: Question) -> Answer:
        return await caller.get().ask(question)


class SilentCaller:
    """A client that has nobody to ask. What needs an answer is refused, with the rule that would have allowed it."""

    async def ask(self, question: Question) -> Answer:
        hint = "" if question.always is None else f" A rule that would allow it: {question.always}"
        raise ToolFailure(
            f'Calling "{question.tool_name}" needs the confirmation of a person, and this client cannot ask one: it '
            "did not declare elicitation in form mode." + (f" {question.reason}" if question.reason else "") + hint,
            ErrorType.POLICY_VIOLATION,
        )


class AskedCaller:
    """A client that is asked while the call waits. `elicit` gives its answer, None where none came."""

    def __init__(self, elicit: Callable[[Form], Awaitable[JsonObject | None]]) -> None:
        self._elicit = elicit

    async def ask(self, question: Question) -> Answer:
        form = form_of(question)
        result = await self._elicit(form)
        return Answer(Outcome.CANCEL) if result is None else answer_of(result, form)


class OpenQuestions:
    """What stateless clients were asked and have not answered yet. A state is good for one answer to one question."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[str, float]] = {}

    def ask(self, mark: str) -> str:
        """The state to be given back with the answer."""
        state = secrets.token_urlsafe(24)
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        self._open[state] = mark, time.monotonic() + _OPEN_SECONDS
        return state

    def close(self, state: str) -> str | None:
        """The mark of the question that the state belongs to; it belongs to none any more after this."""
        mark, until = self._open.pop(state, ("", 0.0))
        return mark if time.monotonic() < until else None


class ReturningCaller:
    """A client that comes back with the answer and makes the same call again.

    The answer counts once, and only for the very question that it was given to. Any other question is kept in `asked`,
    and the call ends there with nothing done.
    """

    def __init__(
        self, questions: OpenQuestions, call: JsonObject, *, state: str | None, answer: JsonObject | None
    ) -> None:
        self._questions = questions
        self._call = dump_json(call)
        self._answered = None if state is None else questions.close(state)
        self._answer = answer
        self.asked: tuple[str, Form] | None = None

    async def ask(self, question: Question) -> Answer:
        form = form_of(question)
        mark = _mark(self._call, form, question)
        if self._answer is not None and self._answered is not None and secrets.compare_digest(mark, self._answered):
            answer, self._answer = self._answer, None
            return answer_of(answer, form)
        self.asked = self._questions.ask(mark), form
        return Answer(Outcome.CANCEL)


def _mark(call: str, form: Form, question: Question) -> str:
    """Two questions have the same mark where the same would run: the call, all that is shown, and what is too long."""
    digest = question.confirmation.digest if isinstance(question.confirmation, Confirmation) else ""
    parts: list[JsonValue] = [call, form.message, list(form.choices), digest]
    return hashlib.sha256(dump_json(parts).encode()).hexdigest()
