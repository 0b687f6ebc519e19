"""Dispatch of events to the hooks of a session."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from tejat.config.hooks import HookConfig
from tejat.core.agent.events import Noticed, Severity
from tejat.core.agent.hooks import GUARD_EVENTS, HookEvent
from tejat.core.errors import CallbackFailure
from tejat.core.frozen import replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.log import report_unexpected
from tejat.core.messages.types import JsonObject
from tejat.core.tools.base import BaseTool
from tejat.engine.hooks.matcher import CLAUDE_ARGUMENT_NAMES, matched_tool_name, matcher_problem, matches_trigger
from tejat.engine.hooks.result import HookResult, truncate
from tejat.engine.hooks.runner import HookContext, HookInvocation, run_hooks
from tejat.policy.types import Decision

_TOOL_EVENTS = (HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL)
_MAX_NAME_LENGTH = 80
_SLOW_SECONDS = 5.0


class HookDispatcher:
    """Runs the hooks that match an event and reports their messages to the user.

    If it `reports_running`, the user is also told of hooks that take long. `agent_name` is the sub-agent that events
    belong to, empty for the session itself.
    """

    def __init__(
        self,
        hooks: Sequence[HookConfig],
        context: HookContext,
        *,
        reports_running: bool = True,
        agent_name: str = "",
    ) -> None:
        self.agent_name = agent_name
        self._hooks = hooks
        self._reports_running = reports_running
        self._emit: Callable[[Noticed], None] = _discard_notice
        self._context = context
        self._agent_fields: JsonObject = {}
        self._by_event: dict[HookEvent, list[HookConfig]] = {}
        for hook in hooks:
            self._by_event.setdefault(hook.event, []).append(hook)

    def for_agent(self, agent_id: str, agent_name: str, emit: Callable[[Noticed], None]) -> "HookDispatcher":
        """Return a dispatcher of the same hooks that tells them which sub-agent an event belongs to."""
        other = HookDispatcher(self._hooks, self._context, reports_running=self._reports_running, agent_name=agent_name)
        other.bind_agent(agent_id, emit)
        return other

    def bind_agent(self, agent_id: str, emit: Callable[[Noticed], None]) -> None:
        """Set the run that hooks are told about and the sink for its notices."""
        self._agent_fields = {"agent_name": self.agent_name, "agent_id": agent_id}
        self._emit = emit

    def has_hooks(self, event: HookEvent) -> bool:
        return event in self._by_event

    def bind_session(
        self, session_id: str, transcript_path: str, emit: Callable[[Noticed], None], plan_directory: str = ""
    ) -> None:
        """Set the session that hooks are told about and the sink for notices to the user."""
        self._context = replace(
            self._context, session_id=session_id, transcript_path=transcript_path, plan_directory=plan_directory
        )
        self._emit = emit

    def warnings(self) -> list[str]:
        """List the problems of matchers."""
        hooks = [hook for event in _TOOL_EVENTS for hook in self._by_event.get(event, ())]
        return [
            lazy(
                "{source}: the matcher {matcher!r} is invalid, so it matches every tool: {why}.",
                source=hook.source,
                matcher=truncate(hook.matcher, _MAX_NAME_LENGTH),
                why=problem,
            )
            for hook in hooks
            if (problem := matcher_problem(hook.matcher))
        ]

    async def run_tool_hooks(self, event: HookEvent, tool: BaseTool, fields: JsonObject) -> list[HookResult]:
        """Run the hooks of an event that match this tool."""
        invocations = [
            HookInvocation(hook, {"tool_name": name}, _argument_names(hook, tool))
            for hook in self._by_event.get(event, ())
            if (name := matched_tool_name(hook, tool)) is not None
        ]
        return await self._run(invocations, fields)

    async def run_event_hooks(self, event: HookEvent, fields: JsonObject, *, trigger: str = "") -> list[HookResult]:
        """Run the hooks of an event that match this trigger, all without one."""
        hooks = self._by_event.get(event, ())
        matching = [HookInvocation(hook) for hook in hooks if not trigger or matches_trigger(hook, trigger)]
        return await self._run(matching, fields)

    async def _run(self, invocations: Sequence[HookInvocation], fields: JsonObject) -> list[HookResult]:
        if not invocations:
            return []
        slow = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self._report_running, invocations)
        try:
            outcomes = await run_hooks(invocations, {**fields, **self._agent_fields}, self._context)
        finally:
            slow.cancel()
        for outcome in outcomes:
            self._report(outcome)
        return outcomes

    def _report_running(self, invocations: Sequence[HookInvocation]) -> None:
        for hook in {each.hook: None for each in invocations} if self._reports_running else ():
            with suppress(CallbackFailure):  # nobody could handle it in a timer; whoever listens keeps it
                self.notify(lazy("{hook} is running.", hook=hook_label(hook)), Severity.NOTE)

    def _report(self, outcome: HookResult) -> None:
        hook, reason = hook_label(outcome.hook), outcome.reason
        if outcome.message:
            self.notify(join_lazy("", (hook, ": ", outcome.message)), Severity.NOTE)
        if outcome.failure and outcome.hook.event not in GUARD_EVENTS:
            self.notify(failure_message(outcome))
        if outcome.ignored:
            names = ", ".join(outcome.ignored)
            self.notify(lazy("{hook} asked for something hooks cannot do here: {names}.", hook=hook, names=names))
        if _is_ignored_objection(outcome):
            self.notify(lazy("{hook} objected, but this event cannot be blocked: {reason}", hook=hook, reason=reason))

    def notify(self, message: str, severity: Severity = Severity.WARNING) -> None:
        """Show a notice to the user. Raises CallbackFailure."""
        try:
            self._emit(Noticed(message, severity))
        except CallbackFailure:
            raise
        except Exception as error:  # noqa: BLE001 -- a broken listener must not decide what hooks come to
            report_unexpected(error, "a listener of hooks")
            self._emit = _discard_notice


def _is_ignored_objection(outcome: HookResult) -> bool:
    if outcome.hook.event in GUARD_EVENTS:
        return False
    if outcome.hook.event in _OBSERVER_EVENTS:
        return outcome.stops or outcome.decision in (Decision.ASK, Decision.DENY)
    return outcome.decision is Decision.ASK


_OBSERVER_EVENTS = frozenset(
    {HookEvent.SESSION_START, HookEvent.SESSION_END, HookEvent.PRE_COMPRESS, HookEvent.NOTIFICATION}
)


def hook_label(hook: HookConfig) -> str:
    name = " ".join(hook.name.split())
    return lazy('Hook "{name}" ({event})', name=truncate(name, _MAX_NAME_LENGTH), event=hook.event_name)


def failure_message(outcome: HookResult) -> str:
    return lazy("{hook} failed: it {failure}.", hook=hook_label(outcome.hook), failure=outcome.failure)


def first_stop(outcomes: Sequence[HookResult]) -> HookResult | None:
    """Return the first result that ends the run."""
    return next((outcome for outcome in outcomes if outcome.stops), None)


def first_denial(outcomes: Sequence[HookResult]) -> HookResult | None:
    """Return the first result that denies."""
    return next((outcome for outcome in outcomes if outcome.decision is Decision.DENY), None)


def combined_objection(outcomes: Sequence[HookResult]) -> str:
    """Join the reasons of hooks that ask or failed, empty if there are none."""
    reasons = [
        failure_message(outcome)
        if outcome.failure
        else lazy("{hook} asks: {reason}", hook=hook_label(outcome.hook), reason=outcome.reason)
        for outcome in outcomes
        if outcome.failure or outcome.decision is Decision.ASK
    ]
    return join_lazy("\n", reasons) if reasons else ""


def combined_context(outcomes: Sequence[HookResult]) -> str:
    """Join the context that hooks give the model, each marked as such."""
    return "\n\n".join(wrap_context(outcome.context) for outcome in outcomes if outcome.context)


def wrap_context(text: str) -> str:
    """Mark a text as coming from a hook, so that a model does not take it for the user's."""
    return f"<hook_context>\n{text.replace('</hook_context', '<_/hook_context')}\n</hook_context>"


def _argument_names(hook: HookConfig, tool: BaseTool) -> Mapping[str, str]:
    return CLAUDE_ARGUMENT_NAMES.get(tool.name, {}) if hook.uses_claude_format and tool.server_name is None else {}


def _discard_notice(_: Noticed) -> None:
    """Ignore notices until a session is bound."""
