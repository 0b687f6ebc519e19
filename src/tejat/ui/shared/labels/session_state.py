"""What a session does, or why it ended, in a few words."""

from tejat.core.agent.events import EndReason
from tejat.core.i18n import _, lazy, translate
from tejat.core.text.time_format import format_age

_ENDS = {
    EndReason.FINISHED: lazy("finished"),
    EndReason.BAD_PROMPT: lazy("nothing sent"),
    EndReason.NOT_TRUSTED: lazy("folder not trusted"),
    EndReason.NOT_ALLOWED: lazy("not allowed"),
    EndReason.INTERRUPTED: lazy("interrupted"),
    EndReason.TURN_LIMIT: lazy("turn limit"),
    EndReason.TOKEN_LIMIT: lazy("token limit"),
    EndReason.COST_LIMIT: lazy("cost limit"),
    EndReason.TIME_LIMIT: lazy("time limit"),
    EndReason.LOOP: lazy("repeated itself"),
    EndReason.TRUNCATED: lazy("cut off"),
    EndReason.BLOCKED: lazy("blocked"),
    EndReason.EMPTY: lazy("empty answer"),
    EndReason.MALFORMED_CALL: lazy("invalid tool call"),
    EndReason.CONTEXT_FULL: lazy("context full"),
    EndReason.MODEL_FAILED: lazy("model failed"),
    EndReason.TOOL_STOPPED: lazy("ended by a tool"),
    EndReason.UNANSWERED: lazy("not answered"),
    EndReason.FAILED: lazy("internal error"),
}


def end_label(reason: str) -> str:
    """Why the last run of a stored session ended. Empty: that was never recorded."""
    if not reason:
        return _("broken off")
    try:
        return translate(_ENDS[EndReason(reason)])
    except ValueError:
        return reason


def waiting_label(since: float, now: float) -> str:
    """That a session waits for an answer, and since when; both times are in seconds since 1970."""
    return _("waiting, asked {age}", age=format_age(now - since))
