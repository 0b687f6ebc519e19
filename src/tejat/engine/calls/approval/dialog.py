"""The dialog about one call: the question, a trial in a copy, and whether an answer was offered."""

from collections.abc import Callable
from typing import TypeVar

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    Approver,
    Confirmation,
    Outcome,
    Scope,
    tool_scope,
)
from tejat.core.errors import ErrorType, TejatError, ToolFailure
from tejat.core.frozen import replace
from tejat.core.i18n import _, lazy
from tejat.core.tools.abilities import TrialTool
from tejat.core.tools.base import BaseTool, ToolContext
from tejat.engine.calls.approval.refusals import RejectedByUser
from tejat.engine.calls.approval.trial import OnQuestion, run_trial

_Written = TypeVar("_Written")

ALWAYS = (
    Outcome.PROCEED_ALWAYS,
    Outcome.PROCEED_ALWAYS_AND_SAVE,
    Outcome.PROCEED_ALWAYS_SERVER,
    Outcome.PROCEED_ALWAYS_TOOL,
)


async def ignore_question(_: ApprovalRequest) -> None:
    """Tell nobody of a question."""


class AskAgain(Exception):
    """The question has to be asked again, with a note for the user."""

    def __init__(self, note: str) -> None:
        super().__init__(note)
        self.note = note


def try_to_save(write: Callable[[], _Written]) -> _Written:
    """Save an answer. Raises AskAgain if that is not possible."""
    try:
        return write()
    except (TejatError, OSError) as error:
        raise AskAgain(_("Could not save the answer: {error}", error=error)) from None


class CallDialog:
    """One approval of a call, with a trial in a copy if the user wants one."""

    def __init__(
        self,
        tool: BaseTool,
        approver: Approver,
        on_question: OnQuestion,
        trial_context: Callable[[], ToolContext],
    ) -> None:
        self._trial_tool = tool if isinstance(tool, TrialTool) else None
        self._approver = approver
        self._on_question = on_question
        self._trial_context = trial_context

    async def ask(self, question: ApprovalRequest, confirmation: Confirmation) -> tuple[ApprovalReply, Confirmation]:
        """Return a reply that approves or edits the call, and what it is about. Raises RejectedByUser, AskAgain."""
        if self._trial_tool is not None:
            question = replace(question, can_try=await self._trial_tool.can_try(confirmation))
        await self._on_question(question)
        reply = await self._approver.ask(question)
        if not _is_offered(reply, question):
            raise ToolFailure(
                "The answer was not one of the choices offered, so the call was refused.",
                ErrorType.POLICY_VIOLATION,
                display=lazy("The answer {answer} was not offered, so the call was refused.", answer=reply.outcome),
            )
        if reply.outcome is Outcome.TRY_IN_COPY and question.can_try and self._trial_tool is not None:
            reply, confirmation = await self._try_in_copy(self._trial_tool, question, confirmation)
        if reply.outcome in (Outcome.CANCEL, Outcome.STOP, Outcome.STOP_AGENT):
            ends_turn = reply.outcome is not Outcome.CANCEL
            raise RejectedByUser(confirmation, feedback=reply.feedback, ends_turn=ends_turn)
        if reply.new_content is None and reply.outcome is Outcome.MODIFY_WITH_EDITOR:
            raise RejectedByUser(confirmation, detail=" They wanted to edit the change first, but did not.")
        if reply.new_content is None and reply.outcome is Outcome.TRY_IN_COPY:
            raise AskAgain(_("This call cannot be tried in a copy."))
        return reply, confirmation

    async def _try_in_copy(
        self, tool: TrialTool, question: ApprovalRequest, confirmation: Confirmation
    ) -> tuple[ApprovalReply, Confirmation]:
        context = self._trial_context()
        try:
            return await run_trial(tool, question, confirmation, self._approver, context, self._on_question)
        except ToolFailure as failure:
            raise AskAgain(_("Could not try it in a copy: {why}", why=failure.message)) from None


def scope_of(answer: ApprovalReply) -> Scope:
    return answer.scope or (Scope.USER if answer.outcome is Outcome.PROCEED_ALWAYS_AND_SAVE else Scope.SESSION)


def _is_offered(answer: ApprovalReply, question: ApprovalRequest) -> bool:
    """Whether a front end was free to give this answer. Only those with "always" are limited."""
    if answer.outcome is Outcome.PROCEED_ALWAYS_SANDBOXED:
        return question.can_allow_sandboxed
    if answer.outcome is Outcome.PROCEED_WITH_TOOLS:
        return question.tool_rules is not None and answer.scope is tool_scope(question)
    if answer.outcome is Outcome.STOP_AGENT:
        return bool(question.agent)
    if answer.outcome not in ALWAYS:
        return True
    return question.always is not None and scope_of(answer) in question.scopes
