"""Words for past sessions: decisions, places of matches, parts of a run and reasons of its end."""

from tejat.core.agent.events import EndReason
from tejat.core.agent.history.decisions import CallDecision
from tejat.core.agent.history.matches import MatchPlace
from tejat.core.agent.history.timeline import SpanKind
from tejat.core.i18n import lazy, translate

DECISION_LABELS = {
    CallDecision.RULE: lazy("allowed by a rule"),
    CallDecision.ONCE: lazy("allowed once"),
    CallDecision.ALWAYS: lazy("always allowed"),
    CallDecision.REFUSED: lazy("refused by you"),
    CallDecision.DENIED: lazy("denied by a rule"),
    CallDecision.UNDECIDED: lazy("not decided"),
}
PLACE_LABELS = {
    MatchPlace.PROMPT: lazy("prompt"),
    MatchPlace.ANSWER: lazy("answer"),
    MatchPlace.CALL: lazy("call"),
    MatchPlace.RESULT: lazy("result"),
    MatchPlace.FILE: lazy("file"),
}
SPAN_LABELS = {
    SpanKind.REQUEST: lazy("model request"),
    SpanKind.CALL: lazy("tool call"),
    SpanKind.WAIT: lazy("waiting for you"),
    SpanKind.AGENT: lazy("sub-agent"),
}
_END_LABELS = {
    EndReason.FINISHED: lazy("finished"),
    EndReason.BAD_PROMPT: lazy("bad prompt"),
    EndReason.NOT_TRUSTED: lazy("not trusted"),
    EndReason.NOT_ALLOWED: lazy("stopped by a hook"),
    EndReason.INTERRUPTED: lazy("interrupted"),
    EndReason.TURN_LIMIT: lazy("turn limit"),
    EndReason.TOKEN_LIMIT: lazy("token limit"),
    EndReason.COST_LIMIT: lazy("cost limit"),
    EndReason.TIME_LIMIT: lazy("time limit"),
    EndReason.LOOP: lazy("loop"),
    EndReason.TRUNCATED: lazy("truncated"),
    EndReason.BLOCKED: lazy("blocked"),
    EndReason.EMPTY: lazy("no answer"),
    EndReason.MALFORMED_CALL: lazy("malformed call"),
    EndReason.CONTEXT_FULL: lazy("context full"),
    EndReason.MODEL_FAILED: lazy("model failed"),
    EndReason.TOOL_STOPPED: lazy("stopped by a tool"),
    EndReason.UNANSWERED: lazy("question not answered"),
    EndReason.FAILED: lazy("internal error"),
}


def format_end(reason: str) -> str:
    """The reason why a run ended; `?` if its end was not recorded. A reason of a newer version stays as it is."""
    if not reason:
        return "?"
    return translate(_END_LABELS[EndReason(reason)]) if reason in _KNOWN else reason


_KNOWN = frozenset(EndReason)
