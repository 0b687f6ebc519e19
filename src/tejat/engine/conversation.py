"""One conversation with a model: its history, kept on disk and always legal, and each step of the loop over it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tejat.config.context_files import ContextFiles
from tejat.core.agent_events import (
    Answered,
    LoopDetected,
    ModelChanged,
    Steered,
    Tell,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.errors import StoppedByHook, TejatError, UsageError
from tejat.core.history import History, Message, model_message, user_message
from tejat.core.model import (
    NO_USAGE,
    Answer,
    Chunk,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    Retry,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.core.tool import FunctionDeclaration
from tejat.core.types import FunctionCall
from tejat.core.value import replace, value
from tejat.core.words import phrase
from tejat.engine.asking import ask
from tejat.engine.budget import Budget
from tejat.engine.call_watch import CallWatch
from tejat.engine.compress import Compressor
from tejat.engine.journal import Journal
from tejat.engine.loop_guard import LoopGuard
from tejat.engine.marks import Mark, Marks
from tejat.engine.tokens import estimate_tokens

if TYPE_CHECKING:
    from tejat.core.hooks import AgentHooks
    from tejat.engine.scheduler import Batch, Scheduler

_WARNING = (
    "System: Potential loop detected. Details: {detail} Look at what you have tried so far, and take another way "
    "or say what keeps you from going on."
)
_LONGEST_NAME = 128
_CUT_SHORT = "\n\n[This answer was cut short: {why}]"
_OUT_OF_REACH = frozenset({FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE})


class TurnsInCircles(TejatError):
    """The model goes on repeating itself after it was told."""


@value
class Care:
    """Who looks after a conversation."""

    budget: Budget
    guard: LoopGuard
    compressor: Compressor


@value
class Premises:
    """What every request of a conversation has in common. `declarations` says which tools may be called now.

    `instructions` is what those who offer tools say about them now; it comes after the system prompt. `context` is what
    people wrote for the model, which the system prompt holds, and `with_context` that prompt with something else there.
    """

    system: str
    declarations: Callable[[], tuple[FunctionDeclaration, ...]]
    opening: int = 0
    """How many messages stand at the beginning that are never summarised."""
    instructions: Callable[[], str] | None = None
    context: ContextFiles = ContextFiles()
    with_context: Callable[[ContextFiles], str] | None = None

    def system_now(self) -> str:
        said = "" if self.instructions is None else self.instructions()
        return f"{self.system}\n\n{said}" if said else self.system


class Conversation:
    """The steps of the loop. Each leaves the history legal, whatever happens in it.

    `scheduler` gives what runs calls, once there is one. `fallback` opens the model to go on with when this one is out
    of reach, and may raise UsageError and ModelFailure; without it there is none. `hooks` see every request first.
    """

    def __init__(
        self,
        model: ModelClient,
        scheduler: "Callable[[], Scheduler]",
        history: History,
        premises: Premises,
        care: Care,
        *,
        journal: Journal | None = None,
        fallback: Callable[[], ModelClient] | None = None,
        hooks: "AgentHooks | None" = None,
        marks: Sequence[Mark] = (),
    ) -> None:
        self.model = model
        self.history = history
        self.budget = care.budget
        self.said: list[str] = []
        self.marks = Marks(marks)
        self.steering: list[str] = []
        """What the person has said since the last request."""
        self._guard = care.guard
        self._compressor = care.compressor
        self._scheduler = scheduler
        self.premises = premises
        self._journal = journal
        self._fallback = fallback
        self._hooks = hooks
        self._was_warned = False
        self._counted_tokens = self._counted_messages = 0

    def begin(self, prompt: Message, shown: str) -> None:
        """Add what the person asks."""
        self.said.clear()
        self._guard.start()
        self._was_warned = False
        if shown:
            self.marks.add(shown, time.time(), self.history.messages)
        self._add_user(prompt, shown)

    def go_on(self, words: str) -> None:
        """Add what the model has to go on with after it had ended, in the same run."""
        self._add_user(user_message(words), "")

    def take_context(self, context: ContextFiles) -> None:
        """From the next request on the model is told this of what people wrote for it."""
        rewritten = self.premises.with_context
        system = self.premises.system if rewritten is None else rewritten(context)
        self.premises = replace(self.premises, system=system, context=context)

    def note(self, message: Message, shown: str) -> None:
        """Add what the model is to know with the next prompt, and what stays whatever becomes of that."""
        self.history.add_user(message)
        self.history.settle()
        if self._journal is not None:
            self._journal.prompt(message, shown, stays=True)

    def deliver(self, tell: Tell) -> bool:
        """Add what the person has said meanwhile, and say whether there was anything. No call may be open."""
        words, self.steering = self.steering, []
        for text in words:
            self.note(user_message(text), text)
            tell(Steered(text))
        return bool(words)

    def withdraw(self) -> None:
        """Take back a prompt that came to nothing, so that it can be asked again."""
        if self.history.withdraw():
            self.marks.prompt_withdrawn(self.history.messages)
            if self._journal is not None:
                self._journal.withdraw()

    def go_back(self, length: int, prompt: int | None = None) -> None:
        """Forget all but the first so many messages, or what came with the prompt of this number among the marks.

        Raises ValueError, and changes nothing, where that would leave a call without its result.
        """
        marks = Marks(self.marks)
        self.history.replace_all(marks.go_back(prompt, length, self.history.messages))
        self.marks = marks
        self._counted_tokens = self._counted_messages = 0
        if self._journal is not None:
            self._journal.rewound(length, prompt)

    async def change_model(self, other: ModelClient, reason: str, tell: Tell) -> None:
        """Go on with another model; this one is closed."""
        before, self.model = self.model, other
        tell(ModelChanged(before.name, other.name, reason))
        await before.close()

    async def make_room(self, tell: Tell) -> bool:
        """Summarise the history where it comes near the limit of the model, and say whether that was tried."""
        is_due = self._compressor.is_due(self.tokens, self.model.context_window)
        if is_due:
            await self.compress(tell)
        return is_due

    @property
    def tokens(self) -> int:
        """About how many tokens the next request has: what the service counted last, and what came since."""
        return self._counted_tokens + estimate_tokens(self.history.messages[self._counted_messages :])

    async def compress(self, tell: Tell, *, by_person: bool = False) -> bool:
        """Summarise the history, and say whether that made it shorter. Raises nothing that the model failed of."""
        if self._hooks is not None:
            await self._hooks.before_compressing(by_person=by_person)
        before = self.history.messages
        messages, outcome = await self._compressor.compress(
            lambda request: self.ask(request, tell),
            before,
            tokens_before=self.tokens,
            keep_first=self.premises.opening,
        )
        is_shorter = messages is not before
        if is_shorter:
            self.history.replace_all(messages)
            self.marks.clear()
            self._counted_tokens = self._counted_messages = 0
            if self._journal is not None:
                self._journal.compressed(messages)
        tell(outcome)
        return is_shorter

    async def ask(self, request: ModelRequest, tell: Tell) -> Answer:
        """One question on the side, counted like the others. Raises ModelFailure."""
        try:
            answer, seconds = await self._request(request, tell)
        except StoppedByHook as stop:
            raise ModelFailure(str(stop), FailureKind.BLOCKED) from None
        self.budget.spend(answer.usage, self.model.name, answer.model)
        tell(Answered(answer, seconds, request.purpose))
        return answer

    async def _request(
        self, request: ModelRequest, tell: Tell, watch: Callable[[Chunk], None] | None = None
    ) -> tuple[Answer, float]:
        """The answer to one request, and the seconds it took. Raises ModelFailure and StoppedByHook."""
        if self._hooks is None:
            return await ask(self.model, request, tell, watch=watch)
        await self._hooks.before_model(request, self.model.name)
        answer, seconds = await ask(self.model, request, tell, watch=watch)
        try:
            await self._hooks.after_model(request, self.model.name, answer)
        except StoppedByHook:
            self.budget.spend(answer.usage, self.model.name, answer.model)
            raise
        return answer, seconds

    async def ask_model(self, tell: Tell) -> Answer | None:
        """The next answer, in the history with its calls; None when it was cut off because it went in circles.

        Raises ModelFailure, TurnsInCircles and StoppedByHook.
        """
        self.budget.begin_turn()
        try:
            return await self._next_answer(tell)
        except ModelFailure as failure:
            if failure.kind is FailureKind.CONTEXT_FULL and await self.compress(tell):
                return await self._next_answer(tell)
            if failure.kind in _OUT_OF_REACH and self._fallback is not None:
                await self._fall_back(self._fallback, failure, tell)
                return await self._next_answer(tell)
            raise

    async def _next_answer(self, tell: Tell) -> Answer | None:
        request = ModelRequest(self.history.messages, self.premises.system_now(), self.premises.declarations())
        streamed: list[str] = []
        self._guard.forget_text()

        def watch(chunk: Chunk) -> None:
            match chunk:
                case TextDelta(text):
                    streamed.append(text)
                    tell(TextStreamed(text))
                    circle = self._guard.saw_text(text)
                    if circle:
                        raise _Circling(circle)
                case ThoughtDelta(text):
                    tell(ThoughtStreamed(text))
                case Retry():
                    streamed.clear()
                    self._guard.forget_text()
                case Answer():
                    pass

        try:
            answer, seconds = await self._request(request, tell, watch)
        except _Circling as circle:
            self._keep_partial("".join(streamed), "it repeated itself")
            self._warn(str(circle), tell)
            return None
        except asyncio.CancelledError:
            self._keep_partial("".join(streamed), "interrupted")
            raise
        answer = self._accept(answer)
        tell(Answered(answer, seconds))
        return answer

    def _accept(self, answer: Answer) -> Answer:
        """Raises ModelFailure for an answer that says nothing: it may have spent all its tokens on thinking."""
        self.budget.spend(answer.usage, self.model.name, answer.model)
        if answer.is_empty:
            raise ModelFailure(phrase("The model gave no answer ({why}).", why=answer.reason), FailureKind.EMPTY)
        message = self._add_model(_with_short_names(answer.message), answer.usage, answer.model)
        if answer.usage.prompt:
            self._counted_tokens, self._counted_messages = answer.usage.total, len(self.history.messages)
        return replace(answer, message=message)

    async def run_calls(self, calls: Sequence[FunctionCall], tell: Tell) -> "Batch":
        """Run the calls of the last answer and put their responses into the history.

        Raises TurnsInCircles, and what `tell` raises, but only when all is done and written down.
        """
        watch = CallWatch(self._journal, tell)
        batch = self._scheduler().batch(calls, watch)
        try:
            await batch.run()
        finally:
            watch.flush()
            self.history.add_user(user_message(*(part for response in batch.responses for part in response)))
        if watch.failure is not None:
            raise watch.failure
        circle = self._guard.saw_calls(calls, batch.responses)
        if circle:
            self._warn(circle, tell)
        return batch

    def _warn(self, circle: str, tell: Tell) -> None:
        """The first time the model is told that it goes in circles. Raises TurnsInCircles the second time."""
        tell(LoopDetected(circle, ends_run=self._was_warned))
        if self._was_warned:
            raise TurnsInCircles(circle)
        self._was_warned = True
        self._add_user(user_message(_WARNING.format(detail=circle)), "")

    def _keep_partial(self, text: str, why: str) -> None:
        """What was shown stays in the history, marked as what it is."""
        if text.strip():
            self._add_model(model_message(text + _CUT_SHORT.format(why=why)), NO_USAGE, "")

    def _add_user(self, message: Message, shown: str) -> None:
        self.history.add_user(message)
        if self._journal is not None:
            self._journal.prompt(message, shown)

    def _add_model(self, message: Message, usage: Usage, model: str) -> Message:
        added = self.history.add_model(message)
        self.said.append(added.text)
        if self._journal is not None:
            self._journal.answer(added, usage, model or self.model.name)
        return added

    async def _fall_back(self, fallback: Callable[[], ModelClient], failure: ModelFailure, tell: Tell) -> None:
        """Raises ModelFailure when there is no other model, as the settings name none that can be had."""
        self._fallback = None
        try:
            other = fallback()
        except (UsageError, ModelFailure) as error:
            raise ModelFailure(
                phrase("{why} No other model can take over: {error}", why=failure.message, error=error),
                failure.kind,
                status=failure.status,
                retry_after=failure.retry_after,
            ) from None
        await self.change_model(other, failure.message, tell)


def _with_short_names(message: Message) -> Message:
    """A name of a tool that nobody can have is cut: it would be repeated in every answer and every request."""
    if all(len(call.name) <= _LONGEST_NAME for call in message.calls):
        return message
    parts = (
        replace(part, name=part.name[:_LONGEST_NAME]) if isinstance(part, FunctionCall) else part
        for part in message.parts
    )
    return Message(message.role, tuple(parts))


class _Circling(Exception):
    """The text of an answer repeats itself."""
