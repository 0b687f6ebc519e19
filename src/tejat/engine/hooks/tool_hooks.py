"""Hooks around a call: they may refuse, rewrite or confirm it, and change its result."""

import asyncio
from collections.abc import Sequence
from typing import cast

from tejat.core.agent.hooks import HookedCall, HookEvent
from tejat.core.approval.confirmation import (
    ApprovalRequest,
    ApprovalSubject,
    AskUserConfirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    PlanConfirmation,
    TrialConfirmation,
)
from tejat.core.errors import CallbackFailure, ErrorType, ToolFailure
from tejat.core.frozen import replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.log import report_unexpected
from tejat.core.messages.types import FunctionCall, JsonObject, JsonValue, PartListUnion, Text
from tejat.core.tools.base import BaseTool, ToolError, ToolResult, failure_result
from tejat.engine.hooks.dispatcher import (
    HookDispatcher,
    combined_context,
    combined_objection,
    first_denial,
    first_stop,
    hook_label,
    wrap_context,
)
from tejat.engine.hooks.result import HookResult
from tejat.engine.hooks.runner import apply_new_input

REWRITTEN_NOTICE = "\n\n[System] Tool input parameters were modified by a hook before execution."
_PERMISSION_NOTIFICATION = "ToolPermission"


class ToolCallHooks:
    """Implements `core.agent.hooks.ToolHooks`."""

    def __init__(self, dispatcher: HookDispatcher) -> None:
        self._dispatcher = dispatcher
        self._notifications: set[asyncio.Task[object]] = set()
        self._failure: CallbackFailure | None = None

    def raise_failure(self) -> None:
        """Raise what a notification hook has raised since the last time: CallbackFailure."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def before_tool(self, call: FunctionCall, tool: BaseTool) -> HookedCall:
        """Raises ToolFailure if the call must not run, and CallbackFailure."""
        self.raise_failure()
        outcomes = await self._dispatcher.run_tool_hooks(HookEvent.BEFORE_TOOL, tool, _call_fields(call, tool))
        if stopping := first_stop(outcomes):
            raise _stopped_error(stopping)
        if denying := first_denial(outcomes):
            message = lazy("Tool execution blocked: {reason}", reason=denying.reason)
            raise ToolFailure(message, ErrorType.POLICY_VIOLATION, display=_with_hook_label(message, denying))
        params = cast("JsonObject", call.args)
        for outcome in outcomes:
            params = apply_new_input(params, outcome)
        is_rewritten = params != call.args
        rejection = tool.rejection(params) if is_rewritten else None
        if rejection:
            raise ToolFailure(
                lazy("Tool parameter modification by hook failed validation: {why}", why=rejection.message),
                ErrorType.INVALID_TOOL_PARAMS,
            )
        return HookedCall(params, is_rewritten, combined_objection(outcomes), combined_context(outcomes))

    def notify(self, message: str) -> None:
        """Show a problem of hooks to the user."""
        self._dispatcher.notify(message)

    def notify_question(self, question: ApprovalRequest) -> None:
        """Run notification hooks in the background, without delaying the question."""
        if not self._dispatcher.has_hooks(HookEvent.NOTIFICATION):
            return
        fields = {
            "notification_type": _PERMISSION_NOTIFICATION,
            "message": f"{question.tool_name} needs your permission.",
            "details": _confirmation_json(question.confirmation),
        }
        hooks = self._dispatcher.run_event_hooks(HookEvent.NOTIFICATION, fields, trigger=_PERMISSION_NOTIFICATION)
        task = asyncio.create_task(hooks)
        self._notifications.add(task)
        task.add_done_callback(self._on_notified)

    def _on_notified(self, task: "asyncio.Task[object]") -> None:
        self._notifications.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, CallbackFailure):
            self._failure = error
        elif error is not None:
            self.notify(report_unexpected(error, "a notification hook"))

    async def after_tool(self, call: FunctionCall, tool: BaseTool, check: HookedCall, result: ToolResult) -> ToolResult:
        """Raises only CancelledError and CallbackFailure."""
        self.raise_failure()
        outcomes: Sequence[HookResult] = ()
        if self._dispatcher.has_hooks(HookEvent.AFTER_TOOL):
            fields = {**_call_fields(call, tool), "tool_response": _response_json(result)}
            outcomes = await self._dispatcher.run_tool_hooks(HookEvent.AFTER_TOOL, tool, fields)
        if stopping := first_stop(outcomes):
            return failure_result(_stopped_error(stopping))
        if denying := first_denial([outcome for outcome in outcomes if not outcome.hook.uses_claude_format]):
            message = lazy("Tool result blocked: {reason}", reason=denying.reason)
            display = _with_hook_label(message, denying)
            result = ToolResult(message, display, ToolError(message, ErrorType.EXECUTION_FAILED))
        # Claude Code never hides a result: the objection of its hook is appended.
        objection = first_denial([outcome for outcome in outcomes if outcome.hook.uses_claude_format])
        added = (
            REWRITTEN_NOTICE if check.is_rewritten else "",
            f"\n\n{check.context}" if check.context else "",
            f"\n\n{wrap_context(objection.reason)}" if objection else "",
            f"\n\n{context}" if (context := combined_context(outcomes)) else "",
        )
        return _append_text(result, "".join(added))

    async def close(self) -> None:
        """Cancel the running notifications."""
        tasks = tuple(self._notifications)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _call_fields(call: FunctionCall, tool: BaseTool) -> JsonObject:
    known: dict[str, JsonValue] = {"tool_name": tool.name, "tool_input": cast("JsonObject", call.args)}
    if tool.server_name is not None:
        known["mcp_context"] = {"server_name": tool.server_name, "tool_name": tool.own_name}
    if call.id is not None:
        known["tool_use_id"] = call.id
    return known


def _response_json(result: ToolResult) -> JsonObject:
    return {name: value for name, value in result.to_json().items() if name != "error" or value is not None}


def _stopped_error(outcome: HookResult) -> ToolFailure:
    message = lazy("Agent execution stopped by hook: {reason}", reason=outcome.reason)
    return ToolFailure(message, ErrorType.STOP_EXECUTION, display=_with_hook_label(message, outcome))


def _with_hook_label(message: str, outcome: HookResult) -> str:
    """Add the label of the hook, for the user."""
    return join_lazy("", (message, " (", hook_label(outcome.hook), ")"))


def _confirmation_json(about: ApprovalSubject) -> JsonObject:
    fields: JsonObject = {"type": about.type, "title": about.title}
    match about:
        case EditConfirmation():
            return {**fields, "fileName": about.file_name, "filePath": about.file_path, "fileDiff": about.file_diff}
        case ExecConfirmation():
            return {**fields, "command": about.command, "rootCommand": about.root_command}
        case TrialConfirmation():
            return {**fields, "command": about.command, "fileDiff": about.diff}
        case McpConfirmation():
            return {**fields, "serverName": about.server_name, "toolName": about.tool_name}
        case InfoConfirmation():
            return {**fields, "prompt": about.prompt, "urls": about.urls}
        case PlanConfirmation():
            return {**fields, "planPath": about.file_path, "plan": about.text}
        case ModelChangeConfirmation():
            return {**fields, "before": about.before, "after": about.after, "reason": about.reason}
        case ElicitationConfirmation():
            return {**fields, "serverName": about.server_name, "message": about.message}
        case AskUserConfirmation():
            return {**fields, "questions": [question.to_json() for question in about.questions]}


def _append_text(result: ToolResult, text: str) -> ToolResult:
    """Append text for the model to a result. Of a failed call the model gets only the error message."""
    if not text:
        return result
    if result.error is not None:
        return replace(result, error=replace(result.error, message=result.error.message + text))
    return replace(result, llm_content=_append_to_content(result.llm_content, text))


def _append_to_content(content: PartListUnion, text: str) -> PartListUnion:
    if isinstance(content, Sequence) and not isinstance(content, str):
        if len(content) == 1:
            return _append_to_content(content[0], text)
        return [*content, text.strip()]
    match content:
        case str():
            return content + text
        case Text():
            return replace(content, text=content.text + text)
        case _:
            return [content, text.strip()]
