"""The hooks around a call: they may refuse it, want it confirmed, rewrite it, and change what the model hears of it."""

import asyncio
from collections.abc import Sequence
from typing import cast

from tejat.core.confirm import (
    Asked,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Question,
    TrialConfirmation,
)
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.hooks import Checked, HookEvent
from tejat.core.tool import BaseTool, ToolError, ToolResult
from tejat.core.types import FunctionCall, JsonObject, JsonValue, PartListUnion, Text
from tejat.core.value import replace
from tejat.core.words import joined, phrase
from tejat.engine.hooks.hearing import HookHearing, called, context_of, denial_of, marked, objection_of, stop_of
from tejat.engine.hooks.outcome import Outcome
from tejat.engine.hooks.running import rewritten

REWRITTEN = "\n\n[System] Tool input parameters were modified by a hook before execution."
_PERMISSION = "ToolPermission"


class ToolCallHooks:
    """Implements `core.hooks.ToolHooks`."""

    def __init__(self, hearing: HookHearing) -> None:
        self._hearing = hearing
        self._notifying: set[asyncio.Task[object]] = set()

    async def before_tool(self, call: FunctionCall, tool: BaseTool) -> Checked:
        """Raises ToolFailure where the call must not run."""
        outcomes = await self._hearing.about_tool(HookEvent.BEFORE_TOOL, tool, _fields(call, tool))
        if stopping := stop_of(outcomes):
            raise _stopped(stopping)
        if denying := denial_of(outcomes):
            told = phrase("Tool execution blocked: {reason}", reason=denying.reason)
            raise ToolFailure(told, ErrorType.POLICY_VIOLATION, display=_named(told, denying))
        params = cast("JsonObject", call.args)
        for outcome in outcomes:
            params = rewritten(params, outcome)
        is_rewritten = params != call.args
        rejection = tool.rejection(params) if is_rewritten else None
        if rejection:
            raise ToolFailure(
                phrase("Tool parameter modification by hook failed validation: {why}", why=rejection.message),
                ErrorType.INVALID_TOOL_PARAMS,
            )
        return Checked(params, is_rewritten, objection_of(outcomes), context_of(outcomes))

    def asked(self, question: Question) -> None:
        """Returns at once: the person is not kept waiting."""
        if not self._hearing.wants(HookEvent.NOTIFICATION):
            return
        fields = {
            "notification_type": _PERMISSION,
            "message": f"{question.tool_name} needs your permission.",
            "details": _details(question.confirmation),
        }
        task = asyncio.create_task(self._hearing.about(HookEvent.NOTIFICATION, fields, trigger=_PERMISSION))
        self._notifying.add(task)
        task.add_done_callback(self._notifying.discard)

    async def after_tool(self, call: FunctionCall, tool: BaseTool, checked: Checked, result: ToolResult) -> ToolResult:
        """Raises nothing but the cancellation of its task."""
        outcomes: Sequence[Outcome] = ()
        if self._hearing.wants(HookEvent.AFTER_TOOL):
            fields = {**_fields(call, tool), "tool_response": _response(result)}
            outcomes = await self._hearing.about_tool(HookEvent.AFTER_TOOL, tool, fields)
        if stopping := stop_of(outcomes):
            failure = _stopped(stopping)
            return ToolResult(failure.message, failure.display, ToolError(failure.message, failure.error_type))
        if denying := denial_of([outcome for outcome in outcomes if not outcome.hook.is_in_other_spelling]):
            told = phrase("Tool result blocked: {reason}", reason=denying.reason)
            result = ToolResult(told, _named(told, denying), ToolError(told, ErrorType.EXECUTION_FAILED))
        # The other agent hides nothing of a result: what its hook objects to goes along with it.
        objections = [outcome for outcome in outcomes if outcome.hook.is_in_other_spelling]
        objection = denial_of(objections)
        added = (
            REWRITTEN if checked.is_rewritten else "",
            f"\n\n{checked.context}" if checked.context else "",
            f"\n\n{marked(objection.reason)}" if objection else "",
            f"\n\n{context}" if (context := context_of(outcomes)) else "",
        )
        return _with_text(result, "".join(added))

    async def close(self) -> None:
        """End what still notifies somebody."""
        tasks = tuple(self._notifying)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _fields(call: FunctionCall, tool: BaseTool) -> JsonObject:
    known: dict[str, JsonValue] = {"tool_name": tool.name, "tool_input": cast("JsonObject", call.args)}
    if tool.server_name is not None:
        known["mcp_context"] = {"server_name": tool.server_name, "tool_name": tool.own_name}
    if call.id is not None:
        known["tool_use_id"] = call.id
    return known


def _response(result: ToolResult) -> JsonObject:
    return {name: told for name, told in result.to_json().items() if name != "error" or told is not None}


def _stopped(outcome: Outcome) -> ToolFailure:
    told = phrase("Agent execution stopped by hook: {reason}", reason=outcome.reason)
    return ToolFailure(told, ErrorType.STOP_EXECUTION, display=_named(told, outcome))


def _named(told: str, outcome: Outcome) -> str:
    """For the person: with the hook that it comes from."""
    return joined("", (told, " (", called(outcome.hook), ")"))


def _details(asked: Asked) -> JsonObject:
    told: JsonObject = {"type": asked.type, "title": asked.title}
    match asked:
        case EditConfirmation():
            return {**told, "fileName": asked.file_name, "filePath": asked.file_path, "fileDiff": asked.file_diff}
        case ExecConfirmation():
            return {**told, "command": asked.command, "rootCommand": asked.root_command}
        case TrialConfirmation():
            return {**told, "command": asked.command, "fileDiff": asked.diff}
        case McpConfirmation():
            return {**told, "serverName": asked.server_name, "toolName": asked.tool_name}
        case InfoConfirmation():
            return {**told, "prompt": asked.prompt, "urls": asked.urls}
        case ElicitationConfirmation():
            return {**told, "serverName": asked.server_name, "message": asked.message}


def _with_text(result: ToolResult, text: str) -> ToolResult:
    """The result with words for the model at its end. Of a failure a model hears nothing but the message."""
    if not text:
        return result
    if result.error is not None:
        return replace(result, error=replace(result.error, message=result.error.message + text))
    return replace(result, llm_content=_content_with(result.llm_content, text))


def _content_with(content: PartListUnion, text: str) -> PartListUnion:
    if isinstance(content, Sequence) and not isinstance(content, str):
        if len(content) == 1:
            return _content_with(content[0], text)
        return [*content, text.strip()]
    match content:
        case str():
            return content + text
        case Text():
            return replace(content, text=content.text + text)
        case _:
            return [content, text.strip()]
