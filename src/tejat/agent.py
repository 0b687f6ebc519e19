"""The agent as a library: prompts in, events out."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from tejat.app.session.manager import open_agent
from tejat.core.agent.compaction import CompressionPreview
from tejat.core.agent.events import AgentEvent, Compressed, EndReason, EventSink, RunEnded
from tejat.core.agent.options import PLAN_APPROVALS, AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.errors import UsageError
from tejat.core.messages.history import Message
from tejat.core.messages.types import Part
from tejat.core.text.one_or_many import OnePathOrMany, list_names, list_paths
from tejat.core.tools.base import BaseTool
from tejat.core.tools.call_events import OutputUpdated

if TYPE_CHECKING:
    from tejat.engine.sessions.session import Session


class AgentSettings(TypedDict, total=False):
    """The settings of an agent. `AgentOptions` documents them."""

    directories: OnePathOrMany
    model: str | None
    mode: str | None
    allowed_tools: str | Iterable[str]
    excluded_tools: str | Iterable[str]
    policy_paths: OnePathOrMany
    admin_policy_paths: OnePathOrMany
    strict_settings: bool
    sandbox: str | None
    tools: BaseTool | Iterable[BaseTool]
    servers: str | Iterable[str] | None
    extensions: str | Iterable[str] | None
    answers: Mapping[str, str]
    requires_answers: bool
    approve_plan: str | None
    agents_in_copies: bool
    trusts_folder: bool
    resume: str | None
    session_id: str | None
    session_file: str | None
    keeps_session: bool
    max_turns: int | None
    max_tokens: int | None
    max_cost: float | None
    timeout: float | None
    record: str | None
    replay: str | None
    system: str | None
    environment: Mapping[str, str] | None


class Agent:
    """A model with tools in a workspace; use it as `async with Agent(...) as agent`.

    The settings are those of `AgentOptions`: `directories`, `model`, `tools`, `mode`, `system`, `max_turns` and so on.
    The approver answers approval requests; without one, calls that need approval are refused. Several agents can live
    in one process; each belongs to the event loop it was opened in.
    """

    def __init__(self, *, approver: Approver | None = None, **settings: Unpack[AgentSettings]) -> None:
        """Raises TypeError for an unknown setting, or for a tool that is not a tool object."""
        self._options = _options(settings)
        self._approver = approver
        self._open: _OpenAgent | None = None

    async def __aenter__(self) -> "Agent":
        """Raises UsageError, and ModelFailure if there is no key for the model."""
        if self._open is not None:
            raise UsageError("This agent is open already.")
        async with AsyncExitStack() as stack:
            session = await stack.enter_async_context(open_agent(self._options, self._approver))
            self._open = _OpenAgent(session, stack.pop_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all runs."""
        opened, self._open = self._open, None
        if opened is not None:
            async with opened.exit_stack:
                await asyncio.gather(*map(end_run, opened.runs))

    @property
    def session_id(self) -> str:
        """The id for `resume`. Raises UsageError outside of `async with`."""
        return self._require_open.session.session_id

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far. Raises UsageError outside of `async with`."""
        return tuple(self._require_open.session.conversation.history.messages)

    async def run(self, prompt: str | Sequence[Part]) -> AsyncGenerator[AgentEvent]:
        """Answer a prompt. Yields events as they happen; the last is RunEnded with the outcome.

        Leaving the loop ends the run; `contextlib.aclosing` waits until it has ended. A slow reader loses nothing and
        blocks nothing. A second run waits for the first.

        Raises UsageError outside of `async with`; any other exception is a bug.
        """
        unread = _EventQueue()
        task = self.start(prompt, unread.emit)
        task.add_done_callback(unread.close)
        try:
            while (event := await unread.next()) is not None:
                yield event
            if not task.cancelled():
                task.result()
        finally:
            await end_run(task)

    async def ask(self, prompt: str | Sequence[Part]) -> RunEnded:
        """Answer a prompt and return the outcome, whose `text` is the answer. Raises what `run` raises."""
        ended = NOT_STARTED
        async with aclosing(self.run(prompt)) as events:
            async for event in events:
                if isinstance(event, RunEnded):
                    ended = event
        return ended

    def preview_compression(self) -> CompressionPreview:
        """What `compress` would do now, without a request to the model. Raises UsageError outside of `async with`."""
        return self._require_open.session.conversation.preview_compression()

    async def compress(self) -> Compressed:
        """Summarize the conversation to free context, and return the outcome. Waits for a run in progress.

        Raises UsageError outside of `async with`.
        """
        return await self._require_open.session.compress()

    def start(self, prompt: str | Sequence[Part], emit: EventSink) -> "asyncio.Task[RunEnded]":
        """Answer a prompt in a task, which can be cancelled. Every event goes to `emit` at once.

        A run cancelled before it begins, because another one is running, has no events. Raises UsageError outside of
        `async with`.
        """
        opened = self._require_open
        task = asyncio.create_task(opened.session.prompt(prompt, emit))
        opened.runs.add(task)
        task.add_done_callback(opened.runs.discard)
        return task

    @property
    def _require_open(self) -> "_OpenAgent":
        if self._open is None:
            raise UsageError("This agent is not open. Use it inside of `async with`.")
        return self._open


NOT_STARTED = RunEnded(EndReason.INTERRUPTED, message="The agent was closed before the run began.")


class _OpenAgent:
    """The state of an open agent."""

    def __init__(self, session: "Session", closing: AsyncExitStack) -> None:
        self.session = session
        self.exit_stack = closing
        self.runs: set[asyncio.Task[RunEnded]] = set()


async def end_run(task: "asyncio.Task[RunEnded]") -> None:
    """Cancel a run and wait for its end. A tool may ignore the first cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=_CANCEL_TIMEOUT)
    if not task.cancelled():
        task.exception()  # it was raised where the events are read, if anybody reads them


