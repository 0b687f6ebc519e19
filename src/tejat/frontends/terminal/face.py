"""The terminal put together: frame, editor, transcript, and whoever sits before them."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from types import TracebackType
from typing import Self, TypeVar

from rich.console import RenderableType
from rich.text import Text

from tejat.core.commands import Suggestion
from tejat.core.confirm import Answer, Approver, Question
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.sheet import Tone, told
from tejat.core.status import Preferences
from tejat.core.visible import visible
from tejat.core.words import say
from tejat.frontends.desk import Desk
from tejat.frontends.external_editor import Editor as ExternalEditor
from tejat.frontends.external_pager import Pager
from tejat.frontends.terminal.editor import Editor
from tejat.frontends.terminal.frame import Frame
from tejat.frontends.terminal.history_search import HistorySearch
from tejat.frontends.terminal.last_resort import LastResort
from tejat.frontends.terminal.look import Look, find_look
from tejat.frontends.terminal.person import TerminalPerson
from tejat.frontends.terminal.prompt_history import PromptHistory
from tejat.frontends.terminal.status_line import status_line
from tejat.frontends.terminal.suggesting import Suggester
from tejat.frontends.terminal.talk import Stage, Talk
from tejat.frontends.terminal.transcript import Transcript
from tejat.frontends.terminal.waiting import Waiting

Result = TypeVar("Result")

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_LOOK_SECONDS = 0.25


class Face:
    """One terminal. `async with` is the time in which it is ours; `person` and `approver` can be asked in all of it.

    `folder` is where is worked: programs that lie there are never taken for an editor or a pager. `encoding` is that of
    the person's locale, `history` the file for what they type.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        encoding: str,
        preferences: Preferences,
        folder: str,
        history: str | None,
    ) -> None:
        self._environment = environment
        self._preferences = preferences
        self._folder = folder
        self._encoding = encoding
        self._desk: Desk | None = None
        self._suggester: Suggester | None = None
        self._talk: Talk | None = None
        self._stop: Callable[[], object] | None = None
        self._exit_code: int | None = None
        self._around = AsyncExitStack()
        self._aside: set[asyncio.Task[None]] = set()
        self._waiting = Waiting()
        look = self._look()
        self._editor = Editor(look, history=PromptHistory(history), suggest=self._suggest)
        self._frame = Frame(
            self._editor,
            look,
            status=self._status,
            queued=self._waiting.shown,
            on_interrupt=self._interrupt,
            on_escape=self._escape,
            on_end=self._end_of_input,
            on_hangup=lambda: self._end(128 + signal.SIGHUP),
            environment=environment,
            stdin=sys.stdin,
            stdout=sys.stdout,
        )
        self._transcript = Transcript(self._frame, folder=folder)
        self.person = TerminalPerson(self._frame, self._external_editor, self._transcript.show)
        self.approver = _WhenAsked(self._new_approver)
        self._listen()

    def _new_approver(self) -> Approver:
        from tejat.frontends.terminal.approver import TerminalApprover

        pager = Pager((self._folder,))
        return TerminalApprover(self._frame, stop=self._escape, editor=self._external_editor, pager=pager)

    async def __aenter__(self) -> Self:
        await self._around.enter_async_context(self._frame)
        loop = asyncio.get_running_loop()
        last_resort = LastResort(loop)
        for number in _ENDING:
            loop.add_signal_handler(number, self._signalled, number)
            last_resort.heed(number)
        loop.set_exception_handler(self._complain)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._editor.close()
        for task in tuple(self._aside):
            task.cancel()
        try:
            await self._around.__aexit__(kind, error, trace)
        finally:
            for number in _ENDING:
                asyncio.get_running_loop().remove_signal_handler(number)

    async def run(self, work: Coroutine[None, None, Result]) -> Result | int:
        """Do this, and return what comes of it, or the exit code for whatever made the program end first."""
        doing = asyncio.create_task(work)
        self._stop = doing.cancel
        try:
            return await doing
        except asyncio.CancelledError:
            if self._exit_code is None:
                raise
            return self._exit_code

    async def converse(self, desk: Desk, *, first: str | None = None) -> int:
        """Talk until the person leaves, and return the exit code."""
        stage = Stage(
            self._frame, self._editor, self._transcript, self.person, self._waiting, refresh=lambda: self._prefer(desk)
        )
        self._talk = Talk(stage, desk)
        self._suggester = Suggester(desk.commands, desk.files)
        self._desk = desk
        self._prefer(desk)
        self._introduce(desk)
        self._beside(lambda: self._await_servers(desk))
        try:
            return await self._talk.run(first)
        finally:
            self._take_leave(desk)

    def _introduce(self, desk: Desk) -> None:
        words = say("Ask something. /help tells what else there is; @ names files, ! runs a command.")
        self._transcript.show(told(words, Tone.QUIET))
        problem = self._editor.history.problem
        if problem is not None:
            self._transcript.show(told(problem, Tone.WARNING))
        if (left_off := desk.left_off) is not None:
            self._transcript.show(left_off)

    def _take_leave(self, desk: Desk) -> None:
        name = desk.way_back
        if name is not None:
            words = say("To go on with this session later: {command}", command=f"tejat -r {name}")
            self._transcript.show(told(words, Tone.QUIET))

    def _prefer(self, desk: Desk) -> None:
        """Look and feel as the person likes it now."""
        self._preferences = desk.preferences
        self._frame.look = self._editor.look = self._look()
        self._frame.uses_vi = self._preferences.vi_keys

    def _look(self) -> Look:
        return find_look(
            self._environment,
            encoding=self._encoding,
            theme=self._preferences.theme,
            animates=self._preferences.animates,
        )

    def _external_editor(self) -> ExternalEditor:
        return ExternalEditor(self._preferences.editor, (self._folder,))

    def _status(self, width: int) -> RenderableType:
        if self._desk is None:
            return Text("")
        is_working = self._talk is not None and self._talk.is_working
        return status_line(
            self._desk.status,
            self._frame.look,
            width=width,
            is_working=is_working,
            takes_commands=self._frame.takes_commands,
        )

    async def _suggest(self, text: str, caret: int) -> AsyncIterator[Sequence[Suggestion]]:
        if self._suggester is not None:
            async for suggestions in self._suggester(text, caret):
                yield suggestions

    def _listen(self) -> None:
        """What the keys of the editor do."""
        editor = self._editor
        editor.on_change = self._frame.redraw
        editor.on_submit = self._submit
        editor.on_steer = lambda text: self._with_talk(lambda talk: talk.steer(text))
        editor.on_next_mode = lambda: self._with_talk(Talk.next_mode)
        editor.on_take_back = self._waiting.take_back_last
        editor.on_expand = self._transcript.expand_last
        editor.on_search_history = lambda: self._beside(self._search_history)
        editor.on_external_editor = lambda: self._beside(self._write_outside)

    def _with_talk(self, act: Callable[[Talk], None]) -> None:
        if self._talk is not None:
            act(self._talk)

    def _submit(self, text: str) -> None:
        line = f"!{text}" if self._editor.is_shell else text
        if self._talk is None:  # who is quicker than the start of everything behind the prompt
            self._waiting.add(line)
            self._frame.redraw()
        else:
            self._talk.submit(line)

    def _interrupt(self) -> None:
        if self._talk is None:
            self._end(128 + signal.SIGINT)
        else:
            self._talk.interrupt()

    def _escape(self) -> None:
        self._with_talk(Talk.stop)

    def _end_of_input(self) -> None:
        if self._talk is None:
            self._end(EXIT_OK)
        else:
            self._talk.end_of_input()

    def _signalled(self, number: int) -> None:
        # Whoever asks a second time does not want to wait until everything is put in order. That a terminal is closed
        # is told twice to everybody, by the system and by the shell.
        if number != signal.SIGHUP:
            asyncio.get_running_loop().remove_signal_handler(number)
        self._end(128 + number)

    def _complain(self, _: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """A defect somewhere beside the work: said on the screen, where a traceback would only be in the way."""
        error = context.get("exception")
        kind = type(error).__name__ if error is not None else str(context.get("message"))
        self._transcript.show(told(say("Internal error: {kind}.", kind=kind), Tone.BAD))

    def _end(self, code: int) -> None:
        """The program has to end, whatever it is doing."""
        self._exit_code = code
        if self._talk is not None:
            self._talk.leave(code)
        elif self._stop is not None:
            self._stop()

    async def _await_servers(self, desk: Desk) -> None:
        """The status line tells of servers as they come, though nobody presses a key."""
        while (servers := desk.status.servers).ready + servers.failed < servers.total:
            await asyncio.sleep(_LOOK_SECONDS)
            self._frame.redraw()

    def _beside(self, act: Callable[[], Coroutine[None, None, None]]) -> None:
        """Do something that takes a while for the sake of the editor."""
        task = asyncio.create_task(act())
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def _search_history(self) -> None:
        found = await self._frame.ask(HistorySearch(self._editor.history.entries, self._frame.look))
        if found is not None:
            self._editor.clear()
            self._editor.put(found)

    async def _write_outside(self) -> None:
        try:
            written = await self.person.edit(self._editor.text)
        except UsageError as error:
            self._frame.hint(visible(str(error)))
            return
        if written is not None:
            self._editor.replace(written.rstrip("\n"))


class _WhenAsked:
    """An approver that is made for the first question: the first prompt need not wait for what asking needs."""

    def __init__(self, make: Callable[[], Approver]) -> None:
        self._make = make

    async def ask(self, question: Question) -> Answer:
        return await self._approver.ask(question)

    @cached_property
    def _approver(self) -> Approver:
        return self._make()
