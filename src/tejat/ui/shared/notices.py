"""Notices about a run: texts for events that change how it continues or end it."""

from tejat.core.agent.events import (
    AgentEvent,
    Compressed,
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
from tejat.core.i18n import LazyString, _, gettext_lazy, join_lazy, translate
from tejat.core.model import CONVERSATION


def notice_for_event(event: AgentEvent) -> Noticed | None:
    """Return the notice for an event, not sanitized yet; None for events that need none."""
    match event:
        case Noticed():
            return event
        case ModelChanged(before, after, reason):
            message = _(
                "changed the model from {before} to {after}: {reason}", before=before, after=after, reason=reason
            )
            return Noticed(message)
        case HistoryRepaired(repairs):
            return Noticed(_("the session was put in order: {repairs}", repairs=join_lazy("; ", repairs)))
        case Compressed(before, after, CompressionStatus.COMPRESSED):
            message = _("summarised the conversation: {before} tokens became {after}", before=before, after=after)
            return Noticed(message)
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
    message = _(
        "a question on the side ({purpose}) came to nothing: {reason}", purpose=event.purpose, reason=event.message
    )
    return Noticed(message, Severity.NOTE)


def severity_label(severity: Severity) -> str:
    match severity:
        case Severity.NOTE:
            return _("note")
        case Severity.WARNING:
            return _("warning")
        case Severity.ERROR:
            return _("error")


def run_end_message(ended: RunEnded) -> str:
    """Return why a run ended, not sanitized yet; empty if there is nothing to say."""
    reason, message = translate(_END_REASONS.get(ended.reason, "")), translate(ended.message)
    if not reason or message.startswith(reason):
        return message
    return _("{reason}: {message}", reason=reason, message=message) if message else f"{reason}."


_END_REASONS: dict[EndReason, LazyString] = {
    EndReason.BAD_PROMPT: gettext_lazy("Nothing was sent"),
    EndReason.NOT_TRUSTED: gettext_lazy("This needs a trusted folder"),
    EndReason.NOT_ALLOWED: gettext_lazy("Not allowed"),
    EndReason.INTERRUPTED: gettext_lazy("Stopped"),
    EndReason.TURN_LIMIT: gettext_lazy("Stopped at a limit"),
    EndReason.TOKEN_LIMIT: gettext_lazy("Stopped at a limit"),
    EndReason.COST_LIMIT: gettext_lazy("Stopped at a limit"),
    EndReason.TIME_LIMIT: gettext_lazy("Stopped at a limit"),
    EndReason.LOOP: gettext_lazy("Stopped, because the model went in circles"),
    EndReason.TRUNCATED: gettext_lazy("The answer was cut off"),
    EndReason.BLOCKED: gettext_lazy("The answer was blocked"),
    EndReason.EMPTY: gettext_lazy("The model said nothing"),
    EndReason.MALFORMED_CALL: gettext_lazy("The model asked for something that cannot be read"),
    EndReason.CONTEXT_FULL: gettext_lazy("The conversation is too long for the model"),
    EndReason.MODEL_FAILED: gettext_lazy("The model did not answer"),
    EndReason.TOOL_STOPPED: gettext_lazy("A tool ended the run"),
    EndReason.FAILED: gettext_lazy("Something went wrong inside Tejat"),
}
