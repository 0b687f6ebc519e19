"""The interactive session in plain lines."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress

from tejat.core.agent.events import Noticed, Severity
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver
from tejat.core.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.status import Status
from tejat.ui.contract import UiSession
from tejat.ui.plain.output import PlainOutput
from tejat.ui.plain.style import Style
from tejat.ui.plain.type_ahead import TypeAheadReader
from tejat.ui.shared.approval_mode import default_mode_label, mode_label
from tejat.ui.shared.questions import answer_questions
from tejat.ui.shared.repl import Repl
from tejat.ui.shared.sandbox_label import sandbox_label


class PlainTerminal(Frozen):
    """Input and output of the plain user interface."""

    reader: TypeAheadReader
    output: PlainOutput


def open_plain_terminal(environment: Mapping[str, str] = os.environ) -> PlainTerminal:
    """Open the terminal of this process. With TEJAT_BELL=1 it rings for answers and questions."""
    ring = _ring if environment.get("TEJAT_BELL") == "1" else lambda: None
    output = PlainOutput(_write, _print_line, Style(None), ring_bell=ring, folder=os.getcwd())
    return PlainTerminal(TypeAheadReader(), output)


class TypeAheadApprover:
    """Approver that sets aside the lines typed before the question was shown."""

    def __init__(self, approver: Approver, terminal: PlainTerminal) -> None:
        self._approver = approver
        self._terminal = terminal

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        await asyncio.sleep(0)  # calls that ended before the question are reported before it
        self._terminal.reader.drain()
        self._terminal.output.ring_bell()
        with self._terminal.output.hold():
            return await self._approver.ask(question)


async def run_plain(
    session: UiSession, terminal: PlainTerminal, prompter: UserPrompter, approver: Approver, *, first: str | None = None
) -> int:
    """Run the session until the user exits and return the exit code. Notifications are bells, for every answer."""
    session.load_definitions()  # notes about them while the user types would disturb a screen reader
    output = terminal.output
    if session.preferences.notifications.is_enabled:
        output.ring_bell = _ring
    views = _PlainReplViews(output, prompter)
    repl = Repl(session, views)
    reader = _LineReader(repl, views, terminal.reader)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, reader.interrupt)
    reading = asyncio.create_task(reader.run())
    try:
        with answer_questions(session, approver, output.print_line):
            _print_welcome(session, output)
            code = await repl.run(first)
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
    output.print_line(output.session_summary())
    if hint := session.resume_hint:
        output.print_line(hint)
    return code


def _print_welcome(session: UiSession, output: PlainOutput) -> None:
    """Print what runs where, a tip, and the warnings about the start."""
    options = session.preferences.welcome
    if not options.hides_banner:
        output.print_line(_banner(session.status))
    if session.resume_preview is not None:
        output.print_line(_("Resumed session {id}.", id=session.status.session_id))
    if not session.status.todos.is_done:
        output.show_todos(session.status.todos)
    if not options.hides_tips:
        output.print_line(_("Ask anything. /help for commands, Ctrl-C to stop an answer, Ctrl-D to exit."))
    for note in session.take_notes():
        output.handle_event(Noticed(note, Severity.NOTE))


def _banner(status: Status) -> str:
    folder = f"{status.folder} ({status.branch})" if status.branch else status.folder
    facts = [
        _("Tejat {version}", version=status.version),
        status.model,
        folder,
        mode_label(status.mode) or default_mode_label(runs_sandboxed=status.runs_sandboxed),
        sandbox_label(status.sandbox),
        "" if status.is_trusted else _("folder not trusted"),
    ]
    return ", ".join(sanitize_text(fact) for fact in facts if fact) + "."


class _LineReader:
    """Reads lines while the REPL is idle and submits them."""

    def __init__(self, repl: Repl, views: "_PlainReplViews", reader: TypeAheadReader) -> None:
        self._repl = repl
        self._views = views
        self._reader = reader
        self._is_shell = False

    async def run(self) -> None:
        """Read until the REPL exits. Raises OSError when the terminal is gone."""
        try:
            while True:
                await self._repl.wait_idle()
                if self._repl.has_exited:
                    return
                typed = await self._reader.read_prompt("! " if self._is_shell else "> ")
                if typed is None:
                    print(file=sys.stderr)  # the prompt has a line of its own
                    self._repl.end_of_input()
                    return
                self._submit(typed.strip())
        finally:
            self._repl.exit(EXIT_FAILED)

    def interrupt(self) -> None:
        """Handle Ctrl-C: stop the work; at the prompt, and a second time, exit."""
        if self._repl.is_working:
            self._repl.interrupt()
        else:
            self._repl.exit(EXIT_INTERRUPTED)

    def _submit(self, line: str) -> None:
        line = line or self._views.take_suggested_input()
        if line == "!":
            self._toggle_shell()
        elif line == "+":
            self._views.output.expand_last()
        elif self._is_shell and line:
            self._repl.submit(f"!{line.removeprefix('!').strip()}")
        else:
            self._repl.submit(line)

    def _toggle_shell(self) -> None:
        self._is_shell = not self._is_shell
        begun = _("Shell mode on: lines run as commands. Type ! to turn it off.")
        self._views.output.print_line(begun if self._is_shell else _("Shell mode off."))


class _PlainReplViews:
    """ReplViews in plain lines."""

    def __init__(self, output: PlainOutput, prompter: UserPrompter) -> None:
        self.output = output
        self.prompter = prompter
        self.handle_event = output.handle_event
        self.end_work = output.end
        self.update_shell = output.update_output
        self.show_report = prompter.show
        self._suggested_input = ""

    def take_suggested_input(self) -> str:
        """Return the text that an empty line submits."""
        text, self._suggested_input = self._suggested_input, ""
        return text.strip()

    def begin_work(self) -> None:
        self._suggested_input = ""
        self.output.begin()

    def show_command(self, line: str) -> None:
        """The user has typed it on the terminal."""

    def begin_run(self, prompt: str, *, command: str | None = None) -> None:
        if command is not None:
            self.output.print_line(f"> {sanitize_text(prompt)}")

    def begin_shell(self, line: str) -> None:
        """The user has typed it on the terminal."""

    def end_shell(self, result: str) -> None:
        self.output.print_block(sanitize_text(translate(result)))

    def show_hint(self, text: str) -> None:
        """Lines stay, so there are no hints."""

    def insert_input(self, text: str) -> None:
        self._suggested_input = text
        self.output.print_line(sanitize_text(translate(text)))
        self.output.print_line(_("Press Enter to send this, or type something else."))

    @property
    def has_input(self) -> bool:
        return False

    def discard_input(self) -> bool:
        return False

    def clear(self) -> None:
        self.output.print_line(_("New conversation. The model no longer sees what is above."))

    def refresh(self) -> None:
        """Nothing is redrawn."""


def _write(text: str) -> None:
    print(text, end="", flush=True)


def _print_line(text: str) -> None:
    if text:
        print(text, file=sys.stderr, flush=True)


def _ring() -> None:
    print("\a", end="", file=sys.stderr, flush=True)
