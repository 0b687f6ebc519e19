"""Sandbox of a session: selected once, then wrapped around every command."""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import SandboxUnavailable
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, lazy
from tejat.core.text.paths import is_beneath_any
from tejat.workspace.control_paths.changes import ControlPathChanges, ControlPathWatch
from tejat.workspace.control_paths.names import ControlNames
from tejat.workspace.control_paths.search import ControlPathSearch, FoundControlPaths
from tejat.workspace.files.session_directory import make_session_directory, remove_session_directory
from tejat.workspace.paths.secret_paths import find_secret_paths
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.container.options import ContainerOptions
from tejat.workspace.sandbox.paths import program_files
from tejat.workspace.sandbox.selection import select_sandbox
from tejat.workspace.sandbox.types import (
    EnforcementAxis,
    OverlayLayer,
    Sandbox,
    SandboxedCommand,
    SandboxMount,
    SandboxPolicy,
    SandboxReport,
)


class SandboxPaths(Frozen):
    """Paths that the sandbox of a session is built from. All of them are real paths.

    `own_directories` are Tejat's own, `control_paths` the files in each root that commands must not change,
    `blocked_paths` those that they must not create (see `SandboxPolicy`), `state_directory` holds clean-up records.
    """

    roots: tuple[str, ...]
    home: str
    own_directories: tuple[str, ...]
    control_paths: tuple[tuple[str, bool], ...]
    blocked_paths: tuple[str, ...]
    state_directory: str


