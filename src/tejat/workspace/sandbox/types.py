"""The values of a sandbox: what is wanted, what a command may touch, and what is enforced."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.core.frozen import frozen


@frozen
class OverlayLayer:
    """A place that a command sees as it is and cannot change: what it changes there goes to `upper`.

    `work` is for the kernel alone. Both are empty directories of one file system.
    """

    lower: str
    upper: str
    work: str


@frozen
class SandboxPolicy:
    """What a command may touch. Every path is absolute, and real but for what `read_only` holds.

    `writable` are the roots. `temporary` is a private directory of this session: it is $TMPDIR and, where the sandbox
    can do that, appears as /tmp. `read_only` are control paths from each root, with whether they are directories;
    `blocked` are those of them that must not come into being either. `hidden` are places that cannot be read, such as
    secrets in the home and the program's own state.
    """

    writable_roots: tuple[str, ...]
    temp_directory: str
    read_only_paths: tuple[tuple[str, bool], ...]
    hidden_paths: tuple[str, ...]
    network: bool
    blocked_paths: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


def _do_nothing() -> None:
    return


@frozen
class SandboxedCommand:
    """Arguments that start a command inside a sandbox, and what is to be called once it has ended.

    `unguarded` are control paths, and hidden ones inside a root, that this sandbox cannot keep from the command.
    Whether one of them has come into being or changed can be looked at afterwards. `helper_processes` are the names of
    processes that belong to the sandbox itself; they end just after the last one of the command. Where the command has
    left something running, `let_go` is to be called first: what that relies on stays, and `clean_up` waits for nothing.
    """

    arguments: tuple[str, ...]
    clean_up: Callable[[], None] = _do_nothing
    unprotected_paths: tuple[str, ...] = ()
    helper_processes: frozenset[str] = frozenset()
    detach: Callable[[], None] = _do_nothing


class Sandbox(Protocol):
    """Rewrites an argument list so that the command runs fenced in. Starts nothing itself."""

    @property
    def name(self) -> str: ...

    def wrap(self, arguments: Sequence[str], policy: SandboxPolicy, *, directory: str) -> SandboxedCommand:
        """How to start these arguments in this directory. The first argument is an absolute path.

        `clean_up` of the answer has to be called once the command has ended, or right away if it is not started;
        it may be called again and raises nothing. Raises OSError when what has to be prepared cannot be.
        """
        ...

    def sweep(self) -> None:
        """Clean up after commands that were let go of and have ended since. Raises nothing."""
        ...


@frozen
class EnforcementAxis:
    """One thing that a sandbox is for: whether it is enforced, and how or why not, in words."""

    enforced: bool
    detail: str


@frozen
class SandboxReport:
    """What happened when it was tried. `sandbox` is None where none is in use."""

    sandbox: str | None
    files: EnforcementAxis
    network: EnforcementAxis
    processes: EnforcementAxis
    control_files: EnforcementAxis
    secrets: EnforcementAxis


def unenforced_report(why: str) -> SandboxReport:
    """The report of a run without a sandbox."""
    axis = EnforcementAxis(enforced=False, detail=why)
    return SandboxReport(sandbox=None, files=axis, network=axis, processes=axis, control_files=axis, secrets=axis)
