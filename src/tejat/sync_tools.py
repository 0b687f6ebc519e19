"""The tools for synchronous code, from any number of threads."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, TypeVar, Unpack

from tejat.app.tools.given_calls import function_call
from tejat.app.tools.open_tools import ToolSettings, open_tools
from tejat.app.tools.sdk_answers import SyncSdkAnswers
from tejat.app.tools.toolset import Toolset
from tejat.core.agent.event_function import check_event_function
from tejat.core.approval.approver import ApproverLike, AskFunction, ask_function
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.text.one_or_many import OnePathOrMany
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallEventSink, CallFinished, Event
from tejat.tools.registry import ToolRegistry
from tejat.workspace.threads.daemon import run_in_daemon
from tejat.workspace.threads.loop_thread import LoopThread

_Result = TypeVar("_Result")


class SyncTools(SyncSdkAnswers):
    """The tools for synchronous code: `with SyncTools(...) as tools`. They have their own thread and event loop.

    The arguments are those of `open_tools`. Several threads may call at once, also inside a running event loop, as in a
    notebook. Tools of MCP servers and of the discovery command are included. The approver and `on_event` are called in
    the thread that made the call.
    """

    def __init__(
        self, directories: OnePathOrMany = ".", approver: ApproverLike | None = None, **settings: Unpack[ToolSettings]
    ) -> None:
        """Raises TypeError for a wrong argument."""
        self._ask = ask_function(approver)
        self._context = open_tools(directories, None if self._ask is None else self._ask_caller, **settings)
        self._calls: set[asyncio.Task[Any]] = set()
        self._thread: LoopThread[Toolset] | None = None
        self._opening = Lock()
        self._was_closed = False

    def __repr__(self) -> str:
        if self._thread is None:
            return f"<SyncTools, {'closed' if self._was_closed else 'not open'}>"
        return f"<SyncTools in {', '.join(self._thread.opened.roots.paths)}, {len(self.registry)} tools>"

    def __enter__(self) -> "SyncTools":
        """Raises UsageError as entering `open_tools` does."""
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> "SyncTools":
        """Open the tools without `with`, for a notebook. Closed tools can be opened again.

        Raises UsageError if they are open, and as entering `open_tools` does.
        """
        if not self._opening.acquire(blocking=False):
            raise UsageError(_OPEN)
        try:
            if self._thread is not None:
                raise UsageError(_OPEN)
            self._context = self._context.renew()
            thread = LoopThread(self._stay_open(), name="tejat-tools")
            try:
                _ = thread.opened
            except BaseException:
                thread.stop()
                raise
            self._thread = thread
        finally:
            self._opening.release()
        return self

    def close(self) -> None:
        """Cancel the calls of other threads and close the tools. Does nothing if they are closed.

        Raises UsageError in the thread of the tools, where `async` tools and approvers run.
        """
        if self._thread is not None and self._thread.is_current:
            raise UsageError(lazy("These tools cannot be closed by code that they run."))
        thread, self._thread = self._thread, None
        if thread is not None:
            self._was_closed = True
            thread.stop()

    def call(
        self,
        call: FunctionCall | str,
        params: Params | None = None,
        /,
        *,
        on_event: CallEventSink | None = None,
        **arguments: object,
    ) -> ToolResult:
        """Run one call and return its result. See `Toolset.call`."""
        (finished,) = self.call_many([function_call(call, params, arguments)], on_event=on_event)
        return finished.result

    def call_many(
        self, calls: FunctionCall | Iterable[FunctionCall], *, on_event: CallEventSink | None = None
    ) -> list[CallFinished]:
        """Run the calls of a model and return the last event of each, in order. See `Toolset.call_many`.

        An exception in this thread, such as KeyboardInterrupt, cancels the calls and waits for their end.
        """
        on_event = check_event_function(on_event)
        thread, caller = self._require_open, _Caller()
        sink = None if on_event is None else caller.relay(on_event)
        try:
            work = self._run(partial(thread.opened.call_many, calls, on_event=sink), caller, caller.finish)
            running = thread.submit(work)
        except RuntimeError:  # it was closed by another thread
            raise UsageError(_CLOSED) from None
        try:
            caller.work(thread)
        except BaseException:
            running.cancel()
            caller.wait(thread)
            raise
        try:
            finished = running.result(timeout=0)
        except (CancelledError, TimeoutError):
            raise UsageError(_CLOSED) from None
        if caller.error is not None:
            raise caller.error
        return finished

    async def call_async(self, call: FunctionCall) -> ToolResult:
        """Run one call and wait for it in a task of any event loop. The approver is called in a thread of its own.

        Cancelling the task cancels the call; CancelledError is raised when the call has ended.
        """
        thread, ended = self._require_open, Future[None]()
        work = self._run(partial(thread.opened.call, call), None, lambda _: ended.set_result(None))
        try:
            running = thread.submit(work)
        except RuntimeError:  # it was closed by another thread
            raise UsageError(_CLOSED) from None
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            waiting = asyncio.wrap_future(ended)
            while not waiting.done() and thread.is_alive:
                await asyncio.wait((waiting,), timeout=_POLL_SECONDS)
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                raise UsageError(_CLOSED) from None
            raise

    def declarations(self) -> list[FunctionDeclaration]:
        """The declarations for a model. Raises UsageError outside of `with`."""
        return self._require_open.opened.declarations()

    @property
    def registry(self) -> ToolRegistry:
        """All tools. Raises UsageError outside of `with`."""
        return self._require_open.opened.registry

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user, such as why tools are missing. Raises UsageError outside of `with`."""
        return self._require_open.opened.notes

    @property
    def _require_open(self) -> LoopThread[Toolset]:
        if self._thread is None and self._was_closed:
            raise UsageError(lazy("These tools are closed. Use them inside of `with` or `async with`."))
        if self._thread is None:
            raise UsageError(lazy("These tools are not open. Use them inside of `with`."))
        return self._thread

    # What follows happens in the loop.

    @asynccontextmanager
    async def _stay_open(self) -> AsyncGenerator[Toolset]:
        async with self._context as toolset:
            try:
                yield toolset
            finally:
                for task in self._calls:
                    task.cancel()
                await asyncio.gather(*self._calls, return_exceptions=True)

    async def _run(
        self,
        work: Callable[[], Coroutine[Any, Any, _Result]],
        caller: "_Caller | None",
        on_end: Callable[[object], None],
    ) -> _Result:
        _caller.set(caller)
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        task.add_done_callback(on_end)
        return await work()

    async def _ask_caller(self, question: ApprovalRequest) -> Any:
        """Ask the approver in the thread of the call. Its answer may have to be awaited here."""
        assert self._ask is not None
        caller, ask = _caller.get(), partial(_call_approver, self._ask, question)
        if caller is None:  # a server asks between calls, or no thread waits for this one
            return await run_in_daemon(ask)
        return await caller.run(ask)


