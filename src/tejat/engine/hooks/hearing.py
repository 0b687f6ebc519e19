"""All hooks of a session: who wants to hear of what, and what they say to the person."""

from collections.abc import Callable, Mapping, Sequence

from tejat.config.hooks import Hook
from tejat.core.agent_events import Noticed, Severity
from tejat.core.hooks import GUARDS, HookEvent
from tejat.core.tool import BaseTool
from tejat.core.types import JsonObject
from tejat.core.value import replace
from tejat.core.words import joined, phrase
from tejat.engine.hooks.matching import OTHER_ARGUMENTS, is_for, name_for, problem_with_matcher
from tejat.engine.hooks.outcome import Outcome, cut
from tejat.engine.hooks.running import Meant, Surroundings, run_hooks
from tejat.policy.rules import Decision

_TOOL_EVENTS = (HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL)
_LONGEST_NAME = 80


class HookHearing:
    """Runs the hooks that an event is for, and tells the person what they say."""

    def __init__(self, hooks: Sequence[Hook], around: Surroundings) -> None:
        self._tell: Callable[[Noticed], None] = _nobody
        self._around = around
        self._by_event: dict[HookEvent, list[Hook]] = {}
        for hook in hooks:
            self._by_event.setdefault(hook.event, []).append(hook)

    def wants(self, event: HookEvent) -> bool:
        return event in self._by_event

    def belong_to(self, session_id: str, transcript: str, tell: Callable[[Noticed], None]) -> None:
        """Say which session it is that the hooks are told of, and who tells the person what they say."""
        self._around = replace(self._around, session_id=session_id, transcript=transcript)
        self._tell = tell

    def warnings(self) -> list[str]:
        """What the person should know of the matchers."""
        hooks = [hook for event in _TOOL_EVENTS for hook in self._by_event.get(event, ())]
        return [
            phrase(
                "{source}: the matcher {matcher!r} is taken for every tool: {why}.",
                source=hook.source,
                matcher=cut(hook.matcher, _LONGEST_NAME),
                why=problem,
            )
            for hook in hooks
            if (problem := problem_with_matcher(hook.matcher))
        ]

    async def about_tool(self, event: HookEvent, tool: BaseTool, fields: JsonObject) -> list[Outcome]:
        """What the hooks say that are for this tool."""
        meant = [
            Meant(hook, {"tool_name": name}, _renamed(hook, tool))
            for hook in self._by_event.get(event, ())
            if (name := name_for(hook, tool)) is not None
        ]
        return await self._hear(meant, fields)

    async def about(self, event: HookEvent, fields: JsonObject, *, trigger: str | None = None) -> list[Outcome]:
        """What the hooks say that are for this event, or for this kind of it."""
        hooks = self._by_event.get(event, ())
        return await self._hear([Meant(hook) for hook in hooks if trigger is None or is_for(hook, trigger)], fields)

    async def _hear(self, meant: Sequence[Meant], fields: JsonObject) -> list[Outcome]:
        if not meant:
            return []
        outcomes = await run_hooks(meant, fields, self._around)
        for outcome in outcomes:
            self._say(outcome)
        return outcomes

    def _say(self, outcome: Outcome) -> None:
        hook = outcome.hook
        if outcome.message:
            self._notice(joined("", (called(hook), ": ", outcome.message)), Severity.NOTE)
        if outcome.failure and hook.event not in GUARDS:
            self._notice(failure_of(outcome))
        if outcome.ignored:
            self._notice(
                phrase(
                    "{hook} wants what hooks cannot do here: {names}.",
                    hook=called(hook),
                    names=", ".join(outcome.ignored),
                )
            )
        if _is_unheard(outcome):
            self._notice(
                phrase(
                    "{hook} objects, but this event only tells it what happens: {reason}",
                    hook=called(hook),
                    reason=outcome.reason,
                )
            )

    def _notice(self, message: str, severity: Severity = Severity.WARNING) -> None:
        try:
            self._tell(Noticed(message, severity))
        except Exception:  # noqa: BLE001 -- whoever watches must not decide what hooks come to
            self._tell = _nobody


def _is_unheard(outcome: Outcome) -> bool:
    if outcome.hook.event in GUARDS:
        return False
    if outcome.hook.event in _ONLY_TOLD:
        return outcome.stops or outcome.decision in (Decision.ASK, Decision.DENY)
    return outcome.decision is Decision.ASK


_ONLY_TOLD = frozenset({HookEvent.SESSION_START, HookEvent.SESSION_END, HookEvent.PRE_COMPRESS, HookEvent.NOTIFICATION})


def called(hook: Hook) -> str:
    name = " ".join(hook.name.split())
    return phrase('The hook "{name}" ({event})', name=cut(name, _LONGEST_NAME), event=hook.spelling)


def failure_of(outcome: Outcome) -> str:
    return phrase("{hook} failed: it {failure}.", hook=called(outcome.hook), failure=outcome.failure)


def stop_of(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The first that ends the run."""
    return next((outcome for outcome in outcomes if outcome.stops), None)


def denial_of(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The first that says no."""
    return next((outcome for outcome in outcomes if outcome.decision is Decision.DENY), None)


def objection_of(outcomes: Sequence[Outcome]) -> str:
    """Why a person has to decide: hooks that ask, and hooks that failed. Empty where there are none."""
    told = [
        failure_of(outcome)
        if outcome.failure
        else phrase("{hook} asks: {reason}", hook=called(outcome.hook), reason=outcome.reason)
        for outcome in outcomes
        if outcome.failure or outcome.decision is Decision.ASK
    ]
    return joined("\n", told) if told else ""


def context_of(outcomes: Sequence[Outcome]) -> str:
    """What hooks tell the model, marked as theirs; empty where they tell nothing."""
    return "\n\n".join(marked(outcome.context) for outcome in outcomes if outcome.context)


def marked(text: str) -> str:
    """Words of a hook, so that a model does not take them for the person's."""
    return f"<hook_context>\n{text.replace('</hook_context', '<_/hook_context')}\n</hook_context>"


def _renamed(hook: Hook, tool: BaseTool) -> Mapping[str, str]:
    return OTHER_ARGUMENTS.get(tool.name, {}) if hook.is_in_other_spelling and tool.server_name is None else {}


def _nobody(_: Noticed) -> None:
    """Nobody watches yet."""
