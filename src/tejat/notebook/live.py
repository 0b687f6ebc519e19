"""Live views of runs in notebooks."""

import asyncio
import os
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any

from tejat.agent import NOT_STARTED
from tejat.core.agent.events import (
    AgentEvent,
    QuestionAnswered,
    QuestionAsked,
    RunEnded,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.settings import check_prompt
from tejat.core.i18n import _
from tejat.core.messages.types import Part
from tejat.core.tools.call_events import OutputUpdated
from tejat.notebook.approver import OpenPanels, enter_reply, open_panels
from tejat.notebook.front_end import OutputHandle, load_widgets, show_html, show_widget, update_html
from tejat.notebook.style import view_markup
from tejat.notebook.transcript import transcript_markup
from tejat.sync_agent import SyncAgent
from tejat.ui.html.transcript import HtmlTranscript
from tejat.workspace.threads.daemon import start_daemon

_MIN_SECONDS = 0.1
"""Least time between two updates. Each has the whole view, so long ones are updated less often."""
_POLL_SECONDS = 0.1
_SECONDS_PER_CHARACTER = 1 / 500_000


def watch(agent: SyncAgent, prompt: str | Sequence[Part]) -> "LiveRun":
    """Answer a prompt in the background and show the run below the cell.

    Returns at once, because a notebook handles clicks only between cells; `wait` waits for the end. Raises TypeError
    for an invalid prompt, and UsageError outside of a notebook or if the agent is not open.
    """
    return LiveRun(agent, prompt)


class LiveView:
    """A transcript below a cell that grows with the events of a run.

    `watch` has one. Use it by itself to watch an `Agent`: pass each event of its `run` to `handle_event`. Paths below
    `root` are shown relative to it.
    """

    def __init__(self, *, root: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._transcript = HtmlTranscript(root=os.getcwd() if root is None else root, with_split=False)
        self._clock = clock
        self._handle: OutputHandle | None = None
        self._next_update = 0.0
        self._open_questions: dict[str, QuestionAsked] = {}

    def __repr__(self) -> str:
        return "LiveView()"

    def show(self) -> None:
        """Show the view below the running cell. Raises UsageError outside of a notebook."""
        self._handle = show_html(self._repr_html_())

    def handle_event(self, event: AgentEvent) -> None:
        """Add an event. Streamed text is shown with a short delay, everything else at once."""
        if self._handle is None:
            self.show()
        match event:
            case QuestionAsked():  # the approver shows it, with buttons
                self._open_questions[event.question.question_id] = event
                return
            case QuestionAnswered(question_id) if (asked := self._open_questions.pop(question_id, None)) is not None:
                self._transcript.handle_event(asked)
            case _:
                pass
        self._transcript.handle_event(event)
        is_streamed = isinstance(event, TextStreamed | ThoughtStreamed | OutputUpdated)
        if not is_streamed or self._clock() >= self._next_update:
            self.update()

    def update(self) -> None:
        """Show all events so far."""
        markup = self._repr_html_()
        self._next_update = self._clock() + max(_MIN_SECONDS, len(markup) * _SECONDS_PER_CHARACTER)
        if self._handle is not None:
            update_html(self._handle, markup)

    def _repr_html_(self) -> str:
        return view_markup(transcript_markup(self._transcript))


class LiveRun:
    """A run that `watch` started. `stop_button` is the widget that cancels it, None without `ipywidgets`."""

    def __init__(self, agent: SyncAgent, prompt: str | Sequence[Part]) -> None:
        _check_run(agent, prompt)
        self._panels = OpenPanels()
        self.view = LiveView(root=os.path.realpath(agent.directories[0]))
        self.view.show()
        self._started = agent.start(prompt)
        self.stop_button = self._show_button()
        self._future: Future[RunEnded] = start_daemon(self._run)

    def __repr__(self) -> str:
        return f"LiveRun({self.ended!r})" if self.is_done else "LiveRun(running)"

    @property
    def is_done(self) -> bool:
        """Whether the run has ended."""
        return self._future.done()

    @property
    def ended(self) -> RunEnded | None:
        """The outcome, None while it runs. Raises what the run raised."""
        return self._future.result() if self._future.done() else None

    def wait(self, timeout: float | None = None) -> RunEnded:
        """Wait for the end of the run, and return the outcome. Raises TimeoutError, and what the run raised.

        Clicks do not reach the notebook meanwhile, so open questions are asked with `input`. An interrupt of the kernel
        cancels the run.
        """
        end = None if timeout is None else time.monotonic() + timeout
        try:
            while not wait_for([self._future], _POLL_SECONDS).done:
                if end is not None and time.monotonic() >= end:
                    raise TimeoutError("The run has not ended yet.")
                self._answer_question()
        except KeyboardInterrupt:
            self.cancel()
            raise
        return self._finish()

    def cancel(self) -> None:
        """End the run at once, as Esc does in the terminal. An open question is closed. Does not wait for the end."""
        self._started.cancel()
        self._panels.cancel()

    def __await__(self) -> Generator[object, None, RunEnded]:
        """Wait as `wait` does."""
        return self._wait_in_loop().__await__()

    async def _wait_in_loop(self) -> RunEnded:
        while not self._future.done():
            self._answer_question()
            await asyncio.sleep(_POLL_SECONDS)
        return self._finish()

    def _finish(self) -> RunEnded:
        """Return the outcome. Raises what the run raised."""
        # `jupyter execute` and nbconvert ignore what comes from a cell that has ended, so the last update is from here.
        self.view.update()
        return self._future.result()

    def _answer_question(self) -> None:
        if (panel := self._panels.first) is not None:
            panel.answer(enter_reply(panel.question))

    def _run(self) -> RunEnded:
        open_panels.set(self._panels)
        ended = NOT_STARTED
        try:
            for event in self._started:
                self.view.handle_event(event)
                if isinstance(event, RunEnded):
                    ended = event
        finally:
            self.view.update()
            if self.stop_button is not None:
                self.stop_button.close()
        return ended

    def _show_button(self) -> Any:
        if (widgets := load_widgets()) is None:
            return None
        button = widgets.Button(description=_("Stop"), icon="stop")

        def click(_button: object) -> None:
            self.cancel()

        button.on_click(click)
        show_widget(button)
        return button


def _check_run(agent: object, prompt: object) -> None:
    """Raise TypeError and UsageError before anything is shown."""
    if not isinstance(agent, SyncAgent):
        raise TypeError(f"watch needs a SyncAgent, not {agent!r}. For an Agent, pass its events to a LiveView.")
    check_prompt(prompt)
    _ = agent.session_id  # raises if it is not open
