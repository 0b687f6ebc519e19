"""One conversation with a model: its history, kept on disk and always legal, and each step of the loop over it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tejat.config.context.discovery import ContextFiles
from tejat.core.agent.events import (
    Answered,
    EventSink,
    LoopDetected,
    ModelChanged,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.errors import StoppedByHook, TejatError, UsageError
from tejat.core.frozen import frozen, replace
from tejat.core.i18n import gettext_lazy
from tejat.core.messages.history import History, Message, model_message, user_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import (
    NO_USAGE,
    Chunk,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Retry,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.core.tools.base import FunctionDeclaration
from tejat.engine.calls.call_recorder import CallRecorder
from tejat.engine.loop.budget import Budget
from tejat.engine.loop.compression import Compressor
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.loop.model_request import request_model
from tejat.engine.loop.token_estimate import estimate_tokens
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.rewind_points import RewindPoint, RewindPoints

if TYPE_CHECKING:
    from tejat.core.agent.hooks import AgentHooks
    from tejat.engine.calls.scheduler import Batch, Scheduler

_LOOP_WARNING = (
    "System: Potential loop detected. Details: {detail} Look at what you have tried so far, and take another way "
    "or say what keeps you from going on."
)
_MAX_TOOL_NAME_LENGTH = 128
_TRUNCATED_NOTE = "\n\n[This answer was cut short: {why}]"
_UNAVAILABLE = frozenset({FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE})


class LoopError(TejatError):
    """The model goes on repeating itself after it was told."""


@frozen
class Safeguards:
    """Who looks after a conversation."""

    budget: Budget
    loop_detector: LoopDetector
    compressor: Compressor


@frozen
class RequestTemplate:
    """What every request of a conversation has in common. `declarations` says which tools may be called now.

    `instructions` is what tool providers say about their tools now; it follows the system prompt. `context` is the text
    of the context files inside the system prompt; `render_system` renders that prompt with other context files.
    """

    system: str
    declarations: Callable[[], tuple[FunctionDeclaration, ...]]
    preamble_length: int = 0
    """How many messages stand at the beginning that are never summarised."""
    instructions: Callable[[], str] | None = None
    context: ContextFiles = ContextFiles()
    render_system: Callable[[ContextFiles], str] | None = None

    def current_system(self) -> str:
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
        template: RequestTemplate,
        safeguards: Safeguards,
        *,
        journal: SessionJournal | None = None,
        fallback: Callable[[], ModelClient] | None = None,
        hooks: "AgentHooks | None" = None,
        rewind_points: Sequence[RewindPoint] = (),
    ) -> None:
        self.model = model
        self.history = history
        self.budget = safeguards.budget
        self.answer_texts: list[str] = []
        self.rewind_points = RewindPoints(rewind_points)
        self.steering: list[str] = []
        """What the person has said since the last request."""
        self._loop_detector = safeguards.loop_detector
        self._compressor = safeguards.compressor
        self._scheduler = scheduler
        self.template = template
        self._journal = journal
        self._fallback = fallback
        self._hooks = hooks
        self._was_warned = False
        self._counted_tokens = self._counted_messages = 0

    def start_prompt(self, prompt: Message, shown: str) -> None:
        """Add what the person asks."""
        self.answer_texts.clear()
        self._loop_detector.reset()
        self._was_warned = False
        if shown:
            self.rewind_points.add(shown, time.time(), self.history.messages)
        self._add_user_message(prompt, shown)

    def add_follow_up(self, text: str) -> None:
        """Add what the model has to go on with after it had ended, in the same run."""
        self._add_user_message(user_message(text), "")

    def set_context(self, context: ContextFiles) -> None:
        """From the next request on the model is told this of what people wrote for it."""
        rewritten = self.template.render_system
        system = self.template.system if rewritten is None else rewritten(context)
        self.template = replace(self.template, system=system, context=context)

    def add_note(self, message: Message, shown: str) -> None:
        """Add what the model is to know with the next prompt, and what stays whatever becomes of that."""
        self.history.add_user(message)
        self.history.commit()
        if self._journal is not None:
            self._journal.record_prompt(message, shown, stays=True)

    def deliver_steering(self, emit: EventSink) -> bool:
        """Add what the person has said meanwhile, and say whether there was anything. No call may be open."""
        words, self.steering = self.steering, []
        for text in words:
            self.add_note(user_message(text), text)
            emit(Steered(text))
        return bool(words)

    def withdraw_prompt(self) -> None:
        """Take back a prompt that came to nothing, so that it can be asked again."""
        if self.history.drop_unanswered_prompt():
            self.rewind_points.withdraw_last(self.history.messages)
            if self._journal is not None:
                self._journal.record_withdrawal()

    def rewind(self, length: int, prompt: int | None = None) -> None:
        """Forget all but the first so many messages, or what came with the prompt of this number among the marks.

        Raises ValueError, and changes nothing, where that would leave a call without its result.
        """
        marks = RewindPoints(self.rewind_points)
        self.history.replace_all(marks.rewind(prompt, length, self.history.messages))
        self.rewind_points = marks
        self._counted_tokens = self._counted_messages = 0
        if self._journal is not None:
            self._journal.record_rewind(length, prompt)

    async def change_model(self, other: ModelClient, reason: str, emit: EventSink) -> None:
        """Go on with another model; this one is closed."""
        before, self.model = self.model, other
        emit(ModelChanged(before.name, other.name, reason))
        await before.close()

    async def compress_if_needed(self, emit: EventSink) -> bool:
        """Summarise the history where it comes near the limit of the model, and say whether that was tried."""
        is_due = self._compressor.should_compress(self.tokens, self.model.context_window)
        if is_due:
            await self.compress(emit)
        return is_due

    @property
    def tokens(self) -> int:
        """About how many tokens the next request has: what the service counted last, and what came since."""
        return self._counted_tokens + estimate_tokens(self.history.messages[self._counted_messages :])

    async def compress(self, emit: EventSink, *, by_user: bool = False) -> bool:
        """Summarise the history, and say whether that made it shorter. Raises nothing that the model failed of."""
        if self._hooks is not None:
            await self._hooks.before_compress(by_user=by_user)
        before = self.history.messages
        messages, outcome = await self._compressor.compress(
            lambda request: self.query(request, emit),
            before,
            tokens_before=self.tokens,
            preamble_length=self.template.preamble_length,
        )
        is_shorter = messages is not before
        if is_shorter:
            self.history.replace_all(messages)
            self.rewind_points.clear()
            self._counted_tokens = self._counted_messages = 0
            if self._journal is not None:
                self._journal.record_compression(messages)
        emit(outcome)
        return is_shorter

    async def query(self, request: ModelRequest, emit: EventSink) -> ModelResponse:
        """One question on the side, counted like the others. Raises ModelFailure."""
        try:
            answer, seconds = await self._send_request(request, emit)
        except StoppedByHook as stop:
            raise ModelFailure(str(stop), FailureKind.BLOCKED) from None
        self.budget.record_usage(answer.usage, self.model.name, answer.model)
        emit(Answered(answer, seconds, request.purpose))
        return answer

    async def _send_request(
        self, request: ModelRequest, emit: EventSink, on_chunk: Callable[[Chunk], None] | None = None
    ) -> tuple[ModelResponse, float]:
        """The answer to one request, and the seconds it took. Raises ModelFailure and StoppedByHook."""
        if self._hooks is None:
            return await request_model(self.model, request, emit, on_chunk=on_chunk)
        await self._hooks.before_model(request, self.model.name)
        answer, seconds = await request_model(self.model, request, emit, on_chunk=on_chunk)
        try:
            await self._hooks.after_model(request, self.model.name, answer)
        except StoppedByHook:
            self.budget.record_usage(answer.usage, self.model.name, answer.model)
            raise
        return answer, seconds

    async def next_response(self, emit: EventSink) -> ModelResponse | None:
        """The next answer, in the history with its calls; None when it was cut off because it went in circles.

        Raises ModelFailure, TurnsInCircles and StoppedByHook.
        """
        self.budget.begin_turn()
        try:
            return await self._stream_response(emit)
        except ModelFailure as failure:
            if failure.kind is FailureKind.CONTEXT_FULL and await self.compress(emit):
                return await self._stream_response(emit)
            if failure.kind in _UNAVAILABLE and self._fallback is not None:
                await self._use_fallback(self._fallback, failure, emit)
                return await self._stream_response(emit)
            raise

    async def _stream_response(self, emit: EventSink) -> ModelResponse | None:
        request = ModelRequest(self.history.messages, self.template.current_system(), self.template.declarations())
        streamed: list[str] = []
        self._loop_detector.reset_text()

        def watch(chunk: Chunk) -> None:
            match chunk:
                case TextDelta(text):
                    streamed.append(text)
                    emit(TextStreamed(text))
                    circle = self._loop_detector.check_text(text)
                    if circle:
                        raise _RepetitionDetected(circle)
                case ThoughtDelta(text):
                    emit(ThoughtStreamed(text))
                case Retry():
                    streamed.clear()
                    self._loop_detector.reset_text()
                case ModelResponse():
                    pass

        try:
            answer, seconds = await self._send_request(request, emit, watch)
        except _RepetitionDetected as circle:
            self._keep_partial("".join(streamed), "it repeated itself")
            self._warn_about_loop(str(circle), emit)
            return None
        except asyncio.CancelledError:
            self._keep_partial("".join(streamed), "interrupted")
            raise
        answer = self._accept(answer)
        emit(Answered(answer, seconds))
        return answer

    def _accept(self, answer: ModelResponse) -> ModelResponse:
        """Raises ModelFailure for an answer that says nothing: it may have spent all its tokens on thinking."""
        self.budget.record_usage(answer.usage, self.model.name, answer.model)
        if answer.is_empty:
            raise ModelFailure(gettext_lazy("The model gave no answer ({why}).", why=answer.reason), FailureKind.EMPTY)
        message = self._add_model_message(_truncate_tool_names(answer.message), answer.usage, answer.model)
        if answer.usage.prompt:
            self._counted_tokens, self._counted_messages = answer.usage.total, len(self.history.messages)
        return replace(answer, message=message)

    async def run_calls(self, calls: Sequence[FunctionCall], emit: EventSink) -> "Batch":
        """Run the calls of the last answer and put their responses into the history.

        Raises TurnsInCircles, and what `tell` raises, but only when all is done and written down.
        """
        watch = CallRecorder(self._journal, emit)
        batch = self._scheduler().batch(calls, watch)
        try:
            await batch.run()
        finally:
            watch.flush()
            self.history.add_user(user_message(*(part for response in batch.responses for part in response)))
        if watch.sink_error is not None:
            raise watch.sink_error
        circle = self._loop_detector.check_calls(calls, batch.responses)
        if circle:
            self._warn_about_loop(circle, emit)
        return batch

    def _warn_about_loop(self, circle: str, emit: EventSink) -> None:
        """The first time the model is told that it goes in circles. Raises TurnsInCircles the second time."""
        emit(LoopDetected(circle, ends_run=self._was_warned))
        if self._was_warned:
            raise LoopError(circle)
        self._was_warned = True
        self._add_user_message(user_message(_LOOP_WARNING.format(detail=circle)), "")

    def _keep_partial(self, text: str, why: str) -> None:
        """What was shown stays in the history, marked as what it is."""
        if text.strip():
            self._add_model_message(model_message(text + _TRUNCATED_NOTE.format(why=why)), NO_USAGE, "")

    def _add_user_message(self, message: Message, shown: str) -> None:
        self.history.add_user(message)
        if self._journal is not None:
            self._journal.record_prompt(message, shown)

    def _add_model_message(self, message: Message, usage: Usage, model: str) -> Message:
        added = self.history.add_model(message)
        self.answer_texts.append(added.text)
        if self._journal is not None:
            self._journal.record_answer(added, usage, model or self.model.name)
        return added

    async def _use_fallback(self, fallback: Callable[[], ModelClient], failure: ModelFailure, emit: EventSink) -> None:
        """Raises ModelFailure when there is no other model, as the settings name none that can be had."""
        self._fallback = None
        try:
            other = fallback()
        except (UsageError, ModelFailure) as error:
            raise ModelFailure(
                gettext_lazy("{why} No other model can take over: {error}", why=failure.message, error=error),
                failure.kind,
                status=failure.status,
                retry_after=failure.retry_after,
            ) from None
        await self.change_model(other, failure.message, emit)


def _truncate_tool_names(message: Message) -> Message:
    """A name of a tool that nobody can have is cut: it would be repeated in every answer and every request."""
    if all(len(call.name) <= _MAX_TOOL_NAME_LENGTH for call in message.calls):
        return message
    parts = (
        replace(part, name=part.name[:_MAX_TOOL_NAME_LENGTH]) if isinstance(part, FunctionCall) else part
        for part in message.parts
    )
    return Message(message.role, tuple(parts))


class _RepetitionDetected(Exception):
    """The text of an answer repeats itself."""
