"""Plan mode of a session: its directory, its prompt, and the approval of plans."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tejat.config.files.directory import make_private_directory
from tejat.core.agent.events import EventSink, Noticed, PlanPresented, Severity
from tejat.core.agent.session_state import SessionState
from tejat.core.approval.confirmation import ApprovalReply, Outcome, PlanConfirmation
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.plans import ApprovedPlan, AskAboutPlan, Plan, PlanDecision, PlanOutcome
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ErrorType, TejatError, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, lazy, translate
from tejat.engine.plans.approved import approved_plan, remember_plan
from tejat.engine.plans.files import read_plan, rewrite_plan
from tejat.engine.plans.locations import PlanLocation
from tejat.engine.prompt.templates import load_template
from tejat.workspace.files.roots import Roots
from tejat.workspace.plan_directory import PlanDirectory

if TYPE_CHECKING:
    from tejat.engine.calls.permission import Permission

APPROVED_PLAN_SOURCE = lazy("the approved plan")
MODEL_SOURCE = lazy("the model")


class PlanSession(Frozen):
    """The session that plan mode belongs to."""

    session_id: str
    state: SessionState


class PlanOptions(Frozen):
    """How plans are approved.

    `refusal_of` says why a mode cannot be chosen. `approved_mode` is the mode for which plans are approved in advance,
    None if they are not. `is_attended` tells whether a person can change the mode.
    """

    refusal_of: Callable[[ApprovalMode], str | None]
    approved_mode: ApprovalMode | None = None
    is_attended: bool = True


class SessionPlanMode:
    """Plan mode of the current session. Implements `core.approval.plans.PlanMode`.

    `permission` returns the rules in force. `locate` returns where the plans of a session are.
    """

    def __init__(
        self,
        roots: Roots,
        permission: "Callable[[], Permission]",
        session: Callable[[], PlanSession],
        locate: Callable[[str], PlanLocation],
        emit: EventSink,
        options: PlanOptions,
    ) -> None:
        self._roots = roots
        self._permission = permission
        self._session = session
        self._locate = locate
        self._emit = emit
        self._options = options
        self._opened_for = ""
        self._reported: set[str] = set()

    @property
    def is_on(self) -> bool:
        return self._permission().policy.mode is ApprovalMode.PLAN

    @property
    def approved(self) -> ApprovedPlan | None:
        """The plan that the user approved in this session."""
        return approved_plan(self._session().state)

    @property
    def location(self) -> PlanLocation:
        """Where the plans of the session are. Raises ConfigurationError."""
        return self._locate(self._session().session_id)

    def enter(self) -> str:
        self._switch(ApprovalMode.PLAN, MODEL_SOURCE)
        leave = _("The model switched to plan mode. Shift-Tab to leave it.")
        self._emit(
            Noticed(leave if self._options.is_attended else _("The model switched to plan mode."), Severity.NOTE)
        )
        return ""

    def section(self) -> str:
        """What the model is told about plans now, empty for nothing."""
        plan = self.approved
        approved = "" if plan is None else load_template("approved_plan").replace("{path}", plan.path)
        if not self.is_on:
            if plan is not None:
                self._open_approved()
            return approved
        plans = self.open()
        return "" if plans is None else load_template("plan_mode").replace("{directory}", plans.path)

    def open(self) -> PlanDirectory | None:
        """Open the directory of plan files, created if needed. None, after a notice, if that is not possible."""
        session_id, plans = self._session().session_id, self._roots.plans
        if plans is not None and session_id == self._opened_for and _is_same_directory(plans):
            return plans
        self._close()
        try:
            location = self._locate(session_id)
            for problem in location.problems:
                self._notice_once(problem)
            self._roots.plans = self._open_location(location)
        except (TejatError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else translate(error)
            self._notice_once(_("Plans cannot be written: {why}", why=why))
            return None
        self._opened_for = session_id
        return self._roots.plans

    def plans(self) -> tuple[Plan, ...]:
        """The plan files of the session that can be read, the newest first."""
        plans = self._roots.plans
        if plans is None and not os.path.isdir(self.location.path):
            return ()
        plans = self.open()
        if plans is None:
            return ()
        found: list[Plan] = []
        for name in sorted(plans.names(), key=plans.modified_at, reverse=True):
            with suppress(ToolFailure):
                found.append(read_plan(self._roots, plans, name))
        return tuple(found)

    async def review(self, file_name: str, ask: AskAboutPlan | None) -> PlanDecision:
        plans = self.open()
        if plans is None:
            raise ToolFailure(lazy("There is no directory for plans."), ErrorType.EXECUTION_FAILED)
        note = ""
        while True:
            plan = read_plan(self._roots, plans, file_name)
            if self._options.approved_mode is not None:
                return self._approve(plan, self._options.approved_mode)
            reply = await self._ask(ask, plan, note)
            if reply is None:
                self._emit(PlanPresented(plan.path, plan.text))
                return PlanDecision(PlanOutcome.UNANSWERED, plan)
            if reply.new_content is not None:
                note = self._save_edited(plans, plan, reply.new_content)
                continue
            mode = self._approved_mode(reply)
            if mode is None:
                return _rejection(plan, reply)
            if read_plan(self._roots, plans, file_name) == plan:
                return self._approve(plan, mode)
            note = _("The plan changed in the meantime. This is its current text.")

    async def _ask(self, ask: AskAboutPlan | None, plan: Plan, note: str) -> ApprovalReply | None:
        """Return the user's reply, None if nobody can be asked."""
        can_auto_edit = self._options.refusal_of(ApprovalMode.AUTO_EDIT) is None
        title = _("Approve plan: {name}", name=os.path.basename(plan.path))
        try:
            return ask and await ask(PlanConfirmation(title, plan.path, plan.text, can_auto_edit, plan.digest, note))
        except UserUnavailable:
            return None

    def _approved_mode(self, reply: ApprovalReply) -> ApprovalMode | None:
        """The mode of an approval, None for a no and for an answer that was not offered."""
        if reply.outcome is Outcome.PROCEED_ONCE:
            return ApprovalMode.DEFAULT
        is_offered = self._options.refusal_of(ApprovalMode.AUTO_EDIT) is None
        return ApprovalMode.AUTO_EDIT if reply.outcome is Outcome.PROCEED_AUTO_EDIT and is_offered else None

    def _approve(self, plan: Plan, mode: ApprovalMode) -> PlanDecision:
        if refusal := self._options.refusal_of(mode):
            raise ToolFailure(refusal, ErrorType.POLICY_VIOLATION)
        remember_plan(self._session().state, plan, mode)
        self._switch(mode, APPROVED_PLAN_SOURCE)
        self._emit(PlanPresented(plan.path, plan.text, mode.value))
        return PlanDecision(PlanOutcome.APPROVED, plan, mode)

    def _save_edited(self, plans: PlanDirectory, plan: Plan, text: str) -> str:
        """Save what the user made of a plan, and return the note for the next question."""
        try:
            rewrite_plan(self._roots, plans, plan, text)
        except WorkspaceError as error:
            return translate(error)
        return _("This is your edited version.")

    def _switch(self, mode: ApprovalMode, source: str) -> None:
        permission = self._permission()
        permission.policy = permission.policy.with_mode(mode, source=source)

    def _open_location(self, location: PlanLocation) -> PlanDirectory:
        """Raises OSError and TejatError."""
        if not location.is_in_workspace:
            make_private_directory(location.path)
        else:
            # Created beneath the root, so that no link can lead out of it meanwhile.
            self._roots.open_parent(self._roots.locate(f"{location.path}/plan.md"), create=True).close()
        plans = PlanDirectory(
            location.path,
            is_planning=lambda: self.is_on,
            is_in_workspace=location.is_in_workspace,
            reserved_names=location.reserved_names,
        )
        if location.is_in_workspace and plans.path != location.path:
            plans.close()
            raise ToolFailure(lazy("{path} leads somewhere else now.", path=location.path), ErrorType.STALE_FILE)
        return plans

    def _open_approved(self) -> None:
        """Make the approved plan readable in a resumed session, if its directory is still there."""
        if self._roots.plans is None or self._opened_for != self._session().session_id:
            self.open()

    def _close(self) -> None:
        plans, self._roots.plans = self._roots.plans, None
        if plans is not None:
            plans.close()

    def _notice_once(self, message: str) -> None:
        if message not in self._reported:
            self._reported.add(message)
            self._emit(Noticed(message))


def _rejection(plan: Plan, reply: ApprovalReply) -> PlanDecision:
    if reply.outcome is Outcome.STOP:
        return PlanDecision(PlanOutcome.STOPPED, plan)
    return PlanDecision(PlanOutcome.REJECTED, plan, feedback=(reply.feedback or "").strip())


def _is_same_directory(plans: PlanDirectory) -> bool:
    """Whether the directory is still the one at its path."""
    try:
        return os.path.samestat(os.stat(plans.root.path, follow_symlinks=False), os.fstat(plans.root.fd))
    except OSError:
        return False
