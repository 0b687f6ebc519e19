"""Openers for subcommands that inspect rules, undo entries, jobs, sessions and the machine."""

import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from tejat.app.run_config import load_run_config
from tejat.app.tools.tool_services import resolve_sandbox_mode, sandbox_paths
from tejat.app.tools.toolset import open_tools
from tejat.config.paths import app_paths
from tejat.core.approval.policy_report import DoctorCheck, PolicyOptions
from tejat.core.i18n import lazy

if TYPE_CHECKING:
    from tejat.engine.calls.policy_inspector import PolicyInspector
    from tejat.engine.calls.undo_recorder import UndoRecorder
    from tejat.engine.sessions.session_store import SessionStore
    from tejat.workspace.jobs.store import JobStore
    from tejat.workspace.sandbox.types import SandboxReport


@contextmanager
def open_policy(flags: PolicyOptions) -> "Generator[PolicyInspector]":
    """Open the policy of a run with these options for queries. Raises UsageError."""
    from tejat.engine.calls.policy_inspector import PolicyContext, PolicyInspector

    with ExitStack() as stack:

        def open_judge() -> PolicyContext:
            opened = open_tools(flags.roots, None, allowed_tools=flags.allowed_tools, mode=flags.mode, sandbox="off")
            toolset = stack.enter_context(opened)
            toolset.registry.select()  # disabled tools can be asked about too
            return PolicyContext(toolset.settings, toolset.registry, toolset.scheduler.permission)

        yield PolicyInspector(app_paths(os.environ), open_judge)


def open_undo(directories: Sequence[str]) -> "UndoRecorder":
    """Open the undo log of these directories. Raises UsageError if one is missing."""
    from tejat.engine.calls.undo_recorder import UndoRecorder

    return UndoRecorder(app_paths(os.environ).undo, directories)


def open_jobs() -> "JobStore":
    """Open the background jobs of this user."""
    from tejat.workspace.jobs.store import JobStore

    return JobStore(app_paths(os.environ).jobs)


def open_sessions(directory: str) -> "SessionStore":
    """Open the sessions of the project in this directory."""
    from tejat.engine.sessions.session_store import SessionStore

    return SessionStore(app_paths(os.environ).sessions, directory)


def run_checks(directories: Sequence[str], requested: str | None) -> list[DoctorCheck]:
    """Run all doctor checks. Raises UsageError, SandboxUnavailable among them."""
    from tejat.app.setup.doctor import configuration_checks
    from tejat.app.model_source import DEFAULT_MODEL
    from tejat.workspace.files.roots import Roots
    from tejat.workspace.helper_program import find_program, find_ripgrep
    from tejat.workspace.processes.shell import find_shell
    from tejat.workspace.sandbox.selection import select_sandbox

    run_config = load_run_config(directories)
    mode = resolve_sandbox_mode(requested, run_config.settings)
    with Roots(directories) as roots:
        sandbox = sandbox_paths(run_config.paths, roots.directories)
    _, report = select_sandbox(mode, roots=sandbox.roots, state_directory=sandbox.state_directory)
    return [
        *_sandbox_checks(report),
        _program_check(lazy("shell"), find_shell(sandbox.roots, os.environ.get("PATH", os.defpath))[0]),
        _program_check("git", find_program("git")),
        _program_check("rg", find_ripgrep()),
        *configuration_checks(run_config, process_environment=os.environ, default_model=DEFAULT_MODEL),
    ]


def _sandbox_checks(report: "SandboxReport") -> list[DoctorCheck]:
    """Check what the sandbox enforces, or say once why there is none and what to do."""
    from tejat.workspace.sandbox.session_sandbox import axes_by_name

    group, in_use = lazy("sandbox"), lazy("in use")
    if report.sandbox is None:
        detail = lazy("NO SANDBOX: {why}. {fix}", why=report.files.detail, fix=report.fix)
        return [DoctorCheck(group, in_use, passed=False, detail=detail)]
    return [
        DoctorCheck(group, in_use, passed=True, detail=report.sandbox),
        *(
            DoctorCheck(group, _ISOLATION_LABELS[name], axis.enforced, axis.detail)
            for name, axis in axes_by_name(report).items()
        ),
    ]


_ISOLATION_LABELS = {
    "files": lazy("files"),
    "attributes": lazy("attributes"),
    "network": lazy("network"),
    "processes": lazy("processes"),
    "control files": lazy("control files"),
    "secrets": lazy("secrets"),
}


def _program_check(name: str, path: str | None) -> DoctorCheck:
    return DoctorCheck(lazy("programs"), name, path is not None, path or lazy("not found"))
