"""Reports on finished tool calls, the same for every interactive user interface."""

from tejat.core.errors import ErrorType
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import CallFinished
from tejat.core.tools.display import Display, FileDiff
from tejat.core.tools.todos import TodoList
from tejat.ui.shared.calls.arguments import CallArguments
from tejat.ui.shared.calls.outcome import (
    CallStatus,
    call_status,
    outcome_details,
    read_range,
    rejection_feedback,
    result_details,
    unknown_tool_message,
)
from tejat.ui.shared.calls.title import EXPLORING_TOOLS, CallTitle, TitleForm, call_title
from tejat.ui.shared.diff.hunks import parse_hunks
from tejat.ui.shared.labels.text_summary import summarize_line
from tejat.ui.shared.labels.todos import progress_label, todos_text

MAX_BODY_CHARS = 1_000_000
"""Longest body of a result that is shown."""

_MAX_ERROR_CHARS = 500
_SHELL = "run_shell_command"
_EDIT_TOOLS = frozenset({"replace", "write_file"})
_ERROR_PREFIX = "Error: "


class CallReport(Frozen):
    """A finished tool call as sanitized text, except for the diff.

    `reason` says in a line why the call failed, `note` is a one-line result, and `feedback` is what the user said
    together with a no. `line_counts` are the changed lines of a file as `+3 -1`, `diff` its hunks. `body` is all other
    output, up to MAX_BODY_CHARS. `tool` is the name of the tool as the model called it, `command` a command of several
    lines, of which the title has only the first.
    """

    status: CallStatus
    title: CallTitle
    reason: str = ""
    note: str = ""
    feedback: str = ""
    body: str = ""
    diff: str = ""
    line_counts: str = ""
    tool: str = ""
    command: str = ""

    @property
    def is_exploration(self) -> bool:
        """Whether the call only looked at files; its body is then what the model got."""
        return self.tool in EXPLORING_TOOLS

    @property
    def headline(self) -> str:
        """The title with the changed lines and what became of the call, in one line."""
        title = self.title
        words = " ".join(filter(None, (title.verb, title.object, title.tail, self.line_counts)))
        return f"{words} ({', '.join(title.details)})" if title.details else words


def build_call_report(finished: CallFinished, *, folder: str = "") -> CallReport:
    """Build the report of a finished call. Paths below `folder` are shown relative to it."""
    display, status = finished.result.return_display, call_status(finished)
    text = sanitize_text(_display_text(display)[:MAX_BODY_CHARS]).strip("\n")
    details = result_details(finished, text) if status is CallStatus.OK else None
    is_exploration = finished.call.name in EXPLORING_TOOLS
    reason, note, body = _texts(finished, status, text if details is None else "")
    return CallReport(
        status,
        _title(finished, status, details or (), folder),
        reason=reason,
        note=note,
        feedback=rejection_feedback(finished),
        body=_explored_text(finished) if is_exploration and status is CallStatus.OK else body,
        diff=display.file_diff[:MAX_BODY_CHARS] if isinstance(display, FileDiff) else "",
        line_counts=_line_counts(finished),
        tool=finished.call.name,
        command=_long_command(finished),
    )


def _display_text(display: Display) -> str:
    if isinstance(display, str):
        return translate(display)
    return todos_text(display) if isinstance(display, TodoList) else ""


def _title(finished: CallFinished, status: CallStatus, details: tuple[str, ...], folder: str) -> CallTitle:
    call, display = finished.call, finished.result.return_display
    is_started = finished.seconds > 0 or finished.result.exit_code is not None
    has_run = status is CallStatus.OK or (is_started and call.name not in _EDIT_TOOLS)
    creates_file = True if status is CallStatus.OK and call.name == "replace" else None  # an edit has a diff
    if isinstance(display, FileDiff):
        creates_file = display.is_new_file
    title = call_title(call, TitleForm.DONE if has_run else TitleForm.PLANNED, folder=folder, creates_file=creates_file)
    given = () if read_range(finished) else title.details
    if isinstance(display, TodoList) and display.todos:
        details = (progress_label(display),)
    return CallTitle(title.verb, title.object, title.tail, (*given, *details, *outcome_details(finished, status)))


def _texts(finished: CallFinished, status: CallStatus, text: str) -> tuple[str, str, str]:
    """Split the display text into reason, note and body, without repeating anything."""
    error, is_command = finished.result.error, finished.call.name == _SHELL
    is_output = "\n" in text or (is_command and finished.seconds > 0)
    if error is None:
        return ("", "", text) if is_output else ("", summarize_line(text), "")
    if status is CallStatus.REJECTED:
        return "", "", ""
    if status is CallStatus.CANCELLED:
        return "", "", text if is_output and text != _("Command cancelled by user.") else ""
    if error.type is ErrorType.TOOL_NOT_REGISTERED:
        return unknown_tool_message(finished), "", ""
    # The display of a timeout ends with it. Otherwise the display comes first: the error message is for the model.
    message = text if text.strip() and status is not CallStatus.TIMED_OUT else translate(error.message)
    first, _unused, rest = message.strip().partition("\n")
    reason = summarize_line(first.removeprefix(_ERROR_PREFIX), limit=_MAX_ERROR_CHARS)
    if error.type is ErrorType.INVALID_TOOL_PARAMS:
        reason = _("Invalid arguments: {reason}", reason=reason)
    if status is CallStatus.TIMED_OUT:
        return reason, "", text.removesuffix(sanitize_text(translate(error.message))).rstrip("\n")
    return reason, "", rest if text else ""


def _long_command(finished: CallFinished) -> str:
    if finished.call.name != _SHELL:
        return ""
    command = CallArguments(finished.call.args, "").text("command").strip()
    return sanitize_text(command[:MAX_BODY_CHARS]) if "\n" in command else ""


def _explored_text(finished: CallFinished) -> str:
    content = finished.result.llm_content
    parts = content if isinstance(content, list) else [content]
    return sanitize_text("\n".join(part for part in parts if isinstance(part, str))[:MAX_BODY_CHARS]).strip("\n")


def _line_counts(finished: CallFinished) -> str:
    """Format changed lines as `+3 -1`, those of the diff; for a new file only those added."""
    display = finished.result.return_display
    if not isinstance(display, FileDiff):
        is_new_file = finished.call.name == "replace" and finished.result.error is None
        text = CallArguments(finished.call.args, "").text("new_string") if is_new_file else ""
        return f"+{len(text.splitlines())}" if text else ""
    stat = display.diff_stat
    if stat is None:
        return ""
    added, removed = stat.model_added_lines, stat.model_removed_lines
    if stat.user_added_lines or stat.user_removed_lines:
        hunks = parse_hunks(display.file_diff)  # the user may have changed what the model had added
        added, removed = sum(hunk.added for hunk in hunks), sum(hunk.removed for hunk in hunks)
    return f"+{added}" if display.is_new_file else f"+{added} -{removed}"
