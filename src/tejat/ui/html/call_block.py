"""Tool calls as blocks of HTML: a headline, and what belongs to it below."""

import time
from collections.abc import Callable, Iterator

from tejat.core.i18n import _, ngettext, translate
from tejat.core.json_text import show_json
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.call_details import CallDetails
from tejat.core.tools.call_events import CallFinished, CallState
from tejat.core.tools.todos import TodoList
from tejat.ui.html.diff import render_diff
from tejat.ui.html.markup import cut_text, disclosure, element, escape_text, scroll_box
from tejat.ui.shared.calls.excerpt import ExcerptRow, excerpt_output
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport, build_call_report
from tejat.ui.shared.calls.title import CallTitle, TitleForm, call_title
from tejat.ui.shared.labels.durations import format_elapsed
from tejat.ui.shared.labels.todos import todo_text

DescribeCall = Callable[[FunctionCall], CallDetails]

_MAX_ARGUMENT_CHARS = 20_000
_MAX_BODY_CHARS = 200_000
_MAX_LIVE_CHARS = 8_000
"""Characters shown at the end of live output."""
_MAX_OPEN_DIFF_LINES = 60
"""Longest diff that is shown without asking."""


class CallBlock:
    """A call of the model, from its first state to its result. Paths below `root` are shown relative to it."""

    def __init__(
        self, call: FunctionCall, *, root: str, describe: DescribeCall | None = None, with_split: bool = True
    ) -> None:
        self._call = call
        self._root = root
        self._describe = describe
        self._with_split = with_split
        self._state = CallState.VALIDATING
        self._since = 0.0
        self._output = ""
        self._finished: CallFinished | None = None
        self._is_over = False

    @property
    def call_id(self) -> str | None:
        """The id of the call, as the model gave it."""
        return self._call.id

    def set_state(self, call: FunctionCall, state: CallState) -> None:
        if state is CallState.EXECUTING and self._state is not state:
            self._since = time.time()
        self._call, self._state = call, state

    def set_output(self, output: str) -> None:
        self._output = output

    def finish(self, finished: CallFinished) -> None:
        self._finished = finished

    def abandon(self) -> None:
        """Note that there will be no result."""
        self._is_over = True

    def render(self, block_id: str) -> str:
        kind = "" if self._describe is None else self._describe(self._call).kind.value
        if self._finished is None:
            state = "over" if self._is_over else "running" if self._is_running else "waiting"
            content = self._running_markup()
        else:
            report = build_call_report(self._finished, folder=self._root)
            state = report.status.value.replace(" ", "-")
            content = headline(report) + "".join(self._details(report, self._finished))
        call_id = self._call.id or ""
        return element("div", content, class_=f"block call {state}", id=block_id, data_kind=kind, data_call=call_id)

    @property
    def _is_running(self) -> bool:
        return self._state is CallState.EXECUTING and not self._is_over

    def _running_markup(self) -> str:
        form = TitleForm.RUNNING if self._is_running else TitleForm.PLANNED
        title = call_title(self._call, form, folder=self._root)
        sign = "●" if self._is_running else "○"
        facts = [*map(escape_text, title.details)]
        if self._is_running:
            facts.append(elapsed_markup(self._since))
        elif not self._is_over:
            facts.append(escape_text(_("waiting")))
        line = _line(sign, title, "", facts)
        if self._is_running and self._output:
            output = cut_text(translate(self._output)[-_MAX_LIVE_CHARS:], max_chars=_MAX_LIVE_CHARS)
            line += scroll_box("pre", escape_text(output.strip("\n")), class_="output live", label=_("Output"))
        return line

    def _details(self, report: CallReport, finished: CallFinished) -> Iterator[str]:
        for text, class_ in (
            (report.reason, "reason"),
            (_("You: {words}", words=report.feedback) if report.feedback else "", "feedback"),
            (report.note, "call-note"),
        ):
            if text:
                yield f'<p class="{class_}">{escape_text(text)}</p>'
        display = finished.result.return_display
        if isinstance(display, TodoList) and display.todos:
            yield render_todos(display)
            return
        if report.diff:
            yield self._diff(report)
            return
        if report.command:
            yield disclosure(escape_text(_("Command")), f'<pre class="output">{escape_text(report.command)}</pre>')
        elif not report.is_exploration or report.status is not CallStatus.OK:
            yield from _arguments(self._call)
        if report.body:
            yield _output(report)

    def _diff(self, report: CallReport) -> str:
        diff = render_diff(report.diff, file_name=report.title.object, with_files=False, with_split=self._with_split)
        if report.diff.count("\n") <= _MAX_OPEN_DIFF_LINES:
            return diff
        return disclosure(escape_text(_("Diff")) + _counts(report.line_counts), diff)


