"""What a person should hear of a run besides the answer: words for events that change how it goes on."""

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
from tejat.core.i18n import _, join_lazy, translate
from tejat.core.model import CONVERSATION


def notice_for_event(event: AgentEvent) -> Noticed | None:
    """The words for an event that nobody has to act on, not yet safe for a terminal; None for all other events."""
    match event:
        case Noticed():
            return event
        case ModelChanged(before, after, reason):
            told = _("changed the model from {before} to {after}: {reason}", before=before, after=after, reason=reason)
            return Noticed(told)
        case HistoryRepaired(repairs):
            return Noticed(_("the session was put in order: {repairs}", repairs=join_lazy("; ", repairs)))
        case Compressed(before, after, CompressionStatus.COMPRESSED):
            told = _("summarised the conversation: {before} tokens became {after}", before=before, after=after)
            return Noticed(told)
        case Compressed(status=CompressionStatus.FAILED | CompressionStatus.INFLATED, detail=detail):
            return Noticed(_("could not summarise the conversation: {detail}", detail=detail))
        case LoopDetected(detail, ends_run):
            told = _("the model seems to go in circles: {detail}", detail=detail)
            return Noticed(told if ends_run else f"{told} {_('It was told so.')}")
        case _:
            return None


def side_request_notice(event: RequestFailed) -> Noticed | None:
    """A question on the side that came to nothing. Of the conversation itself the end of the run tells."""
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
    """Why a run is over, in words that are not yet safe for a terminal; empty where there is nothing to say."""
    reason, message = _end_reason_label(ended.reason), translate(ended.message)
    if not reason or message.startswith(reason):
        return message
    return _("{reason}: {message}", reason=reason, message=message) if message else f"{reason}."


def _end_reason_label(reason: EndReason) -> str:
    match reason:
        case EndReason.FINISHED:
            return ""
        case EndReason.BAD_PROMPT:
            return _("Nothing was sent")
        case EndReason.NOT_TRUSTED:
            return _("This needs a trusted folder")
        case EndReason.NOT_ALLOWED:
            return _("Not allowed")
        case EndReason.INTERRUPTED:
            return _("Stopped")
        case EndReason.TURN_LIMIT | EndReason.TOKEN_LIMIT | EndReason.COST_LIMIT | EndReason.TIME_LIMIT:
            return _("Stopped at a limit")
        case EndReason.LOOP:
            return _("Stopped, because the model went in circles")
        case EndReason.TRUNCATED:
            return _("The answer was cut off")
        case EndReason.BLOCKED:
            return _("The answer was blocked")
        case EndReason.EMPTY:
            return _("The model said nothing")
        case EndReason.MALFORMED_CALL:
            return _("The model asked for something that cannot be read")
        case EndReason.CONTEXT_FULL:
            return _("The conversation is too long for the model")
        case EndReason.MODEL_FAILED:
            return _("The model did not answer")
        case EndReason.TOOL_STOPPED:
            return _("A tool ended the run")
        case EndReason.FAILED:
            return _("Something went wrong inside Tejat")
