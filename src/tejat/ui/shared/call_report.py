"""Reports on finished tool calls, the same for every interactive user interface."""

import signal
from enum import StrEnum

from tejat.core.errors import ErrorType
from tejat.core.frozen import frozen
from tejat.core.i18n import _, lazy, translate
from tejat.core.messages.types import FunctionCall
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import CallFinished
from tejat.core.tools.display import FileDiff
from tejat.ui.shared.call_summary import format_diff_stat, summarize_arguments, summarize_line, tool_label
from tejat.ui.shared.diff import strip_file_header
from tejat.ui.shared.durations import format_duration

MAX_BODY_CHARS = 1_000_000
"""Longest body of a result that is shown."""

_MAX_ERROR_CHARS = 500
_SHELL = "run_shell_command"


class CallStatus(StrEnum):
    """Final status of a tool call."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"


@frozen
class CallReport:
    """A finished tool call as sanitized text. `error` and `note` are one line each.

    `line_counts` are the changed lines of a file as `+3 -1`. A negative `exit_code` is the signal that ended a command.
    `note` is the one-line display of a successful call, `diff` the hunks of an edit, `body` all other output, up to
    MAX_BODY_CHARS.
    """

    status: CallStatus
    name: str
    subject: str
    seconds: float
    exit_code: int | None = None
    error: str = ""
    note: str = ""
    body: str = ""
    diff: str = ""
    line_counts: str = ""

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.name, self.subject, self.line_counts)))

    @property
    def facts(self) -> tuple[str, ...]:
        """A non-zero exit code, and the duration."""
        facts: list[str] = []
        if self.exit_code is not None and self.exit_code < 0:
            facts.append(_("ended by {signal}", signal=_signal_name(-self.exit_code)))
        elif self.exit_code:
            facts.append(_("exit code {code}", code=self.exit_code))
        if self.seconds > 0:
            facts.append(format_duration(self.seconds))
        return tuple(facts)


def build_call_report(finished: CallFinished, *, folder: str = "") -> CallReport:
    """Build the report of a finished call. Paths below `folder` are shown relative to it."""
    result, call = finished.result, finished.call
    status, display = _status(finished), result.return_display
    text = sanitize_text(translate(display)[:MAX_BODY_CHARS]).strip("\n") if isinstance(display, str) else ""
    error, note, body = _texts(finished, status, text)
    return CallReport(
        status,
        tool_label(call),
        summarize_arguments(call, folder=folder),
        finished.seconds,
        exit_code=result.exit_code,
        error=error,
        note=note,
        body=body,
        diff=_diff_text(display.file_diff) if isinstance(display, FileDiff) else "",
        line_counts=format_diff_stat(display) if isinstance(display, FileDiff) else "",
    )


def status_label(status: CallStatus) -> str:
    return translate(_STATUS_LABELS[status])


def call_title(call: FunctionCall, *, folder: str = "") -> str:
    """Return a sanitized one-line title for a call that has not finished."""
    return f"{tool_label(call)} {summarize_arguments(call, folder=folder)}".rstrip()


def _status(finished: CallFinished) -> CallStatus:
    """Return the status as the user sees it: a non-zero exit code is a failure, though not one of the tool."""
    error = finished.result.error
    if error is None:
        return CallStatus.FAILED if finished.result.exit_code else CallStatus.OK
    if finished.was_rejected or error.type is ErrorType.POLICY_VIOLATION:
        return CallStatus.DENIED
    if error.type is ErrorType.CANCELLED:
        return CallStatus.CANCELLED
    return CallStatus.TIMED_OUT if error.type is ErrorType.TIMEOUT else CallStatus.FAILED


def _texts(finished: CallFinished, status: CallStatus, text: str) -> tuple[str, str, str]:
    """Split the display text into error, note and body, without repeating anything."""
    error, is_command = finished.result.error, finished.call.name == _SHELL
    is_output = "\n" in text or (is_command and finished.seconds > 0)
    if error is None:
        return ("", "", text) if is_output else ("", summarize_line(text), "")
    if finished.was_rejected:
        return _("You did not allow it."), "", ""
    if status is CallStatus.CANCELLED:
        return "", "", text if is_output else ""
    # The display of a timeout ends with it. Otherwise the display comes first: the error message is for the model.
    message = text if text.strip() and status is not CallStatus.TIMED_OUT else translate(error.message)
    first, _unused, rest = message.strip().partition("\n")
    reason = summarize_line(first, limit=_MAX_ERROR_CHARS)
    if error.type is ErrorType.INVALID_TOOL_PARAMS:
        reason = _("Bad arguments: {reason}", reason=reason)
    if status is CallStatus.TIMED_OUT:
        return reason, "", "" if text == translate(error.message) else text
    return reason, "", rest if text else ""


def _diff_text(diff: str) -> str:
    """Return the sanitized hunks; the file header would only repeat the subject."""
    return "\n".join(strip_file_header(sanitize_text(diff[:MAX_BODY_CHARS]).rstrip("\n")))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return _("signal {number}", number=number)


_STATUS_LABELS = {
    CallStatus.OK: lazy("ok"),
    CallStatus.FAILED: lazy("failed"),
    CallStatus.DENIED: lazy("denied"),
    CallStatus.CANCELLED: lazy("cancelled"),
    CallStatus.TIMED_OUT: lazy("timed out"),
}
