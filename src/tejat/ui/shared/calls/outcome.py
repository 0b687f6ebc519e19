"""Outcomes of finished tool calls in a few words: counts of results, exit codes, what became of the call."""

import re
import signal

from tejat.core.errors import ErrorType
from tejat.core.i18n import _, ngettext
from tejat.core.messages.tool_names import ASK_USER
from tejat.core.text.str_enum import StrEnum
from tejat.core.tools.call_events import FEEDBACK_MARK, CallFinished
from tejat.ui.shared.calls.arguments import CallArguments
from tejat.ui.shared.calls.title import tool_label
from tejat.ui.shared.labels.durations import format_duration
from tejat.ui.shared.labels.text_summary import summarize_line

_MIN_SECONDS = 1.0
"""Least duration that is worth showing."""
_SEARCH_TOOLS = ("search_file_content", "grep", "grep_search")
_UNCOUNTED_RECORDS = frozenset({"read_file", "read_many_files", "list_directory"})
"""Tools of whose results the numbers are not counts."""
_QUIET_TOOLS = frozenset({"web_fetch", "save_memory"})
"""Tools whose display only repeats their title."""


class CallStatus(StrEnum):
    """Final status of a tool call. REJECTED is the user's own no or stop, DENIED a no of the policy."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"


def call_status(finished: CallFinished) -> CallStatus:
    """Return the status as the user sees it: a non-zero exit code is a failure, though not one of the tool."""
    error = finished.result.error
    if error is None:
        return CallStatus.FAILED if finished.result.exit_code else CallStatus.OK
    if finished.was_rejected:
        return CallStatus.REJECTED
    if error.type is ErrorType.POLICY_VIOLATION:
        return CallStatus.DENIED
    if error.type is ErrorType.CANCELLED:
        return CallStatus.CANCELLED
    return CallStatus.TIMED_OUT if error.type is ErrorType.TIMEOUT else CallStatus.FAILED


def outcome_details(finished: CallFinished, status: CallStatus) -> tuple[str, ...]:
    """Return what became of the call: an exit code, a word for every other bad end, a duration worth showing."""
    seconds, code = finished.seconds, finished.result.exit_code
    is_slow = seconds >= _MIN_SECONDS and finished.call.name != ASK_USER  # the user knows how long they took
    took = (format_duration(seconds),) if is_slow else ()
    match status:
        case CallStatus.OK:
            return took
        case CallStatus.FAILED if code is not None and code < 0:
            return _("killed by {signal}", signal=signal_label(-code)), *took
        case CallStatus.FAILED if code:
            return _("exit {code}", code=code), *took
        case CallStatus.FAILED:
            return _("failed"), *took
        case CallStatus.DENIED:
            return (_("denied"),)
        case CallStatus.REJECTED:
            return (_("not run") if finished.ended_turn else _("not run: you said no"),)
        case CallStatus.CANCELLED if seconds > 0:
            return (_("stopped after {duration}", duration=format_duration(seconds)),)
        case CallStatus.CANCELLED:
            return (_("not run"),)
        case CallStatus.TIMED_OUT:
            return (_("timed out after {duration}", duration=format_duration(seconds)),)


def result_details(finished: CallFinished, display: str) -> tuple[str, ...] | None:
    """Return the result of a successful call in a few words, None for a tool whose display must be shown instead.

    `display` is the sanitized text that the tool gave for the user.
    """
    name, args = finished.call.name, CallArguments(finished.call.args, "")
    count = _first_number(display)
    if name in _SEARCH_TOOLS:
        return _search_details(display, count, names_only=args.is_set("names_only"))
    if name == "glob":
        return (_("no files") if count is None else ngettext("{count} file", "{count} files", count),)
    if name in _UNCOUNTED_RECORDS and finished.result.return_display == finished.result.llm_content:
        return _read_details(finished, "")  # from the record of a session, which has no display
    if name == "list_directory":
        return (_("empty") if count is None else ngettext("{count} entry", "{count} entries", count),)
    if name == "read_file":
        return _read_details(finished, display)
    if name == "read_many_files":
        counts = [int(each) for each in re.findall(r"\*\*(\d+)", display)]
        return (ngettext("{count} file", "{count} files", counts[0]) if counts else _("no files"),)
    if name == "google_web_search":
        return (_("no results"),) if str(finished.result.llm_content).startswith(_NO_SEARCH_RESULTS) else ()
    if name == "run_shell_command" and args.is_set("is_background"):
        return (_("process {pid}", pid=count),) if count is not None and "\n" not in display else None
    if name == "replace" and display:
        return ()  # a new file: the title says so
    return () if name in _QUIET_TOOLS else None


def read_range(finished: CallFinished) -> str:
    """Return which lines of a file were read if the rest was left out, else an empty text."""
    content = finished.result.llm_content
    found = re.match(_TRUNCATION, content) if isinstance(content, str) else None
    if found is None:
        return ""
    return _("lines {first}-{last} of {total}", first=found[1], last=found[2], total=found[3])


_NO_SEARCH_RESULTS = "No search results"
_TRUNCATION = r"\[File content truncated: showing lines (\d+)-(\d+) of (\d+) total lines"


def rejection_feedback(finished: CallFinished) -> str:
    """Return what the user told the model together with a no, sanitized; empty if nothing."""
    error = finished.result.error
    return summarize_line(error.message.partition(FEEDBACK_MARK)[2]) if finished.was_rejected and error else ""


def unknown_tool_message(finished: CallFinished) -> str:
    return _("The model called {tool}, which does not exist.", tool=tool_label(finished.call))


def _search_details(display: str, count: int | None, *, names_only: bool) -> tuple[str, ...]:
    if count is None:
        return (_("no matches"),)
    found = (
        ngettext("{count} file", "{count} files", count)
        if names_only
        else ngettext("{count} match", "{count} matches", count)
    )
    return (found, _("limited")) if _(" (limited)") in display else (found,)


def _read_details(finished: CallFinished, display: str) -> tuple[str, ...]:
    """Return the lines of a file that was read in part, else the notes in parentheses."""
    lines = read_range(finished)
    return (lines,) if lines else tuple(re.findall(r"\(([^()]*)\)", display))


def _first_number(text: str) -> int | None:
    found = re.search(r"\d+", text)
    return None if found is None else int(found[0])


def signal_label(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return _("signal {number}", number=number)
