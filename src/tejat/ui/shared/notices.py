"""Notices about a run: texts for events that change how it continues or end it."""

from tejat.core.agent.events import (
    AgentEvent,
    Compressed,
    CompressionStarted,
    CompressionStatus,
    EndReason,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    RequestFailed,
    RunEnded,
    Severity,
)
from tejat.core.i18n import LazyString, _, join_lazy, lazy, translate
from tejat.core.model import CONVERSATION


def notice_for_event(event: AgentEvent) -> Noticed | None:
    """Return the notice for an event, not sanitized yet; None for events that need none."""
    match event:
        case Noticed():
            return event
        case ModelChanged(before, after, reason):
            text = _("changed the model from {before} to {after}: {reason}", before=before, after=after, reason=reason)
            return Noticed(text)
        case HistoryRepaired(repairs):
            return Noticed(_("the session was put in order: {repairs}", repairs=join_lazy("; ", repairs)))
        case Compressed(before, after, CompressionStatus.COMPRESSED):
            message = _("summarised the conversation: {before} tokens became {after}", before=before, after=after)
            return Noticed(message)
        case CompressionStarted():
            return Noticed(_("summarising the conversation to make room..."), Severity.NOTE)
        case Compressed(status=CompressionStatus.NOT_NEEDED, by_user=True):
            return Noticed(_("nothing to compress yet"), Severity.NOTE)
        case Compressed(status=CompressionStatus.FAILED | CompressionStatus.INFLATED, detail=detail):
            return Noticed(_("could not summarise the conversation: {detail}", detail=detail))
        case LoopDetected(detail, ends_run):
            message = _("the model seems to go in circles: {detail}", detail=detail)
            return Noticed(message if ends_run else message + " " + _("It was told so."))
        case _:
            return None


def side_request_notice(event: RequestFailed) -> Noticed | None:
    """Return a notice for a failed side request. A failed conversation is reported by the end of the run."""
    if event.purpose == CONVERSATION:
        return None
    purpose, reason = event.purpose, event.message
    message = _("a question on the side ({purpose}) came to nothing: {reason}", purpose=purpose, reason=reason)
    return Noticed(message, Severity.NOTE)


def severity_label(severity: Severity) -> str:
    return {Severity.NOTE: _("note"), Severity.WARNING: _("warning"), Severity.ERROR: _("error")}[severity]


def run_end_message(ended: RunEnded) -> str:
    """Return why a run ended, not sanitized yet; empty if there is nothing to say."""
    reason, message = translate(_END_REASONS.get(ended.reason, "")), translate(ended.message)
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
    EndReason.LOOP: lazy("Stopped, because the model went in circles"),
    EndReason.TRUNCATED: lazy("The answer was cut off"),
    EndReason.BLOCKED: lazy("The answer was blocked"),
    EndReason.EMPTY: lazy("The model said nothing"),
    EndReason.MALFORMED_CALL: lazy("The model asked for something that cannot be read"),
    EndReason.CONTEXT_FULL: lazy("The conversation is too long for the model"),
    EndReason.MODEL_FAILED: lazy("The model did not answer"),
    EndReason.TOOL_STOPPED: lazy("A tool ended the run"),
    EndReason.FAILED: lazy("Something went wrong inside Tejat"),
}
