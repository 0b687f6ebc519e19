"""Shell mode: runs lines typed after `!` in the user's own shell and environment."""

import os

from tejat.app.session.manager import SessionManager
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.prompt.shell_mode import ShellMode
from tejat.workspace.processes.environment import user_environment
from tejat.workspace.processes.shell import find_user_shell


def open_shell_mode(manager: SessionManager) -> ShellMode:
    run_config, services = manager.run_config, manager.toolset.services
    given = manager.options.environment
    environment = user_environment(os.environ if given is None else given)
    return ShellMode(
        services.supervisor,
        services.workspace().roots,
        shell=find_user_shell(environment, manager.toolset.roots.paths),
        environment=environment,
        outputs=run_config.paths.outputs,
        mask=SecretMask(run_config.named_secrets),
    )
