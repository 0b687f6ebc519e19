"""The hooks around a session: they may keep a prompt or a request from being sent, and tell the model more."""

from tejat.core.agent_events import SessionEnd, SessionSource
from tejat.core.confirm import Approver, InfoConfirmation, Outcome, Question
from tejat.core.errors import StoppedByHook
from tejat.core.history import Message
from tejat.core.hooks import HookEvent
from tejat.core.json_text import dump_json
from tejat.core.message_json import message_part_to_json
from tejat.core.model import Answer, ModelRequest
from tejat.core.types import InlineData, JsonObject, JsonValue, Text
from tejat.core.words import phrase
from tejat.engine.hooks.hearing import HookHearing, called, context_of, denial_of, marked, objection_of, stop_of
from tejat.engine.hooks.outcome import Outcome as HookOutcome
from tejat.engine.hooks.tool_calls import ToolCallHooks

_YES = frozenset(
    {
        Outcome.PROCEED_ONCE,
        Outcome.PROCEED_ALWAYS,
        Outcome.PROCEED_ALWAYS_AND_SAVE,
        Outcome.PROCEED_ALWAYS_SERVER,
        Outcome.PROCEED_ALWAYS_TOOL,
    }
)


class SessionHooks:
    """Implements `core.hooks.AgentHooks`. `calls` are the hooks around the calls of the same session.

    Where a hook asks or fails, the approver decides; without one nothing is sent. `warnings` are for the person.
    """

    def __init__(self, hearing: HookHearing, approver: Approver | None, warnings: tuple[str, ...] = ()) -> None:
        self.belong_to = hearing.belong_to
        self.calls = ToolCallHooks(hearing)
        self.warnings = (*warnings, *hearing.warnings())
        self._hearing = hearing
        self._approver = approver
        self._has_begun = False

    async def before_prompt(self, prompt: str, *, source: SessionSource) -> str:
        """Raises StoppedByHook."""
        outcomes: list[HookOutcome] = []
        if not self._has_begun:
            self._has_begun = True
            fields: JsonObject = {"source": source.value}
            outcomes += await self._hearing.about(HookEvent.SESSION_START, fields, trigger=source.value)
        if self._hearing.wants(HookEvent.BEFORE_AGENT):
            judged = await self._hearing.about(HookEvent.BEFORE_AGENT, {"prompt": prompt})
            await self._obey(judged, phrase("The prompt would be sent to the model nevertheless."))
            outcomes += judged
        return context_of(outcomes)

    async def after_prompt(self, prompt: str, answer: str, *, is_repeated: bool) -> str:
        if not self._hearing.wants(HookEvent.AFTER_AGENT):
            return ""
        fields: JsonObject = {"prompt": prompt, "prompt_response": answer, "stop_hook_active": is_repeated}
        outcomes = await self._hearing.about(HookEvent.AFTER_AGENT, fields)
        denying = denial_of(outcomes)
        return "" if denying is None or stop_of(outcomes) else marked(denying.reason)

    async def before_model(self, request: ModelRequest, model: str) -> None:
        """Raises StoppedByHook."""
        if self._hearing.wants(HookEvent.BEFORE_MODEL):
            outcomes = await self._hearing.about(HookEvent.BEFORE_MODEL, {"llm_request": _request(request, model)})
            await self._obey(outcomes, phrase("The request would be sent to the model nevertheless."))

    async def after_model(self, request: ModelRequest, model: str, answer: Answer) -> None:
        """Raises StoppedByHook."""
        if not self._hearing.wants(HookEvent.AFTER_MODEL):
            return
        fields: JsonObject = {"llm_request": _request(request, model), "llm_response": _response(answer)}
        outcomes = await self._hearing.about(HookEvent.AFTER_MODEL, fields)
        _stop_if_told(outcomes)

    async def before_compressing(self, *, by_person: bool = False) -> None:
        trigger = "manual" if by_person else "auto"
        await self._hearing.about(HookEvent.PRE_COMPRESS, {"trigger": trigger}, trigger=trigger)

    async def end(self, reason: SessionEnd) -> None:
        has_begun, self._has_begun = self._has_begun, False
        if has_begun:
            await self._hearing.about(HookEvent.SESSION_END, {"reason": reason.value}, trigger=reason.value)

    async def close(self) -> None:
        await self.end(SessionEnd.EXIT)
        await self.calls.close()

    async def _obey(self, outcomes: list[HookOutcome], consequence: str) -> None:
        """Raises StoppedByHook where a hook says no, and where a person says no to what a hook left open."""
        _stop_if_told(outcomes)
        objection = objection_of(outcomes)
        if not objection:
            return
        if self._approver is None:
            raise StoppedByHook(
                phrase("{objection} Nobody is there to decide, so nothing was sent.", objection=objection)
            )
        question = Question(
            InfoConfirmation(phrase("Confirm: go on?"), consequence),
            tool_name="hooks",
            reason=objection,
        )
        self.calls.asked(question)
        answer = await self._approver.ask(question)
        if answer.outcome not in _YES:
            raise StoppedByHook(phrase("{objection} You did not want to go on.", objection=objection))


def _stop_if_told(outcomes: list[HookOutcome]) -> None:
    if stopping := stop_of(outcomes):
        told = phrase(
            "Agent execution stopped by hook: {reason} ({hook})", reason=stopping.reason, hook=called(stopping.hook)
        )
        raise StoppedByHook(told)
    if denying := denial_of(outcomes):
        told = phrase("Agent execution blocked: {reason} ({hook})", reason=denying.reason, hook=called(denying.hook))
        raise StoppedByHook(told)


def _request(request: ModelRequest, model: str) -> JsonObject:
    messages: list[JsonValue] = [{"role": "system", "content": request.system}] if request.system else []
    messages += [{"role": message.role.value, "content": _content(message)} for message in request.messages]
    return {"model": model, "messages": messages}


def _content(message: Message) -> str:
    """All of a message as words: what is no text as its JSON, without the bytes of media."""
    said: list[str] = []
    for part in message.parts:
        match part:
            case Text(text):
                said.append(text)
            case InlineData(mime_type, data):
                said.append(f"[{mime_type}, {len(data)} bytes]")
            case _:
                said.append(dump_json(message_part_to_json(part)))
    return "\n".join(said)


def _response(answer: Answer) -> JsonObject:
    return {
        "text": answer.text,
        "candidates": [
            {
                "content": {"role": "model", "parts": [_content(answer.message)]},
                "finishReason": answer.reason.name,
            }
        ],
        "usageMetadata": {"totalTokenCount": answer.usage.total},
    }
