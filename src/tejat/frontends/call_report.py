"""What became of a call, in the words that a person reads: the same for every front end that has a person."""

import signal
from enum import StrEnum
from typing import assert_never

from tejat.core.display import FileDiff
from tejat.core.errors import ErrorType
from tejat.core.events import CallFinished
from tejat.core.types import FunctionCall
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say, translated
from tejat.frontends.call_subject import lines_changed, name_of, on_one_line, subject_of
from tejat.frontends.durations import in_words

MOST_BODY = 1_000_000
"""Characters of one result that a person can be shown."""

_LONGEST_ERROR = 500
_SHELL = "run_shell_command"
_HEADER_LINES = 4


class CallStatus(StrEnum):
    """How a call ended."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"


@value
class CallReport:
    """One call that is over. Every text is safe for a terminal; `error` and `note` are one line each.

    `name` and `subject` say what it was about, `changed` how many lines of a file as `+3 -1`. `exit_code` is that of a
    command, below 0 the signal that ended it. `note` is what a tool says in one line of a call that went well, `patch`
    the hunks of a change, `body` what else there is to see, up to MOST_BODY.
    """

    status: CallStatus
    name: str
    subject: str
    seconds: float
    exit_code: int | None = None
    error: str = ""
    note: str = ""
    body: str = ""
    patch: str = ""
    changed: str = ""

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.name, self.subject, self.changed)))

    @property
    def facts(self) -> tuple[str, ...]:
        """The exit code where it says something, and how long it took."""
        told: list[str] = []
        if self.exit_code is not None and self.exit_code < 0:
            told.append(say("ended by {signal}", signal=_signal_name(-self.exit_code)))
        elif self.exit_code:
            told.append(say("exit code {code}", code=self.exit_code))
        if self.seconds > 0:
            told.append(in_words(self.seconds))
        return tuple(told)


def report_of(finished: CallFinished, *, folder: str = "") -> CallReport:
    """Everything that a person should know of it. Paths below `folder` are shown from there."""
    result, call = finished.result, finished.call
    status, display = _status(finished), result.return_display
    change = display if isinstance(display, FileDiff) else None
    text = visible(translated(display)[:MOST_BODY]).strip("\n") if isinstance(display, str) else ""
    error, note, body = _texts(finished, status, text)
    return CallReport(
        status,
        name_of(call),
        subject_of(call, folder=folder),
        finished.seconds,
        exit_code=result.exit_code,
        error=error,
        note=note,
        body=body,
        patch="" if change is None else _hunks(change.file_diff),
        changed="" if change is None else lines_changed(change),
    )


def word_for(status: CallStatus) -> str:
    match status:
        case CallStatus.OK:
            return say("ok")
        case CallStatus.FAILED:
            return say("failed")
        case CallStatus.DENIED:
            return say("denied")
        case CallStatus.CANCELLED:
            return say("cancelled")
        case CallStatus.TIMED_OUT:
            return say("timed out")
        case _:
            assert_never(status)


def title_of(call: FunctionCall, *, folder: str = "") -> str:
    """What a call that is not over is about, in one safe line."""
    return f"{name_of(call)} {subject_of(call, folder=folder)}".rstrip()


def _status(finished: CallFinished) -> CallStatus:
    """A command that ended with a code other than 0 is no failure of its tool, but it is one to a person."""
    error = finished.result.error
    if error is None:
        return CallStatus.FAILED if finished.result.exit_code else CallStatus.OK
    if finished.was_refused or error.type is ErrorType.POLICY_VIOLATION:
        return CallStatus.DENIED
    if error.type is ErrorType.CANCELLED:
        return CallStatus.CANCELLED
    return CallStatus.TIMED_OUT if error.type is ErrorType.TIMEOUT else CallStatus.FAILED


def _texts(finished: CallFinished, status: CallStatus, text: str) -> tuple[str, str, str]:
    """The error, the note and the body that a text for the person comes to. Nothing is said twice."""
    error, is_command = finished.result.error, finished.call.name == _SHELL
    is_output = "\n" in text or (is_command and finished.seconds > 0)
    if error is None:
        return ("", "", text) if is_output else ("", on_one_line(text), "")
    if finished.was_refused:
        return say("You did not allow it."), "", ""
    if status is CallStatus.CANCELLED:
        return "", "", text if is_output else ""
    # What is told of a timeout stands at the end of the output. The message is for the model, where there is another.
    told = text if text.strip() and status is not CallStatus.TIMED_OUT else translated(error.message)
    first, _, rest = told.strip().partition("\n")
    reason = on_one_line(first, most=_LONGEST_ERROR)
    if error.type is ErrorType.INVALID_TOOL_PARAMS:
        reason = say("Bad arguments: {reason}", reason=reason)
    if status is CallStatus.TIMED_OUT:
        return reason, "", "" if text == translated(error.message) else text
    return reason, "", rest if text else ""


def _hunks(patch: str) -> str:
    """A patch without the lines before its first hunk, which say nothing that the subject does not."""
    lines = visible(patch[:MOST_BODY]).rstrip("\n").split("\n")
    return "\n".join(lines[_HEADER_LINES:] if lines[0].startswith("Index: ") else lines)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return say("signal {number}", number=number)