def _call_approver(ask: AskFunction, question: ApprovalRequest) -> object:
    try:
        return ask(question)
    except StopIteration as error:  # no future can carry it to the task that asks
        raise RuntimeError("The approver raised StopIteration.") from error


class _Caller:
    """The thread that waits for a call, and does what the call needs from the program meanwhile."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._is_finished = False
        self.error: Exception | None = None
        """The first exception of `on_event`."""

    def work(self, thread: LoopThread[Toolset]) -> None:
        """Do the jobs of the call until it has ended."""
        while (job := self._next_job(thread)) is not None:
            job()

    def wait(self, thread: LoopThread[Toolset]) -> None:
        """Wait for the end of a cancelled call."""
        while self._next_job(thread) is not None:
            pass

    def _next_job(self, thread: LoopThread[Toolset]) -> Callable[[], object] | None:
        while not self._is_finished:
            with suppress(Empty):
                job = self._jobs.get(timeout=_POLL_SECONDS)
                self._is_finished = job is None
                return job
            self._is_finished = not thread.is_alive  # it was closed before the call could begin
        return None

    def relay(self, on_event: CallEventSink) -> CallEventSink:
        """Return a sink that reports events in this thread, until one of them raises."""

        def report(event: Event) -> None:
            if self.error is None:
                try:
                    on_event(event)
                except Exception as error:  # noqa: BLE001 -- raised when the calls have ended
                    self.error = error

        def relay(event: Event) -> None:
            variables = copy_context()  # those of the call: others that would wait for it are refused then
            self._jobs.put(lambda: variables.run(report, event))

        return relay

    async def run(self, work: Callable[[], object]) -> object:
        """Run a function in this thread, with the context variables of the call. Raises what it raises."""
        done: Future[object] = Future()
        variables = copy_context()

        def job() -> None:
            if done.set_running_or_notify_cancel():
                try:
                    done.set_result(variables.run(work))
                except Exception as error:  # noqa: BLE001 -- raised where the result is awaited
                    done.set_exception(error)

        self._jobs.put(job)
        return await asyncio.wrap_future(done)

    def finish(self, _: object) -> None:
        """Wake the thread up for the last time."""
        self._jobs.put(None)


_caller: ContextVar[_Caller | None] = ContextVar("caller", default=None)
"""The thread that waits for the call of this task."""

_OPEN = lazy("These tools are open already.")
_CLOSED = lazy("These tools were closed during the call.")
_POLL_SECONDS = 1.0
