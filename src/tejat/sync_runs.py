"""Runs of an agent in a thread of its own, as other threads read them."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

from tejat.agent import NOT_STARTED, Agent, append_event, end_run
from tejat.core.agent.events import AgentEvent, EventSink, RunEnded
from tejat.core.approval.approver import AskFunction
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.errors import ToolFailure, UsageError
from tejat.core.messages.types import Part
from tejat.workspace.threads.loop_thread import LoopThread

_Result = TypeVar("_Result")


class RunReader:
    """A run, read by one thread at a time: `on_event` and the approver are called there.

    They are called in time even if that thread waits for another run, as in `for event in agent.run("..."):
    agent.ask("...")`: the second run begins when the first has ended, which may need approvals.
    """

    def __init__(
        self,
        thread: LoopThread[Agent],
        prompt: str | Sequence[str | Part],
        ask: AskFunction | None,
        on_event: EventSink | None,
    ) -> None:
        self._thread = thread
        self._prompt = prompt
        self._ask = ask
        self._on_event = on_event
        self._lock = threading.Lock()
        self._unhandled: deque[_Item] = deque()
        self._unread: deque[AgentEvent] = deque()
        """Events that were handled while the thread waited for something else."""
        self._failure: Exception | None = None
        self._is_busy = False
        self._is_reported = self._has_ended = self._is_over = False
        self._task: asyncio.Task[RunEnded] | None = None
        self._cancellation: asyncio.Task[None] | None = None
        self._outer = _reader.get(None)
        self._reading = _current_thread()
        self._reading.add(self)
        thread.call_soon(self._start)

    def next(self) -> AgentEvent | None:
        """The next event, None after the last one. Raises what the run, the approver or `on_event` raised."""
        self._move_to(_current_thread())
        while True:
            if self._unread:
                return self._unread.popleft()
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            is_over = self._is_over and not self._is_busy
            if not self.needs_handling:
                if is_over:
                    return self._last_event()
                self._reading.wait(lambda: self.needs_handling or (self._check_over() and not self._is_busy), self)
                continue
            self._reading.handle_others(self)  # which happened before
            if (item := self._take()) is None:
                continue
            try:
                self._handle(item)
            finally:
                self._release()
            if not isinstance(item, _PendingApproval):
                return item

    def _last_event(self) -> RunEnded | None:
        if self._task is not None and not self._task.cancelled():
            self._task.result()
        is_first = not self._has_ended
        self._has_ended = True
        return NOT_STARTED if is_first else None

    @property
    def needs_handling(self) -> bool:
        return bool(self._unhandled) and not self._is_busy and self._failure is None

    def handle_all(self) -> None:
        """Handle what is there, while the thread waits for something else. Failures are raised by `next`."""
        while self.needs_handling and (item := self._take()) is not None:
            try:
                self._handle(item)
                if not isinstance(item, _PendingApproval):
                    append_event(self._unread, item)
            except Exception as error:  # noqa: BLE001 -- raised where the events are read
                self._failure = error
                self.cancel()
            finally:
                self._release()

    def is_inside(self, thread: LoopThread[Agent]) -> bool:
        """Whether this run, or one around it, is a run of the agent in a thread, and has not ended."""
        if self._thread is thread and not self._is_reported and (self._is_busy or not self._is_over):
            return True
        return self._outer is not None and self._outer.is_inside(thread)

    def cancel(self) -> None:
        """Cancel the run, without waiting."""
        with suppress(RuntimeError):  # the loop is closed, and nothing runs in it
            self._thread.call_soon(self._cancel)

    def end(self) -> None:
        """Cancel the run and wait for its end. Handles nothing more: this may happen while garbage is collected."""
        self._reading.discard(self)
        self.cancel()
        with self._reading.changed:
            while not self._check_over():
                self._reading.changed.wait(_POLL_SECONDS)

    def _check_over(self) -> bool:
        # Without the thread, the agent was closed before the run could begin.
        self._is_over = self._is_over or not self._thread.is_alive
        return self._is_over

    def _move_to(self, reading: "_ReadingThread") -> None:
        if self._reading is not reading:
            self._reading.discard(self)
            reading.add(self)
            with self._lock:
                self._reading = reading

    def _take(self) -> "_Item | None":
        """Take the next item, until `_release`. None if there is none, or another thread handles one."""
        with self._lock:
            if self._is_busy or not self._unhandled:
                return None
            self._is_busy = True
            return self._unhandled.popleft()

    def _handle(self, item: "_Item") -> None:
        """Report an event, or answer a request. Raises what functions of the program raise."""
        outer = _reader.set(self)  # the run waits for them
        self._is_reported = isinstance(item, RunEnded)
        try:
            if isinstance(item, _PendingApproval):
                item.answer(self._ask)
            elif self._on_event is not None:
                self._on_event(item)
        finally:
            _reader.reset(outer)

    def _release(self) -> None:
        with self._lock:
            self._is_busy = False
            reading = self._reading
        reading.wake()

    # What follows happens in the loop.

    def _start(self) -> None:
        _reader.set(self)
        try:
            self._task = self._thread.opened.start(self._prompt, self.put)
        except UsageError:  # it is being closed
            self._finish()
        else:
            self._task.add_done_callback(self._finish)

    def put(self, item: "_Item") -> None:
        with self._lock:
            append_event(self._unhandled, item)
            self._has_ended = isinstance(item, RunEnded)
            reading = self._reading
        reading.wake()

    def _finish(self, task: "asyncio.Task[RunEnded] | None" = None) -> None:
        if task is not None and not task.cancelled():
            task.exception()  # raised in the other thread, if anybody reads there
        with self._lock:
            self._is_over = True
            reading = self._reading
        reading.wake()

    def _cancel(self) -> None:
        if self._task is not None:
            self._cancellation = asyncio.create_task(end_run(self._task))


def is_inside_run(thread: LoopThread[Agent]) -> bool:
    """Whether this code is called by a run of the agent in a thread, which has not ended."""
    reader = _reader.get(None)
    return reader is not None and reader.is_inside(thread)


def wait_for(future: "Future[_Result]") -> _Result:
    """Wait for work of an agent, which may wait for the runs that this thread reads. Raises what it raises."""
    reading = _current_thread()
    future.add_done_callback(lambda _: reading.wake())
    try:
        reading.wait(future.done)
    except BaseException:
        future.cancel()
        raise
    return future.result()


async def ask_reader(question: ApprovalRequest) -> Any:
    """Return what the approver in the reading thread returned, which may be awaitable."""
    asked = _PendingApproval(question, asyncio.get_running_loop().create_future())
    _reader.get().put(asked)
    return await asked.reply


_reader: "ContextVar[RunReader]" = ContextVar("reader")
"""The reader of the run that this task or thread belongs to."""


class _PendingApproval(NamedTuple):
    """An approval request on its way to the reading thread. The reply is what the approver returned."""

    question: ApprovalRequest
    reply: "asyncio.Future[object]"

    def answer(self, ask: AskFunction | None) -> None:
        """Raises what the approver raises, except a failure that the model is told."""
        if ask is None or self.reply.done():
            return
        try:
            answer = ask(self.question)
        except ToolFailure as failure:
            self._settle(lambda refusal=failure: self.reply.set_exception(refusal))
        else:
            self._settle(lambda: self.reply.set_result(answer))

    def _settle(self, settle: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the agent was closed meanwhile
            self.reply.get_loop().call_soon_threadsafe(lambda: None if self.reply.done() else settle())


_Item: TypeAlias = AgentEvent | _PendingApproval


class _ReadingThread:
    """Where a thread waits for the runs that it reads."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._readers: WeakSet[RunReader] = WeakSet()

    def add(self, reader: RunReader) -> None:
        with self.changed:
            self._readers.add(reader)

    def discard(self, reader: RunReader) -> None:
        with self.changed:
            self._readers.discard(reader)

    def wake(self) -> None:
        with self.changed:
            self.changed.notify_all()

    def wait(self, is_done: Callable[[], bool], waiting: RunReader | None = None) -> None:
        """Wait until something is done, and handle the other runs of this thread meanwhile."""
        while not is_done():
            self.handle_others(waiting)
            with self.changed:
                if not self._find_others(waiting) and not is_done():
                    self.changed.wait(_POLL_SECONDS)

    def handle_others(self, waiting: RunReader | None) -> None:
        """Handle what the other runs of this thread have reported so far."""
        with self.changed:
            others = self._find_others(waiting)
        for reader in others:
            reader.handle_all()

    def _find_others(self, waiting: RunReader | None) -> list[RunReader]:
        return [reader for reader in self._readers if reader is not waiting and reader.needs_handling]


def _current_thread() -> _ReadingThread:
    reading = getattr(_local, "reading", None)
    if reading is None:
        reading = _local.reading = _ReadingThread()
    return reading


_local = threading.local()
_POLL_SECONDS = 1.0
