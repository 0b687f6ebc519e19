"""The agent for synchronous code: the same events, in a plain `for` loop."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from typing import NamedTuple, Protocol, TypeAlias, Unpack

from tejat.agent import NOT_STARTED, Agent, AgentSettings, append_event, end_run
from tejat.core.agent.compaction import CompressionPreview
from tejat.core.agent.events import AgentEvent, Compressed, RunEnded
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest
from tejat.core.errors import UsageError
from tejat.core.messages.history import Message
from tejat.core.messages.types import Part


class SyncApprover(Protocol):
    """Answers approval requests, in the thread that reads the events."""

    def ask(self, question: ApprovalRequest) -> ApprovalReply: ...


class SyncAgent:
    """An `Agent` in its own thread and event loop; use it as `with SyncAgent(...) as agent`.

    It works wherever a call may block, even inside a running event loop. The settings are those of `Agent`. The
    approver is called in the thread that reads the events.
    """

    def __init__(self, *, approver: SyncApprover | None = None, **settings: Unpack[AgentSettings]) -> None:
        """Raises TypeError for an unknown setting, or for a tool that is not a tool object."""
        self._approver = approver
        self._agent = Agent(approver=None if approver is None else _ReaderApprover(), **settings)
        self._thread: _LoopThread | None = None

    def __enter__(self) -> "SyncAgent":
        """Raises UsageError, and ModelFailure if there is no key for the model."""
        if self._thread is not None:
            raise UsageError("This agent is open already.")
        self._thread = home = _LoopThread(self._agent)
        try:
            home.wait_until_open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End all runs."""
        home, self._thread = self._thread, None
        if home is not None:
            home.stop()

    @property
    def session_id(self) -> str:
        """The id for `resume`. Raises UsageError outside of `with`."""
        return self._require_open.agent.session_id

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far. Raises UsageError outside of `with`."""
        return self._require_open.agent.history

    def run(self, prompt: str | Sequence[Part]) -> Generator[AgentEvent]:
        """Answer a prompt. Yields events as they happen; the last is RunEnded with the outcome.

        Leaving the loop, even by an exception or KeyboardInterrupt, ends the run and waits until it has ended.

        Raises UsageError outside of `with`, and what the approver raises; any other exception is a bug.
        """
        reading = _RunReader(self._require_open, prompt)
        try:
            while (item := reading.next()) is not None:
                if not isinstance(item, _PendingApproval):
                    yield item
                elif self._approver is not None and item.is_open:
                    item.resolve(self._approver.ask(item.question))
        finally:
            reading.end()

    def ask(self, prompt: str | Sequence[Part]) -> RunEnded:
        """Answer a prompt and return the outcome, whose `text` is the answer. Raises what `run` raises."""
        ended = NOT_STARTED
        for event in self.run(prompt):
            if isinstance(event, RunEnded):
                ended = event
        return ended

    def preview_compression(self) -> CompressionPreview:
        """What `compress` would do now, without a request to the model. Raises UsageError outside of `with`."""
        return self._require_open.agent.preview_compression()

    def compress(self) -> Compressed:
        """Summarize the conversation to free context, and return the outcome. Raises UsageError outside of `with`."""
        return self._require_open.compress()

    @property
    def _require_open(self) -> "_LoopThread":
        if self._thread is None:
            raise UsageError("This agent is not open. Use it inside of `with`.")
        return self._thread


class _LoopThread:
    """A thread with an event loop in which an agent is open."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._main: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = Future()
        self._is_open: Future[None] = Future()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="tejat-agent", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def wait_until_open(self) -> None:
        """Raises the exception that kept the agent from opening."""
        self._is_open.result()

    def call(self, work: Callable[[], object]) -> None:
        """Schedule a call in the loop. Raises RuntimeError once it is closed."""
        loop, _ = self._main.result()
        loop.call_soon_threadsafe(work)

    def compress(self) -> Compressed:
        """Summarize the conversation in the loop. Raises RuntimeError once it is closed."""
        loop, _ = self._main.result()
        return asyncio.run_coroutine_threadsafe(self.agent.compress(), loop).result()

    def stop(self) -> None:
        """Close the agent and join the thread. Raises the exception of closing."""
        with suppress(RuntimeError):  # it has ended already
            loop, task = self._main.result()
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
        self._thread.join()
        if self._failure is not None and self._is_open.exception() is None:
            raise self._failure

    def _run(self) -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self._stay_open())
        except BaseException as error:  # noqa: BLE001 -- raised where the thread was started
            self._failure = error
            for waiting in (self._main, self._is_open):
                if not waiting.done():
                    waiting.set_exception(error)

    async def _stay_open(self) -> None:
        self._main.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        async with self.agent:
            self._is_open.set_result(None)
            await asyncio.Event().wait()


class _PendingApproval(NamedTuple):
    """An approval request on its way to the reading thread."""

    question: ApprovalRequest
    reply: "asyncio.Future[ApprovalReply]"

    @property
    def is_open(self) -> bool:
        """Whether the reply is still awaited."""
        return not self.reply.done()

    def resolve(self, answer: ApprovalReply) -> None:
        with suppress(RuntimeError):  # the agent was closed meanwhile
            self.reply.get_loop().call_soon_threadsafe(self._settle, answer)

    def _settle(self, answer: ApprovalReply) -> None:
        if self.is_open:
            self.reply.set_result(answer)


_Item: TypeAlias = AgentEvent | _PendingApproval

_reader: ContextVar[Callable[[_Item], None]] = ContextVar("reader")
"""Receives the events of the run in this task."""


class _ReaderApprover:
    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        asked = _PendingApproval(question, asyncio.get_running_loop().create_future())
        _reader.get()(asked)
        return await asked.reply


class _RunReader:
    """The unread events of a run in another thread."""

    def __init__(self, thread: _LoopThread, prompt: str | Sequence[Part]) -> None:
        self._thread = thread
        self._prompt = prompt
        self._items: deque[_Item] = deque()
        self._changed = threading.Condition()
        self._task: asyncio.Task[RunEnded] | None = None
        self._cancellation: asyncio.Task[None] | None = None
        self._has_ended = self._is_over = False
        thread.call(self._start)

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

    def end(self) -> None:
        """Cancel the run and wait for its end."""
        with suppress(RuntimeError):  # the loop is closed, and nothing runs in it
            self._thread.call(self._cancel)
        with self._changed:
            while not self._is_over:
                self._wait()

    def _wait(self) -> None:
        if not self._changed.wait(_POLL_SECONDS) and not self._thread.is_alive:
            self._is_over = True  # the agent was closed before the run could begin

    # What follows happens in the loop.

    def _start(self) -> None:
        _reader.set(self._put)
        try:
            self._task = self._thread.agent.start(self._prompt, self._put)
        except UsageError:  # it is being closed
            self._finish()
        else:
            self._task.add_done_callback(self._finish)

    def _put(self, item: _Item) -> None:
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
