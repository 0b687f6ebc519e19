"""Approvals in notebooks: by buttons, or by typing where buttons cannot work."""

import threading
from contextvars import ContextVar

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome
from tejat.core.i18n import _
from tejat.notebook.front_end import load_widgets, show_html, show_widget
from tejat.notebook.question_panel import QuestionPanel
from tejat.notebook.style import view_markup
from tejat.notebook.text_prompt import ask_in_text
from tejat.ui.html.markup import escape_text
from tejat.ui.html.question import render_question


class OpenPanels:
    """The questions of a run that wait for a click. They are answered with a stop once it is cancelled."""

    def __init__(self) -> None:
        self._panels: list[QuestionPanel] = []
        self.is_cancelled = False

    @property
    def first(self) -> QuestionPanel | None:
        return next(iter(self._panels), None)

    def add(self, panel: QuestionPanel) -> None:
        self._panels.append(panel)
        if self.is_cancelled:
            panel.answer(ApprovalReply(Outcome.STOP))

    def remove(self, panel: QuestionPanel) -> None:
        self._panels.remove(panel)

    def cancel(self) -> None:
        self.is_cancelled = True
        for panel in tuple(self._panels):
            panel.answer(ApprovalReply(Outcome.STOP))


open_panels: ContextVar[OpenPanels] = ContextVar("open_panels")
"""The open questions of the run in this context."""


class NotebookApprover:
    """An approver that asks below the cell: `SyncAgent(approver=NotebookApprover())`.

    Runs of `watch` ask with buttons if `ipywidgets` is installed. While a cell is running, clicks do not reach the
    notebook, so a run inside a cell, such as `agent.ask(...)`, asks with `input`.
    """

    def __init__(self) -> None:
        self.panel: QuestionPanel | None = None
        """The question that waits for a click."""

    def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Show a question and wait for the answer. If the notebook cannot ask, the call is rejected."""
        widgets = load_widgets()
        if widgets is None or threading.current_thread() is threading.main_thread():
            show_html(view_markup(render_question(question)))
            return enter_reply(question)
        watched = open_panels.get(None)
        panel, panels = QuestionPanel(widgets, question, shows_answer=watched is None), watched or OpenPanels()
        show_widget(panel.widget)
        panels.add(panel)
        self.panel = panel
        try:
            return panel.wait()
        finally:
            panels.remove(panel)
            self.panel = None


def enter_reply(question: ApprovalRequest) -> ApprovalReply:
    """Ask for an answer with `input`. If that is not possible, it is a rejection, and a notice says so."""
    try:
        return ask_in_text(question, input)
    except (EOFError, OSError, NotImplementedError):
        # IPython raises a subclass of NotImplementedError if the front end cannot ask.
        note = _("Rejected: this notebook cannot ask here. Use watch(), with ipywidgets installed.")
        show_html(view_markup(f'<p class="notice warning">{escape_text(note)}</p>'))
        return ApprovalReply(Outcome.CANCEL)
