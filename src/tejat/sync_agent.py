"""The agent for synchronous code: the same events, in a plain `for` loop."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from threading import Lock
from typing import Unpack

from tejat.agent import NOT_STARTED, Agent
from tejat.core.agent.compaction import CompressionPreview
from tejat.core.agent.event_function import check_event_function
from tejat.core.agent.events import AgentEvent, Compressed, EventSink, RunEnded
from tejat.core.agent.settings import AgentSettings, check_prompt
from tejat.core.approval.approver import ApproverLike, ask_function
from tejat.core.approval.plans import ApprovedPlan
from tejat.core.errors import UsageError
from tejat.core.messages.history import Message
from tejat.core.messages.types import Part
from tejat.core.tools.todos import TodoList
from tejat.sync_runs import RunReader, ask_reader, is_inside_run, wait_for
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
        self._agent = Agent(approver=None if self._ask is None else ask_reader, **settings)
        self._thread: LoopThread[Agent] | None = None
        self._opening = Lock()
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
        with self._opening:
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
        """End all runs and close the agent. Does nothing if it is closed.

        Raises UsageError in the thread of the agent, where `async` tools, hooks and approvers run.
        """
        if self._thread is not None and self._thread.is_current:
            raise UsageError("This agent cannot be closed by code that it runs.")
        home, self._thread = self._thread, None
        if home is not None:
            self._was_closed = True
            home.stop()

    @property
    def session_id(self) -> str:
        """The id for `resume`. Raises UsageError outside of `with`."""
        return self._require_open.opened.session_id

    @property
    def directories(self) -> tuple[str, ...]:
        """The workspace directories, as they were given."""
        return self._agent.directories

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
        return _read_events(lambda: RunReader(thread, prompt, self._ask, self._on_event))

    def start(self, prompt: str | Sequence[str | Part]) -> "SyncRun":
        """Start a run that other threads can cancel. Read its events to the end. Raises as `run` does."""
        check_prompt(prompt)
        return SyncRun(RunReader(self._require_free_thread, prompt, self._ask, self._on_event))

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
        try:
            return wait_for(thread.submit(thread.opened.compress()))
        except (RuntimeError, CancelledError):
            raise UsageError("This agent was closed meanwhile.") from None

    @property
    def _require_free_thread(self) -> LoopThread[Agent]:
        """The thread of the agent. Raises UsageError inside of a run, because the new run would wait for that one."""
        thread = self._require_open
        if thread.is_current or is_inside_run(thread):
            raise UsageError(
                "A tool, hook, approver, model or on_event of an agent cannot start a run of the same agent: both "
                "would wait forever. Use another agent here."
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

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader
        self._events = _read_events(lambda: reader)

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


def _read_events(start: Callable[[], RunReader]) -> Generator[AgentEvent]:
    """Yield the events of a run that starts with the first of them."""
    reader = start()
    try:
        while (event := reader.next()) is not None:
            yield event
    finally:
        reader.end()
