"""The terminal application: screen, editor, transcript and REPL."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from typing import Self, TypeVar

from rich.console import RenderableType
from rich.text import Text

from tejat.core.agent.events import Noticed
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.log import report_unexpected
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.todos import TodoList
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.report import Tone, text_report
from tejat.core.ui.status import Preferences, SandboxState, ThemeName
from tejat.ui.contract import UiSession
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import Pager
from tejat.ui.shared.external.tmux import read_tmux_client
from tejat.ui.shared.prompt_queue import PromptQueue
from tejat.ui.shared.questions import answer_questions
from tejat.ui.shared.repl import Repl
from tejat.ui.shared.terminal_background import may_ask_background
from tejat.ui.terminal.dialogs.history_search import HistorySearchDialog
from tejat.ui.terminal.editor.completer import Completer
from tejat.ui.terminal.editor.prompt_editor import EditorHandler, PromptEditor
from tejat.ui.terminal.editor.prompt_history import PromptHistory
from tejat.ui.terminal.forced_exit import ForcedExit
from tejat.ui.terminal.notifications import Notifier
from tejat.ui.terminal.prompter import TerminalPrompter
from tejat.ui.terminal.render.theme import Theme, detect_theme
from tejat.ui.terminal.repl_views import TerminalReplViews, idle_placeholder
from tejat.ui.terminal.screen.inline_screen import InlineScreen, ScreenHandlers, TerminalStreams
from tejat.ui.terminal.views.status_line import render_status_line
from tejat.ui.terminal.views.todo_panel import EditorWithTodos, TodoPanel
from tejat.ui.terminal.views.transcript import Transcript
from tejat.ui.terminal.views.welcome import WelcomeScreen, WelcomeView
from tejat.ui.terminal.window_title import TitleState, WindowTitle

Result = TypeVar("Result")

_TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_SERVER_POLL_SECONDS = 0.25


class TerminalApp(EditorHandler):
    """The terminal user interface. `async with` owns the terminal; `prompter` works inside it.

    Programs below `folder`, the workspace, are never used as editor or pager. `encoding` is that of the user's locale,
    `history` the file of the prompt history.
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
        self._has_dark_background: bool | None = None
        self._session: UiSession | None = None
        self._completer: Completer | None = None
        self._repl: Repl | None = None
        self._stop: Callable[[], object] | None = None
        self._exit_code: int | None = None
        self._exit_stack = AsyncExitStack()
        self._tasks: set[asyncio.Task[None]] = set()
        self._queue = PromptQueue()
        theme = self._theme_for(preferences)
        self._editor = PromptEditor(theme, history=PromptHistory(history), completer=self._complete, handler=self)
        self._editor.escapes_pasted_at = preferences.escapes_pasted_at
        self._todos = TodoPanel(lambda: TodoList() if self._session is None else self._session.status.todos)
        self._screen = InlineScreen(
            EditorWithTodos(self._editor, self._todos),
            theme,
            status=self._status,
            queued=self._queue.pending,
            handlers=ScreenHandlers(
                on_interrupt=self._interrupt,
                on_escape=self._escape,
                on_end=self._end_of_input,
                on_hangup=lambda: self._exit(128 + signal.SIGHUP),
            ),
            terminal=TerminalStreams(sys.stdin, sys.stdout, environment),
        )
        self._welcome = WelcomeScreen(self._screen)
        self._transcript = Transcript(self._welcome, folder=folder)
        name = environment.get("CLI_TITLE", "").strip() or os.path.basename(folder) or folder
        self._title = WindowTitle(self._screen.write_raw, name, is_ascii=theme.is_ascii)
        self._notifier = Notifier(
            self._screen.write_raw,
            self._screen.focus,
            environment,
            start=self._start_task,
            read_tmux=lambda: read_tmux_client(environment, untrusted=(folder,)),
        )
        self._pager = Pager((folder,))
        self.prompter = TerminalPrompter(
            self._screen, self._external_editor, self._transcript.show_report, self._theme_for, self._pager
        )

    @cached_property
    def _approver(self) -> Approver:
        """Created for the first question, to keep the start fast."""
        from tejat.ui.terminal.approver import TerminalApprover

        return TerminalApprover(self._screen, stop=self._stop_turn, editor=self._external_editor, pager=self._pager)

    async def __aenter__(self) -> Self:
        await self._exit_stack.enter_async_context(self._screen)
        self._ask_background()
        loop = asyncio.get_running_loop()
        forced_exit = ForcedExit(loop)
        for number in _TERMINATION_SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
            forced_exit.watch_signal(number)
        loop.set_exception_handler(self._on_loop_exception)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._editor.close()
        for task in tuple(self._tasks):
            task.cancel()
        try:
            await self._exit_stack.aclose()
        finally:
            for number in _TERMINATION_SIGNALS:
                asyncio.get_running_loop().remove_signal_handler(number)

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Ask for approval in a dialog."""
        before = self._title.set_state(TitleState.ASKING)
        if before is not TitleState.ASKING:
            self._notifier.notify_question()
        try:
            return await self._approver.ask(question)
        finally:
            self._title.set_state(before)

    async def run(self, work: Coroutine[None, None, Result]) -> Result | int:
        """Return the result of `work`, or the exit code if the program has to end first."""
        task = asyncio.create_task(work)
        self._stop = task.cancel
        try:
            return await task
        except asyncio.CancelledError:
            if self._exit_code is None:
                raise
            return self._exit_code

    async def run_repl(self, session: UiSession, *, first: str | None = None) -> int:
        """Run the session until the user exits and return the exit code."""
        self._apply_preferences(session)
        await self._screen.background.wait_before_printing()  # prompts are queued until then
        views = TerminalReplViews(
            self._screen,
            self._editor,
            self._transcript,
            self.prompter,
            lambda: self._apply_preferences(session),
            self._title,
            self._notifier,
        )
        self._repl = Repl(session, views, self._queue)
        self._completer = Completer(session.commands, session.files, lambda: session.agents)
        self._session = session
        self._show_welcome(session)
        self._start_task(self._complete_start(session))
        try:
            with answer_questions(session, self, self._screen.show_hint):
                return await self._repl.run(first)
        finally:
            self._title.close()
            self._show_resume_hint(session)

    def _show_welcome(self, session: UiSession) -> None:
        """Show the first screen. It is printed when the sandbox is known, or before anything else is printed."""
        problem = self._editor.history.problem
        warnings = (*session.take_notes(), *(() if problem is None else (problem,)))
        preview = session.resume_preview

        def view() -> WelcomeView:
            status = session.status
            return WelcomeView(
                status,
                self._screen.theme,
                options=session.preferences.welcome,
                resumed_id="" if preview is None else status.session_id,
                warnings=warnings,
            )

        self._editor.placeholder = idle_placeholder()
        if not view().is_empty:
            self._welcome.hold(view())
        if preview is not None:
            self._transcript.show_report(preview)
        elif session.status.sandbox is SandboxState.UNKNOWN:
            self._start_task(self._complete_welcome(session, view))
        else:
            self._welcome.release()

    async def _complete_welcome(self, session: UiSession, view: Callable[[], WelcomeView]) -> None:
        await session.wait_for_sandbox()
        if self._welcome.is_held:
            self._welcome.hold(view())
            self._welcome.release()
        self._screen.redraw()

    def _show_resume_hint(self, session: UiSession) -> None:
        if hint := session.resume_hint:
            self._transcript.show_report(text_report(hint, Tone.QUIET))

    def _apply_preferences(self, session: UiSession) -> None:
        """Apply the current preferences to screen and editor."""
        self._preferences = session.preferences
        self._screen.theme = self._editor.theme = self._theme_for(self._preferences)
        self._ask_background()
        self._screen.use_vi(enabled=self._preferences.vi_mode)
        self._editor.escapes_pasted_at = self._preferences.escapes_pasted_at
        self._transcript.shows_thoughts = self._preferences.shows_thoughts
        self._transcript.shows_model = self._preferences.shows_model
        self._transcript.is_compact = self._preferences.compact_results
        self._title.apply(self._preferences.title)
        self._notifier.apply(self._preferences.notifications)

    def _theme_for(self, preferences: Preferences) -> Theme:
        return detect_theme(
            self._environment, encoding=self._encoding, preferences=preferences, is_dark=self._has_dark_background
        )

    def _ask_background(self) -> None:
        """Ask the terminal for its background if the theme depends on it."""
        if self._preferences.theme is ThemeName.AUTO and may_ask_background(self._environment):
            self._screen.background.ask(self._on_background)

    def _on_background(self, is_dark: bool) -> None:
        self._has_dark_background = is_dark
        self._screen.theme = self._editor.theme = self._theme_for(self._preferences)

    def _external_editor(self) -> ExternalEditor:
        preferences = self._preferences
        return ExternalEditor(preferences.editor, (self._folder,), preferences.editor_new_window)

    def _status(self, width: int) -> RenderableType:
        if self._session is None:
            return Text("")
        is_working = self._repl is not None and self._repl.is_working
        status, theme, is_vi = self._session.status, self._screen.theme, self._screen.is_vi_navigation
        options = self._preferences.status_line
        return render_status_line(
            status, theme, width=width, is_working=is_working, is_vi_navigation=is_vi, options=options
        )

    async def _complete(self, text: str, caret: int) -> AsyncIterator[Sequence[CompletionItem]]:
        if self._completer is not None:
            async for suggestions in self._completer(text, caret):
                yield suggestions

    # Editor actions

    def on_change(self) -> None:
        self._screen.redraw()

    def on_submit(self, text: str) -> None:
        line = f"!{text}" if self._editor.is_shell else text
        if self._repl is None:  # typed before the session was ready
            self._queue.add(line)
            self._screen.redraw()
        else:
            self._repl.submit(line)

    def on_steer(self, text: str) -> None:
        if self._repl is not None:
            self._repl.steer(text)

    def take_queued(self) -> str | None:
        return self._queue.pop_last()

    def on_next_mode(self) -> None:
        if self._repl is not None:
            self._repl.next_mode()

    def on_toggle_yolo(self) -> None:
        if self._repl is not None:
            self._repl.toggle_yolo()

    def on_expand(self) -> None:
        self._transcript.expand_last()

    @property
    def has_todos(self) -> bool:
        return self._todos.is_visible

    def on_toggle_todos(self) -> None:
        if whole := self._todos.toggle():
            self._transcript.show_report(text_report(whole))
        self._screen.redraw()

    def on_search_history(self) -> None:
        self._start_task(self._search_history())

    def on_external_editor(self) -> None:
        self._start_task(self._edit_externally())

    # Keys and signals

    def _interrupt(self) -> None:
        if self._repl is None:
            self._exit(128 + signal.SIGINT)
        else:
            self._repl.interrupt()

    def _escape(self) -> None:
        if self._repl is not None:
            self._repl.escape()

    def _stop_turn(self) -> None:
        if self._repl is not None:
            self._repl.stop()

    def _end_of_input(self) -> None:
        if self._repl is None:
            self._exit(EXIT_OK)
        else:
            self._repl.end_of_input()

    def _on_signal(self, number: int) -> None:
        # A second signal does not wait for an orderly exit. SIGHUP always comes twice, from the system and the shell.
        if number != signal.SIGHUP:
            asyncio.get_running_loop().remove_signal_handler(number)
        self._exit(128 + number)

    def _on_loop_exception(self, _unused: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """Log an error outside of the work and report it on the screen, which a traceback would garble."""
        error = context.get("exception")
        if not isinstance(error, BaseException):
            error = RuntimeError(context.get("message"))
        self._transcript.show_report(text_report(report_unexpected(error, "a background task"), Tone.BAD))

    def _exit(self, code: int) -> None:
        """Exit, whatever is running."""
        self._exit_code = code
        if self._repl is not None:
            self._repl.exit(code)
        elif self._stop is not None:
            self._stop()

    async def _complete_start(self, session: UiSession) -> None:
        """Load what the first screen did not wait for, update the status line meanwhile, and report problems."""
        await self._screen.wait_until_drawn()
        await session.preload_definitions()
        while (servers := session.status.servers).ready + servers.failed < servers.total:
            await asyncio.sleep(_SERVER_POLL_SECONDS)
            self._screen.redraw()
        await session.wait_for_sandbox()  # the first screen is printed before
        for note in session.take_notes():
            self._transcript.handle_event(Noticed(note))

    def _start_task(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _search_history(self) -> None:
        found = await self._screen.run_dialog(HistorySearchDialog(self._editor.history.entries, self._screen.theme))
        if found is not None:
            self._editor.clear()
            self._editor.prepend(found)

    async def _edit_externally(self) -> None:
        try:
            edited = await self.prompter.edit(self._editor.text)
        except UsageError as error:
            self._screen.show_hint(sanitize_text(str(error)))
            return
        if edited is not None:
            self._editor.replace(edited.rstrip("\n"))
