"""The conversation at the terminal: what is typed is done, one thing after the other, and can always be stopped."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from typing import assert_never

from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.ui.commands import (
    ClearScreenAction,
    CommandAction,
    NoAction,
    QuitAction,
    SetInputAction,
    SubmitPromptAction,
)
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.ui.contract import UiSession
from tejat.ui.terminal.editor.prompt_editor import PromptEditor
from tejat.ui.terminal.editor.prompt_queue import PromptQueue
from tejat.ui.terminal.screen.inline_screen import InlineScreen
from tejat.ui.terminal.views.transcript import Transcript

_DOUBLE_PRESS_SECONDS = 2.0
"""Within so many seconds a second Ctrl-C means the whole program."""
_FORCE_QUIT_SECONDS = 0.5
"""So long leaving may take before a further Ctrl-C is more than a key that is held down."""


@frozen
class ReplViews:
    """What the conversation is shown on and typed into. `refresh` is for what a command may have changed."""

    screen: InlineScreen
    editor: PromptEditor
    transcript: Transcript
    prompter: UserPrompter
    queue: PromptQueue
    refresh: Callable[[], None]


class Repl:
    """One person at one desk. `run` is over when they leave."""

    def __init__(self, views: ReplViews, session: UiSession, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._views = views
        self._session = session
        self._clock = clock
        self._work: asyncio.Task[None] | None = None
        self._exit_code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._last_interrupt = self._exited_at = float("-inf")

    async def run(self, first: str | None) -> int:
        """The exit code. Whatever still runs when the person leaves is stopped and waited for."""
        if first:
            self.submit(first)
        elif (typed_ahead := self._views.queue.pop_next()) is not None:
            self._begin(typed_ahead)
        try:
            return await self._exit_code
        finally:
            await self._stop_work()

    @property
    def is_working(self) -> bool:
        return self._work is not None

    def exit(self, code: int = EXIT_OK) -> None:
        if not self._exit_code.done():
            self._exited_at = self._clock()
            self._exit_code.set_result(code)

    def submit(self, line: str) -> None:
        """Do what was typed, or let it wait for its turn. What begins with `!` is for the shell."""
        if self._exit_code.done() or not line.strip():
            return
        if self._work is not None:
            self._views.queue.add(line)
            self._views.screen.redraw()
        else:
            self._begin(line)

    def interrupt(self) -> None:
        """Ctrl-C: stop the work, else drop what is typed, else leave; a second one leaves whatever is going on."""
        now = self._clock()
        if self._exit_code.done():
            if now - self._exited_at >= _FORCE_QUIT_SECONDS:
                # Too long for the person. Killed, and not just gone: then the watchdog and the shell know.
                os.kill(os.getpid(), signal.SIGKILL)
            return
        is_second = now - self._last_interrupt < _DOUBLE_PRESS_SECONDS
        self._last_interrupt = now
        if is_second:
            self.exit(EXIT_INTERRUPTED if self._work is not None else EXIT_OK)
        elif self._work is not None:
            self.stop()
        elif self._views.editor.text:
            self._views.editor.clear()
            self._last_interrupt = float("-inf")
        else:
            self._views.screen.show_hint(_("Press Ctrl-C again to leave."))

    def stop(self) -> None:
        """Stop model, tools and children. What waits comes back into the editor instead of being sent."""
        if self._work is None:
            return
        self._work.cancel()
        queued = self._views.queue.drain()
        if queued:
            self._views.editor.prepend(queued)
        self._views.screen.show_hint(_("Stopping. Press Ctrl-C again to leave."))

    def end_of_input(self) -> None:
        """Ctrl-D in an empty editor."""
        if self._work is None:
            self.exit()
        else:
            self._views.screen.show_hint(_("Still at work. Ctrl-C stops it."))

    def steer(self, text: str) -> None:
        """Hand a word to the model between two calls; without a run that goes on it is a prompt like others."""
        if not text.strip():
            return
        if self._work is not None and self._session.steer(text):
            self._views.screen.show_hint(_("The model gets it after its present call."))
        else:
            self.submit(text)

    def next_mode(self) -> None:
        self._views.screen.show_hint(_("Mode: {mode}", mode=self._session.next_mode()))

    def _begin(self, line: str) -> None:
        self._views.screen.ticking = True
        self._work = asyncio.create_task(self._work_through(line))
        self._work.add_done_callback(self._on_work_done)

    async def _work_through(self, line: str) -> None:
        """Do one thing and then what waits."""
        try:
            await self._execute(line)
            while not self._exit_code.done() and (waiting := self._views.queue.pop_next()) is not None:
                await self._execute(waiting)
        except asyncio.CancelledError:
            pass  # the person wanted it; what there is to say was said where it was stopped
        except Exception as error:  # noqa: BLE001 -- one broken answer must not take the session with it
            self._views.transcript.show_report(
                text_report(_("Internal error: {kind}.", kind=type(error).__name__), Tone.BAD)
            )

    def _on_work_done(self, _: object) -> None:
        """However the work ended, and be it before it began, the next thing can be done."""
        self._views.transcript.end()
        self._views.screen.ticking = False
        self._work = None
        if not self._exit_code.done() and (waiting := self._views.queue.pop_next()) is not None:
            self._begin(waiting)

    async def _execute(self, line: str) -> None:
        if line.startswith("!"):
            await self._run_shell(line[1:])
        elif line.startswith("/"):
            self._views.transcript.show_prompt(line)
            await self._apply_effect(await self._run_command(line), line)
        else:
            await self._ask(line)

    async def _run_command(self, line: str) -> CommandAction:
        try:
            return await self._session.commands.run(line, self._views.prompter, self._views.transcript.handle_event)
        finally:
            self._views.refresh()

    async def _ask(self, prompt: str) -> None:
        self._views.transcript.begin_run(prompt)
        await self._session.run(prompt, self._handle_event)

    async def _run_shell(self, line: str) -> None:
        transcript = self._views.transcript
        shown = ""

        def show(output: str) -> None:
            nonlocal shown
            shown = output
            transcript.show_shell_output(output)

        transcript.begin_shell(line)
        try:
            transcript.end_shell(await self._session.run_shell(line, show))
        except asyncio.CancelledError:
            transcript.end_shell("\n".join(filter(None, (_("Command was cancelled."), shown))))
            raise
        except UsageError as error:
            transcript.end_shell(str(error))

    def _handle_event(self, event: AgentEvent) -> None:
        self._views.transcript.handle_event(event)
        if isinstance(event, RunEnded):
            for text in event.undelivered:
                self._views.editor.prepend(text)

    async def _apply_effect(self, effect: CommandAction, line: str) -> None:
        match effect:
            case NoAction():
                pass
            case SubmitPromptAction(prompt, shown):
                self._views.transcript.begin_run("" if shown == line else shown)
                await self._session.run(prompt, self._handle_event)
            case SetInputAction(text):
                self._views.editor.prepend(text)
            case ClearScreenAction():
                self._views.screen.clear()
            case QuitAction():
                self.exit()
            case _:
                assert_never(effect)

    async def _stop_work(self) -> None:
        while self._work is not None and not self._work.done():
            self._work.cancel()
            await asyncio.wait((self._work,), timeout=1.0)
