"""HTML and Markdown of single values, for notebooks. Text of models, tools and files is escaped."""

import base64
import os
from collections.abc import Iterator

from tejat.core.agent.events import AgentEvent, PlanPresented, RunEnded
from tejat.core.approval.confirmation import ApprovalRequest, AskUserConfirmation, ElicitationConfirmation
from tejat.core.frozen import Value
from tejat.core.i18n import _, translate
from tejat.core.json_text import show_json
from tejat.core.messages.history import Message
from tejat.core.messages.types import FunctionResponse, InlineData, Part, Text
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallFinished
from tejat.core.tools.display import FileDiff
from tejat.core.tools.todos import TodoList
from tejat.notebook.markdown import code_block, diff_markdown, escape_html, result_markdown, todos_markdown
from tejat.notebook.style import view_markup
from tejat.notebook.transcript import events_markup, message_events, messages_markdown
from tejat.ui.html.blocks import RunEndBlock
from tejat.ui.html.call_block import render_todos
from tejat.ui.html.diff import render_diff
from tejat.ui.html.markdown import render_markdown
from tejat.ui.html.markup import cut_text, disclosure, escape_text, scroll_box
from tejat.ui.html.question import render_question
from tejat.ui.shared.approval.question_title import question_title
from tejat.ui.shared.approval.text import approval_text_lines
from tejat.ui.shared.approval.view import build_approval_view
from tejat.ui.shared.labels.run_summary import RunSummary

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Pictures that cannot contain scripts."""
_MAX_IMAGE_BYTES = 10_000_000
_MAX_TEXT_CHARS = 200_000


def value_html(value: Value) -> str:
    """Return a value as HTML. Raises TypeError for one that has none."""
    return view_markup(value_markup(value))


def value_markup(value: Value) -> str:
    """Return a value as markup for a page with the style sheet. Raises TypeError for one that has none."""
    match value:
        case ToolResult():
            return _result(value)
        case FileDiff():
            return _diff(value)
        case TodoList():
            return render_todos(value)
        case Message():
            return _events(*message_events([value], os.getcwd())) + "".join(map(_response, value.responses))
        case RunEnded():
            return _run_end(value)
        case CallFinished() | PlanPresented():
            return _events(value)
        case ApprovalRequest():
            return render_question(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no HTML form")


def value_markdown(value: Value) -> str:
    """Return a value as Markdown. Raises TypeError for one that has none."""
    match value:
        case ToolResult():
            return result_markdown(value)
        case FileDiff():
            return diff_markdown(value)
        case TodoList():
            return todos_markdown(value)
        case Message():
            return messages_markdown([value])
        case RunEnded():
            return "\n\n".join(filter(None, (escape_html(value.text), code_block(_end_label(value)))))
        case CallFinished():
            return f"**{value.call.name}** ({value.state})\n\n{result_markdown(value.result)}"
        case PlanPresented():
            return escape_html(value.text)
        case ApprovalRequest():
            return code_block("\n".join(_question_lines(value)))
        case _:
            raise TypeError(f"{type(value).__name__} has no Markdown form")


def _question_lines(request: ApprovalRequest) -> Iterator[str]:
    """Yield the heading of a question and everything that is asked about."""
    match request.confirmation:
        case AskUserConfirmation(questions=questions):
            yield question_title(request)
            yield from (question.question for question in questions)
        case ElicitationConfirmation(message=message):
            yield question_title(request)
            yield message
        case confirmation:
            yield from approval_text_lines(build_approval_view(request, confirmation))


def _events(*events: AgentEvent) -> str:
    return events_markup(events, os.getcwd())


def _response(response: FunctionResponse) -> str:
    text = response.response.get("output", response.response.get("error"))
    heading = escape_text(_("Result of {name}", name=response.name))
    shown = text if isinstance(text, str) else show_json(response.response)
    return f'<p class="headline"><strong>{heading}</strong></p>{_output(shown)}'


def _result(result: ToolResult) -> str:
    error = result.error
    label = escape_text(_("Error: {why}", why=translate(error.message))) if error is not None else ""
    failure = f'<p class="notice error"><span class="sign" aria-hidden="true">✗</span> <span>{label}</span></p>'
    shown = failure if error is not None else ""
    match result.return_display:
        case FileDiff():
            shown += _diff(result.return_display)
        case TodoList():
            shown += render_todos(result.return_display)
        case display if error is None and display:
            shown += _output(translate(display))
        case _:
            pass
    content = "".join(map(_part, result))
    if result.return_display == result.llm_content or not content:
        return shown
    return shown + disclosure(escape_text(_("Content for the model")), content) if shown else content


def _part(part: str | Part) -> str:
    match part:
        case str() | Text():
            text = part if isinstance(part, str) else part.text
            return _output(text) if text else ""
        case InlineData() if part.mime_type in _IMAGES and len(part.data) <= _MAX_IMAGE_BYTES:
            data = base64.b64encode(part.data).decode("ascii")
            return f'<img src="data:{part.mime_type};base64,{data}" alt="{escape_text(part.label)}">'
        case InlineData():
            return _output(part.label)
        case _:
            return _output(repr(part))


def _output(text: str) -> str:
    shown = escape_text(cut_text(text, max_chars=_MAX_TEXT_CHARS).strip("\n"))
    return scroll_box("pre", shown, class_="output whole", label=_("Output"))


def _diff(diff: FileDiff) -> str:
    patch = render_diff(diff.file_diff, file_name=diff.file_path, with_files=False, with_split=False)
    return f'<p class="headline"><strong>{escape_text(diff.file_name)}</strong></p>{patch}'


def _run_end(ended: RunEnded) -> str:
    answer = f'<div class="block answer md">{render_markdown(ended.text)}</div>' if ended.text else ""
    end, figures = RunEndBlock(ended, None, was_cut=False), _session_figures(ended)
    shown_end = "" if end.is_empty else end.render("end")
    return answer + shown_end + (f'<p class="figures">{escape_text(figures)}</p>' if figures else "")


def _end_label(ended: RunEnded) -> str:
    return "\n".join(filter(None, (ended.message or ended.reason.value, _session_figures(ended))))


def _session_figures(ended: RunEnded) -> str:
    """What the session has used so far. Its seconds say little: they include those between runs."""
    labels = RunSummary(0, ended.usage, ended.cost).labels[1:]
    return _("Session so far: {figures}", figures=" · ".join(labels)) if labels else ""
