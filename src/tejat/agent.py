"""The agent as a library: prompts in, events out."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from tejat.app.session.lifespan import open_session_manager
from tejat.core.agent.compaction import CompressionPreview
from tejat.core.agent.event_function import check_event_function
from tejat.core.agent.events import AgentEvent, Compressed, EndReason, EventSink, RunEnded
from tejat.core.agent.session_state import PLAN_KEY, TODOS_KEY
from tejat.core.agent.settings import AgentSettings, check_prompt, parse_settings
from tejat.core.approval.approver import ApproverLike, as_approver
from tejat.core.approval.plans import ApprovedPlan, parse_approved_plan
from tejat.core.errors import CallbackFailure, UsageError
from tejat.core.messages.history import Message
from tejat.core.messages.types import Part
from tejat.core.tools.call_events import OutputUpdated
from tejat.core.tools.todos import TodoList, todos_from_state
from tejat.core.tools.tool_check import check_tool

if TYPE_CHECKING:
    from tejat.engine.sessions.session import Session

_T = TypeVar("_T")


class Agent:
    """A model with tools in a workspace: `async with Agent(...) as agent`.

    `AgentSettings` lists the settings. The approver answers approval requests; without one, calls that need approval
    are refused. A process can have several agents. Each belongs to the event loop in which it was opened, and is closed
    when that loop is.
    """

    def __init__(
        self,
        *,
        approver: ApproverLike | None = None,
        on_event: EventSink | None = None,
        **settings: Unpack[AgentSettings],
    ) -> None:
        """`on_event` is called with every event of every run, in order.

        Raises TypeError for an unknown setting and a value of the wrong type, and ValueError for a wrong value.
        """
        self._options = parse_settings(settings)
        for each in self._options.tools:
            check_tool(each)
        self._approver = as_approver(approver)
        self._on_event = check_event_function(on_event)
        self._open: _OpenAgent | None = None
        self._was_closed = False

    def __repr__(self) -> str:
        if self._find_open() is None:
            return f"<Agent, {'closed' if self._was_closed else 'not open'}>"
        session = self._require_open.session
        return f"<Agent {session.session_id}, {len(session.conversation.history.messages)} messages>"

    async def __aenter__(self) -> "Agent":
        """Raises UsageError, and ModelFailure if there is no key for the model."""
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        """Raises what a hook raises, and UsageError in another event loop than that of the agent."""
        await self.aclose()

    async def open(self) -> "Agent":
        """Open the agent without `async with`. Raises UsageError, and ModelFailure if there is no key for the model."""
        if self._find_open() is not None:
            raise UsageError("This agent is open already.")
        async with AsyncExitStack() as stack:
            # The only generator here: a loop that ends with the agent open closes all generators at the same time.
            manager = await stack.enter_async_context(open_session_manager(self._options, self._approver))
            self._open = _OpenAgent(manager.session, stack.pop_all(), self._on_event)
        return self

    async def aclose(self) -> None:
        """End all runs and close the agent. Does nothing if it is closed. Raises what leaving `async with` raises."""
        opened = self._find_open()
        if opened is None:
            return
        opened.require_loop()
        self._open, self._was_closed = None, True
        await _raise_own(opened.close())

    @property
    def session_id(self) -> str:
        """The id for `resume`. Raises UsageError outside of `async with`."""
        return self._require_open.session.session_id

    @property
    def directories(self) -> tuple[str, ...]:
        """The workspace directories, as they were given."""
        return self._options.directories

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far. Raises UsageError outside of `async with`."""
        return tuple(self._require_open.session.conversation.history.messages)

    @property
    def todos(self) -> TodoList:
        """The todo list of the model, empty if it has none. Raises UsageError outside of `async with`."""
        return todos_from_state(self._require_open.session.state.get(TODOS_KEY))

    @property
    def approved_plan(self) -> ApprovedPlan | None:
        """The plan approved in this session, None if there is none. Raises UsageError outside of `async with`."""
        return parse_approved_plan(self._require_open.session.state.get(PLAN_KEY))

    def run(self, prompt: str | Sequence[str | Part]) -> AsyncGenerator[AgentEvent]:
        """Answer a prompt and yield events as they happen. The last one is RunEnded, with the outcome.

        Leaving the loop ends the run; `contextlib.aclosing` waits until it has ended. A slow reader misses no event and
        does not slow down the run. A second run waits for the first.

        Raises TypeError for an invalid prompt, and UsageError outside of `async with` or in another event loop.
        Exceptions of the approver, a hook, `on_event` or the program's own model are raised while the events are read,
        and so is UsageError in a tool, hook or approver of a run of the same agent. The agent can be used again after
        that. Any other exception is a bug.
        """
        check_prompt(prompt)
        self._require_open.require_loop()
        return self._run(prompt)

    async def _run(self, prompt: str | Sequence[str | Part]) -> AsyncGenerator[AgentEvent]:
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

    async def ask(self, prompt: str | Sequence[str | Part]) -> RunEnded:
        """Answer a prompt and return the outcome, whose `text` is the answer. Raises what `run` raises."""
        ended = NOT_STARTED
        async with aclosing(self.run(prompt)) as events:
            async for event in events:
                if isinstance(event, RunEnded):
                    ended = event
        return ended

    def preview_compression(self) -> CompressionPreview:
        """Preview `compress` without a request to the model. Raises UsageError outside of `async with`."""
        return self._require_open.session.conversation.preview_compression()

    async def compress(self) -> Compressed:
        """Summarize the conversation to free context, and return the outcome. Waits for a run in progress.

        Raises UsageError outside of `async with`, and in a tool, hook or approver of a run of the same agent.
        """
        opened = self._require_open
        opened.require_loop()
        opened.refuse_inside_run()
        return await _raise_own(opened.session.compress())

    def start(self, prompt: str | Sequence[str | Part], emit: EventSink) -> "asyncio.Task[RunEnded]":
        """Answer a prompt in a task, which can be cancelled. `emit` is called with every event.

        A run that is cancelled while it waits for another run has no events. Raises as `run` does.
        """
        check_prompt(prompt)
        opened = self._require_open
        opened.require_loop()
        listener = _Listener(emit)
        task = asyncio.create_task(_raise_own(opened.prompt(prompt, listener), listener, *opened.listeners))
        opened.runs.add(task)
        task.add_done_callback(opened.runs.discard)
        return task

    @property
    def _require_open(self) -> "_OpenAgent":
        opened = self._find_open()
        if opened is None and self._was_closed:
            raise UsageError("This agent is closed. Open it again with `async with`; `resume` continues its session.")
        if opened is None:
            raise UsageError("This agent is not open. Use it inside of `async with`.")
        return opened

    def _find_open(self) -> "_OpenAgent | None":
        """The state of the agent; None if it is not open, or its event loop was closed."""
        if self._open is not None and self._open.has_lost_loop:
            self._open, self._was_closed = None, True
        return self._open


