"""Sandbox that needs nothing installed: Landlock and seccomp, applied by `exec_helper`."""

import os
import sys
from collections.abc import Sequence
from functools import cache

from tejat.core.text.paths import is_beneath_any
from tejat.workspace.control_paths.names import ControlNames
from tejat.workspace.sandbox import exec_helper
from tejat.workspace.sandbox.types import SandboxedCommand, SandboxPolicy

# Packages without content: finding and running those of ours would take a fifth of the start.
_START_CODE = """\
import sys
for name in ("tejat", "tejat.workspace", "tejat.workspace.sandbox"):
    package = sys.modules[name] = type(sys)(name)
    package.__path__ = [f"{sys.argv[1]}/{name.replace('.', '/')}"]
from tejat.workspace.sandbox.exec_helper import main
main(sys.argv[2:])
"""


class LandlockSandbox:
    """Sandbox without namespaces. It cannot protect or hide single files inside a root."""

    name = "landlock"
    is_container = False

    def __init__(self, *, interpreter: str | None = None) -> None:
        self._interpreter = interpreter

    def wrap(self, arguments: Sequence[str], policy: SandboxPolicy, *, directory: str) -> SandboxedCommand:
        """See `Sandbox.wrap`. The command runs in the directory that the process is started in."""
        hidden = tuple(map(os.path.realpath, policy.hidden_paths))
        shown = [mount.source for mount in policy.mounts]
        words = [
            *(f"{exec_helper.WRITABLE}={path}" for path in policy.writable_roots),
            f"{exec_helper.TEMPORARY}={policy.temp_directory}",
            *(f"{exec_helper.HIDDEN}={path}" for path in hidden),
            *(f"{exec_helper.WRITABLE}={mount.source}" for mount in policy.mounts if mount.is_writable),
            *(f"{exec_helper.READABLE}={path}" for path in shown if is_beneath_any(path, hidden)),
        ]
        start = exec_helper_argv(
            exec_helper.STANDALONE, network=policy.network, restrictions=words, interpreter=self._interpreter
        )
        in_git = ControlNames([path for path, _ in policy.read_only_paths]).in_git
        unprotected = (
            *(os.path.join(root, path) for root in policy.writable_roots for path, _ in policy.read_only_paths),
            *(f"{directory}/{path}" for directory in policy.found.git_directories for path in in_git),
            *(*policy.found.paths, *policy.found.unreadable),
            *(path for path in policy.hidden_paths if is_beneath_any(path, policy.writable_roots)),
        )
        return SandboxedCommand((*start, *arguments), unprotected_paths=tuple(dict.fromkeys(unprotected)))

    def sweep(self) -> None:
        """Do nothing: no placeholders are created for a command."""


def exec_helper_argv(
    mode: str, *, network: bool, restrictions: Sequence[str], interpreter: str | None
) -> tuple[str, ...]:
    """Return the argv prefix that starts a command restricted; `restrictions` are arguments of `restrict_process`."""
    python = interpreter or _interpreter()
    switch = f"{exec_helper.NETWORK}={'on' if network else 'off'}"
    # -I and -S: nothing that an earlier command may have written is loaded.
    return (python, "-I", "-S", "-X", "utf8", "-c", _START_CODE, _package_parent(), mode, switch, *restrictions, "--")


@cache
def helper_paths(interpreter: str | None = None) -> tuple[str, ...]:
    """Return the paths that we and the helper program are loaded from: write access to them would break the sandbox."""
    python = interpreter or _interpreter()
    installation, library = os.path.realpath(sys.base_prefix), os.path.realpath(os.path.dirname(os.__file__))
    return (python, installation, library, own_environment(), os.path.join(_package_parent(), "tejat"))


def own_environment() -> str:
    """Return the real path of the environment that this program is installed in, virtual or not."""
    return os.path.realpath(sys.prefix)


def find_writable_helper_path(roots: Sequence[str]) -> str | None:
    """Return the first of the helper paths that lies in one of these roots, or None."""
    return next((place for place in helper_paths() if is_beneath_any(place, roots)), None)


@cache
def _interpreter() -> str:
    return os.path.realpath(sys.executable)


@cache
def _package_parent() -> str:
    package = os.path.realpath(exec_helper.__file__)
    for _ in exec_helper.__name__.split("."):
        package = os.path.dirname(package)
    return package
