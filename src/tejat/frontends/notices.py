"""What a person should hear of a run besides the answer: words for events that change how it goes on."""

from tejat.core.agent_events import (
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
from tejat.core.model import CONVERSATION
from tejat.core.words import joined, say, translated


def notice_of(event: AgentEvent) -> Noticed | None:
    """The words for an event that nobody has to act on, not yet safe for a terminal; None for all other events."""
    match event:
        case Noticed():
            return event
        case ModelChanged(before, after, reason):
            told = say(
                "changed the model from {before} to {after}: {reason}", before=before, after=after, reason=reason
            )
            return Noticed(told)
        case HistoryRepaired(repairs):
            return Noticed(say("the session was put in order: {repairs}", repairs=joined("; ", repairs)))
        case Compressed(before, after, CompressionStatus.COMPRESSED):
            told = say("summarised the conversation: {before} tokens became {after}", before=before, after=after)
            return Noticed(told)
        case Compressed(status=CompressionStatus.FAILED | CompressionStatus.INFLATED, detail=detail):
            return Noticed(say("could not summarise the conversation: {detail}", detail=detail))
        case LoopDetected(detail, ends_run):
            told = say("the model seems to go in circles: {detail}", detail=detail)
            return Noticed(told if ends_run else f"{told} {say('It was told so.')}")
        case _:
            return None


def side_failure(event: RequestFailed) -> Noticed | None:
    """A question on the side that came to nothing. Of the conversation itself the end of the run tells."""
    if event.purpose == CONVERSATION:
        return None
    told = say(
        "a question on the side ({purpose}) came to nothing: {reason}", purpose=event.purpose, reason=event.message
    )
    return Noticed(told, Severity.NOTE)


def word_for_severity(severity: Severity) -> str:
    match severity:
        case Severity.NOTE:
            return say("note")
        case Severity.WARNING:
            return say("warning")
        case Severity.ERROR:
            return say("error")


def ending_of(ended: RunEnded) -> str:
    """Why a run is over, in words that are not yet safe for a terminal; empty where there is nothing to say."""
    reason, message = _reason(ended.reason), translated(ended.message)
    if not reason or message.startswith(reason):
        return message
    return say("{reason}: {message}", reason=reason, message=message) if message else f"{reason}."


def _reason(reason: EndReason) -> str:
    match reason:
        case EndReason.FINISHED:
            return ""
        case EndReason.BAD_PROMPT:
            return say("Nothing was sent")
        case EndReason.NOT_TRUSTED:
            return say("This needs a trusted folder")
        case EndReason.NOT_ALLOWED:
            return say("Not allowed")
        case EndReason.INTERRUPTED:
            return say("Stopped")
        case EndReason.TURN_LIMIT | EndReason.TOKEN_LIMIT | EndReason.COST_LIMIT | EndReason.TIME_LIMIT:
            return say("Stopped at a limit")
        case EndReason.LOOP:
            return say("Stopped, because the model went in circles")
        case EndReason.TRUNCATED:
            return say("The answer was cut off")
        case EndReason.BLOCKED:
            return say("The answer was blocked")
        case EndReason.EMPTY:
            return say("The model said nothing")
        case EndReason.MALFORMED_CALL:
            return say("The model asked for something that cannot be read")
        case EndReason.CONTEXT_FULL:
            return say("The conversation is too long for the model")
        case EndReason.MODEL_FAILED:
            return say("The model did not answer")
        case EndReason.TOOL_STOPPED:
            return say("A tool ended the run")
        case EndReason.FAILED:
            return say("Something went wrong inside Tejat")
