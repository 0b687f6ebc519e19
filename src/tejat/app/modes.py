"""From one approval mode to the next, while a session goes on."""

from tejat.app.agent import Succession
from tejat.app.standing import mode_of
from tejat.policy.rules import Mode

_ROUND = (Mode.DEFAULT, Mode.AUTO_EDIT, Mode.PLAN)


def next_mode(succession: Succession) -> str:
    """Go on to the next mode, and tell which that is.

    Everything is allowed at once only for those who asked for it when they started. In a folder that is not trusted
    there is only one beside the usual one, which allows less.
    """
    before = Mode(mode_of(succession))
    modes = _modes(succession)
    after = modes[(modes.index(before) + 1) % len(modes)] if before in modes else Mode.DEFAULT
    permission = succession.workshop.session.scheduler.permission
    permission.policy = permission.policy.in_mode(after)
    return after.value


def _modes(succession: Succession) -> tuple[Mode, ...]:
    if not succession.ground.trust.is_trusted:
        return (Mode.DEFAULT, Mode.PLAN)
    asked_for_all = succession.options.mode == Mode.YOLO.value and not succession.ground.settings.yolo_disabled.value
    return (*_ROUND, Mode.YOLO) if asked_for_all else _ROUND
