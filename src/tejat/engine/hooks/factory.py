"""Creation of the hooks of a session."""

import os
from collections.abc import Iterable, Mapping, Sequence

from tejat.config.extensions.active import ActiveExtension
from tejat.config.hooks import HooksConfig
from tejat.config.paths import SourceTier
from tejat.config.trust.pinned_commands import PinnedCommands
from tejat.config.trust.store import TrustItem
from tejat.core.approval.confirmation import Approver
from tejat.engine.hooks.dispatcher import HookDispatcher
from tejat.engine.hooks.runner import PROJECT_VARIABLES, HookContext
from tejat.engine.hooks.session_hooks import SessionHooks
from tejat.workspace.processes.environment import NO_LISTS, VariableLists, child_environment
from tejat.workspace.processes.shell import find_shell
from tejat.workspace.processes.supervisor_client import ProcessSupervisor


def open_hooks(
    configured: HooksConfig,
    approver: Approver | None,
    supervisor: ProcessSupervisor,
    *,
    roots: Sequence[str],
    environment: Mapping[str, str],
    variable_lists: VariableLists = NO_LISTS,
    items: Iterable[TrustItem] = (),
    extensions: Iterable[ActiveExtension] = (),
    directory: str | None = None,
) -> SessionHooks:
    """Create the hooks of a session in the first of the roots. The supervisor stays the caller's.

    Hooks get the environment of commands. `items` are the trusted files of the project: its own hooks run only while
    the files that they name are unchanged. `extensions` are those in use. `directory` is another working directory,
    because programs may load configuration from theirs. Raises UsageError for an invalid variable name.
    """
    project = roots[0]
    lines = {hook.command for hook in configured.hooks if hook.tier is SourceTier.WORKSPACE}
    context = HookContext(
        supervisor,
        find_shell([os.path.realpath(root) for root in roots], environment.get("PATH", os.defpath)),
        project,
        directory or project,
        child_environment(environment, lists=variable_lists, extra=dict.fromkeys(PROJECT_VARIABLES, project)),
        session_id=os.urandom(16).hex(),
        pinned=PinnedCommands(lines, project, items),
        extensions={extension.name: extension for extension in extensions},
    )
    dispatcher = HookDispatcher(configured.hooks, context, reports_running=configured.reports_running)
    return SessionHooks(dispatcher, approver, configured.warnings)
