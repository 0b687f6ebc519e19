"""The sandbox that needs nothing installed: the kernel's Landlock and seccomp, applied by a small program of ours."""

import os
import sys
from collections.abc import Sequence
from functools import cache

from tejat.workspace.sandbox import lock_in
from tejat.workspace.sandbox.paths import is_beneath
from tejat.workspace.sandbox.plan import Fence, Wrapped

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from tejat.workspace.sandbox.lock_in import main; main(sys.argv[2:])"
)


class Landlocked:
    """Keeps a command to its fence without namespaces. It has no way to protect or hide single files inside a root."""

    name = "landlock"

    def __init__(self, *, interpreter: str | None = None) -> None:
        self._interpreter = interpreter

    def wrap(self, arguments: Sequence[str], fence: Fence, *, directory: str) -> Wrapped:
        """As the contract says. The directory is the one that the process is started in."""
        words = [
            *(f"{lock_in.WRITABLE}={path}" for path in fence.writable),
            f"{lock_in.TEMPORARY}={fence.temporary}",
            *(f"{lock_in.HIDDEN}={os.path.realpath(path)}" for path in fence.hidden),
        ]
        start = lock_in_words(lock_in.ALONE, network=fence.network, places=words, interpreter=self._interpreter)
        control = (os.path.join(root, path) for root in fence.writable for path, _ in fence.read_only)
        open_to_all = (path for path in fence.hidden if any(is_beneath(path, root) for root in fence.writable))
        return Wrapped((*start, *arguments), unguarded=(*control, *open_to_all))

    def sweep(self) -> None:
        """Nothing is laid out for a command."""


def lock_in_words(fenced: str, *, network: bool, places: Sequence[str], interpreter: str | None) -> tuple[str, ...]:
    """What to put before a command so that it starts locked in. `places` are words that `lock_in` understands."""
    python = interpreter or _interpreter()
    switch = f"{lock_in.NETWORK}={'on' if network else 'off'}"
    # No user site, no environment, no site packages: nothing that a command wrote earlier is loaded.
    return (python, "-I", "-S", "-X", "utf8", "-c", _START, _package_parent(), fenced, switch, *places, "--")


@cache
def own_program(interpreter: str | None = None) -> tuple[str, ...]:
    """The places that the locking program is loaded from. A command that can write there can unlock the next one."""
    python = interpreter or _interpreter()
    installation, library = os.path.realpath(sys.base_prefix), os.path.realpath(os.path.dirname(os.__file__))
    return (python, installation, library, os.path.join(_package_parent(), "tejat"))


def can_be_changed(roots: Sequence[str]) -> str | None:
    """The first of those places that lies in one of these roots, or None."""
    for place in own_program():
        if any(is_beneath(place, root) for root in roots):
            return place
    return None


@cache
def _interpreter() -> str:
    return os.path.realpath(sys.executable)


@cache
def _package_parent() -> str:
    package = os.path.realpath(lock_in.__file__)
    for _ in lock_in.__name__.split("."):
        package = os.path.dirname(package)
    return package
