"""Checks of the sandbox for `tejat doctor`: what is in use, what it enforces, and what runs inside."""

from collections.abc import Iterator, Sequence

from tejat.app.run_config import RunConfig
from tejat.app.setup.fixes import source_fix
from tejat.app.tools.sandbox.options import SandboxOptions, resolve_sandbox, sandbox_notes, sandbox_options
from tejat.app.tools.sandbox.paths import sandbox_paths
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_NO_SANDBOX, EXIT_USAGE
from tejat.core.i18n import join_lazy, lazy
from tejat.workspace.files.roots import Roots
from tejat.workspace.sandbox.selection import select_sandbox
from tejat.workspace.sandbox.session_sandbox import axes_by_name
from tejat.workspace.sandbox.types import Sandbox, SandboxReport

_GROUP = lazy("sandbox")
_IN_USE = lazy("in use")
_LABELS = {
    "files": lazy("files"),
    "attributes": lazy("attributes"),
    "network": lazy("network"),
    "processes": lazy("processes"),
    "control files": lazy("control files"),
    "secrets": lazy("secrets"),
}
_CONTAINER_VARIABLES = ("SANDBOX_FLAGS", "SANDBOX_ENV", "GEMINI_SANDBOX_IMAGE")


def sandbox_checks(run_config: RunConfig, directories: Sequence[str], word: str | None) -> list[DoctorCheck]:
    """Check the sandbox of a run in these directories. A refusal is a failed check. Raises UsageError."""
    wanted = resolve_sandbox(word, run_config.settings)
    with Roots(directories) as roots:
        found = roots.directories
    try:
        paths = sandbox_paths(run_config.paths, found)
        options = sandbox_options(run_config, wanted)
        sandbox, report = select_sandbox(
            options.mode, roots=paths.roots, state_directory=paths.state_directory, container=options.container
        )
    except SandboxUnavailable as error:
        detail = "; ".join(line.rstrip(".") for line in str(error).splitlines())
        fix = source_fix(detail) or "tejat --sandbox=auto"
        return [DoctorCheck(_GROUP, _IN_USE, passed=False, detail=detail, exit_code=EXIT_NO_SANDBOX, fix=fix)]
    except (OSError, UsageError) as error:
        return [DoctorCheck(_GROUP, _IN_USE, passed=False, detail=str(error), exit_code=EXIT_USAGE)]
    return [*_enforcement(sandbox, report, options), *_variables(run_config, sandbox), *_notes(run_config, word)]


def _enforcement(sandbox: Sandbox | None, report: SandboxReport, options: SandboxOptions) -> Iterator[DoctorCheck]:
    """What the sandbox enforces and what runs in it, or why there is none and what to do."""
    if sandbox is None or report.sandbox is None:
        detail = lazy("NO SANDBOX: {why}. {fix}", why=report.files.detail, fix=report.fix)
        yield DoctorCheck(_GROUP, _IN_USE, passed=False, detail=detail)
        return
    yield DoctorCheck(_GROUP, _IN_USE, passed=True, detail=report.sandbox)
    for name, axis in axes_by_name(report).items():
        yield DoctorCheck(_GROUP, _LABELS[name], axis.enforced, axis.detail, fix="" if axis.enforced else report.fix)
    if report.start_seconds is not None:
        detail = lazy("{seconds:.2f} seconds for each command", seconds=report.start_seconds)
        yield DoctorCheck(_GROUP, lazy("start"), passed=True, detail=detail)
    inside, outside = _columns(is_container=sandbox.is_container)
    yield DoctorCheck(_GROUP, lazy("inside"), passed=True, detail=join_lazy(", ", inside))
    yield DoctorCheck(_GROUP, lazy("outside"), passed=True, detail=join_lazy(", ", outside))
    if options.mounts:
        shown = ", ".join(f"{mount.source} (rw)" if mount.is_writable else mount.source for mount in options.mounts)
        yield DoctorCheck(_GROUP, lazy("mounted"), passed=True, detail=shown)


def _columns(*, is_container: bool) -> tuple[list[str], list[str]]:
    """What runs inside the sandbox and what outside."""
    commands, files, hooks = lazy("shell commands"), lazy("file tools"), lazy("hooks")
    programs = [lazy("tool commands"), lazy("MCP servers with a command")]
    if is_container:
        return [commands, *programs], [files, hooks, lazy('MCP servers with "sandbox": false')]
    return [commands, lazy('MCP servers with "sandbox": true')], [files, hooks, *programs]


def _variables(run_config: RunConfig, sandbox: Sandbox | None) -> Iterator[DoctorCheck]:
    """The variables of Gemini CLI that have no effect here."""
    environment = run_config.environment
    reasons = {
        "SANDBOX_PORTS": lazy("no ports are published"),
        "SANDBOX_SET_UID_GID": lazy("commands always run with your user and group id"),
        "SEATBELT_PROFILE": lazy("only for macOS"),
    }
    if sandbox is None or not sandbox.is_container:
        reasons |= dict.fromkeys(_CONTAINER_VARIABLES, lazy("only for containers"))
    for name, reason in reasons.items():
        if environment.get(name, "").strip():
            yield DoctorCheck(_GROUP, name, passed=True, detail=lazy("read, has no effect: {why}", why=reason))


def _notes(run_config: RunConfig, word: str | None) -> Iterator[DoctorCheck]:
    for note in sandbox_notes(run_config, resolve_sandbox(word, run_config.settings)):
        yield DoctorCheck(_GROUP, lazy("note"), passed=False, detail=note)