class _Listener:
    """Delivers events to a function of the program, and keeps the first exception that it raises.

    Some events are emitted where nobody can raise it, such as in a timer. It is raised at the end of the run then.
    """

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._failure: CallbackFailure | None = None

    def __call__(self, event: AgentEvent) -> None:
        """Raises CallbackFailure."""
        try:
            self._sink(event)
        except Exception as error:
            failure = CallbackFailure(error)
            self._failure = self._failure or failure
            raise failure from error

    def take_failure(self) -> CallbackFailure | None:
        failure, self._failure = self._failure, None
        return failure


async def _raise_own(work: Coroutine[None, None, _T], *listeners: _Listener) -> _T:
    """Raise the exception of a function of the program itself, as its author knows it."""
    failure, result = None, list[_T]()
    try:
        result.append(await work)
    except CallbackFailure as raised:
        failure = raised
    except BaseException:
        for listener in listeners:
            listener.take_failure()
        raise
    earlier = [each for listener in listeners if (each := listener.take_failure()) is not None]
    failure = earlier[0] if earlier else failure
    if failure is not None:
        raise failure.error  # outside of the handler, so that its causes stay its own
    return result[0]


class _RunMark:
    """Marks the code that a run calls. Tasks that outlive the run know that it is over."""

    __slots__ = ("agent", "is_over")

    def __init__(self, agent: "_OpenAgent") -> None:
        self.agent = agent
        self.is_over = False


_run_marks: ContextVar[tuple[_RunMark, ...]] = ContextVar("run_marks", default=())
"""The runs that this task or thread belongs to, the innermost last."""

NOT_STARTED = RunEnded(EndReason.INTERRUPTED, message="The run was cancelled before it began.")


class _OpenAgent:
    """The state of an open agent."""

    def __init__(self, session: "Session", closing: AsyncExitStack, on_event: EventSink | None) -> None:
        self.session = session
        session.subscribe(self._note_end)
        self.listeners = () if on_event is None else (_Listener(on_event),)
        for listener in self.listeners:
            session.subscribe(listener)
        self.exit_stack = closing
        self.runs: set[asyncio.Task[RunEnded]] = set()
        self._loop = asyncio.get_running_loop()

    async def prompt(self, prompt: str | Sequence[str | Part], listener: EventSink) -> RunEnded:
        """Answer a prompt, in a task of its own. Raises UsageError in a run of this agent."""
        self.refuse_inside_run()
        mark = _RunMark(self)
        _run_marks.set((*_run_marks.get(), mark))
        try:
            return await self.session.prompt(prompt, listener)
        finally:
            mark.is_over = True

    def refuse_inside_run(self) -> None:
        """Raises UsageError in code that a run of this agent waits for."""
        if any(mark.agent is self and not mark.is_over for mark in _run_marks.get()):
            raise UsageError(
                "A tool, hook, approver, model or on_event of an agent cannot start a run of the same agent: both "
                "would wait forever. Use another agent here."
            )

    def _note_end(self, event: AgentEvent) -> None:
        """Let functions of the program that learn of the end start the next run."""
        if isinstance(event, RunEnded):
            for mark in _run_marks.get():
                mark.is_over = mark.is_over or mark.agent is self

    async def close(self) -> None:
        async with self.exit_stack:
            await asyncio.gather(*map(end_run, self.runs))

    @property
    def has_lost_loop(self) -> bool:
        """Whether the event loop was closed: nothing can run any more."""
        return self._loop.is_closed()

    def require_loop(self) -> None:
        """Raises UsageError in another event loop, or in a thread without one."""
        try:
            is_own = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            is_own = False
        if not is_own:
            raise UsageError(
                "This agent belongs to the event loop that it was opened in. Open another agent here, or use "
                "SyncAgent, which works in every thread."
            )


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
