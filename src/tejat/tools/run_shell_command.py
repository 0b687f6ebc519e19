"""`run_shell_command`: runs a shell command, in the foreground or in the background."""

import asyncio
import hashlib
import json
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import Annotated

from tejat.core.approval.confirmation import Confirmation, ExecConfirmation, TrialConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.text.paths import is_beneath_any
from tejat.core.tools.base import ProposingTool, ToolContext, ToolResult
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import command_mismatch, invalid_params, os_error_text
from tejat.tools.shell.live_display import LiveDisplay
from tejat.tools.shell.output_capture import OutputCapture
from tejat.tools.shell.result import (
    CommandRun,
    add_sandbox_notes,
    cancelled_before_start_result,
    cancelled_result,
    describe_changes,
    finished_result,
    start_failure_result,
    timeout_result,
)
from tejat.tools.shell.trial import apply_trial, build_trial_confirmation, discard_trial
from tejat.workspace.context import Workspace
from tejat.workspace.files.path_errors import outside_workspace_error
from tejat.workspace.files.roots import Location, OpenDirectory
from tejat.workspace.jobs.store import Job, JobState, JobStore
from tejat.workspace.processes.output_collector import CommandEndReason, TimeLimits, collect_output
from tejat.workspace.processes.process_tree import exclude_named
from tejat.workspace.processes.shell import ShellContext, find_shell, run_without_sandbox
from tejat.workspace.processes.spawn import ExitStatus, ProcessSpec
from tejat.workspace.sandbox.types import SandboxedCommand
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

MAX_COMMAND_BYTES = 100_000
"""The system limits arguments to about this size."""
MAX_TIMEOUT_SECONDS = 3600
MAX_DELAY_MS = 60_000

_POLL_SECONDS = 0.02


class ShellParams(Frozen):
    command: Annotated[str, Param("The command line, exactly as bash gets it.")]
    description: Annotated[str, Param("One line for the user that says what the command does.")] = ""
    directory: Annotated[
        str, Param("Where to run it: a directory of the workspace. Default: its root.", aliases=("dir_path",))
    ] = ""
    is_background: Annotated[bool, Param("Leave it running and answer at once. For servers and long jobs.")] = False
    network: Annotated[bool, Param("Whether the command needs the network.")] = False
    timeout: Annotated[
        int | None, Param("Seconds after which it is stopped, at most 3600.", minimum=1, json_type="number")
    ] = None
    delay_ms: Annotated[int, Param(minimum=0, declared=False)] = 200


class _ShellProposal(Frozen):
    """Everything that decides what runs, and where."""

    params: ShellParams
    real_path: str

    @property
    def digest(self) -> str:
        params = self.params
        facts = (params.command, self.real_path, params.is_background, params.network, params.timeout)
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


