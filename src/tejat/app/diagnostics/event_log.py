"""Events of sessions in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.core.agent.events import (
    Answered,
    AwaitingModel,
    Compressed,
    EndReason,
    LoopDetected,
    ModelChanged,
    Prompted,
    RequestFailed,
    Retrying,
    RunEnded,
    SessionStarted,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.log import DEBUG, agent_logger, logger, mask_log_text, model_logger
from tejat.core.tools.call_events import OutputUpdated

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent

_MAX_EVENT_LENGTH = 1000


def log_event(event: AgentEvent) -> None:
    """Log runs under `tejat.agent`, requests to models under `tejat.model`, and every event at level DEBUG.

    Streamed text is not logged. Tool calls are logged where they are run.
    """
    if isinstance(event, TextStreamed | ThoughtStreamed | OutputUpdated):
        return
    if logger.isEnabledFor(DEBUG):
        # Masked before truncating: half a token would not be recognised.
        logger.debug("%s", mask_log_text(repr(event)[: 2 * _MAX_EVENT_LENGTH])[:_MAX_EVENT_LENGTH])
    match event:
        case AgentActivity():
            log_event(event.event)
        case Answered() | Retrying() | RequestFailed() | AwaitingModel() | ModelChanged():
            _log_request(event)
        case _:
            _log_run(event)


def _log_run(event: AgentEvent) -> None:
    match event:
        case SessionStarted():
            agent_logger.info("Session %s with %s", event.session_id, event.model)
        case Prompted():
            agent_logger.info("Run started")
        case RunEnded():
            log = agent_logger.info if event.reason is EndReason.FINISHED else agent_logger.warning
            turns, tokens, seconds = event.turns, event.usage.total, event.seconds
            reason = f"{event.reason}: {event.message}" if event.message else event.reason.value
            message = "Run ended: %s (turns: %d, tokens: %d, seconds: %.3f)"
            log(message, reason, turns, tokens, seconds)
        case AgentStarted():
            agent_logger.info("Sub-agent %s started with %s", event.agent_id, event.model)
        case AgentEnded():
            log = agent_logger.info if event.reason is SubagentEnd.GOAL else agent_logger.warning
            log("Sub-agent %s ended: %s", event.agent_id, event.reason)
        case Compressed():
            agent_logger.info("History %s: %d tokens, %d before", event.status, event.after, event.before)
        case LoopDetected():
            agent_logger.warning("Loop detected: %s", event.detail)
        case _:
            pass


def _log_request(event: Answered | Retrying | RequestFailed | AwaitingModel | ModelChanged) -> None:
    match event:
        case Answered():
            answer = event.answer
            message = "%s answered (%s, seconds: %.3f, tokens: %d, calls: %d)"
            figures = (event.purpose, event.seconds, answer.usage.total, len(answer.calls))
            model_logger.info(message, answer.model or "The model", *figures)
        case Retrying():
            message = "Attempt %d of %d failed: %s. Retrying in %.1f seconds"
            model_logger.warning(message, event.attempt, event.max_attempts, event.reason.rstrip("."), event.wait)
        case RequestFailed():
            model_logger.warning("Request failed: %s (%s)", event.message, event.kind)
        case AwaitingModel():
            model_logger.info("No answer after %.0f seconds", event.seconds)
        case ModelChanged():
            model_logger.warning("Changed from %s to %s: %s", event.before, event.after, event.reason)
