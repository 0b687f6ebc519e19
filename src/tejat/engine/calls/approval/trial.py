"""Trial of a call in a copy of the files, before the user decides whether to apply it."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    Approver,
    Confirmation,
    Outcome,
    TrialConfirmation,
)
from tejat.core.tools.abilities import TrialTool
from tejat.core.tools.base import BaseTool, ToolContext

OnQuestion: TypeAlias = Callable[[ApprovalRequest], Awaitable[None]]
"""Awaited before a question is asked."""

_REJECTIONS = (Outcome.CANCEL, Outcome.STOP, Outcome.STOP_AGENT)


async def run_trial(
    tool: TrialTool,
    question: ApprovalRequest,
    confirmation: Confirmation,
    approver: Approver,
    context: ToolContext,
    on_question: OnQuestion,
) -> tuple[ApprovalReply, Confirmation]:
    """Run a call in a copy and ask again. Returns the last reply and the confirmation that it is about.

    For an approval that is the trial, whose changes are then applied; for RUN_FOR_REAL it is the original confirmation.
    With any other reply the copy has been discarded. Raises ToolFailure if the call cannot be tried.
    """
    trial = await tool.run_trial(confirmation, context)
    answer = ApprovalReply(Outcome.CANCEL)
    try:
        trial_question = _trial_question(trial, question)
        await on_question(trial_question)
        answer = await approver.ask(trial_question)
        if answer.outcome is Outcome.RUN_FOR_REAL:
            return ApprovalReply(Outcome.PROCEED_ONCE), confirmation
        if not _applies_trial(answer, trial) and answer.outcome not in _REJECTIONS:
            answer = ApprovalReply(Outcome.CANCEL, feedback=answer.feedback)
        return answer, trial
    finally:
        if not _applies_trial(answer, trial):
            await tool.discard_trial(trial)


async def discard_trial(tool: BaseTool | None, approved: Confirmation | None) -> None:
    """Discard the copy of an approved trial that is not applied."""
    if isinstance(approved, TrialConfirmation) and isinstance(tool, TrialTool):
        await tool.discard_trial(approved)


def _applies_trial(answer: ApprovalReply, trial: TrialConfirmation) -> bool:
    return answer.outcome is Outcome.PROCEED_ONCE and not trial.obstacles


def _trial_question(trial: TrialConfirmation, first: ApprovalRequest) -> ApprovalRequest:
    """Build the second question, which offers no rule to remember."""
    return ApprovalRequest(
        trial,
        first.tool_name,
        origin=first.origin,
        risks=first.risks,
        directory=first.directory,
        agent=first.agent,
        agent_task=first.agent_task,
        call_index=first.call_index,
    )
