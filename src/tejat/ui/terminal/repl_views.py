"""The terminal as the REPL sees it."""

from collections.abc import Callable

from tejat.core.agent.events import AgentEvent, RunEnded, ThoughtStreamed
from tejat.core.i18n import _
from tejat.core.ui.prompter import UserPrompter
from tejat.ui.terminal.editor.prompt_editor import PromptEditor
from tejat.ui.terminal.notifications import Notifier
from tejat.ui.terminal.screen.inline_screen import InlineScreen
from tejat.ui.terminal.views.transcript import Transcript
from tejat.ui.terminal.window_title import TitleState, WindowTitle


def idle_placeholder() -> str:
    """What an empty prompt says while nothing runs."""
    return _("Ask anything. /help for commands, @ to add files, ! for shell")


class TerminalReplViews:
    """ReplViews of screen, editor and transcript. `refresh` redraws after a command or a change of the queue."""

    def __init__(
        self,
        screen: InlineScreen,
        editor: PromptEditor,
        transcript: Transcript,
        prompter: UserPrompter,
        refresh: Callable[[], None],
        title: WindowTitle,
        notifier: Notifier,
    ) -> None:
        self.prompter = prompter
        self.refresh = refresh
        self.show_command = transcript.show_prompt
        self.begin_shell = transcript.begin_shell
        self.update_shell = transcript.show_shell_output
        self.end_shell = transcript.end_shell
        self.show_report = transcript.show_report
        self.show_hint = screen.show_hint
        self.insert_input = editor.prepend
        self.clear = screen.clear
        self._screen = screen
        self._editor = editor
        self._transcript = transcript
        self._title = title
        self._notifier = notifier

    def handle_event(self, event: AgentEvent) -> None:
        self._transcript.handle_event(event)
        if isinstance(event, ThoughtStreamed):
            self._title.set_subject(self._transcript.thought_subject)
        elif isinstance(event, RunEnded):
            self._notifier.end_turn(event)

    def begin_work(self) -> None:
        self._editor.placeholder = _("Enter to queue a message, Ctrl-S to send it now")
        self._screen.ticking = True
        self._title.set_state(TitleState.WORKING)

    def end_work(self) -> None:
        self._editor.placeholder = idle_placeholder()
        self._transcript.end()
        self._screen.ticking = False
        self._title.set_state(TitleState.READY)
        self._notifier.end_work()

    def begin_run(self, prompt: str, *, command: str | None = None) -> None:
        self._transcript.begin_run("" if prompt == command else prompt)

    @property
    def has_input(self) -> bool:
        return not self._editor.is_empty

    def discard_input(self) -> bool:
        has_input = self.has_input
        if has_input:
            self._editor.clear()
        return has_input
