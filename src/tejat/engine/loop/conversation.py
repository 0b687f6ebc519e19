"""A conversation with a model: its history, and the steps of the agent loop over it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tejat.config.context.discovery import ContextFiles
from tejat.core.agent.events import Answered, CompressionStarted, CompressionStatus, LoopDetected, ModelChanged, Steered
from tejat.core.agent.history_events import (
    HistoryEvent,
    HistoryReplaced,
    HistoryRewound,
    PromptAdded,
    PromptWithdrawn,
    ResponseAdded,
)
from tejat.core.errors import StoppedByHook
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.history import History, Message, model_message, user_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import (
    NO_USAGE,
    FailureKind,
    FinishReason,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Usage,
)
from tejat.engine.loop.archive import ConversationArchive
from tejat.engine.loop.budget import Budget
from tejat.engine.loop.compressor import CompressionScope
from tejat.engine.loop.context_window import SMALL_WINDOW, ContextTooSmall
from tejat.engine.loop.loop_detector import LOOP_WARNING, LoopDetector, LoopError
from tejat.engine.loop.model_request import OnChunk, request_model, request_with_hooks, truncate_tool_names
from tejat.engine.loop.request_builder import RequestBuilder, RequestTemplate
from tejat.engine.loop.response_stream import RepetitionDetected, ResponseStream, refuse_repetition
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.rewind_points import RewindPoint, RewindPoints

if TYPE_CHECKING:
    from tejat.core.agent.compaction import CarriedText, CompressionPreview
    from tejat.core.agent.events import AgentEvent, Compressed, EndReason
    from tejat.core.agent.hooks import AgentHooks
    from tejat.engine.calls.batch import Batch
    from tejat.engine.calls.scheduler import Scheduler
    from tejat.engine.loop.compressor import Compressor
    from tejat.engine.models.conversation_models import ConversationModels

_TRUNCATED_NOTE = "\n\n[This answer was cut short: {why}]"
_MAX_SHORTENINGS = 3
"""How often a request that is too long may be sent again, shorter each time."""


class Safeguards(Frozen):
    """Limits on a conversation."""

    budget: Budget
    loop_detector: LoopDetector
    compressor: Compressor


class Conversation:
    """The history of a session and the steps of the agent loop. Every step leaves the history valid, however it ends.

    `scheduler` returns the scheduler that runs calls. `models` decides which model is asked. `hooks` see every request
    before it is sent. What happens is emitted to `events`, and every change of the history to `history_events` before
    anything else depends on it.
    """

    def __init__(
        self,
        model: ModelClient,
        scheduler: Callable[[], Scheduler],
        history: History,
        template: RequestTemplate,
        safeguards: Safeguards,
        events: EventBus[AgentEvent],
        *,
        models: ConversationModels | None = None,
        hooks: AgentHooks | None = None,
        rewind_points: Sequence[RewindPoint] = (),
        archive: ConversationArchive | None = None,
    ) -> None:
        self.model = model
        self.history = history
        self.template = template
        self.budget = safeguards.budget
        self.events = events
        self.history_events = EventBus[HistoryEvent]()
        self.answer_texts: list[str] = []
        self.rewind_points = RewindPoints(rewind_points)
        self.steering: list[str] = []
        """Messages of the user since the last request."""
        self.archive = archive or ConversationArchive(head_length=template.preamble_length)
        self.carried: dict[str, CarriedText] = {}
        """What the model is told after every summary, by name."""
        self.can_recall: Callable[[], bool] = lambda: False
        """Whether the model can fetch messages that a summary has replaced."""
        self._loop_detector = safeguards.loop_detector
        self._compressor = safeguards.compressor
        self._scheduler = scheduler
        self.models = models
        self._hooks = hooks
        self._was_warned = self._ends_with_results = self._is_new_prompt = False
        self._requests = RequestBuilder(model, events.emit)

    def start_prompt(self, prompt: Message, display_text: str) -> None:
        """Add a prompt of the user."""
        self.answer_texts.clear()
        self._loop_detector.reset()
        self._was_warned = False
        self._is_new_prompt = True
        if display_text:
            self.rewind_points.add(display_text, time.time(), self.history.messages)
        self._add_user_message(prompt, display_text)

    def add_follow_up(self, text: str) -> None:
        """Add a message that makes the model continue in the same run."""
        self._add_user_message(user_message(text), "")

    def set_context(self, context: ContextFiles) -> None:
        """Use these context files from the next request on."""
        render = self.template.render_system
        system = self.template.system if render is None else render(context)
        self.template = replace(self.template, system=system, context=context)

    def add_note(self, message: Message, display_text: str) -> None:
        """Add a message that goes out with the next prompt, and stays even if that prompt is withdrawn."""
        self.history.add_user(message)
        self.history.commit()
        self._ends_with_results = False
        self.history_events.emit(PromptAdded(message, display_text, permanent=True))

    def deliver_steering(self) -> bool:
        """Add what the user has said meanwhile. Returns whether there was anything. No call may be open."""
        texts, self.steering = self.steering, []
        for text in texts:
            self.add_note(user_message(text), text)
            self.events.emit(Steered(text))
        return bool(texts)

    def withdraw_prompt(self) -> None:
        """Take back a prompt that got no answer, so that it can be sent again."""
        if self.history.drop_unanswered_prompt():
            self.rewind_points.withdraw_last(self.history.messages)
            self.history_events.emit(PromptWithdrawn())

    def rewind(self, length: int, prompt: int | None = None) -> None:
        """Keep only the first `length` messages, or what came before the prompt with this number.

        Raises ValueError, and changes nothing, if that would leave a call without its response.
        """
        rewind_points = RewindPoints(self.rewind_points)
        self.history.replace_all(rewind_points.rewind(prompt, length, self.history.messages))
        self.rewind_points = rewind_points
        self.archive.rewind(length)
        self._requests.forget_count()
        self.history_events.emit(HistoryRewound(length, prompt))

    async def change_model(self, other: ModelClient, reason: str) -> None:
        """Continue with another model and close this one."""
        before, self.model = self.model, other
        self.events.emit(ModelChanged(before.name, other.name, reason))
        await before.close()

    async def compress_if_needed(self) -> bool:
        """Summarise the history if it is close to the limit of the model. Returns whether that was tried."""
        self.template = await self._requests.prepare(self.model, self.template)
        fill_level = self._requests.fill_level(self.model, self.template, self.history.messages)
        is_due = self._compressor.should_compress(*fill_level)
        if is_due:
            await self.compress()
        return is_due

    @property
    def context_window(self) -> int:
        """The context window of the model in tokens, as far as it is known."""
        return self._requests.window.size(self.model)

    @property
    def tokens(self) -> int:
        """Estimated tokens of the next request: the last count of the service, and an estimate of what came since."""
        return self._requests.tokens(self.model, self.template, self.history.messages)

    def exceeded_limit(self) -> tuple[EndReason, str] | None:
        """Return the limit that the next request would exceed, with a message for the user; None if it may go out."""
        return self.budget.exceeded_limit(self.model.name, self.tokens if self.budget.limits_requests else 0)

    async def compress(self, *, by_user: bool = False) -> Compressed:
        """Summarise the history and emit the outcome, also if it is a failure of the model."""
        if self._hooks is not None:
            await self._hooks.before_compress(by_user=by_user)
        before = tuple(self.history.messages)
        rescope = self._compression_scope
        messages, outcome = await self._compressor.compress(self._request_summary, before, rescope(), rescope)
        outcome = replace(outcome, by_user=by_user)
        if outcome.status is CompressionStatus.COMPRESSED:
            self.history.replace_all(messages)
            kept = self.archive.replace(before, messages)
            self.rewind_points.clear()
            self._requests.forget_count()
            self.history_events.emit(HistoryReplaced(messages, kept))
        self.events.emit(outcome)
        return outcome

    def preview_compression(self) -> CompressionPreview:
        """Return what `compress` would do now, without asking the model."""
        return self._compressor.preview(self.history.messages, self._compression_scope())

    def _compression_scope(self) -> CompressionScope:
        return CompressionScope(
            tokens_before=self._requests.conversation_tokens(self.model, self.template, self.history.messages),
            room=self._requests.window.room(self.model),
            preamble_length=self.template.preamble_length,
            carried=tuple((name, text) for name, render in self.carried.items() if (text := render())),
            number_of=self.archive.number_of if self.can_recall() else None,
        )

    async def _request_summary(self, request: ModelRequest) -> ModelResponse:
        """Raises ModelFailure, also if the summary repeats itself."""
        self.events.emit(CompressionStarted())
        return await self.query(request, refuse_repetition(self._loop_detector))

    async def query(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelResponse:
        """Send a request outside of the history, counted like the others. Raises ModelFailure."""
        if self.models and (helper := self.models.helper(request.purpose)):
            try:
                return await self._query(helper, request, on_chunk)
            except ModelFailure:
                if not await self.models.drop_helper(request.purpose):
                    raise
        self.template = await self._requests.prepare(self.model, self.template)
        return await self._query(self.model, request, on_chunk)

    async def _query(self, model: ModelClient, request: ModelRequest, on_chunk: OnChunk | None) -> ModelResponse:
        self._requests.check(model, request)
        try:
            answer, seconds = await self._send_request(model, request, on_chunk)
        except StoppedByHook as stop:
            raise ModelFailure(str(stop), FailureKind.BLOCKED) from None
        self.budget.record_usage(answer.usage, model.name, answer.model)
        self.events.emit(Answered(answer, seconds, request.purpose))
        return answer

    async def _send_request(
        self, model: ModelClient, request: ModelRequest, on_chunk: OnChunk | None = None
    ) -> tuple[ModelResponse, float]:
        """Return the response and the seconds it took. Raises ModelFailure and StoppedByHook."""
        request = replace(request, lane=self.template.lane)
        emit, count = self.events.emit, self.budget.record_usage
        try:
            if self._hooks is None:
                return await request_model(model, request, emit, on_chunk=on_chunk)
            return await request_with_hooks(self._hooks, model, request, emit, on_chunk=on_chunk, on_usage=count)
        except ModelFailure as failure:
            if model is self.model:
                self._requests.learn_failure(model, request, failure)
            raise

    async def next_response(self) -> ModelResponse | None:
        """Return the next answer, added to the history; None if it was cut off because it repeated itself.

        Raises ModelFailure, LoopError and StoppedByHook.
        """
        self.budget.begin_turn()
        shortened = 0
        while True:
            try:
                return await self._stream_response()
            except ModelFailure as failure:
                is_other = failure.kind is not FailureKind.CONTEXT_FULL
                if is_other and await self._change_after(failure):
                    continue
                is_hopeless = isinstance(failure, ContextTooSmall) or shortened == _MAX_SHORTENINGS
                if is_other or is_hopeless or not await self._make_room(may_compress=shortened == 0):
                    raise
                shortened += 1

    async def choose_model(self) -> None:
        """Change to the model that should answer a new prompt. The requests after it stay with that model."""
        is_new, self._is_new_prompt = self._is_new_prompt, False
        if not is_new or self.models is None:
            return
        if other := await self.models.choose(self.model, self.history.messages, self.query):
            await self.change_model(*other)

    async def _make_room(self, *, may_compress: bool) -> bool:
        """After a request that was too long, return whether another one can be shorter."""
        self.template = self._requests.adapt(self.model, self.template)
        if may_compress and self.model.context_window > SMALL_WINDOW:
            outcome = await self.compress()
            if outcome.status is CompressionStatus.COMPRESSED:
                return True
        return self._requests.is_shorter(self.model, self.template, self.history.messages)

    async def _stream_response(self) -> ModelResponse | None:
        request = self._requests.build(self.model, self.template, self.history.messages)
        request = replace(request, allows_silence=self._ends_with_results)
        if self._hooks is not None:
            request = await self._hooks.select_tools(request, self.model.name)
        stream = ResponseStream(self.events, self._loop_detector)
        try:
            answer, seconds = await self._send_request(self.model, request, stream.receive)
        except RepetitionDetected as repetition:
            self._keep_partial(stream.text, "it repeated itself")
            self._warn_about_loop(str(repetition))
            return None
        except asyncio.CancelledError:
            self._keep_partial(stream.text, "time limit reached" if self.budget.is_time_over else "interrupted")
            raise
        answer = self._accept(answer, request, seconds)
        self.events.emit(Answered(answer, seconds))
        return answer

    def _accept(self, answer: ModelResponse, request: ModelRequest, seconds: float) -> ModelResponse:
        """Raises ModelFailure for an empty answer: the model may have spent all its tokens on thinking.

        Where silence is allowed, it ends the run, and the history stays as it is.
        """
        self.budget.record_usage(answer.usage, self.model.name, answer.model)
        if answer.is_empty and request.allows_silence and answer.reason is FinishReason.STOP:
            return answer
        if answer.is_empty:
            raise ModelFailure(lazy("The model did not answer ({why}).", why=answer.reason), FailureKind.EMPTY)
        message = self._add_model_message(truncate_tool_names(answer.message), answer.usage, answer.model, seconds)
        self._requests.learn_answer(self.model, request, answer, len(self.history.messages))
        return replace(answer, message=message)

    async def run_calls(self, calls: Sequence[FunctionCall]) -> Batch:
        """Run the calls of the last answer and add their responses to the history.

        Raises LoopError, and what a listener raised, but only when all calls are done and recorded.
        """
        from tejat.engine.calls.call_recorder import CallRecorder

        recorder = CallRecorder(self.history_events.emit, self.events.emit)
        batch = self._scheduler().batch(calls, recorder, why_cancelled=self.budget.why_cancelled)
        try:
            await batch.run()
        finally:
            recorder.flush()
            self.history.add_user(user_message(*(part for response in batch.responses for part in response)))
            self._ends_with_results = True
        if recorder.sink_error is not None:
            raise recorder.sink_error
        repetition = self._loop_detector.check_calls(calls, batch.responses)
        if repetition:
            self._warn_about_loop(repetition)
        return batch

    def _warn_about_loop(self, detail: str) -> None:
        """Warn the model the first time. Raises LoopError the second time."""
        self.events.emit(LoopDetected(detail, ends_run=self._was_warned))
        if self._was_warned:
            raise LoopError(detail)
        self._was_warned = True
        self._add_user_message(user_message(LOOP_WARNING.format(detail=detail)), "")

    def _keep_partial(self, text: str, why: str) -> None:
        """Add what was streamed to the history, marked as incomplete."""
        if text.strip():
            self._add_model_message(model_message(text + _TRUNCATED_NOTE.format(why=why)), NO_USAGE, "")

    def _add_user_message(self, message: Message, display_text: str) -> None:
        self.history.add_user(message)
        self._ends_with_results = False
        self.history_events.emit(PromptAdded(message, display_text))

    def _add_model_message(self, message: Message, usage: Usage, model: str, seconds: float | None = None) -> Message:
        added = self.history.add_model(message)
        self.answer_texts.append(added.text)
        self.history_events.emit(ResponseAdded(added, usage, model or self.model.name, seconds))
        return added

    async def _change_after(self, failure: ModelFailure) -> bool:
        """Let another model take over, or the same one try again. Raises ModelFailure if that cannot be."""
        other = None if self.models is None else await self.models.successor(self.model, failure)
        if other is not None and other is not self.model:
            await self.change_model(other, failure.message)
            if spent := self.budget.exceeded_cost_limit(other.name):
                raise ModelFailure(spent[1], FailureKind.OVER_BUDGET)
        return other is not None