class SessionSandbox:
    """Context manager for the sandbox of a session. Raises SandboxUnavailable if one is required and none works.

    With `network`, commands may always use the network; if it `is_offline`, no command may. `mounts` are further places
    that commands see, `container` says which containers may be used. The private temporary directory is removed at the
    end unless `is_in_use` returns true because a background job may still need it.
    """

    def __init__(
        self,
        mode: SandboxMode,
        paths: SandboxPaths,
        *,
        network: bool = False,
        is_offline: bool = False,
        mounts: tuple[SandboxMount, ...] = (),
        container: ContainerOptions | None = None,
        is_in_use: Callable[[], bool] = lambda: False,
    ) -> None:
        self._mode = mode
        self._paths = paths
        self._network = network
        self._is_offline = is_offline
        self._mounts = mounts
        self._container = container
        self._is_in_use = is_in_use
        self._sandbox, self.report = self._select(paths)
        self._temp_directory: str | None = None
        self._pending_detaches: set[Callable[[], None]] = set()
        self._search = ControlPathSearch(ControlNames(self.control_paths))
        self._last_found: FoundControlPaths | None = None
        self._has_unseen_changes = False
        self._created: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        if self._sandbox is not None:
            self._temp_directory = make_session_directory()
        return self

    def __exit__(self, *_: object) -> None:
        while self._pending_detaches:  # jobs that still run, or whose end nobody has noticed
            self._pending_detaches.pop()()
        if self._sandbox is not None:
            self._sandbox.sweep()
        if self._temp_directory is not None and not self._is_in_use():
            remove_session_directory(self._temp_directory)

    def _select(self, paths: SandboxPaths) -> tuple[Sandbox | None, SandboxReport]:
        sandbox, report = select_sandbox(
            self._mode, roots=paths.roots, state_directory=paths.state_directory, container=self._container
        )
        moved = next((mount for mount in self._mounts if mount.source != mount.target), None)
        if sandbox is not None and not sandbox.is_container and moved is not None:
            message = lazy(
                "SANDBOX_MOUNTS mounts {source} at {target}, which needs a container. {sandbox} cannot change "
                "paths: use {source} only.",
                source=moved.source,
                target=moved.target,
                sandbox=sandbox.name,
            )
            raise SandboxUnavailable(message)
        return sandbox, report

    @property
    def is_container(self) -> bool:
        """Whether commands run in a container, with the programs of an image."""
        return self._sandbox is not None and self._sandbox.is_container

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables for commands."""
        return {} if self._sandbox is None else {"SANDBOX": self._sandbox.name}

    @property
    def warning(self) -> str:
        """Note for approval prompts on what is not enforced; empty if everything is."""
        return format_warning(self.report)

    def add_roots(self, roots: Sequence[str]) -> None:
        """Make these real paths writable as well.

        Raises SandboxUnavailable, and changes nothing, if no sandbox works for them.
        """
        paths = replace(self._paths, roots=(*self._paths.roots, *roots))
        if self._sandbox is not None:
            sandbox, report = self._select(paths)
            if sandbox is None:
                raise SandboxUnavailable(_("The sandbox would stop working: {why}.", why=report.files.detail))
            self._sandbox, self.report = sandbox, report
        self._paths = paths
        self._last_found = None  # it does not cover the new roots

    def show(self, directory: str) -> None:
        """Let commands read a directory (a real path) that may lie in a hidden one."""
        if not any(mount.source == directory for mount in self._mounts):
            self._mounts += (SandboxMount(directory, directory),)

    def wrap(self, arguments: Sequence[str], directory: str, network: bool) -> SandboxedCommand:
        """Return how to start a command in the sandbox. Raises OSError when the sandbox cannot be prepared."""
        return self._wrap(arguments, directory, network=network)

    def wrap_program(self, arguments: Sequence[str], directory: str) -> SandboxedCommand:
        """Like `wrap`, for a configured program such as an MCP server: its own files are visible wherever they lie."""
        return self._wrap(arguments, directory, network=False, programs=program_files(arguments, directory))

    def _wrap(
        self, arguments: Sequence[str], directory: str, *, network: bool, programs: tuple[str, ...] = ()
    ) -> SandboxedCommand:
        if self._sandbox is None:
            return SandboxedCommand(tuple(arguments))
        if network and self._is_offline:
            raise OSError(errno.EPERM, lazy("GEMINI_SANDBOX_PROXY_COMMAND is not supported, so the network is off"))
        # What a background process has done since the last command is reported with this one.
        is_unseen = self._has_unseen_changes or bool(self._pending_detaches)
        earlier = self._last_found if is_unseen else None
        policy = self._build_policy(network=network, programs=programs)
        wrapped = self._sandbox.wrap(arguments, policy, directory=directory)
        self._pending_detaches.add(wrapped.detach)
        watch = ControlPathWatch(earlier or policy.found, wrapped.unprotected_paths, self._find_control_paths)

        def clean_up() -> None:
            self._has_unseen_changes = True
            self._pending_detaches.discard(wrapped.detach)
            wrapped.clean_up()

        def find_changes() -> ControlPathChanges:
            self._has_unseen_changes = False
            changes = watch.find_changes()
            self._remember_created(policy.found)
            return changes

        return replace(wrapped, clean_up=clean_up, find_changes=find_changes)

    def _remember_created(self, before: FoundControlPaths) -> None:
        """Remember what a command has created: later ones may go on with it, add a remote for example, or remove it.

        What it says is not the user's, so there is nothing to protect. Changes are still reported. At the top of a root
        nothing counts as created: programs run by the user obey it there, and placeholders of other commands are seen.
        """
        after = self._last_found
        if after is not None and before.is_complete:
            new = {*after.git_directories, *after.paths}.difference(before.all_paths())
            created = (path for path in new if not self._is_at_top(path))
            self._created = self._created.union(created).intersection(after.all_paths())

    def _is_at_top(self, path: str) -> bool:
        tops = (f"{root}/{relative.partition('/')[0]}" for root in self._paths.roots for relative in self.control_paths)
        return is_beneath_any(path, tuple(tops))

    def _find_control_paths(self) -> FoundControlPaths:
        self._last_found = self._search.run(self._paths.roots)
        return self._last_found

    @property
    def supports_overlay(self) -> bool:
        """Whether the kind of sandbox supports overlays. Whether they work on this system has to be tried."""
        return isinstance(self._sandbox, BubblewrapSandbox)

    @property
    def overlay_targets(self) -> tuple[str, ...]:
        """The directories that an overlay needs a layer over: the roots and the temporary directory."""
        return (*self._paths.roots, self._open_temp_directory)

    @property
    def control_paths(self) -> tuple[str, ...]:
        """Paths, relative to each root, that commands must not change."""
        return tuple(path for path, _ in self._paths.control_paths)

    def wrap_in_overlay(
        self, arguments: Sequence[str], directory: str, layers: Sequence[OverlayLayer], *, network: bool
    ) -> SandboxedCommand:
        """Like `wrap`, with a layer over each overlay target. Raises OSError if overlays are not supported."""
        if not isinstance(self._sandbox, BubblewrapSandbox):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        policy = self._build_policy(network=network)
        return self._sandbox.wrap_in_overlay(arguments, policy, layers, directory=directory)

    @property
    def _open_temp_directory(self) -> str:
        if self._temp_directory is None:
            raise RuntimeError("the sandbox of the session is not open")
        return self._temp_directory

    def _build_policy(self, *, network: bool, programs: tuple[str, ...] = ()) -> SandboxPolicy:
        paths = self._paths
        shown = {mount.source for mount in self._mounts}
        hidden = (*find_secret_paths(paths.home), *filter(os.path.lexists, paths.own_directories))
        return SandboxPolicy(
            writable_roots=paths.roots,
            temp_directory=self._open_temp_directory,
            read_only_paths=paths.control_paths,
            hidden_paths=tuple(path for path in hidden if os.path.realpath(path) not in shown),
            network=network or self._network,
            blocked_paths=paths.blocked_paths,
            programs=programs,
            found=self._find_control_paths(),
            left_open=self._created,
            mounts=self._mounts,
        )


def format_warning(report: SandboxReport) -> str:
    """Return one line on what is not enforced, empty if everything is."""
    if report.sandbox is None:
        return _("No sandbox: {why}.", why=report.files.detail)
    unguarded = [f"{name} ({axis.detail})" for name, axis in axes_by_name(report).items() if not axis.enforced]
    if not unguarded:
        return ""
    return _("The sandbox ({name}) does not protect: {what}.", name=report.sandbox, what=", ".join(unguarded))


def axes_by_name(report: SandboxReport) -> dict[str, EnforcementAxis]:
    """Return the axes of a report by their display names."""
    return {
        "files": report.files,
        "attributes": report.attributes,
        "network": report.network,
        "processes": report.processes,
        "control files": report.control_files,
        "secrets": report.secrets,
    }
