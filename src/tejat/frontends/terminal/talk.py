"""The conversation at the terminal: what is typed is done, one thing after the other, and can always be stopped."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from typing import assert_never

from tejat.core.agent_events import AgentEvent, RunEnded
from tejat.core.commands import ClearScreen, Done, Effect, Leave, Refill, Submit
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.person import Person
from tejat.core.sheet import Tone, told
from tejat.core.value import value
from tejat.core.words import say
from tejat.frontends.desk import Desk
from tejat.frontends.terminal.editor import Editor
from tejat.frontends.terminal.frame import Frame
from tejat.frontends.terminal.transcript import Transcript
from tejat.frontends.terminal.waiting import Waiting

_TWICE = 2.0
"""Within so many seconds a second Ctrl-C means the whole program."""
_PATIENCE = 0.5
"""So long leaving may take before a further Ctrl-C is more than a key that is held down."""


@value
class Stage:
    """What the conversation is shown on and typed into. `refresh` is for what a command may have changed."""

    frame: Frame
    editor: Editor
    transcript: Transcript
    person: Person
    waiting: Waiting
    refresh: Callable[[], None]


class Talk:
    """One person at one desk. `run` is over when they leave."""

    def __init__(self, stage: Stage, desk: Desk, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stage = stage
        self._desk = desk
        self._clock = clock
        self._work: asyncio.Task[None] | None = None
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._last_interrupt = self._left_at = float("-inf")

    async def run(self, first: str | None) -> int:
        """The exit code. Whatever still runs when the person leaves is stopped and waited for."""
        if first:
            self.submit(first)
        elif (typed_ahead := self._stage.waiting.take_next()) is not None:
            self._begin(typed_ahead)
        try:
            return await self._left
        finally:
            await self._end_work()

    @property
    def is_working(self) -> bool:
        return self._work is not None

    def leave(self, code: int = EXIT_OK) -> None:
        if not self._left.done():
            self._left_at = self._clock()
            self._left.set_result(code)

    def submit(self, line: str) -> None:
        """Do what was typed, or let it wait for its turn. What begins with `!` is for the shell."""
        if self._left.done() or not line.strip():
            return
        if self._work is not None:
            self._stage.waiting.add(line)
            self._stage.frame.redraw()
        else:
            self._begin(line)

    def interrupt(self) -> None:
        """Ctrl-C: stop the work, else drop what is typed, else leave; a second one leaves whatever is going on."""
        now = self._clock()
        if self._left.done():
            if now - self._left_at >= _PATIENCE:
                # Too long for the person. Killed, and not just gone: then the watchdog and the shell know.
                os.kill(os.getpid(), signal.SIGKILL)
            return
        is_second = now - self._last_interrupt < _TWICE
        self._last_interrupt = now
        if is_second:
            self.leave(EXIT_INTERRUPTED if self._work is not None else EXIT_OK)
        elif self._work is not None:
            self.stop()
        elif self._stage.editor.text:
            self._stage.editor.clear()
            self._last_interrupt = float("-inf")
        else:
            self._stage.frame.hint(say("Press Ctrl-C again to leave."))

    def stop(self) -> None:
        """Stop model, tools and children. What waits comes back into the editor instead of being sent."""
        if self._work is None:
            return
        self._work.cancel()
        waiting = self._stage.waiting.take_all()
        if waiting:
            self._stage.editor.put(waiting)
        self._stage.frame.hint(say("Stopping. Press Ctrl-C again to leave."))

    def end_of_input(self) -> None:
        """Ctrl-D in an empty editor."""
        if self._work is None:
            self.leave()
        else:
            self._stage.frame.hint(say("Still at work. Ctrl-C stops it."))

    def steer(self, text: str) -> None:
        """Hand a word to the model between two calls; without a run that goes on it is a prompt like others."""
        if not text.strip():
            return
        if self._work is not None and self._desk.steer(text):
            self._stage.frame.hint(say("The model gets it after its present call."))
        else:
            self.submit(text)

    def next_mode(self) -> None:
        self._stage.frame.hint(say("Mode: {mode}", mode=self._desk.next_mode()))

    def _begin(self, line: str) -> None:
        self._stage.frame.ticking = True
        self._work = asyncio.create_task(self._worked(line))
        self._work.add_done_callback(self._rest)

    async def _worked(self, line: str) -> None:
        """Do one thing and then what waits."""
        try:
            await self._do(line)
            while not self._left.done() and (waiting := self._stage.waiting.take_next()) is not None:
                await self._do(waiting)
        except asyncio.CancelledError:
            pass  # the person wanted it; what there is to say was said where it was stopped
        except Exception as error:  # noqa: BLE001 -- one broken answer must not take the session with it
            self._stage.transcript.show(told(say("Internal error: {kind}.", kind=type(error).__name__), Tone.BAD))

    def _rest(self, _: object) -> None:
        """However the work ended, and be it before it began, the next thing can be done."""
        self._stage.transcript.end()
        self._stage.frame.ticking = False
        self._work = None
        if not self._left.done() and (waiting := self._stage.waiting.take_next()) is not None:
            self._begin(waiting)

    async def _do(self, line: str) -> None:
        if line.startswith("!"):
            await self._run_shell(line[1:])
        elif line.startswith("/"):
            self._stage.transcript.echo(line)
            await self._obey(await self._commanded(line), line)
        else:
            await self._ask(line)

    async def _commanded(self, line: str) -> Effect:
        try:
            return await self._desk.commands.run(line, self._stage.person, self._stage.transcript.tell)
        finally:
            self._stage.refresh()

    async def _ask(self, prompt: str) -> None:
        self._stage.transcript.begin(prompt)
        await self._desk.run(prompt, self._tell)

    async def _run_shell(self, line: str) -> None:
        transcript = self._stage.transcript
        shown = ""

        def show(output: str) -> None:
            nonlocal shown
            shown = output
            transcript.show_shell_output(output)

        transcript.begin_shell(line)
        try:
            transcript.end_shell(await self._desk.run_shell(line, show))
        except asyncio.CancelledError:
            transcript.end_shell("\n".join(filter(None, (say("Command was cancelled."), shown))))
            raise
        except UsageError as error:
            transcript.end_shell(str(error))

    def _tell(self, event: AgentEvent) -> None:
        self._stage.transcript.tell(event)
        if isinstance(event, RunEnded):
            for text in event.undelivered:
                self._stage.editor.put(text)

    async def _obey(self, effect: Effect, line: str) -> None:
        match effect:
            case Done():
                pass
            case Submit(prompt, shown):
                self._stage.transcript.begin("" if shown == line else shown)
                await self._desk.run(prompt, self._tell)
            case Refill(text):
                self._stage.editor.put(text)
            case ClearScreen():
                self._stage.frame.clear()
            case Leave():
                self.leave()
            case _:
                assert_never(effect)

    async def _end_work(self) -> None:
        while self._work is not None and not self._work.done():
            self._work.cancel()
            await asyncio.wait((self._work,), timeout=1.0)