class ShellTool(ProposingTool[ShellParams]):
    """The tool `run_shell_command`: run a shell command."""

    error_label = "run shell command"
    limits_own_output = True

    def __init__(self, workspace: Workspace, shell: ShellContext) -> None:
        super().__init__(
            **tool_labels("run_shell_command", "Shell"),
            parameters=ShellParams,
            kind=Kind.EXECUTE,
            is_output_markdown=False,
            can_update_output=True,
        )
        self._roots = workspace.roots
        self._shell = shell

    def check(self, params: ShellParams) -> None:
        if not params.command.strip():
            raise invalid_params(lazy("Command cannot be empty."))
        if "\0" in params.command:
            raise invalid_params(lazy("Command cannot contain a NUL character."))
        try:
            size = len(params.command.encode())
        except UnicodeEncodeError:
            raise invalid_params(lazy("Command contains lone surrogates, which cannot be encoded.")) from None
        if size > MAX_COMMAND_BYTES:
            raise invalid_params(
                f"Command is too long ({size} bytes, at most {MAX_COMMAND_BYTES}). Write it to a file and run that."
            )
        if params.timeout is not None and params.timeout > MAX_TIMEOUT_SECONDS:
            raise invalid_params(lazy("params/timeout must be <= {most}", most=MAX_TIMEOUT_SECONDS))
        if params.timeout is not None and params.is_background:
            raise invalid_params(
                lazy("params/timeout does not apply to background processes: stop them with stop_background_process.")
            )
        if params.delay_ms > MAX_DELAY_MS:
            raise invalid_params(lazy("params/delay_ms must be <= {most}", most=MAX_DELAY_MS))
        self._check_directory(params)

    def describe(self, params: ShellParams) -> str:
        text = params.command
        if params.directory:
            text += f" [in {params.directory}]"
        if params.description:
            text += f" ({' '.join(params.description.splitlines())})"
        return text

    async def propose(self, params: ShellParams) -> Confirmation | None:
        with self._open_directory(params) as (_, real):
            proposal = _ShellProposal(params, real)
        notes = (
            lazy("It keeps running in the background, even after this session ends.") if params.is_background else "",
            lazy("It may use the network.") if params.network else "",
            lazy("It is stopped after {seconds} seconds.", seconds=params.timeout) if params.timeout else "",
            self._shell.sandbox_note,
        )
        return ExecConfirmation(
            title=lazy("Confirm Shell Command"),
            command=params.command,
            directory=proposal.real_path,
            description=" ".join(params.description.splitlines()),
            notes=tuple(filter(None, notes)),
            digest=proposal.digest,
            proposal=proposal,
        )

    async def can_try(self, confirmation: Confirmation) -> bool:
        """See `TrialTool`. A background command has no result to try."""
        copies, proposal = self._shell.copies, confirmation.proposal
        if copies is None or not isinstance(proposal, _ShellProposal) or proposal.params.is_background:
            return False
        return await run_blocking(lambda _: copies().is_supported)

    async def run_trial(self, confirmation: Confirmation, context: ToolContext) -> TrialConfirmation:
        """See `TrialTool`. Processes that the command leaves behind are killed."""
        params, copies = _approved_params(confirmation), self._shell.copies
        if copies is None or not isinstance(confirmation, ExecConfirmation):
            raise command_mismatch()
        try:
            with self._open_directory(params) as (directory, real):
                if _ShellProposal(params, real).digest != confirmation.digest:
                    raise command_mismatch()
                copy = await run_blocking(lambda _: copies().open())
                try:
                    arguments = [*self._shell_argv, params.command]
                    wrapped = copies().wrap(copy, arguments, real, network=params.network)
                    environment = {**self._shell.environment, **wrapped.environment}
                    launch = ProcessSpec(wrapped.arguments, directory.fd, environment)
                    run = CommandRun(params.command, params.directory or None)
                    display = LiveDisplay(self._shell, context.update_output)
                    result = await self._run_foreground(
                        params, run, launch, wrapped, context, display, leaves_nothing=True
                    )
                    changes = await run_blocking(copy.collect_changes)
                    return build_trial_confirmation(confirmation, result, copy, changes)
                except BaseException:
                    await run_blocking(lambda _: copy.discard())
                    raise
        except OSError as error:
            raise ToolFailure(os_error_text(error), ErrorType.SHELL_EXECUTE_ERROR) from error

    async def discard_trial(self, trial: TrialConfirmation) -> None:
        """See `TrialTool`."""
        await discard_trial(trial)

    async def run(self, params: ShellParams, context: ToolContext) -> ToolResult:
        if isinstance(context.approved, TrialConfirmation):
            return await apply_trial(context.approved)
        if context.approved is not None:
            params = _approved_params(context.approved)
        run = CommandRun(params.command, params.directory or None)
        try:
            with self._open_directory(params) as (directory, real):
                if context.approved is not None and _ShellProposal(params, real).digest != context.approved.digest:
                    raise command_mismatch()
                wrapped = await self._wrap(params, real, context)
                environment = {**self._shell.environment, **context.environment, **wrapped.environment}
                launch = ProcessSpec(wrapped.arguments, directory.fd, environment)
                if params.is_background:
                    return await self._start_background(params, run, launch, real, wrapped)
                display = LiveDisplay(self._shell, context.update_output, call_id=context.call_id, directory=real)
                return await self._run_shown(params, run, launch, wrapped, context, display)
        except OSError as error:
            return start_failure_result(run, os_error_text(error))
        except WorkspaceError as error:
            if error.error_type is ErrorType.PATH_NOT_IN_WORKSPACE:
                raise
            return start_failure_result(run, error.message)

    async def _wrap(self, params: ShellParams, real_path: str, context: ToolContext) -> SandboxedCommand:
        arguments = [*self._shell_argv, params.command]
        if self._shell.wrap is run_without_sandbox:
            return run_without_sandbox(arguments, real_path, params.network)
        made: list[SandboxedCommand] = []
        try:
            # In a thread: the whole tree is searched for what the sandbox has to protect.
            await run_blocking(lambda _: made.append(self._shell.wrap(arguments, real_path, params.network)))
        except asyncio.CancelledError:
            for wrapped in made:
                wrapped.clean_up()
            context.keep_partial(cancelled_before_start_result(context.cancel_reason))
            raise
        return made[0]

    async def _run_shown(
        self,
        params: ShellParams,
        run: CommandRun,
        launch: ProcessSpec,
        wrapped: SandboxedCommand,
        context: ToolContext,
        display: LiveDisplay,
    ) -> ToolResult:
        """Run the command in the foreground and show its end."""
        note = ""
        try:
            try:
                result = await self._run_foreground(params, run, launch, wrapped, context, display)
            finally:
                wrapped.clean_up()
            if self._shell.wrap is not run_without_sandbox:
                changes = await run_blocking(lambda _: wrapped.find_changes())
                result = add_sandbox_notes(result, changes, has_mounts=bool(wrapped.helper_processes))
                note = describe_changes(changes)
            await display.finish(result, note, keep_result=context.keep_partial)
            return result
        finally:
            display.close()

    async def _run_foreground(
        self,
        params: ShellParams,
        run: CommandRun,
        launch: ProcessSpec,
        wrapped: SandboxedCommand,
        context: ToolContext,
        display: LiveDisplay,
        *,
        leaves_nothing: bool = False,
    ) -> ToolResult:
        limits = TimeLimits(idle=self._shell.idle or None, total=params.timeout or self._shell.total or None)
        with OutputCapture(self._shell) as capture:
            try:
                running = await capture.start(launch)
                display.attach(running)
                outcome = await collect_output(
                    running,
                    capture.stdout,
                    capture.stderr,
                    out=capture.out,
                    err=capture.err,
                    limits=limits,
                    on_output=display.sink,
                    stop_survivors=leaves_nothing,
                )
            except asyncio.CancelledError:
                reason = context.cancel_reason
                context.keep_partial(
                    cancelled_result(capture.with_output(run), reason)
                    if capture.has_started
                    else cancelled_before_start_result(reason)
                )
                raise
            except OSError as error:
                return start_failure_result(capture.with_output(run), os_error_text(error))
            finally:
                display.end_output()
            run = capture.with_output(run)
            if display.was_stopped:
                return cancelled_result(run)
            if outcome.reason is not CommandEndReason.EXITED or outcome.exit is None:
                limit = limits.idle if outcome.reason is CommandEndReason.IDLE else limits.total
                return timeout_result(run, outcome.reason, limit=limit or outcome.seconds)
            survivors = () if leaves_nothing else exclude_named(wrapped.helper_processes, outcome.exit.survivors)
            if survivors:
                capture.detach()
                wrapped.detach()
            return finished_result(run, replace(outcome.exit, survivors=survivors))

    async def _start_background(
        self, params: ShellParams, run: CommandRun, launch: ProcessSpec, real_path: str, wrapped: SandboxedCommand
    ) -> ToolResult:
        jobs = self._shell.jobs
        started: list[Job] = []

        def start(_: StopToken) -> None:
            started.append(
                jobs.start(
                    launch,
                    command=params.command,
                    directory=real_path,
                    on_exit=wrapped.clean_up,
                    stop_command=wrapped.stop_command,
                )
            )

        try:
            await run_blocking(start)
            pid = started[0].pid
            job = await _wait_for_job(jobs, pid, seconds=params.delay_ms / 1000)
            part = await run_blocking(lambda _: jobs.read_log(pid, offset=0))
        except asyncio.CancelledError:
            for job in started:
                await run_blocking(partial(_stop_job, jobs, job.pid))
            raise
        except OSError:
            wrapped.clean_up()
            raise
        if job.state is JobState.EXITED:
            return finished_result(replace(run, stdout=part.text, pid=pid), ExitStatus(job.exit_code, job.signal))
        if self._shell.on_background is not None:
            self._shell.on_background(jobs, job)
        return ToolResult(
            f"Command is running in background. PID: {pid}. Initial output:\n{part.text}",
            lazy("Background process started with PID {pid}.", pid=pid),
        )

    @cached_property
    def _shell_argv(self) -> tuple[str, ...]:
        roots = [root.real_path for root in self._roots.directories]
        return find_shell(roots, self._shell.environment.get("PATH", ""))

    def _check_directory(self, params: ShellParams) -> None:
        if not params.directory:
            return
        try:
            status = self._roots.stat(self._location(params))
        except WorkspaceError as error:
            if error.error_type is ErrorType.FILE_NOT_FOUND:
                raise invalid_params(lazy("Directory must exist.")) from error
            raise
        if not stat.S_ISDIR(status.st_mode):
            raise invalid_params(lazy("Directory must be a directory, not a file."))

    def _location(self, params: ShellParams) -> Location:
        return self._roots.locate(params.directory) if params.directory else Location(self._roots.first, "")

    @contextmanager
    def _open_directory(self, params: ShellParams) -> Generator[tuple[OpenDirectory, str]]:
        """Open the directory to run in; yields it with its real path.

        Raises WorkspaceError if it is gone or outside of the workspace.
        """
        location = self._location(params)
        with self._roots.open_directory(location) as directory:
            if directory.status.st_nlink == 0:
                raise WorkspaceError(lazy("Directory was deleted"), ErrorType.FILE_NOT_FOUND, path=location.path)
            real = directory.real_path
            # Commands do not run in directories that are only readable.
            if not is_beneath_any(real, (root.real_path for root in self._roots.directories)):
                raise outside_workspace_error(params.directory, self._roots.paths)
            yield directory, real


def _approved_params(confirmation: Confirmation) -> ShellParams:
    if not isinstance(confirmation.proposal, _ShellProposal):
        raise command_mismatch()
    return confirmation.proposal.params


async def _wait_for_job(jobs: JobStore, pid: int, *, seconds: float) -> Job:
    """Wait until the job has ended, at most this many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        job = await run_blocking(lambda _: jobs.get(pid))
        left = deadline - time.monotonic()
        if left <= 0 or job.state is JobState.EXITED:
            return job
        await asyncio.sleep(min(left, _POLL_SECONDS))


def _stop_job(jobs: JobStore, pid: int, _: StopToken) -> None:
    with suppress(ToolFailure):
        jobs.stop(pid)
