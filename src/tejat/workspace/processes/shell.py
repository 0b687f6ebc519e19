"""Shell context of a session: supervisor, environment, limits and output directory for shell tools."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from tejat.core.frozen import Frozen, field
from tejat.core.text.paths import is_beneath_any
from tejat.workspace.files.private_files import create_private_file, make_private_directory, remove_old_files
from tejat.workspace.files.regular_file import is_executable_file
from tejat.workspace.jobs.store import Job, JobStore
from tejat.workspace.processes.pipe_drain import PipeDrain
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.sandbox.types import SandboxedCommand

if TYPE_CHECKING:
    from tejat.workspace.overlay.manager import OverlayManager
    from tejat.workspace.processes.terminals.displays import TerminalDisplays

IDLE_SECONDS = 300.0
TOTAL_SECONDS = 1800.0
OUTPUT_RETENTION_SECONDS = 7 * 24 * 3600
MAX_RETAINED_OUTPUT_BYTES = 2 << 30

SandboxWrapper: TypeAlias = Callable[[Sequence[str], str, bool], SandboxedCommand]
"""Maps arguments, the real directory, and whether the network is needed, to the command to start.

Raises OSError when the sandbox cannot be prepared.
"""


def run_without_sandbox(arguments: Sequence[str], _directory: str, _network: bool) -> SandboxedCommand:
    """Return the arguments unchanged."""
    return SandboxedCommand(tuple(arguments))


class ShellContext(Frozen):
    """Everything that shell tools need from their session.

    `environment` is the complete environment of commands, as made by `child_environment`. `outputs` is the directory
    for outputs that are too long to show. A limit of None or 0 means no limit. `sandbox_note` tells the user what the
    sandbox does not enforce. `copies` gives the overlays for trial runs. `on_background` gets each command that goes on
    in the background. `displays` are terminals of the editor that show the output of commands.
    """

    supervisor: ProcessSupervisor
    jobs: JobStore
    environment: Mapping[str, str]
    outputs: str
    wrap: SandboxWrapper = run_without_sandbox
    sandbox_note: str = ""
    idle: float | None = IDLE_SECONDS
    total: float | None = TOTAL_SECONDS
    pipe_drain: PipeDrain = field(default_factory=PipeDrain)
    copies: "Callable[[], OverlayManager] | None" = None
    on_background: Callable[[JobStore, Job], None] | None = None
    displays: "TerminalDisplays | None" = None

    def remove_old_outputs(self) -> None:
        """Remove old outputs and jobs. Call it when a session begins. Raises nothing."""
        oldest = time.time() - OUTPUT_RETENTION_SECONDS
        remove_old_files(self.outputs, before=oldest, max_bytes=MAX_RETAINED_OUTPUT_BYTES)
        self.jobs.prune()

    def close(self) -> None:
        """Stop all commands of the session; background jobs continue."""
        if self.displays is not None:
            self.displays.close_all()
        self.supervisor.close()
        self.pipe_drain.close()

    def create_output_file(self, ending: str) -> BinaryIO:
        """Create a file for a complete output; its path is its `name`. Raises OSError."""
        make_private_directory(self.outputs)
        path = os.path.join(self.outputs, f"run_shell_command_{os.urandom(8).hex()}.{ending}")
        return open(path, "wb", buffering=0, opener=lambda path, _: create_private_file(path))


def find_shell(roots: Sequence[str], search_path: str) -> tuple[str, ...]:
    """Return the argv prefix of the shell that runs command lines: bash, or `sh` where there is no bash.

    It never lies in one of the `roots`, whose files anybody may have written. A bash that cannot be executed is
    returned all the same if there is no other: an error is better than another shell in silence.
    """
    directories = ["/bin", "/usr/bin", "/usr/local/bin", *search_path.split(os.pathsep)]
    paths = [os.path.join(directory, "bash") for directory in directories if os.path.isabs(directory)]
    candidates = [path for path in paths if os.path.isfile(path) and not _is_inside(os.path.realpath(path), roots)]
    path = next(filter(is_executable_file, candidates), None) or next(iter(candidates), None)
    return ("/bin/sh", "-c", "--") if path is None else (path, "--norc", "--noprofile", "-c", "--")


def find_user_shell(environment: Mapping[str, str], roots: Sequence[str]) -> tuple[str, ...]:
    """Return the argv prefix of the user's shell from `SHELL`, also if that cannot be started.

    Without an absolute path there, and for a program in one of the `roots`, it is the default shell.
    """
    path = environment.get("SHELL", "")
    real_roots = [os.path.realpath(root) for root in roots]
    if os.path.isabs(path) and not _is_inside(os.path.realpath(path), real_roots):
        return path, "-c"
    return find_shell(real_roots, environment.get("PATH", os.defpath))


def _is_inside(path: str, roots: Sequence[str]) -> bool:
    # With / as a root, system directories are as trusted as anything else.
    return is_beneath_any(path, (root for root in roots if root != "/"))