def headline(report: CallReport) -> str:
    """Return the headline of a finished call."""
    facts = [escape_text(detail) for detail in report.title.details]
    return _line(_SIGNS[report.status], report.title, report.line_counts, facts)


def status_sign(status: CallStatus) -> str:
    return f'<span class="sign" aria-hidden="true">{_SIGNS[status]}</span>'


def elapsed_markup(since: float) -> str:
    """Return the time since a moment, in seconds since 1970; a page may keep it up to date."""
    return f'<span class="elapsed" data-since="{since:.3f}">{escape_text(format_elapsed(time.time() - since))}</span>'


def _line(sign: str, title: CallTitle, counts: str, facts: list[str]) -> str:
    words = f'<strong class="verb">{escape_text(title.verb)}</strong>'
    if title.object:
        words += f' <code class="object">{escape_text(title.object)}</code>'
    if title.tail:
        words += f" {escape_text(title.tail)}"
    words += _counts(counts)
    if facts:
        words += f' <span class="facts">({", ".join(facts)})</span>'
    return f'<p class="headline"><span class="sign" aria-hidden="true">{sign}</span> <span>{words}</span></p>'


def _counts(counts: str) -> str:
    return "".join(
        f' <span class="{"added" if count.startswith("+") else "removed"}">{escape_text(count)}</span>'
        for count in counts.split()
    )


def render_todos(todos: TodoList) -> str:
    """Render a todo list."""
    items = "".join(f'<li class="todo-{todo.status.value}">{escape_text(todo_text(todo))}</li>' for todo in todos.todos)
    return f'<ul class="todos">{items}</ul>'


def _arguments(call: FunctionCall) -> Iterator[str]:
    if not call.args or call.name == _SHELL:
        return
    text = cut_text(show_json(dict(call.args)), max_chars=_MAX_ARGUMENT_CHARS)
    yield disclosure(escape_text(_("Arguments")), f'<pre class="output">{escape_text(text)}</pre>')


def _output(report: CallReport) -> str:
    """Return the lines worth showing, and all of them on demand."""
    whole = cut_text(report.body, max_chars=_MAX_BODY_CHARS)
    lines = whole.split("\n")
    label = ngettext("{count} line", "{count} lines", len(lines))
    box = scroll_box("pre", escape_text(whole), class_="output whole", label=_("Output"))
    if report.is_exploration and report.status is CallStatus.OK:
        return disclosure(escape_text(_("Result: {size}", size=label)), box)
    rows = excerpt_output(lines, is_failure=report.status is not CallStatus.OK)
    excerpt = "\n".join(map(_excerpt_row, rows))
    shown = f'<pre class="output">{excerpt}</pre>'
    if not any(row.hidden for row in rows):
        return shown
    return shown + disclosure(escape_text(_("Whole output: {size}", size=label)), box)


def _excerpt_row(row: ExcerptRow) -> str:
    if row.hidden:
        label = ngettext("{count} more line", "{count} more lines", row.hidden)
        return f'<span class="gap">… {escape_text(label)}</span>'
    text = escape_text(row.text)
    return f'<span class="error">{text}</span>' if row.is_error else text


_SHELL = "run_shell_command"
_SIGNS = {
    CallStatus.OK: "✓",
    CallStatus.FAILED: "✗",
    CallStatus.DENIED: "⊘",
    CallStatus.REJECTED: "•",
    CallStatus.CANCELLED: "■",
    CallStatus.TIMED_OUT: "◷",
}
