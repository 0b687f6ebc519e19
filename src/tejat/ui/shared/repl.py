"""The read-eval-print loop of the interactive user interfaces."""

import asyncio
import os
import re
import signal
import time
from collections.abc import Callable, Coroutine
from typing import Protocol, assert_never

from tejat.core.agent.events import AgentEvent, Prompted, RunEnded, SessionStarted
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.core.messages.prompt import Prompt
from tejat.core.ui.commands import (
    ClearScreenAction,
    CommandAction,
    NoAction,
    QuitAction,
    SetInputAction,
    SubmitPromptAction,
)
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report, Tone, text_report
from tejat.core.ui.status import ModeChange
from tejat.ui.contract import UiSession
from tejat.ui.shared.approval_mode import mode_description
from tejat.ui.shared.prompt_queue import PromptQueue

_DOUBLE_PRESS_SECONDS = 2.0
"""Time within which a second Ctrl-C exits, and a second Escape clears or rewinds."""
_FORCE_QUIT_SECONDS = 0.5
"""Time after which a further Ctrl-C during the exit is not just a key that is held down."""

_IMMEDIATE = r"/agents[ \t]+(?:stop|list|show)\b"
"""Commands that do not wait until the work is done."""


class ReplViews(Protocol):
    """The parts of a user interface that the REPL drives."""

    @property
    def prompter(self) -> UserPrompter: ...

    def handle_event(self, event: AgentEvent) -> None:
        """Show an event of the session."""

    def begin_work(self) -> None: ...

    def end_work(self) -> None: ...

    def show_command(self, line: str) -> None:
        """Show a slash command that is about to run."""

    def begin_run(self, prompt: str, *, command: str | None = None) -> None:
        """Show a prompt that is about to be sent. `command` is the slash command it comes from."""

    def begin_shell(self, line: str) -> None: ...

    def update_shell(self, output: str) -> None:
        """Show the output of the shell command so far."""

    def end_shell(self, result: str) -> None: ...

    def show_report(self, report: Report) -> None: ...

    def show_hint(self, text: str) -> None:
        """Show a short-lived hint, if the interface has a place for it."""

    def insert_input(self, text: str) -> None:
        """Put a text back into the input."""

    @property
    def has_input(self) -> bool:
        """Whether there is typed text."""
        ...

    def discard_input(self) -> bool:
        """Drop the typed text; return whether there was any."""
        ...

    def clear(self) -> None:
        """Mark that a new conversation begins, by clearing the screen if there is one."""

    def refresh(self) -> None:
        """Redraw after a change of the queue, or of preferences by a command."""


