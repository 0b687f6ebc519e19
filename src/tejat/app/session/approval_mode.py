"""Switching between approval modes during a session."""

from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.app.session.manager import SessionManager
from tejat.app.session.status import current_mode
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.status import ModeChange
from tejat.engine.calls.policy_loader import CHOSEN_MODE_SOURCE, check_mode

if TYPE_CHECKING:
    from tejat.engine.plans.mode import SessionPlanMode

_CYCLE = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.PLAN, ApprovalMode.YOLO)


class ModeSwitcher:
    """Switches the approval mode of a session. YOLO has to be confirmed once."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._is_yolo_confirmed = manager.options.mode == ApprovalMode.YOLO.value
        self._is_yolo_declined = False

    def permitted_modes(self) -> list[ApprovalMode]:
        """The modes that may be chosen here, in the order of the cycle."""
        return [mode for mode in _CYCLE if mode_refusal(self._manager.run_config, mode) is None]

    def set_mode(self, word: str) -> None:
        """Switch to a mode that the user chose by name. Raises UsageError if it is unknown or not permitted."""
        if word not in set(ApprovalMode):
            modes = ", ".join(self.permitted_modes())
            raise UsageError(_("Unknown mode {mode!r}. Modes: {modes}.", mode=word, modes=modes))
        mode = ApprovalMode(word)
        if refusal := mode_refusal(self._manager.run_config, mode):
            raise UsageError(refusal)
        self._switch(mode)

    async def next_mode(self, user: UserPrompter) -> ModeChange:
        """Switch to the next mode that is permitted here."""
        refusals = {mode: refusal for mode in _CYCLE if (refusal := mode_refusal(self._manager.run_config, mode))}
        if self._is_yolo_declined and not self._is_yolo_confirmed:
            refusals.setdefault(ApprovalMode.YOLO, _("Ctrl-Y turns YOLO on."))
        mode = self._following(ApprovalMode(current_mode(self._manager)), refusals)
        if mode is ApprovalMode.YOLO and not await self._confirm(user):
            refusals[mode] = _("Ctrl-Y turns YOLO on.")
            mode = self._following(mode, refusals)
        return self._switch(mode, note=" ".join(dict.fromkeys(refusals.values())))

    async def toggle_yolo(self, user: UserPrompter) -> ModeChange:
        """Turn YOLO on after a confirmation, or off."""
        before = ApprovalMode(current_mode(self._manager))
        if before is ApprovalMode.YOLO:
            return self._switch(ApprovalMode.DEFAULT)
        if refusal := mode_refusal(self._manager.run_config, ApprovalMode.YOLO):
            return ModeChange(before.value, refusal)
        return self._switch(ApprovalMode.YOLO if await self._confirm(user) else before)

    def _following(self, mode: ApprovalMode, refusals: dict[ApprovalMode, str]) -> ApprovalMode:
        start = _CYCLE.index(mode) + 1
        others = (*_CYCLE[start:], *_CYCLE[: start - 1])
        # A mode that was chosen with a flag may be refused here: the cycle begins anew.
        candidates = _CYCLE if mode in refusals else others
        return next((each for each in candidates if each not in refusals), ApprovalMode.DEFAULT)

    async def _confirm(self, user: UserPrompter) -> bool:
        if not self._is_yolo_confirmed:
            self._is_yolo_confirmed = await confirm_yolo(user)
            self._is_yolo_declined = not self._is_yolo_confirmed
        return self._is_yolo_confirmed

    def _switch(self, mode: ApprovalMode, *, note: str = "") -> ModeChange:
        permission = self._manager.toolset.start_scheduler().permission
        if permission.policy.mode is not mode:
            permission.policy = permission.policy.with_mode(mode, source=CHOSEN_MODE_SOURCE)
        return ModeChange(mode.value, note)


def mode_refusal(run_config: RunConfig, mode: ApprovalMode) -> str | None:
    """Return why the mode cannot be chosen during a session, None if it can.

    A folder that is not decided about and has no configuration of its own permits every mode.
    """
    settings = run_config.settings
    if mode in (ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO) and run_config.is_untrusted:
        return _("Auto-edit and YOLO need a trusted folder: /permissions trust.")
    try:
        check_mode(settings, mode)
    except ConfigurationError as error:
        return str(error)
    if mode is ApprovalMode.PLAN and not settings.plan_enabled.value:
        return _("Plan mode is disabled by {source}.", source=settings.plan_enabled.source)
    return None


def open_plan_mode(manager: SessionManager, *, is_attended: bool) -> "SessionPlanMode":
    """Open plan mode for the sessions of a manager. One that is attended has a user who can change the mode."""
    from tejat.engine.plans.locations import PlanLocation, plan_location
    from tejat.engine.plans.mode import PlanOptions, PlanSession, SessionPlanMode

    run_config, toolset = manager.run_config, manager.toolset
    settings, paths, root = run_config.settings, run_config.paths, run_config.roots[0]
    approved, run_model = manager.options.approve_plan, manager.run_model

    def locate(session_id: str) -> PlanLocation:
        plans_id = run_model.plans_id if session_id == run_model.session_id else session_id
        return plan_location(settings, paths, root, session_id=plans_id, extensions=run_config.extensions)

    return SessionPlanMode(
        toolset.roots,
        lambda: toolset.start_scheduler().permission,
        lambda: PlanSession(toolset.services.session_id, toolset.services.state),
        locate,
        manager.events.emit,
        PlanOptions(
            refusal_of=lambda mode: mode_refusal(manager.run_config, mode),
            approved_mode=None if approved is None else ApprovalMode(approved),
            is_attended=is_attended,
        ),
    )


async def confirm_yolo(user: UserPrompter) -> bool:
    """Ask whether to run everything without approvals."""
    question = Choice(
        _("Turn on YOLO mode? Every tool call runs without asking until you turn it off, deletions included."),
        (Option(_("No")), Option(_("Yes, run everything"))),
        is_critical=True,
    )
    return await user.choose(question) == 1
