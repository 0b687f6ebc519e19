"""Requests of a conversation, fitted into the context window of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tejat.config.context.discovery import ContextFiles
from tejat.core.agent.events import Noticed, Severity
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message
from tejat.core.messages.tokens import (
    estimate_declaration_tokens,
    estimate_message_tokens,
    estimate_request_tokens,
    estimate_text_tokens,
)
from tejat.core.model import MAIN_LANE, FailureKind, ModelClient, ModelFailure, ModelRequest, ModelResponse
from tejat.engine.loop.context_window import ContextWindow, is_lean_window
from tejat.engine.loop.history_view import FittedHistory, HistoryView

if TYPE_CHECKING:
    from tejat.core.agent.events import EventSink


class RequestTemplate(Frozen):
    """The common part of every request of a conversation.

    `declarations` returns the tools that may be called now, `instructions` what tool providers say about them, which
    follows the system prompt. `context` is the text of the context files inside the system prompt; `render_system`
    renders that prompt with other context files, and for the context window that the model has then. `lane` and
    `temperature` are those of the requests.
    """

    system: str
    declarations: Callable[[], tuple[FunctionDeclaration, ...]]
    preamble_length: int = 0
    """The number of messages at the beginning that are never summarised."""
    instructions: Callable[[], str] | None = None
    context: ContextFiles = ContextFiles()
    render_system: Callable[[ContextFiles], str] | None = None
    lane: str = MAIN_LANE
    temperature: float | None = None

    def current_system(self) -> str:
        instructions = "" if self.instructions is None else self.instructions()
        return f"{self.system}\n\n{instructions}" if instructions else self.system


class RequestBuilder:
    """Builds requests that fit, and learns from what the service says about their size."""

    def __init__(self, model: ModelClient, emit: EventSink) -> None:
        self.window = ContextWindow()
        self._emit = emit
        self._noticed: set[str] = set()
        self._rendered_window = model.context_window
        self._view = HistoryView()
        self._view_key: tuple[ModelClient, int] | None = None
        self._declarations: tuple[FunctionDeclaration, ...] = ()
        self._declaration_tokens = 0
        self._last_estimate = 0
        self._counted_tokens = self._counted_messages = 0

    async def prepare(self, model: ModelClient, template: RequestTemplate) -> RequestTemplate:
        """Find out about the model, and return the template for its context window."""
        for notice in await model.prepare():
            self._notice_once(notice, Severity.WARNING)
        return self.adapt(model, template)

    def adapt(self, model: ModelClient, template: RequestTemplate) -> RequestTemplate:
        """Return the template for the context window that is known now."""
        size = self.window.size(model)
        if is_lean_window(size):
            notice = _(
                "{model} has a context window of {size:,} tokens. Using a short system prompt and fewer tools.",
                model=model.name,
                size=size,
            )
            self._notice_once(notice, Severity.NOTE)
        if size == self._rendered_window or template.render_system is None:
            return template
        self._rendered_window = size
        return replace(template, system=template.render_system(template.context))

    def build(self, model: ModelClient, template: RequestTemplate, messages: Sequence[Message]) -> ModelRequest:
        """Return a request with all messages, shortened where they would not fit.

        Raises ContextTooSmall with advice for the user if nothing more can be left out.
        """
        system, tools = template.current_system(), template.declarations()
        fixed = self._fixed_tokens(system, tools)
        fitted = self._fit(model, messages, fixed, template.preamble_length)
        self._last_estimate = estimated = fixed + fitted.tokens
        # Estimates for large windows are too vague to refuse a request that might fit.
        if estimated > self.window.room(model) and self.window.is_small(model):
            raise self.window.too_small(model, estimated)
        if fitted.is_shortened:
            notice = _(
                "The conversation exceeds the context window of {model} ({window:,} tokens). Long and "
                "older tool results are shortened.",
                model=model.name,
                window=self.window.size(model),
            )
            self._notice_once(notice, Severity.NOTE)
        return ModelRequest(fitted.messages, system, tools, temperature=template.temperature)

    def is_shorter(self, model: ModelClient, template: RequestTemplate, messages: Sequence[Message]) -> bool:
        """Return whether the next request would be shorter than the last one."""
        fixed = self._fixed_tokens(template.current_system(), template.declarations())
        return fixed + self._fit(model, messages, fixed, template.preamble_length).tokens < self._last_estimate

    def _fit(self, model: ModelClient, messages: Sequence[Message], fixed: int, preamble_length: int) -> FittedHistory:
        """Return the messages as they would be sent with a system prompt and tools of `fixed` tokens."""
        key = model, self.window.size(model)
        if self._view_key != key:
            self._view, self._view_key = HistoryView(), key
        room = self.window.room(model)
        if self._counted_tokens and not self.window.is_small(model) and self._view.is_whole:
            # A late turn must not cost more than an early one.
            tokens = self.history_tokens(model, messages)
            if tokens <= room:
                return FittedHistory(messages, max(0, tokens - fixed))
        return self._view.fit(messages, room=room - fixed, preamble_length=preamble_length)

    def _fixed_tokens(self, system: str, tools: tuple[FunctionDeclaration, ...]) -> int:
        """Return the estimated tokens of the system prompt and the tools."""
        if tools is not self._declarations:
            self._declarations = tools
            self._declaration_tokens = sum(map(estimate_declaration_tokens, tools))
        return estimate_text_tokens(system) + self._declaration_tokens

    def check(self, model: ModelClient, request: ModelRequest) -> None:
        """Raises ContextTooSmall if a request on the side is too long for a small window."""
        estimated = estimate_request_tokens(request)
        if self.window.is_small(model) and self.window.to_tokens(estimated) > self.window.size(model):
            raise self.window.too_small(model, estimated)

    def tokens(self, model: ModelClient, template: RequestTemplate, messages: Sequence[Message]) -> int:
        """Return the tokens of the next request: the last count of the service, and an estimate of what came since."""
        is_small = self.window.is_small(model)
        if self._counted_tokens and not is_small:
            return self.history_tokens(model, messages)
        fixed = self._fixed_tokens(template.current_system(), template.declarations())
        if not is_small:
            return self.history_tokens(model, messages) + fixed
        return self.window.to_tokens(fixed + self._fit(model, messages, fixed, template.preamble_length).tokens)

    def fill_level(self, model: ModelClient, template: RequestTemplate, messages: Sequence[Message]) -> tuple[int, int]:
        """Return tokens and a context window, to decide whether a summary is needed.

        A small window counts as full when whole messages would have to be left out, and as empty before.
        """
        size = self.window.size(model)
        if not self.window.is_small(model):
            return self.conversation_tokens(model, template, messages), size
        fixed = self._fixed_tokens(template.current_system(), template.declarations())
        has_no_room = self._fit(model, messages, fixed, template.preamble_length).dropped > 0
        return (self.conversation_tokens(model, template, messages), 0) if has_no_room else (0, size)

    def conversation_tokens(self, model: ModelClient, template: RequestTemplate, messages: Sequence[Message]) -> int:
        """Return the tokens that a summary is to reduce, in the measure of `fill_level`."""
        is_small = self.window.is_small(model)
        return self.history_tokens(model, messages) if is_small else self.tokens(model, template, messages)

    def history_tokens(self, model: ModelClient, messages: Sequence[Message]) -> int:
        """Return the tokens of the history with nothing left out."""
        if self.window.is_small(model):
            return self._view.count(messages)
        return self._counted_tokens + estimate_message_tokens(messages[self._counted_messages :])

    def forget_count(self) -> None:
        """Forget the last count of the service, because the history was replaced."""
        self._counted_tokens = self._counted_messages = 0

    def learn_answer(self, model: ModelClient, request: ModelRequest, answer: ModelResponse, messages: int) -> None:
        """Learn from the size that the service has counted. The history has `messages` messages with the answer."""
        if not answer.usage.prompt:
            return
        self._counted_tokens, self._counted_messages = answer.usage.total, messages
        if self.window.is_small(model):
            self.window.learn_count(model, estimate_request_tokens(request), answer.usage.prompt)

    def learn_failure(self, model: ModelClient, request: ModelRequest, failure: ModelFailure) -> None:
        """Learn from a failure, if the request was too long."""
        if failure.kind is FailureKind.CONTEXT_FULL:
            self.window.learn_overflow(model, estimate_request_tokens(request), failure.overflow)

    def _notice_once(self, message: str, severity: Severity) -> None:
        if message not in self._noticed:
            self._noticed.add(message)
            self._emit(Noticed(message, severity))