class Repl:
    """Runs submitted lines one after the other: prompts, `/` commands and `!` shell lines.

    `run` returns when the user exits. An unexpected exception is reported, and the session goes on. `expand` puts
    attachments into a prompt, where labels stand for them.
    """

    def __init__(
        self,
        session: UiSession,
        views: ReplViews,
        queue: PromptQueue | None = None,
        *,
        expand: Callable[[str], Prompt] = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._views = views
        self._queue = queue or PromptQueue()
        self._expand = expand
        self._clock = clock
        self._work: asyncio.Task[None] | None = None
        self._is_run_elsewhere = False
        self._exit_code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._mode_switch: asyncio.Task[None] | None = None
        self._immediate: set[asyncio.Task[None]] = set()
        self._run_message = ""
        self._last_interrupt = self._last_escape = self._exited_at = float("-inf")

    async def run(self, first: str | None) -> int:
        """Return the exit code. Running work is stopped and awaited."""
        unsubscribe = self._session.subscribe(self._handle_event)
        if first:
            self.submit(first)
        elif (typed_ahead := self._queue.pop_next()) is not None:
            self._begin(typed_ahead)
        try:
            return await self._exit_code
        finally:
            await self._stop_work()
            for task in self._immediate:
                task.cancel()
            unsubscribe()

    async def wait_idle(self) -> None:
        """Wait until all submitted lines have been run."""
        while self._work is not None:
            await asyncio.wait((self._work,))

    @property
    def is_working(self) -> bool:
        """Whether something runs, started here or by another front end."""
        return self._work is not None or self._is_run_elsewhere

    @property
    def has_exited(self) -> bool:
        return self._exit_code.done()

    def exit(self, code: int = EXIT_OK) -> None:
        if not self.has_exited:
            self._exited_at = self._clock()
            self._session.leave()
            self._exit_code.set_result(code)

    def submit(self, line: str) -> None:
        """Run a line, or queue it. Lines that begin with `!` are for the shell."""
        if self.has_exited or not line.strip():
            return
        if not self.is_working:
            self._begin(line)
        elif re.match(_IMMEDIATE, line):
            task = asyncio.create_task(self._run_immediately(line))
            self._immediate.add(task)
            task.add_done_callback(self._immediate.discard)
        else:
            self._queue.add(line)
            self._views.refresh()

    def interrupt(self) -> None:
        """Handle Ctrl-C: stop the work, else drop the input, else exit. A second one exits in any case."""
        now = self._clock()
        if self.has_exited:
            if now - self._exited_at >= _FORCE_QUIT_SECONDS:
                # By a signal, so that the terminal watchdog and the shell see it.
                os.kill(os.getpid(), signal.SIGKILL)
            return
        is_second = now - self._last_interrupt < _DOUBLE_PRESS_SECONDS
        self._last_interrupt = now
        if is_second:
            self.exit(EXIT_INTERRUPTED if self._work is not None else EXIT_OK)
        elif self.is_working:
            self.stop()
            self._views.show_hint(_("Press Ctrl-C again to exit."))
        elif self._views.discard_input():
            self._last_interrupt = float("-inf")
        else:
            self._views.show_hint(_("Press Ctrl-C again to exit."))

    def escape(self) -> None:
        """Handle Escape: stop the work; pressed twice, clear the input or, if there is none, rewind."""
        if self.is_working:
            self.stop()
            return
        now = self._clock()
        is_second, self._last_escape = now - self._last_escape < _DOUBLE_PRESS_SECONDS, now
        if is_second:
            self._last_escape = float("-inf")
            if not self._views.discard_input() and self._session.resumable_id is not None:
                self.submit("/rewind")
        elif self._views.has_input:
            self._views.show_hint(_("Press Esc again to clear the prompt."))
        elif self._session.resumable_id is not None:
            self._views.show_hint(_("Press Esc again to rewind."))

    def stop(self) -> None:
        """Cancel the running work, which reports its end. Queued lines go back into the input."""
        if not self.is_working:
            return
        self._last_escape = float("-inf")
        if self._work is None:
            self._session.interrupt()
        else:
            self._work.cancel()
        queued = self._queue.drain()
        if queued:
            self._views.insert_input(queued)

    def end_of_input(self) -> None:
        """Handle Ctrl-D with an empty input: exit, unless that would end the work too."""
        if not self.is_working or self._session.survives_exit:
            self.exit()
        else:
            self._views.show_hint(_("Still working. Press Esc to stop, then Ctrl-D to exit."))

    def steer(self, text: str) -> None:
        """Send a text to the model between two calls, or as a prompt if no run is active."""
        if not text.strip():
            return
        if self.is_working and self._session.steer(text):
            self._views.show_hint(_("Will be sent after the current tool call."))
        else:
            self.submit(text)

    def next_mode(self) -> None:
        """Switch to the next approval mode and show which one it is."""
        self._switch_mode(self._session.next_mode)

    def toggle_yolo(self) -> None:
        """Turn YOLO mode on or off."""
        self._switch_mode(self._session.toggle_yolo)

    def _switch_mode(self, switch: Callable[[UserPrompter], Coroutine[None, None, ModeChange]]) -> None:
        if self._mode_switch is None or self._mode_switch.done():
            self._mode_switch = asyncio.create_task(self._show_mode_switch(switch))

    async def _show_mode_switch(self, switch: Callable[[UserPrompter], Coroutine[None, None, ModeChange]]) -> None:
        change = await switch(self._views.prompter)
        text = mode_description(change.mode, runs_sandboxed=self._session.status.runs_sandboxed)
        self._views.show_hint(" ".join(filter(None, (text, change.note))))

    def _begin(self, line: str) -> None:
        self._views.begin_work()
        self._work = asyncio.create_task(self._work_through(line))
        self._work.add_done_callback(self._on_work_done)

    async def _work_through(self, line: str) -> None:
        """Run a line and then the queued ones."""
        try:
            await self._execute(line)
            while not self.has_exited and (queued := self._queue.pop_next()) is not None:
                await self._execute(queued)
        except asyncio.CancelledError:
            pass  # by the user; whatever was stopped has reported it
        except Exception as error:  # noqa: BLE001 -- one broken line must not end the session
            message = report_unexpected(error, "the REPL")
            if message != self._run_message:  # the end of the run has shown it already
                self._views.show_report(text_report(message, Tone.BAD))

    def _on_work_done(self, _task: object) -> None:
        self._work = None  # before the last drawing, which shows whether something runs
        self._views.end_work()
        self._begin_queued()

    def _begin_queued(self) -> None:
        if not self.has_exited and (queued := self._queue.pop_next()) is not None:
            self._begin(queued)

    async def _execute(self, line: str) -> None:
        self._run_message = ""
        if line.startswith("!"):
            await self._run_shell(line[1:])
        elif line.startswith("/"):
            self._views.show_command(line)
            await self._apply(await self._run_command(line), line)
        else:
            self._views.begin_run(line)
            await self._session.prompt(self._expand(line))

    async def _run_immediately(self, line: str) -> None:
        """Run a command beside the work that goes on. It has no action to apply."""
        self._views.show_command(line)
        await self._run_command(line)

    async def _run_command(self, line: str) -> CommandAction:
        try:
            return await self._session.commands.run(line, self._views.prompter)
        finally:
            self._views.refresh()

    async def _run_shell(self, line: str) -> None:
        shown = ""

        def show(output: str) -> None:
            nonlocal shown
            shown = output
            self._views.update_shell(output)

        self._views.begin_shell(line)
        try:
            self._views.end_shell(await self._session.run_shell(line, show))
        except asyncio.CancelledError:
            self._views.end_shell("\n".join(filter(None, (_("Command was cancelled."), shown))))
            raise
        except UsageError as error:
            self._views.end_shell(str(error))

    def _handle_event(self, event: AgentEvent) -> None:
        if isinstance(event, SessionStarted) and self._work is None:
            self._is_run_elsewhere = True
            self._views.begin_work()
        if self._is_run_elsewhere and isinstance(event, Prompted):
            self._views.begin_run(event.display_text)
        self._views.handle_event(event)
        if not isinstance(event, RunEnded):
            return
        if self._is_run_elsewhere:
            self._is_run_elsewhere = False
            self._views.end_work()
            self._begin_queued()
            return
        self._run_message = event.message
        for text in event.undelivered:
            self._views.insert_input(text)

    async def _apply(self, action: CommandAction, line: str) -> None:
        match action:
            case NoAction():
                pass
            case SubmitPromptAction(prompt, display_text):
                self._views.begin_run(display_text, command=line)
                await self._session.prompt(prompt)
            case SetInputAction(text):
                self._views.insert_input(text)
            case ClearScreenAction():
                self._views.clear()
            case QuitAction():
                self.exit()
            case _:
                assert_never(action)

    async def _stop_work(self) -> None:
        while self._work is not None and not self._work.done():
            self._work.cancel()
            await asyncio.wait((self._work,), timeout=1.0)
