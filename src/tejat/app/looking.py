"""Looking at a machine and at what was done on it: rules, undo, jobs, sessions, what works here."""

import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from tejat.app.ground import survey
from tejat.app.house import grounds_of, jobs_directory, sandbox_mode, undo_directory
from tejat.app.tools import open_tools
from tejat.config.places import places_of
from tejat.core.explain import Check, PolicyFlags
from tejat.core.words import phrase

if TYPE_CHECKING:
    from tejat.engine.policy_book import PolicyBook
    from tejat.engine.session_files import SessionFiles
    from tejat.engine.undo import UndoJournal
    from tejat.workspace.jobs import Jobs


@contextmanager
def open_policy(flags: PolicyFlags) -> "Generator[PolicyBook]":
    """The rules of a run with these flags, to be asked about. Raises UsageError."""
    from tejat.engine.policy_book import Judge, PolicyBook

    with ExitStack() as stack:

        def open_judge() -> Judge:
            opened = open_tools(flags.roots, None, allowed_tools=flags.allowed_tools, mode=flags.mode, sandbox="off")
            session = stack.enter_context(opened)
            session.registry.select()  # what is switched off can be asked about too
            return Judge(session.settings, session.registry, session.scheduler.permission)

        yield PolicyBook(places_of(os.environ), open_judge)


def open_undo(directories: Sequence[str]) -> "UndoJournal":
    """The journal of what was changed in these directories. Raises UsageError when one is missing."""
    from tejat.engine.undo import UndoJournal

    return UndoJournal(undo_directory(places_of(os.environ)), directories)


def open_jobs() -> "Jobs":
    """The background jobs of this user."""
    from tejat.workspace.jobs import Jobs

    return Jobs(jobs_directory(places_of(os.environ)))


def open_sessions(directory: str) -> "SessionFiles":
    """The sessions of the project in this directory."""
    from tejat.engine.session_files import SessionFiles

    return SessionFiles(places_of(os.environ).state, directory)


def examine(directories: Sequence[str], wish: str | None) -> list[Check]:
    """What works here, tried for real. Raises UsageError, SandboxUnavailable among them."""
    from tejat.app.checks import configuration_checks
    from tejat.app.played import DEFAULT_MODEL
    from tejat.workspace.processes.shell import find_shell
    from tejat.workspace.ripgrep import program_path, ripgrep_path
    from tejat.workspace.roots import Roots
    from tejat.workspace.sandbox.choose import choose
    from tejat.workspace.sandbox.fencing import axes_of

    ground = survey(directories)
    wanted = sandbox_mode(wish, ground.settings)
    with Roots(directories) as roots:
        grounds = grounds_of(ground.places, roots.directories)
    _, report = choose(wanted, roots=grounds.roots, state=grounds.state)
    in_use = Check(phrase("sandbox"), phrase("in use"), report.sandbox is not None, report.sandbox or report.files.how)
    return [
        in_use,
        *(Check(phrase("sandbox"), _AXES[name], axis.enforced, axis.how) for name, axis in axes_of(report).items()),
        _program(phrase("shell"), find_shell(grounds.roots, os.environ.get("PATH", os.defpath))[0]),
        _program("git", program_path("git")),
        _program("rg", ripgrep_path()),
        *configuration_checks(ground, own=os.environ, default_model=DEFAULT_MODEL),
    ]


_AXES = {
    "files": phrase("files"),
    "network": phrase("network"),
    "processes": phrase("processes"),
    "control files": phrase("control files"),
    "secrets": phrase("secrets"),
}


def _program(name: str, path: str | None) -> Check:
    return Check(phrase("programs"), name, path is not None, path or phrase("not found"))
