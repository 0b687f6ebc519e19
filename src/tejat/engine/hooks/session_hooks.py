"""Hooks around a session: they may stop a prompt or a request, and add context for the model."""

from collections.abc import Callable, Sequence

from tejat.core.agent.events import Noticed, SessionEnd, SessionSource
from tejat.core.agent.hooks import HookEvent
from tejat.core.approval.confirmation import ApprovalRequest, Approver, InfoConfirmation, Outcome
from tejat.core.errors import StoppedByHook
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message
from tejat.core.messages.message_json import message_part_to_json
from tejat.core.messages.types import InlineData, JsonObject, JsonValue, Text
from tejat.core.model import ModelRequest, ModelResponse
from tejat.engine.hooks.dispatcher import (
    HookDispatcher,
    combined_context,
    combined_objection,
    first_denial,
    first_stop,
    hook_label,
    wrap_context,
)
from tejat.engine.hooks.result import HookResult as HookOutcome
from tejat.engine.hooks.result import ToolMode, ToolSelection
from tejat.engine.hooks.tool_hooks import ToolCallHooks
from tejat.policy.tool_names import parse_tool_name, tool_names

_APPROVALS = frozenset(
    {
        Outcome.PROCEED_ONCE,
        Outcome.PROCEED_ALWAYS,
        Outcome.PROCEED_ALWAYS_AND_SAVE,
        Outcome.PROCEED_ALWAYS_SERVER,
        Outcome.PROCEED_ALWAYS_TOOL,
    }
)


class SessionHooks:
    """Implements `core.agent.hooks.AgentHooks`. `tool_hooks` are the hooks around calls.

    If a hook asks or fails, the approver decides; without an approver nothing is sent. `warnings` are for the user.
    """

    def __init__(self, dispatcher: HookDispatcher, approver: Approver | None, warnings: tuple[str, ...] = ()) -> None:
        self.bind_session = dispatcher.bind_session
        self.tool_hooks = ToolCallHooks(dispatcher)
        self.warnings = (*warnings, *dispatcher.warnings())
        self._dispatcher = dispatcher
        self._approver = approver
        self._has_started = False

    def for_agent(
        self, agent_id: str, agent_name: str, approver: Approver | None, emit: Callable[[Noticed], None]
    ) -> "SessionHooks":
        """Return the same hooks for the calls and requests of a sub-agent, which `approver` asks for."""
        return SessionHooks(self._dispatcher.for_agent(agent_id, agent_name, emit), approver)

    async def before_prompt(self, prompt: str, *, source: SessionSource) -> str:
        """Raises StoppedByHook."""
        outcomes: list[HookOutcome] = []
        if not self._has_started:
            self._has_started = True
            fields: JsonObject = {"source": source.value}
            outcomes += await self._dispatcher.run_event_hooks(HookEvent.SESSION_START, fields, trigger=source.value)
        if self._dispatcher.has_hooks(HookEvent.BEFORE_AGENT):
            results = await self._dispatcher.run_event_hooks(HookEvent.BEFORE_AGENT, {"prompt": prompt})
            await self._enforce(results, lazy("If you continue, the prompt is sent to the model."))
            outcomes += results
        return combined_context(outcomes)

    async def after_prompt(self, prompt: str, answer: str, *, is_repeated: bool) -> str:
        self.tool_hooks.raise_failure()
        if not self._dispatcher.has_hooks(HookEvent.AFTER_AGENT):
            return ""
        fields: JsonObject = {"prompt": prompt, "prompt_response": answer, "stop_hook_active": is_repeated}
        outcomes = await self._dispatcher.run_event_hooks(HookEvent.AFTER_AGENT, fields)
        denying = first_denial(outcomes)
        return "" if denying is None or first_stop(outcomes) else wrap_context(denying.reason)

    async def select_tools(self, request: ModelRequest, model: str) -> ModelRequest:
        """Raises StoppedByHook."""
        if not request.tools or not self._dispatcher.has_hooks(HookEvent.BEFORE_TOOL_SELECTION):
            return request
        fields: JsonObject = {"llm_request": _request_json(request, model)}
        outcomes = await self._dispatcher.run_event_hooks(HookEvent.BEFORE_TOOL_SELECTION, fields)
        await self._enforce(outcomes, lazy("If you continue, the request is sent to the model."))
        return _limit_tools(request, [outcome.selection for outcome in outcomes if outcome.selection is not None])

    async def before_model(self, request: ModelRequest, model: str) -> None:
        """Raises StoppedByHook."""
        if self._dispatcher.has_hooks(HookEvent.BEFORE_MODEL):
            fields: JsonObject = {"llm_request": _request_json(request, model)}
            outcomes = await self._dispatcher.run_event_hooks(HookEvent.BEFORE_MODEL, fields)
            await self._enforce(outcomes, lazy("If you continue, the request is sent to the model."))

    async def after_model(self, request: ModelRequest, model: str, answer: ModelResponse) -> None:
        """Raises StoppedByHook."""
        if not self._dispatcher.has_hooks(HookEvent.AFTER_MODEL):
            return
        fields: JsonObject = {"llm_request": _request_json(request, model), "llm_response": _response_json(answer)}
        outcomes = await self._dispatcher.run_event_hooks(HookEvent.AFTER_MODEL, fields)
        _raise_if_stopped(outcomes)

    async def before_compress(self, *, by_user: bool = False) -> None:
        trigger = "manual" if by_user else "auto"
        await self._dispatcher.run_event_hooks(HookEvent.PRE_COMPRESS, {"trigger": trigger}, trigger=trigger)

    async def before_subagent(self, prompt: str) -> str:
        """Raises StoppedByHook."""
        if not self._dispatcher.has_hooks(HookEvent.SUBAGENT_START):
            return ""
        outcomes = await self._dispatcher.run_event_hooks(
            HookEvent.SUBAGENT_START, {"prompt": prompt}, trigger=self._dispatcher.agent_name
        )
        await self._enforce(outcomes, lazy("If you continue, the sub-agent starts."))
        return combined_context(outcomes)

    async def after_subagent(self, prompt: str, result: str, *, is_repeated: bool) -> str:
        if not self._dispatcher.has_hooks(HookEvent.SUBAGENT_STOP):
            return ""
        fields: JsonObject = {"prompt": prompt, "prompt_response": result, "stop_hook_active": is_repeated}
        outcomes = await self._dispatcher.run_event_hooks(
            HookEvent.SUBAGENT_STOP, fields, trigger=self._dispatcher.agent_name
        )
        denying = first_denial(outcomes)
        return "" if denying is None or first_stop(outcomes) else wrap_context(denying.reason)

    async def end(self, reason: SessionEnd) -> None:
        has_begun, self._has_started = self._has_started, False
        if has_begun:
            fields: JsonObject = {"reason": reason.value}
            await self._dispatcher.run_event_hooks(HookEvent.SESSION_END, fields, trigger=reason.value)

    async def close(self) -> None:
        await self.end(SessionEnd.EXIT)
        await self.tool_hooks.close()

    async def _enforce(self, outcomes: list[HookOutcome], consequence: str) -> None:
        """Raises StoppedByHook if a hook denies, or if the user rejects what a hook asks about."""
        _raise_if_stopped(outcomes)
        objection = combined_objection(outcomes)
        if not objection:
            return
        if self._approver is None:
            refusal = lazy("{objection} No terminal to ask on, so nothing was sent.", objection=objection)
            raise StoppedByHook(refusal)
        confirmation = InfoConfirmation(lazy("A hook asks for confirmation"), consequence)
        question = ApprovalRequest(confirmation, "hooks", objection)
        self.tool_hooks.notify_question(question)
        answer = await self._approver.ask(question)
        if answer.outcome not in _APPROVALS:
            raise StoppedByHook(lazy("{objection} You chose to stop.", objection=objection))


