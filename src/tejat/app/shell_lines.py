"""Where the lines that a person types after `!` are run: their own shell, with their own environment."""

import os

from tejat.app.agent import Succession
from tejat.engine.secret_mask import SecretMask
from tejat.engine.shell_mode import ShellMode
from tejat.workspace.processes.environment import person_environment
from tejat.workspace.processes.shell import find_own_shell


def open_shell_mode(succession: Succession) -> ShellMode:
    ground, house = succession.ground, succession.workshop.house
    given = succession.options.environment
    environment = person_environment(os.environ if given is None else given)
    return ShellMode(
        house.keeper,
        house.workspace().roots,
        shell=find_own_shell(environment, succession.workshop.roots.paths),
        environment=environment,
        outputs=os.path.join(ground.places.state, "outputs"),
        mask=SecretMask(ground.named_secrets),
    )
