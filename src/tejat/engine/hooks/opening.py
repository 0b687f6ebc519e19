"""Puts the hooks of a session together."""

import os
from collections.abc import Mapping, Sequence

from tejat.config.hooks import ConfiguredHooks
from tejat.core.confirm import Approver
from tejat.engine.hooks.hearing import HookHearing
from tejat.engine.hooks.pinned import PinnedFiles
from tejat.engine.hooks.running import PROJECT_VARIABLES, Surroundings
from tejat.engine.hooks.session_events import SessionHooks
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.shell import find_shell


def open_hooks(
    configured: ConfiguredHooks,
    approver: Approver | None,
    keeper: Keeper,
    *,
    roots: Sequence[str],
    environment: Mapping[str, str],
    allowed_variables: Sequence[str] = (),
    digests: Mapping[str, str] | None = None,
) -> SessionHooks:
    """The hooks at work in the first of the roots. The keeper, which ends what they start, stays the caller's.

    Of the environment they get what commands get. `digests` are those of the project's files that were trusted, by
    path: its hooks run no others. Raises UsageError for a variable that cannot be.
    """
    project = roots[0]
    around = Surroundings(
        keeper,
        find_shell([os.path.realpath(root) for root in roots], environment.get("PATH", os.defpath)),
        project,
        child_environment(environment, allow=allowed_variables, extra=dict.fromkeys(PROJECT_VARIABLES, project)),
        session_id=os.urandom(16).hex(),
        pinned=PinnedFiles(project, digests),
    )
    return SessionHooks(HookHearing(configured.hooks, around), approver, configured.warnings)
