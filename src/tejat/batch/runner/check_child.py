"""The check of a task in a child of the template process: a command in the sandbox of the agent's own commands."""

import asyncio
import os
import socket
from collections.abc import Sequence

from tejat.app.tools.tool_services import ToolServices
from tejat.batch.directory import BatchDirectory
from tejat.batch.job import TaskJob
from tejat.batch.runner.agent_child import agent_options, load_task_config
from tejat.batch.runner.child_request import CHECKED, ChildRequest, encode_message
from tejat.batch.runner.outcome import CheckReport
from tejat.core.errors import SandboxUnavailable, TejatError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.frozen import fields_of
from tejat.core.i18n import _
from tejat.workspace.context import Workspace
from tejat.workspace.files.private_files import open_private_file
from tejat.workspace.files.roots import Location
from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.output_collector import (
    CommandEndReason,
    CommandOutcome,
    TimeLimits,
    collect_output,
    open_pipe,
)
from tejat.workspace.processes.shell import ShellContext, find_shell
from tejat.workspace.processes.spawn import ProcessSpec

MAX_OUTPUT_BYTES = 10 << 20
_SIGNAL_BASE = 128


def run_check(request: ChildRequest, channel: socket.socket) -> int:
    """Run the check of a job in the current process, and send how it ended to the driver."""
    report = _run(request)
    values = {each.name: getattr(report, each.name) for each in fields_of(CheckReport)}
    channel.sendall(encode_message(CHECKED, {**values, "warnings": list(report.warnings)}))
    return EXIT_OK


def _run(request: ChildRequest) -> CheckReport:
    job = request.job
    task = BatchDirectory(job.directory).task(job.task.id)
    buffer = BoundedBuffer(head=MAX_OUTPUT_BYTES // 2, tail=MAX_OUTPUT_BYTES // 2, spool=None, spool_limit=0)
    warnings: list[str] = []
    try:
        os.chdir(task.tree)
        run_config = load_task_config(agent_options(job), request)
        with (
            Workspace(run_config.roots, ignore=run_config.ignore_options) as workspace,
            ToolServices(workspace, run_config, job.task.sandbox) as services,
        ):
            services.on_warning = warnings.append
            outcome = asyncio.run(_run_command(job, workspace, services.shell(), buffer))
        write_output(task.check, buffer)
    except SandboxUnavailable as error:
        return CheckReport(None, problem=str(error), is_sandbox_missing=True)
    except (TejatError, OSError) as error:
        return CheckReport(None, problem=str(error), warnings=tuple(warnings))
    return _describe(outcome, warnings)


async def _run_command(
    job: TaskJob, workspace: Workspace, shell: ShellContext, buffer: BoundedBuffer
) -> CommandOutcome:
    """Raises OSError, WorkspaceError."""
    roots = workspace.roots
    real_paths = [root.real_path for root in roots.directories]
    with roots.open_directory(Location(roots.first, "")) as directory:
        arguments = [*find_shell(real_paths, shell.environment.get("PATH", "")), job.task.check]
        wrapped = shell.wrap(arguments, directory.real_path, False)
        readable, writable = open_pipe()
        try:
            spec = ProcessSpec(wrapped.arguments, directory.fd, {**shell.environment, **wrapped.environment})
            try:
                running = await shell.supervisor.start(spec, stdout=writable, stderr=writable)
            finally:
                os.close(writable)
            return await collect_output(
                running,
                # One pipe for both: their order is kept.
                readable,
                readable,
                out=buffer,
                err=buffer,
                limits=TimeLimits(idle=None, total=job.task.check_seconds),
                stop_survivors=True,
            )
        finally:
            os.close(readable)
            wrapped.clean_up()


def write_output(path: str, buffer: BoundedBuffer) -> None:
    """Write what a check printed, with a note in place of the part that was left out. Raises OSError."""
    descriptor = open_private_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with open(descriptor, "wb") as file:
        file.write(buffer.head_bytes)
        if buffer.omitted:
            file.write(("\n" + _("[... {count} bytes left out ...]", count=buffer.omitted) + "\n").encode())
        file.write(buffer.tail_bytes)


def _describe(outcome: CommandOutcome, warnings: Sequence[str]) -> CheckReport:
    if outcome.reason is not CommandEndReason.EXITED or outcome.exit is None:
        return CheckReport(None, is_timed_out=True, warnings=tuple(warnings))
    ended = outcome.exit
    code = ended.code if ended.code is not None else _SIGNAL_BASE + (ended.signal or 0)
    return CheckReport(code, warnings=tuple(warnings))
