"""The hooks of the settings at work."""

from tejat.app.ground import Ground
from tejat.app.house import House
from tejat.config.hooks import read_hooks
from tejat.core.confirm import Approver
from tejat.engine.hooks.opening import open_hooks
from tejat.engine.hooks.session_events import SessionHooks


def start_hooks(ground: Ground, approver: Approver | None, house: House) -> SessionHooks | None:
    """The hooks that count on this ground, None if there are none. What they start is ended with the house.

    The settings of a folder that is not trusted are not among those of the ground, and no hook is started in there:
    many programs obey what lies where they are started. Raises UsageError.
    """
    settings = ground.settings
    configured = read_hooks(settings.hooks, settings.hooks_switches)
    if not configured.hooks and not configured.warnings:
        return None
    return open_hooks(
        configured,
        approver,
        house.keeper,
        roots=ground.roots,
        environment=ground.environment,
        allowed_variables=settings.shell_environment.value,
        items=ground.trust.items,
        directory=None if ground.trust.is_trusted else ground.places.home,
    )
