"""A call that is tried in a copy of the files first: the person sees what it did, then decides what becomes of it."""

from collections.abc import Callable

from tejat.core.confirm import Answer, Approver, Confirmation, Outcome, Question, TrialConfirmation
from tejat.core.tool import ToolContext, TrialTool
from tejat.core.value import replace

_NO = (Outcome.CANCEL, Outcome.STOP)


async def try_first(
    tool: TrialTool,
    question: Question,
    confirmation: Confirmation,
    approver: Approver,
    *,
    context: ToolContext,
    asking: Callable[[Question], None],
) -> tuple[Answer, Confirmation]:
    """Run what the question is about in a copy, and ask again. Returns the last answer and what it is about.

    For a yes that is the trial, which is what is to be executed then. Who wants it run for real said yes to what they
    were asked first. With any other answer the copy is gone already. Raises ToolFailure where it cannot be tried.
    """
    trial = await tool.try_in_copy(confirmation, context)
    answer = Answer(Outcome.CANCEL)
    try:
        shown = _about(trial, question)
        asking(shown)
        answer = await approver.ask(shown)
        if answer.outcome is Outcome.RUN_FOR_REAL:
            return Answer(Outcome.PROCEED_ONCE), confirmation
        if not _keeps(answer, trial) and answer.outcome not in _NO:
            answer = Answer(Outcome.CANCEL, feedback=answer.feedback)
        return answer, trial
    finally:
        if not _keeps(answer, trial):
            await tool.throw_away(trial)


def _keeps(answer: Answer, trial: TrialConfirmation) -> bool:
    return answer.outcome is Outcome.PROCEED_ONCE and not trial.obstacles


def _about(trial: TrialConfirmation, question: Question) -> Question:
    """The second question. It is about this one time alone."""
    return replace(
        question,
        confirmation=trial,
        note="",
        reason="",
        always=None,
        always_server=None,
        scopes=(),
        can_modify=False,
        can_try=False,
    )
