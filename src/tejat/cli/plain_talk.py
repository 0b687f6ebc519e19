"""The conversation in plain lines, for screen readers, braille and terminals that can do nothing else."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import TypeVar, assert_never

from tejat.cli.plain_output import PlainOutput
from tejat.cli.style import Style
from tejat.cli.typed_lines import TypedLines
from tejat.core.commands import ClearScreen, Done, Effect, Leave, Refill, Submit
from tejat.core.confirm import Answer, Approver, Question
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.person import Person
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say, translated
from tejat.frontends.desk import Desk
from tejat.frontends.mode_words import mode_in_words

Result = TypeVar("Result")

_TWICE = 2.0
"""Within so many seconds a second Ctrl-C means the whole program."""


@value
class PlainFace:
    """What a conversation in lines is shown on and typed into."""

    lines: TypedLines
    output: PlainOutput


def plain_face(environment: Mapping[str, str] = os.environ) -> PlainFace:
    """The terminal of this process. With TEJAT_BELL=1 it rings when an answer is ready and when a question waits."""
    ring = _ring if environment.get("TEJAT_BELL") == "1" else lambda: None
    return PlainFace(TypedLines(), PlainOutput(_write, _line, Style(None), ring=ring, folder=os.getcwd()))


class PlainApprover:
    """Lets another approver ask, once everything that was typed before is set aside."""

    def __init__(self, approver: Approver, face: PlainFace) -> None:
        self._approver = approver
        self._face = face

    async def ask(self, question: Question) -> Answer:
        await asyncio.sleep(0)  # calls that ended before it are told before it
        self._face.lines.set_aside()
        self._face.output.ring()
        with self._face.output.silence():
            return await self._approver.ask(question)


async def converse_plainly(desk: Desk, face: PlainFace, person: Person, *, first: str | None = None) -> int:
    """Answer what is typed until the person leaves, and return the exit code."""
    return await _Talk(desk, face, person).run(first)


class _Talk:
    def __init__(self, desk: Desk, face: PlainFace, person: Person) -> None:
        self._desk = desk
        self._lines = face.lines
        self._output = face.output
        self._person = person
        self._is_shell = False
        self._refill = ""
        self._exit_code: int | None = None
        self._cancel: Callable[[], object] | None = None
        self._is_working = False
        self._last_interrupt = float("-inf")

    async def run(self, first: str | None) -> int:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            self._introduce()
            if first:
                await self._work(self._do(first))
            while self._exit_code is None:
                typed = await self._attempt(self._lines.prompt("! " if self._is_shell else "> "))
                if self._exit_code is None and typed is None:
                    self._exit_code = EXIT_OK
                    print(file=sys.stderr)  # the prompt had a line of its own
                elif typed is not None:
                    await self._work(self._do(typed))
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        self._output.line(self._output.figures())
        name = self._desk.way_back
        if name is not None:
            self._output.line(say("To go on with this session later: {command}", command=f"tejat -r {name}"))
        return self._exit_code

    def _introduce(self) -> None:
        status = self._desk.status
        told = [say("{model} in {folder}.", model=visible(status.model), folder=visible(status.folder))]
        if mode := mode_in_words(status.mode):
            told.append(say("Mode {mode}.", mode=visible(mode)))
        if not status.is_trusted:
            told.append(say("This folder is not trusted."))
        told.append(say("Ask, or end with Ctrl-D. Ctrl-C stops an answer. /help tells what else there is."))
        self._output.line(" ".join(told))

    async def _work(self, work: Coroutine[None, None, None]) -> None:
        self._is_working = True
        self._output.begin()
        try:
            await self._attempt(work)
        finally:
            self._is_working = False
            self._output.end()

    async def _attempt(self, doing: Coroutine[None, None, Result]) -> Result | None:
        """What comes of it, None where an interrupt stopped it. Its end is waited for in any case."""
        task = asyncio.ensure_future(doing)
        self._cancel = task.cancel
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            # The whole conversation ends, and not before this has put things in order.
            task.cancel()
            await asyncio.wait((task,))
            raise
        return None if task.cancelled() else task.result()

    def _interrupt(self) -> None:
        """Ctrl-C stops the work; at the prompt, and a second time, it ends the conversation."""
        now, before = time.monotonic(), self._last_interrupt
        self._last_interrupt = now
        if not self._is_working or now - before < _TWICE:
            self._exit_code = EXIT_INTERRUPTED
        if self._cancel is not None:
            self._cancel()

    async def _do(self, typed: str) -> None:
        line = typed.strip()
        refill, self._refill = self._refill, ""
        if not line:
            line = refill.strip()
        if line == "!":
            self._switch_shell()
        elif line == "+":
            self._output.open_last()
        elif line and (self._is_shell or line.startswith("!")):
            await self._run_shell(line.removeprefix("!").strip())
        elif line.startswith("/"):
            await self._obey(await self._desk.commands.run(line, self._person, self._output.tell))
        elif line:
            await self._desk.run(line, self._output.tell)

    def _switch_shell(self) -> None:
        self._is_shell = not self._is_shell
        if self._is_shell:
            self._output.line(say("Shell mode: what you type is run as a command. A line of only ! ends it."))
        else:
            self._output.line(say("Shell mode is over."))

    async def _run_shell(self, line: str) -> None:
        try:
            self._output.block(visible(await self._desk.run_shell(line, self._output.show_output)))
        except asyncio.CancelledError:
            self._output.line(say("Command was cancelled."))
            raise
        except UsageError as error:
            self._output.line(visible(translated(error)))

    async def _obey(self, effect: Effect) -> None:
        match effect:
            case Done():
                pass
            case Submit(prompt, shown):
                self._output.line(f"> {visible(shown)}")
                await self._desk.run(prompt, self._output.tell)
            case Refill(text):
                self._refill = text
                self._output.line(visible(translated(text)))
                self._output.line(say("Enter sends this; or type something else."))
            case ClearScreen():
                self._output.line(say("What stands above belongs to a conversation that is over."))
            case Leave():
                self._exit_code = EXIT_OK
            case _:
                assert_never(effect)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _line(text: str) -> None:
    if text:
        print(text, file=sys.stderr, flush=True)


def _ring() -> None:
    sys.stderr.write("\a")
    sys.stderr.flush()