def _raise_if_stopped(outcomes: list[HookOutcome]) -> None:
    if stop := first_stop(outcomes):
        hook = hook_label(stop.hook)
        raise StoppedByHook(lazy("Agent execution stopped by hook: {reason} ({hook})", reason=stop.reason, hook=hook))
    if denial := first_denial(outcomes):
        hook = hook_label(denial.hook)
        raise StoppedByHook(lazy("Agent execution blocked: {reason} ({hook})", reason=denial.reason, hook=hook))


def _limit_tools(request: ModelRequest, selections: Sequence[ToolSelection]) -> ModelRequest:
    """Leave the tools that any of the hooks names; none if one of them wants none."""
    names = {name for selection in selections for name in selection.names}
    if any(selection.mode is ToolMode.NONE for selection in selections):
        return replace(request, tools=())
    if not names:
        return request
    return replace(
        request,
        tools=tuple(each for each in request.tools if not names.isdisjoint(tool_names(*parse_tool_name(each.name)))),
    )


def _request_json(request: ModelRequest, model: str) -> JsonObject:
    messages: list[JsonValue] = [{"role": "system", "content": request.system}] if request.system else []
    messages += [{"role": message.role.value, "content": _content_text(message)} for message in request.messages]
    return {"model": model, "messages": messages}


def _content_text(message: Message) -> str:
    """Render a message as text, other parts as JSON, without the bytes of media."""
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text(text):
                texts.append(text)
            case InlineData():
                texts.append(part.label)
            case _:
                texts.append(dump_json(message_part_to_json(part)))
    return "\n".join(texts)


def _response_json(answer: ModelResponse) -> JsonObject:
    return {
        "text": answer.text,
        "candidates": [
            {"content": {"role": "model", "parts": [_content_text(answer.message)]}, "finishReason": answer.reason.name}
        ],
        "usageMetadata": {"totalTokenCount": answer.usage.total},
    }
