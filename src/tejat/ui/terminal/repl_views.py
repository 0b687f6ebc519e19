"""The terminal as the REPL sees it."""

from collections.abc import Callable

from tejat.core.agent.events import AgentEvent
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report
from tejat.ui.terminal.editor.prompt_editor import PromptEditor
from tejat.ui.terminal.screen.inline_screen import InlineScreen
from tejat.ui.terminal.views.transcript import Transcript


class TerminalReplViews:
    """ReplViews of screen, editor and transcript. `refresh` redraws after a command or a change of the queue."""

    def __init__(
        self,
        screen: InlineScreen,
        editor: PromptEditor,
        transcript: Transcript,
        prompter: UserPrompter,
        refresh: Callable[[], None],
    ) -> None:
        self.prompter = prompter
        self.refresh = refresh
        self._screen = screen
        self._editor = editor
        self._transcript = transcript

    def handle_event(self, event: AgentEvent) -> None:
        self._transcript.handle_event(event)

    def begin_work(self) -> None:
        self._screen.ticking = True

    def end_work(self) -> None:
        self._transcript.end()
        self._screen.ticking = False

    def show_command(self, line: str) -> None:
        self._transcript.show_prompt(line)

    def begin_run(self, prompt: str, *, command: str | None = None) -> None:
        self._transcript.begin_run("" if prompt == command else prompt)

    def begin_shell(self, line: str) -> None:
        self._transcript.begin_shell(line)

    def update_shell(self, output: str) -> None:
        self._transcript.show_shell_output(output)

    def end_shell(self, result: str) -> None:
        self._transcript.end_shell(result)

    def show_report(self, report: Report) -> None:
        self._transcript.show_report(report)

    def show_hint(self, text: str) -> None:
        self._screen.show_hint(text)

    def insert_input(self, text: str) -> None:
        self._editor.prepend(text)

    def discard_input(self) -> bool:
        has_text = bool(self._editor.text)
        if has_text:
            self._editor.clear()
        return has_text

    def clear(self) -> None:
        self._screen.clear()
