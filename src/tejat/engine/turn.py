"""The loop: ask the model, run the calls it answers with, hand back their results, until it has nothing left to ask."""

import asyncio

from tejat.core.agent_events import EndReason, Tell
from tejat.core.errors import StoppedByHook
from tejat.core.model import Answer, FailureKind, FinishReason, ModelFailure
from tejat.core.value import value
from tejat.core.words import say
from tejat.engine.conversation import Conversation, TurnsInCircles


@value
class Ending:
    """Why the loop is over. `failure` is what the model failed of."""

    reason: EndReason
    message: str = ""
    failure: FailureKind | None = None


async def run_turns(conversation: Conversation, tell: Tell) -> Ending:
    """Answer the prompt that was added last, within the budget of the conversation.

    Raises nothing but the cancellation of its task and what is a defect of the program. However it ends, the history is
    legal: the next request can go out.
    """
    limit = asyncio.timeout(conversation.budget.remaining_seconds)
    try:
        async with limit:
            return await _run_turns(conversation, tell)
    except TimeoutError:
        if not limit.expired():
            raise  # not ours
        conversation.withdraw()
        return Ending(*conversation.budget.out_of_time())
    except ModelFailure as failure:
        conversation.withdraw()
        return Ending(_REASONS.get(failure.kind, EndReason.MODEL_FAILED), failure.message, failure.kind)
    except TurnsInCircles as circle:
        return Ending(EndReason.LOOP, say("The model was going in circles: {circle}", circle=circle))
    except StoppedByHook as stop:
        conversation.withdraw()
        return Ending(EndReason.NOT_ALLOWED, str(stop))
    except asyncio.CancelledError:
        conversation.withdraw()
        raise


async def _run_turns(conversation: Conversation, tell: Tell) -> Ending:
    """Raises ModelFailure, TurnsInCircles and StoppedByHook."""
    while True:
        spent = conversation.budget.problem(conversation.model.name)
        if spent:
            conversation.withdraw()
            return Ending(*spent)
        if await conversation.make_room(tell):
            continue
        answer = await conversation.ask_model(tell)
        if answer is None:
            continue
        if not answer.calls:
            if conversation.deliver(tell):
                continue
            return _ending(answer)
        batch = await conversation.run_calls(answer.calls, tell)
        if batch.was_stopped:
            return Ending(EndReason.INTERRUPTED, say("Operation cancelled."))
        if batch.stop_reason:
            return Ending(EndReason.TOOL_STOPPED, batch.stop_reason)
        if not conversation.deliver(tell) and batch.all_cancelled:
            return Ending(EndReason.NOT_ALLOWED, say("Every call of the model was cancelled."))


def _ending(answer: Answer) -> Ending:
    match answer.reason:
        case FinishReason.MAX_TOKENS:
            return Ending(EndReason.TRUNCATED, say("Response truncated due to token limits."))
        case FinishReason.OTHER:
            reason = answer.detail or say("no reason given")
            return Ending(EndReason.FINISHED, say("The model stopped early: {reason}.", reason=reason))
        case _:
            return Ending(EndReason.FINISHED)


_REASONS = {
    FailureKind.BLOCKED: EndReason.BLOCKED,
    FailureKind.EMPTY: EndReason.EMPTY,
    FailureKind.MALFORMED_CALL: EndReason.MALFORMED_CALL,
    FailureKind.CONTEXT_FULL: EndReason.CONTEXT_FULL,
}
