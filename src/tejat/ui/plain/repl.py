"""The conversation in plain lines, for screen readers, braille and terminals that can do nothing else."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import TypeVar, assert_never

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.frozen import frozen
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text
from tejat.core.ui.commands import (
    ClearScreenAction,
    CommandAction,
    NoAction,
    QuitAction,
    SetInputAction,
    SubmitPromptAction,
)
from tejat.core.ui.prompter import UserPrompter
from tejat.ui.contract import UiSession
from tejat.ui.plain.output import PlainOutput
from tejat.ui.plain.style import Style
from tejat.ui.plain.type_ahead import TypeAheadReader
from tejat.ui.shared.approval_mode import mode_label

Result = TypeVar("Result")

_DOUBLE_INTERRUPT_SECONDS = 2.0
"""Within so many seconds a second Ctrl-C means the whole program."""


@frozen
class PlainTerminal:
    """What a conversation in lines is shown on and typed into."""

    reader: TypeAheadReader
    output: PlainOutput


def open_plain_terminal(environment: Mapping[str, str] = os.environ) -> PlainTerminal:
    """The terminal of this process. With TEJAT_BELL=1 it rings when an answer is ready and when a question waits."""
    ring = _ring if environment.get("TEJAT_BELL") == "1" else lambda: None
    return PlainTerminal(
        TypeAheadReader(), PlainOutput(_write, _print_line, Style(None), ring_bell=ring, folder=os.getcwd())
    )


class TypeAheadApprover:
    """Lets another approver ask, once everything that was typed before is set aside."""

    def __init__(self, approver: Approver, terminal: PlainTerminal) -> None:
        self._approver = approver
        self._terminal = terminal

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        await asyncio.sleep(0)  # calls that ended before it are told before it
        self._terminal.reader.drain()
        self._terminal.output.ring_bell()
        with self._terminal.output.hold():
            return await self._approver.ask(question)


async def run_plain(
    interactive: UiSession, terminal: PlainTerminal, prompter: UserPrompter, *, first: str | None = None
) -> int:
    """Answer what is typed until the person leaves, and return the exit code."""
    return await _PlainRepl(interactive, terminal, prompter).run(first)


class _PlainRepl:
    def __init__(self, interactive: UiSession, terminal: PlainTerminal, prompter: UserPrompter) -> None:
        self._interactive = interactive
        self._reader = terminal.reader
        self._output = terminal.output
        self._prompter = prompter
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
            self._print_banner()
            if first:
                await self._run_work(self._handle_line(first))
            while self._exit_code is None:
                typed = await self._run_interruptible(self._reader.read_prompt("! " if self._is_shell else "> "))
                if self._exit_code is None and typed is None:
                    self._exit_code = EXIT_OK
                    print(file=sys.stderr)  # the prompt had a line of its own
                elif typed is not None:
                    await self._run_work(self._handle_line(typed))
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        self._output.print_line(self._output.session_summary())
        name = self._interactive.resumable_id
        if name is not None:
            self._output.print_line(_("To go on with this session later: {command}", command=f"tejat -r {name}"))
        return self._exit_code

    def _print_banner(self) -> None:
        status = self._interactive.status
        told = [_("{model} in {folder}.", model=sanitize_text(status.model), folder=sanitize_text(status.folder))]
        if mode := mode_label(status.mode):
            told.append(_("Mode {mode}.", mode=sanitize_text(mode)))
        if not status.is_trusted:
            told.append(_("This folder is not trusted."))
        told.append(_("Ask, or end with Ctrl-D. Ctrl-C stops an answer. /help tells what else there is."))
        self._output.print_line(" ".join(told))

    async def _run_work(self, work: Coroutine[None, None, None]) -> None:
        self._is_working = True
        self._output.begin()
        try:
            await self._run_interruptible(work)
        finally:
            self._is_working = False
            self._output.end()

    async def _run_interruptible(self, doing: Coroutine[None, None, Result]) -> Result | None:
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
        if not self._is_working or now - before < _DOUBLE_INTERRUPT_SECONDS:
            self._exit_code = EXIT_INTERRUPTED
        if self._cancel is not None:
            self._cancel()

    async def _handle_line(self, typed: str) -> None:
        line = typed.strip()
        refill, self._refill = self._refill, ""
        if not line:
            line = refill.strip()
        if line == "!":
            self._switch_shell()
        elif line == "+":
            self._output.expand_last()
        elif line and (self._is_shell or line.startswith("!")):
            await self._run_shell(line.removeprefix("!").strip())
        elif line.startswith("/"):
            await self._apply_effect(
                await self._interactive.commands.run(line, self._prompter, self._output.handle_event)
            )
        elif line:
            await self._interactive.run(line, self._output.handle_event)

    def _switch_shell(self) -> None:
        self._is_shell = not self._is_shell
        if self._is_shell:
            self._output.print_line(_("Shell mode: what you type is run as a command. A line of only ! ends it."))
        else:
            self._output.print_line(_("Shell mode is over."))

    async def _run_shell(self, line: str) -> None:
        try:
            self._output.print_block(sanitize_text(await self._interactive.run_shell(line, self._output.update_output)))
        except asyncio.CancelledError:
            self._output.print_line(_("Command was cancelled."))
            raise
        except UsageError as error:
            self._output.print_line(sanitize_text(translate(error)))

    async def _apply_effect(self, effect: CommandAction) -> None:
        match effect:
            case NoAction():
                pass
            case SubmitPromptAction(prompt, shown):
                self._output.print_line(f"> {sanitize_text(shown)}")
                await self._interactive.run(prompt, self._output.handle_event)
            case SetInputAction(text):
                self._refill = text
                self._output.print_line(sanitize_text(translate(text)))
                self._output.print_line(_("Enter sends this; or type something else."))
            case ClearScreenAction():
                self._output.print_line(_("What stands above belongs to a conversation that is over."))
            case QuitAction():
                self._exit_code = EXIT_OK
            case _:
                assert_never(effect)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _print_line(text: str) -> None:
    if text:
        print(text, file=sys.stderr, flush=True)


def _ring() -> None:
    sys.stderr.write("\a")
    sys.stderr.flush()
