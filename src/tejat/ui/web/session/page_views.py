"""What the REPL of a session shows on the page."""

import html
from typing import Protocol

from tejat.core.agent.events import AgentEvent
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.core.ui.report import Report
from tejat.ui.html.report import render_report
from tejat.ui.web.session.prompter import WebPrompter
from tejat.ui.web.session.view_state import ViewState

_MAX_SHELL_CHARS = 200_000


class PageCalls(Protocol):
    """What the views need of the page they belong to."""

    def flush(self) -> None:
        """Show what happened before."""

    def mark_changed(self) -> None:
        """Show the state again soon."""

    def clear(self) -> None:
        """Begin the transcript anew."""


class PageViews:
    """Implements `ui.shared.repl.ReplViews` for a page. Events are not shown here: the feed has all of them."""

    def __init__(self, state: ViewState, page: PageCalls) -> None:
        self.prompter = WebPrompter(self.show_report, page.mark_changed)
        self._state = state
        self._page = page
        self._count = 0
        self._shell_block = ""
        self._shell_line = ""

    def handle_event(self, event: AgentEvent) -> None:
        """The feed shows it."""

    def begin_work(self) -> None:
        self._page.mark_changed()

    def end_work(self) -> None:
        self._page.mark_changed()

    def show_command(self, line: str) -> None:
        """Show a slash command that is about to run."""
        self._add_block(f'<p class="command-line">{_escape(line)}</p>')

    def begin_run(self, prompt: str, *, command: str | None = None) -> None:
        """The event of the prompt shows it."""

    def begin_shell(self, line: str) -> None:
        self._shell_line = line
        self._shell_block = self._add_block(self._shell_markup(""))

    def update_shell(self, output: str) -> None:
        """Show the output of the shell command so far."""
        self._set_block(self._shell_block, self._shell_markup(output))

    def end_shell(self, result: str) -> None:
        self._set_block(self._shell_block, self._shell_markup(result))

    def _shell_markup(self, output: str) -> str:
        shown = f"<pre>{_escape(output[-_MAX_SHELL_CHARS:])}</pre>" if output else ""
        return f'<p class="command-line">!{_escape(self._shell_line)}</p>{shown}'

    def show_report(self, report: Report) -> None:
        self._add_block(render_report(report))

    def show_hint(self, text: str) -> None:
        """Show a short-lived hint."""
        self._send({"kind": "hint", "text": text})
        self._page.mark_changed()

    def insert_input(self, text: str) -> None:
        """Put a text back into the input of the browser that sent the last line."""
        self._send({"kind": "input", "text": text})

    @property
    def has_input(self) -> bool:
        return False

    def discard_input(self) -> bool:
        return False

    def clear(self) -> None:
        """A new conversation begins."""
        self._page.clear()

    def refresh(self) -> None:
        self._page.mark_changed()

    def _send(self, notice: JsonObject) -> None:
        self._state.add_notice({**notice, "client": self.prompter.client})

    def _add_block(self, content: str) -> str:
        self._page.flush()
        self._count += 1
        block_id = f"own-{self._count}"
        self._set_block(block_id, content)
        return block_id

    def _set_block(self, block_id: str, content: str) -> None:
        self._state.set_block(block_id, f'<section id="{block_id}" class="block report">{content}</section>')


def _escape(text: str) -> str:
    return html.escape(sanitize_text(text))
