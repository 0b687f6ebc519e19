"""Notices about a run: texts for events that change how it continues or end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.core.agent.events import (
    Compressed,
    CompressionStarted,
    CompressionStatus,
    EndReason,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    Severity,
)
from tejat.core.frozen import replace
from tejat.core.i18n import LazyString, _, join_lazy, lazy, translate
from tejat.core.model import CONVERSATION
from tejat.ui.shared.labels.text_summary import summarize_line

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent, AwaitingModel, RequestFailed, Retrying, RunEnded


def notice_for_event(event: AgentEvent) -> Noticed | None:
    """Return the notice for an event, not sanitized yet; None for events that need none."""
    match event:
        case Noticed():
            return event
        case ModelChanged(before, after, reason):
            text = _("Switched from {before} to {after}: {reason}", before=before, after=after, reason=reason)
            return Noticed(text)
        case HistoryRepaired(repairs):
            return Noticed(_("Repaired the session history: {repairs}", repairs=join_lazy("; ", repairs)))
        case Compressed(before, after, CompressionStatus.COMPRESSED):
            message = _("Compressed the conversation from {before} to {after} tokens.", before=before, after=after)
            return Noticed(message)
        case CompressionStarted():
            return Noticed(_("Compressing the conversation to free up context..."), Severity.NOTE)
        case Compressed(status=CompressionStatus.NOT_NEEDED, by_user=True):
            return Noticed(_("Nothing to compress yet."), Severity.NOTE)
        case Compressed(status=CompressionStatus.FAILED | CompressionStatus.INFLATED, detail=detail):
            return Noticed(_("Could not compress the conversation: {detail}", detail=detail))
        case LoopDetected(detail, ends_run):
            message = _("The model is repeating itself: {detail}", detail=detail)
            return Noticed(message if ends_run else message + " " + _("It has been warned."))
        case _:
            return None


def screen_notice(event: AgentEvent) -> Noticed | None:
    """Return the notice for an event as interactive user interfaces show it: a compression that worked is a note.

    For readers of the event stream it is a warning, because the model no longer knows everything.
    """
    noticed = notice_for_event(event)
    is_compressed = isinstance(event, Compressed) and event.status is CompressionStatus.COMPRESSED
    return replace(noticed, severity=Severity.NOTE) if noticed is not None and is_compressed else noticed


def side_request_notice(event: RequestFailed) -> Noticed | None:
    """Return a notice for a failed side request. A failed conversation is reported by the end of the run."""
    if event.purpose == CONVERSATION:
        return None
    purpose, reason = event.purpose, event.message
    message = _("A side request ({purpose}) failed: {reason}", purpose=purpose, reason=reason)
    return Noticed(message, Severity.NOTE)


def severity_label(severity: Severity) -> str:
    return {Severity.NOTE: _("Note"), Severity.WARNING: _("Warning"), Severity.ERROR: _("Error")}[severity]


def retry_message(event: Retrying, *, wait: float) -> str:
    """Return why an attempt failed and when the next one starts, sanitized, in one line."""
    reason = summarize_line(event.reason)
    reason = reason if reason.endswith((".", "!", "?")) else f"{reason}."
    attempt, most, seconds = event.attempt + 1, event.max_attempts, max(round(wait), 0)
    if not seconds:
        return _("{reason} Retrying (attempt {attempt} of {most})", reason=reason, attempt=attempt, most=most)
    return _(
        "{reason} Retrying in {seconds} s (attempt {attempt} of {most})",
        reason=reason,
        seconds=seconds,
        attempt=attempt,
        most=most,
    )


def waiting_message(event: AwaitingModel) -> str:
    """Return how long the model has been silent."""
    return _(
        "Waiting for the model (about {tokens:,} tokens sent, {seconds:.0f} s so far)...",
        tokens=event.tokens,
        seconds=event.seconds,
    )


def run_end_message(ended: RunEnded) -> str:
    """Return why a run ended, not sanitized yet; empty if there is nothing to say."""
    reason, message = translate(_END_REASONS.get(ended.reason, "")), translate(ended.message)
    if ended.reason is EndReason.INTERRUPTED and message == _("Operation cancelled."):
        message = ""
    if not reason or message.startswith(reason):
        return message
    return _("{reason}: {message}", reason=reason, message=message) if message else f"{reason}."


_END_REASONS: dict[EndReason, LazyString] = {
    EndReason.BAD_PROMPT: lazy("Nothing was sent"),
    EndReason.NOT_TRUSTED: lazy("This needs a trusted folder"),
    EndReason.NOT_ALLOWED: lazy("Not allowed"),
    EndReason.INTERRUPTED: lazy("Stopped"),
    EndReason.TURN_LIMIT: lazy("Stopped at a limit"),
    EndReason.TOKEN_LIMIT: lazy("Stopped at a limit"),
    EndReason.COST_LIMIT: lazy("Stopped at a limit"),
    EndReason.TIME_LIMIT: lazy("Stopped at a limit"),
    EndReason.LOOP: lazy("Stopped, because the model kept repeating itself"),
    EndReason.TRUNCATED: lazy("The answer was cut off"),
    EndReason.BLOCKED: lazy("The answer was blocked"),
    EndReason.EMPTY: lazy("The model sent an empty answer"),
    EndReason.MALFORMED_CALL: lazy("The model sent an invalid tool call"),
    EndReason.CONTEXT_FULL: lazy("The conversation does not fit in the context window of the model"),
    EndReason.MODEL_FAILED: lazy("The model did not answer"),
    EndReason.TOOL_STOPPED: lazy("A tool ended the run"),
    EndReason.UNANSWERED: lazy("A question was not answered"),
    EndReason.FAILED: lazy("Internal error"),
}
