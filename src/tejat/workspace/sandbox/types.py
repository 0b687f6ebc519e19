"""Sandbox types: policy, wrapped command, sandbox protocol and report."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeAlias

from tejat.core.frozen import Frozen
from tejat.workspace.control_paths.changes import ControlPathChanges
from tejat.workspace.control_paths.search import FoundControlPaths


class OverlayLayer(Frozen):
    """Overlay over the directory `lower`: changes go to `upper` and the real directory stays as it is.

    `work` is for the kernel. Both are empty directories of one file system.
    """

    lower: str
    upper: str
    work: str


class SandboxMount(Frozen):
    """A file or directory of the host that the user shows to commands, read-only unless `is_writable`.

    Both paths are absolute. Only containers can show it at another path.
    """

    source: str
    target: str
    is_writable: bool = False


class SandboxPolicy(Frozen):
    """What a sandboxed command may access. All paths are absolute; all but `read_only_paths` are real.

    `temp_directory` is private to the session: it is $TMPDIR and, where supported, appears as /tmp. `read_only_paths`
    are control paths relative to each root, with whether they are directories; `blocked_paths` are those that must not
    be created either. `hidden_paths` cannot be read: secrets in the home and our own state. `programs` are files that
    must stay readable, with the tree they belong to, even below a hidden directory; only bubblewrap supports this.
    `found` are the control paths that exist at any depth; those in `left_open` are not protected, because an earlier
    command made them. `mounts` are further places that the user shows to commands: hidden ones become readable.
    """

    writable_roots: tuple[str, ...]
    temp_directory: str
    read_only_paths: tuple[tuple[str, bool], ...]
    hidden_paths: tuple[str, ...]
    network: bool
    blocked_paths: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    found: FoundControlPaths = FoundControlPaths()
    left_open: frozenset[str] = frozenset()
    mounts: tuple[SandboxMount, ...] = ()


def _do_nothing() -> None:
    return


class SandboxedCommand(Frozen):
    """Arguments that start a command in a sandbox, and callbacks for its end.

    `unprotected_paths` are control paths, and hidden paths inside a root, that this sandbox cannot protect.
    `helper_processes` are the names of the sandbox's own processes, which end just after the command's last one. Call
    `clean_up` when the command has ended. If it left something running, call `detach` first: what that relies on stays,
    and `clean_up` does not wait. `find_changes` then looks for control paths that the command created or changed; it
    may take a while and raises nothing. `environment` must be added to the environment of the process. `stop_command`
    ends what runs outside of our process tree, in a container for example; empty if there is nothing like that.
    """

    arguments: tuple[str, ...]
    clean_up: Callable[[], None] = _do_nothing
    unprotected_paths: tuple[str, ...] = ()
    helper_processes: frozenset[str] = frozenset()
    detach: Callable[[], None] = _do_nothing
    find_changes: Callable[[], ControlPathChanges] = ControlPathChanges
    environment: Mapping[str, str] = MappingProxyType({})
    stop_command: tuple[str, ...] = ()


ProgramWrapper: TypeAlias = Callable[[Sequence[str], str], SandboxedCommand]
"""Maps the arguments of a program and its real directory to the command that runs it in a sandbox. Raises OSError."""


class Sandbox(Protocol):
    """Rewriter of argument lists that makes commands run in a sandbox. It starts nothing itself."""

    @property
    def name(self) -> str: ...

    @property
    def is_container(self) -> bool:
        """Whether commands see the programs and files of an image instead of this system's."""
        ...

    def wrap(self, arguments: Sequence[str], policy: SandboxPolicy, *, directory: str) -> SandboxedCommand:
        """Return how to start the command, whose first argument is an absolute path, in this directory.

        The caller must call `clean_up` of the result once the command has ended or was not started; it may be called
        again and raises nothing. Raises OSError when the sandbox cannot be prepared.
        """
        ...

    def sweep(self) -> None:
        """Clean up after detached commands that have ended. Raises nothing."""
        ...


class EnforcementAxis(Frozen):
    """One aspect of isolation: whether it is enforced, and how or why not."""

    enforced: bool
    detail: str


class SandboxReport(Frozen):
    """Outcome of a probe. `sandbox` is None if none is in use; `fix` then says what the user can do about it.

    `files` are the contents and names of files outside, `attributes` their permissions, times and extended attributes.
    `start_seconds` is how long a command takes to start, measured for containers only.
    """

    sandbox: str | None
    files: EnforcementAxis
    attributes: EnforcementAxis
    network: EnforcementAxis
    processes: EnforcementAxis
    control_files: EnforcementAxis
    secrets: EnforcementAxis
    fix: str = ""
    start_seconds: float | None = None


def unenforced_report(why: str, fix: str = "") -> SandboxReport:
    """Return the report of a run without a sandbox."""
    axis = EnforcementAxis(enforced=False, detail=why)
    return SandboxReport(None, axis, axis, axis, axis, axis, axis, fix)