_CANCEL_TIMEOUT = 10.0


class _EventQueue:
    """Unread events of a run, in order, RunEnded last.

    The queue has no limit: emitting cannot wait, and a tool must not block because nobody reads.
    """

    def __init__(self) -> None:
        self._events: deque[AgentEvent] = deque()
        self._changed = asyncio.Event()
        self._has_ended = self._is_closed = False

    def emit(self, event: AgentEvent) -> None:
        append_event(self._events, event)
        self._has_ended = isinstance(event, RunEnded)
        self._changed.set()

    def close(self, task: "asyncio.Task[RunEnded]") -> None:
        """Mark the end. A run without RunEnded was cancelled before it began."""
        if task.cancelled() and not self._has_ended:
            self._events.append(NOT_STARTED)
        self._is_closed = True
        self._changed.set()

    async def next(self) -> AgentEvent | None:
        """The next event, None after the last one."""
        while not self._events:
            if self._is_closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._events.popleft()


def append_event(events: "deque[Any]", event: object) -> None:
    """Append an event to a queue.

    Each update of live output holds all of it, so a newer one replaces the last: nothing else piles up.
    """
    last = events[-1] if events else None
    if isinstance(event, OutputUpdated) and isinstance(last, OutputUpdated) and last.call is event.call:
        events[-1] = event
    else:
        events.append(event)


def _options(settings: AgentSettings) -> AgentOptions:
    values: dict[str, Any] = dict(settings)
    for name, as_tuple in _SEQUENCES.items():
        if values.get(name) is not None:
            values[name] = as_tuple(values[name])
    options = AgentOptions(**values)
    if not options.directories:
        raise UsageError("An agent needs a directory to work in.")
    if options.approve_plan not in (None, *PLAN_APPROVALS):
        raise UsageError(f"approve_plan must be one of {', '.join(PLAN_APPROVALS)}, not {options.approve_plan!r}.")
    for each in cast("Sequence[object]", options.tools):
        if not isinstance(each, BaseTool):
            raise TypeError(f"{each!r} is not a tool. A function becomes one with `@tool`.")
    return options


def _list_tools(given: BaseTool | Iterable[BaseTool]) -> tuple[BaseTool, ...]:
    return (given,) if isinstance(given, BaseTool) else tuple(given)


def _list_answers(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(given.items())


_SEQUENCES: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "directories": list_paths,
    "allowed_tools": list_names,
    "excluded_tools": list_names,
    "extensions": list_names,
    "answers": _list_answers,
    "policy_paths": list_paths,
    "admin_policy_paths": list_paths,
    "tools": _list_tools,
    "servers": list_names,
}
