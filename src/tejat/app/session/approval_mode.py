"""Switching between approval modes during a session."""

from tejat.app.session.manager import SessionManager
from tejat.app.session.status import current_mode
from tejat.core.approval.modes import ApprovalMode
from tejat.engine.calls.policy_loader import CHOSEN_MODE_SOURCE, is_mode_enabled

_CYCLE = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.PLAN)


def cycle_mode(manager: SessionManager) -> str:
    """Switch to the next approval mode and return it.

    YOLO is in the cycle only if the user started in it. In an untrusted folder there are just default and plan. Modes
    that the settings switch off are left out.
    """
    before = ApprovalMode(current_mode(manager))
    modes = _available_modes(manager)
    after = modes[(modes.index(before) + 1) % len(modes)] if before in modes else ApprovalMode.DEFAULT
    permission = manager.toolset.start_scheduler().permission
    permission.policy = permission.policy.with_mode(after, source=CHOSEN_MODE_SOURCE)
    return after.value


def _available_modes(manager: SessionManager) -> tuple[ApprovalMode, ...]:
    if not manager.run_config.trust.is_trusted:
        modes: tuple[ApprovalMode, ...] = (ApprovalMode.DEFAULT, ApprovalMode.PLAN)
    elif manager.options.mode == ApprovalMode.YOLO.value:
        modes = (*_CYCLE, ApprovalMode.YOLO)
    else:
        modes = _CYCLE
    return tuple(mode for mode in modes if is_mode_enabled(manager.run_config.settings, mode))
