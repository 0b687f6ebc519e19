"""The agent for synchronous code: the same events, in a plain `for` loop."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeAlias, Unpack

from tejat.agent import NOT_STARTED, Agent, append_event, end_run
from tejat.core.agent.compaction import CompressionPreview
from tejat.core.agent.event_function import check_event_function
from tejat.core.agent.events import AgentEvent, Compressed, EventSink, RunEnded
from tejat.core.agent.settings import AgentSettings, check_prompt
from tejat.core.approval.approver import ApproverLike, AskFunction, ask_function
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.approval.plans import ApprovedPlan
from tejat.core.errors import ToolFailure, UsageError
from tejat.core.messages.history import Message
from tejat.core.messages.types import Part
from tejat.core.tools.todos import TodoList
from tejat.workspace.threads.loop_thread import LoopThread


class SyncAgent:
    """An `Agent` for synchronous code: `with SyncAgent(...) as agent`. It has its own thread and event loop.

    It can be used from any thread, also inside a running event loop, as in a notebook. `AgentSettings` lists the
    settings. The approver and `on_event` are called in the thread that reads the events. An `async` approver runs in
    the thread of the agent.
    """

    def __init__(
        self,
        *,
        approver: ApproverLike | None = None,
        on_event: EventSink | None = None,
        **settings: Unpack[AgentSettings],
    ) -> None:
        """Raises TypeError and ValueError as `Agent` does."""
        self._ask = ask_function(approver)
        self._on_event = check_event_function(on_event)
        self._agent = Agent(approver=None if self._ask is None else _ask_reader, **settings)
        self._thread: LoopThread[Agent] | None = None
        self._was_closed = False

    def __repr__(self) -> str:
        return repr(self._agent).replace("<Agent", "<SyncAgent", 1)

    def __enter__(self) -> "SyncAgent":
        """Raises UsageError, and ModelFailure if there is no key for the model."""
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> "SyncAgent":
        """Open the agent without `with`, for a notebook. Raises UsageError, and ModelFailure if there is no key."""
        if self._thread is not None:
            raise UsageError("This agent is open already.")
        self._thread = home = LoopThread(self._agent, name="tejat-agent")
        try:
            _ = home.opened
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End all runs and close the agent. Does nothing if it is closed."""
        home, self._thread = self._thread, None
        if home is not None:
            self._was_closed = True
            home.stop()

    @property
    def session_id(self) -> str:
        """The id for `resume`. Raises UsageError outside of `with`."""
        return self._require_open.opened.session_id

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far. Raises UsageError outside of `with`."""
        return self._require_open.opened.history

    @property
    def todos(self) -> TodoList:
        """The todo list of the model, empty if it has none. Raises UsageError outside of `with`."""
        return self._require_open.opened.todos

    @property
    def approved_plan(self) -> ApprovedPlan | None:
        """The plan approved in this session, None if there is none. Raises UsageError outside of `with`."""
        return self._require_open.opened.approved_plan

    def run(self, prompt: str | Sequence[str | Part]) -> Generator[AgentEvent]:
        """Answer a prompt and yield events as they happen. The last one is RunEnded, with the outcome.

        Leaving the loop, also by an exception or KeyboardInterrupt, ends the run and waits until it has ended.

        Raises TypeError for an invalid prompt, and UsageError outside of `with` or in a tool, hook or approver of a run
        of the same agent. Exceptions of the approver, a hook, `on_event` or the program's own model are raised while
        the events are read; the agent can be used again after that. Any other exception is a bug.
        """
        check_prompt(prompt)
        thread = self._require_free_thread
        return _read_events(lambda: _RunReader(thread, prompt), self._ask, self._on_event)

    def start(self, prompt: str | Sequence[str | Part]) -> "SyncRun":
        """Start a run that other threads can cancel. Read its events to the end. Raises as `run` does."""
        check_prompt(prompt)
        return SyncRun(_RunReader(self._require_free_thread, prompt), self._ask, self._on_event)

    def ask(self, prompt: str | Sequence[str | Part]) -> RunEnded:
        """Answer a prompt and return the outcome, whose `text` is the answer. Raises what `run` raises."""
        ended = NOT_STARTED
        for event in self.run(prompt):
            if isinstance(event, RunEnded):
                ended = event
        return ended

    def preview_compression(self) -> CompressionPreview:
        """Preview `compress` without a request to the model. Raises UsageError outside of `with`."""
        return self._require_open.opened.preview_compression()

    def compress(self) -> Compressed:
        """Summarize the conversation to free context, and return the outcome. Raises UsageError outside of `with`."""
        thread = self._require_free_thread
        return thread.submit(thread.opened.compress()).result()

    @property
    def _require_free_thread(self) -> LoopThread[Agent]:
        """The thread of the agent. Raises UsageError inside of a run, because the new run would wait for that one."""
        thread = self._require_open
        reading = _reader.get(None)
        if thread.is_current or (reading is not None and reading.is_inside(thread)):
            raise UsageError(
                "A tool, hook, approver or model of an agent cannot start a run of the same agent: both would wait "
                "forever. Use another agent here."
            )
        return thread

    @property
    def _require_open(self) -> LoopThread[Agent]:
        if self._thread is None and self._was_closed:
            raise UsageError("This agent is closed. Open it again with `with`; `resume` continues its session.")
        if self._thread is None:
            raise UsageError("This agent is not open. Use it inside of `with`.")
        return self._thread


class SyncRun:
    """A run of `SyncAgent.start`: an iterator over its events, which any other thread can cancel.

    Approvals are asked for in the thread that reads the events.
    """

    def __init__(self, reader: "_RunReader", ask: AskFunction | None, on_event: EventSink | None) -> None:
        self._reader = reader
        self._events = _read_events(lambda: reader, ask, on_event)

    def __iter__(self) -> Iterator[AgentEvent]:
        return self._events

    def __next__(self) -> AgentEvent:
        return next(self._events)

    def cancel(self) -> None:
        """End the run at once, as Esc does in the terminal. Its last event is still RunEnded. Does not wait."""
        self._reader.cancel()

    def close(self) -> None:
        """Cancel the run and wait for its end. The remaining events are dropped."""
        self._events.close()
        self._reader.end()


def _read_events(
    start: "Callable[[], _RunReader]", ask: AskFunction | None, on_event: EventSink | None
) -> Generator[AgentEvent]:
    """Yield the events of a run that starts with the first of them, and answer its approvals in this thread."""
    reader = start()
    try:
        while (item := reader.next()) is not None:
            if not isinstance(item, _PendingApproval):
                if on_event is not None:
                    on_event(item)
                yield item
            elif ask is not None and item.is_open:
                _answer(item, ask, reader)
    finally:
        reader.end()


def _answer(asked: "_PendingApproval", ask: AskFunction, reader: "_RunReader") -> None:
    """Raises what the approver raises, except a failure that the model is told."""
    outer = _reader.set(reader)  # the run waits for the approver
    try:
        asked.resolve(ask(asked.question))
    except ToolFailure as failure:
        asked.fail(failure)
    finally:
        _reader.reset(outer)


class _PendingApproval(NamedTuple):
    """An approval request on its way to the reading thread. The reply is what the approver returned."""

    question: ApprovalRequest
    reply: "asyncio.Future[object]"

    @property
    def is_open(self) -> bool:
        """Whether the reply is still awaited."""
        return not self.reply.done()

    def resolve(self, answer: object) -> None:
        self._settle(lambda: self.reply.set_result(answer))

    def fail(self, failure: ToolFailure) -> None:
        self._settle(lambda: self.reply.set_exception(failure))

    def _settle(self, settle: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the agent was closed meanwhile
            self.reply.get_loop().call_soon_threadsafe(lambda: settle() if self.is_open else None)


_Item: TypeAlias = AgentEvent | _PendingApproval

_reader: "ContextVar[_RunReader]" = ContextVar("reader")
"""The reader of the run that this task or thread belongs to."""


async def _ask_reader(question: ApprovalRequest) -> Any:
    """Return what the approver in the reading thread returned, which may be awaitable."""
    asked = _PendingApproval(question, asyncio.get_running_loop().create_future())
    _reader.get().put(asked)
    return await asked.reply


class _RunReader:
    """The unread events of a run in another thread."""

    def __init__(self, thread: LoopThread[Agent], prompt: str | Sequence[str | Part]) -> None:
        self._thread = thread
        self._prompt = prompt
        self._items: deque[_Item] = deque()
        self._changed = threading.Condition()
        self._task: asyncio.Task[RunEnded] | None = None
        self._cancellation: asyncio.Task[None] | None = None
        self._has_ended = self._is_over = False
        self._outer = _reader.get(None)
        thread.call_soon(self._start)

    def next(self) -> _Item | None:
        """The next event or approval request, None after the last one. Raises what the run raised."""
        with self._changed:
            while not self._items and not self._is_over:
                self._wait()
            if self._items:
                return self._items.popleft()
        if self._task is not None and not self._task.cancelled():
            self._task.result()
        is_first = not self._has_ended
        self._has_ended = True
        return NOT_STARTED if is_first else None

    def is_inside(self, thread: LoopThread[Agent]) -> bool:
        """Whether this run, or one around it, is a run of the agent in a thread, and has not ended."""
        if self._thread is thread and not self._is_over:
            return True
        return self._outer is not None and self._outer.is_inside(thread)

    def cancel(self) -> None:
        """Cancel the run, without waiting."""
        with suppress(RuntimeError):  # the loop is closed, and nothing runs in it
            self._thread.call_soon(self._cancel)

    def end(self) -> None:
        """Cancel the run and wait for its end."""
        self.cancel()
        with self._changed:
            while not self._is_over:
                self._wait()

    def _wait(self) -> None:
        if not self._changed.wait(_POLL_SECONDS) and not self._thread.is_alive:
            self._is_over = True  # the agent was closed before the run could begin

    # What follows happens in the loop.

    def _start(self) -> None:
        _reader.set(self)
        try:
            self._task = self._thread.opened.start(self._prompt, self.put)
        except UsageError:  # it is being closed
            self._finish()
        else:
            self._task.add_done_callback(self._finish)

    def put(self, item: _Item) -> None:
        with self._changed:
            append_event(self._items, item)
            self._has_ended = isinstance(item, RunEnded)
            self._changed.notify()

    def _finish(self, task: "asyncio.Task[RunEnded] | None" = None) -> None:
        if task is not None and not task.cancelled():
            task.exception()  # raised in the other thread, if anybody reads there
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def _cancel(self) -> None:
        if self._task is not None:
            self._cancellation = asyncio.create_task(end_run(self._task))


_POLL_SECONDS = 1.0
