"""Questions that are answered by buttons of `ipywidgets`."""

from concurrent.futures import Future
from html import escape
from typing import Any

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest
from tejat.notebook.reply_form import ReplyAction, ReplyInput, reply_actions
from tejat.notebook.style import view_markup
from tejat.ui.html.question import render_answered_question, render_question


class QuestionPanel:
    """A question with a button for each answer. The first click that makes a valid answer counts.

    The answer takes the place of the buttons, unless whoever shows the run shows it. `buttons` are the widgets by their
    labels, `texts` the fields for texts by theirs.
    """

    def __init__(self, widgets: Any, question: ApprovalRequest, *, shows_answer: bool = True) -> None:
        self.question = question
        self._shows_answer = shows_answer
        self.buttons: dict[str, Any] = {}
        self.texts: dict[str, Any] = {}
        self._reply: Future[ApprovalReply] = Future()
        self._problem = widgets.HTML()
        self._shown = widgets.HTML(view_markup(render_question(question)))
        rows: list[Any] = []
        for action in reply_actions(question):
            rows += self._add_action(widgets, action)
        bar = widgets.HBox(list(self.buttons.values()), layout=widgets.Layout(flex_flow="row wrap"))
        self.widget = widgets.VBox([self._shown, *rows, self._problem, bar])

    @property
    def is_answered(self) -> bool:
        return self._reply.done()

    def wait(self) -> ApprovalReply:
        """Wait for the answer."""
        return self._reply.result()

    def answer(self, reply: ApprovalReply) -> None:
        """Answer the question, unless it is answered already."""
        if not self._reply.done():
            self._close(reply)
            self._reply.set_result(reply)

    def _add_action(self, widgets: Any, action: ReplyAction) -> list[Any]:
        """Make the button of an action, and return the widgets with the fields that it needs."""
        wide = widgets.Layout(width="auto")
        fields, rows = list[Any](), list[Any]()
        for wanted in action.inputs:
            self.texts[wanted.label] = field = _make_field(widgets, wanted)
            fields.append(field)
            is_long = wanted.initial is not None
            rows.append(widgets.Accordion([field], titles=(wanted.label,)) if is_long else field)
        style = "primary" if action.approves else ""
        text = f"{action.label} [{action.key}]"
        button = widgets.Button(description=text, tooltip=action.label, button_style=style, layout=wide)

        def click(_button: object) -> None:
            self._click(action, [str(field.value) for field in fields])

        button.on_click(click)
        self.buttons[action.label] = button
        return rows

    def _click(self, action: ReplyAction, texts: list[str]) -> None:
        try:
            self.answer(action.make_reply(texts))
        except ValueError as error:
            self._problem.value = view_markup(f'<p class="notice warning">{escape(str(error))}</p>')

    def _close(self, reply: ApprovalReply) -> None:
        self._shown.value = view_markup(render_answered_question(self.question, reply))
        self.widget.children = [self._shown] if self._shows_answer else []


def _make_field(widgets: Any, wanted: ReplyInput) -> Any:
    """The widget for a text: a line, a line with suggestions, or an area with the text to edit."""
    wide = widgets.Layout(width="auto")
    if wanted.initial is not None:
        rows = min(wanted.initial.count("\n") + 2, _MAX_ROWS)
        return widgets.Textarea(wanted.initial, rows=rows, layout=wide)
    make = widgets.Combobox if wanted.options else widgets.Text
    more = {"options": wanted.options, "ensure_option": False} if wanted.options else {}
    style = {"description_width": "initial"}
    return make(description=wanted.label, placeholder=wanted.placeholder, layout=wide, style=style, **more)


_MAX_ROWS = 25
