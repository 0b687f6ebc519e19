"""The agent loop: ask the model, run its calls, return the results, until it makes no more calls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tejat.core.agent.events import EndReason
from tejat.core.errors import ErrorType, StoppedByHook
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.model import FailureKind, FinishReason, ModelFailure, ModelResponse
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.loop_detector import LoopError

if TYPE_CHECKING:
    from tejat.core.tools.base import ToolResult


class RunOutcome(Frozen):
    """Why the loop ended. `failure` is the kind of a failure of the model."""

    reason: EndReason
    message: str = ""
    failure: FailureKind | None = None


async def run_turns(conversation: Conversation) -> RunOutcome:
    """Answer the last prompt within the budget of the conversation.

    Raises only CancelledError, CallbackFailure and programming errors. However it ends, the history is valid for the
    next request.
    """
    limit = asyncio.timeout(conversation.budget.remaining_seconds)
    try:
        async with limit:
            return await _run_turns(conversation)
    except TimeoutError:
        conversation.withdraw_prompt()
        if not limit.expired():
            raise  # not ours
        return RunOutcome(*conversation.budget.time_limit_reached())
    except ModelFailure as failure:
        conversation.withdraw_prompt()
        return RunOutcome(_FAILURE_REASONS.get(failure.kind, EndReason.MODEL_FAILED), failure.message, failure.kind)
    except LoopError as error:
        return RunOutcome(EndReason.LOOP, _("The model was stuck in a loop: {circle}", circle=error))
    except StoppedByHook as stop:
        conversation.withdraw_prompt()
        return RunOutcome(EndReason.NOT_ALLOWED, str(stop))
    except BaseException:
        conversation.withdraw_prompt()
        raise


async def _run_turns(conversation: Conversation) -> RunOutcome:
    """Raises ModelFailure, LoopError and StoppedByHook."""
    was_compressed = False
    await conversation.choose_model()
    while True:
        spent = conversation.exceeded_limit()
        if spent:
            conversation.withdraw_prompt()
            return RunOutcome(*spent)
        if not was_compressed and await conversation.compress_if_needed():
            was_compressed = True
            continue
        was_compressed = False
        answer = await conversation.next_response()
        if answer is None:
            continue
        if not answer.calls:
            if conversation.deliver_steering():
                continue
            return _outcome_of(answer)
        batch = await conversation.run_calls(answer.calls)
        if batch.stopped_by_user:
            return RunOutcome(EndReason.INTERRUPTED, _("Operation cancelled."))
        if error := batch.fatal_error:
            is_unanswered = error.type is ErrorType.ANSWER_REQUIRED
            return RunOutcome(EndReason.UNANSWERED if is_unanswered else EndReason.TOOL_STOPPED, error.message)
        if batch.final_result is not None:
            return _final_outcome(conversation, batch.final_result)
        conversation.deliver_steering()


def _final_outcome(conversation: Conversation, result: ToolResult) -> RunOutcome:
    """Return the outcome of a run that ends with the result of a call."""
    if result.error is not None and result.error.type is ErrorType.CANCELLED:
        return RunOutcome(EndReason.INTERRUPTED, _("Operation cancelled."))
    conversation.answer_texts.append(result.final_answer or "")
    return RunOutcome(EndReason.FINISHED)


def _outcome_of(answer: ModelResponse) -> RunOutcome:
    match answer.reason:
        case FinishReason.MAX_TOKENS:
            return RunOutcome(EndReason.TRUNCATED, _("Response truncated due to token limits."))
        case FinishReason.OTHER:
            reason = answer.detail or _("no reason given")
            return RunOutcome(EndReason.FINISHED, _("The model stopped early: {reason}.", reason=reason))
        case _:
            return RunOutcome(EndReason.FINISHED)


_FAILURE_REASONS = {
    FailureKind.BLOCKED: EndReason.BLOCKED,
    FailureKind.EMPTY: EndReason.EMPTY,
    FailureKind.MALFORMED_CALL: EndReason.MALFORMED_CALL,
    FailureKind.CONTEXT_FULL: EndReason.CONTEXT_FULL,
    FailureKind.OVER_BUDGET: EndReason.COST_LIMIT,
}
