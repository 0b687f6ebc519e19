"""`run_shell_command`: runs a command line, waits for its end or leaves it in the background."""

import asyncio
import hashlib
import json
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import Annotated

from tejat.core.confirm import Confirmation, ExecConfirmation, TrialConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolResult
from tejat.core.value import replace, value
from tejat.core.words import phrase
from tejat.tools.capture import Capture
from tejat.tools.shell_result import Ran, cancelled, cancelled_before_start, cut_off, finished, not_started
from tejat.tools.shell_trial import keep, throw_away, trial_of
from tejat.tools.words import description_of
from tejat.workspace.jobs import Job, Jobs, JobState
from tejat.workspace.offload import Stop, off_loop
from tejat.workspace.path_failures import outside
from tejat.workspace.processes.collect import Limits, Why, collect
from tejat.workspace.processes.launching import Exit, Launch
from tejat.workspace.processes.live_output import LiveOutput
from tejat.workspace.processes.process_tree import not_named
from tejat.workspace.processes.shell import Shell, find_shell
from tejat.workspace.roots import Location, OpenDirectory
from tejat.workspace.sandbox.plan import Wrapped
from tejat.workspace.workspace import Workspace

LONGEST_COMMAND = 100_000
"""Bytes; the system takes no argument that is much longer."""
LONGEST_TIMEOUT = 3600
LONGEST_DELAY = 60_000

_POLL_SECONDS = 0.02


@value
class ShellParams:
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


@value
class _Proposal:
    """Everything that decides what will run, and where."""

    params: ShellParams
    real_directory: str

    @property
    def digest(self) -> str:
        params = self.params
        facts = (params.command, self.real_directory, params.is_background, params.network, params.timeout)
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


class ShellTool(ProposingTool[ShellParams]):
    spoken_name = "run shell command"
    bounds_output = True

    def __init__(self, workspace: Workspace, shell: Shell) -> None:
        super().__init__(
            name="run_shell_command",
            display_name="Shell",
            description=description_of("run_shell_command"),
            parameters=ShellParams,
            kind=Kind.EXECUTE,
            is_output_markdown=False,
            can_update_output=True,
        )
        self._roots = workspace.roots
        self._shell = shell

    def check(self, params: ShellParams) -> None:
        if not params.command.strip():
            raise _invalid(phrase("Command cannot be empty."))
        if "\0" in params.command:
            raise _invalid(phrase("Command cannot hold a NUL character."))
        try:
            size = len(params.command.encode())
        except UnicodeEncodeError:
            raise _invalid(phrase("Command holds half characters that no program could read.")) from None
        if size > LONGEST_COMMAND:
            raise _invalid(
                f"Command is too long ({size} bytes, at most {LONGEST_COMMAND}). Write it to a file and run that."
            )
        if params.timeout is not None and params.timeout > LONGEST_TIMEOUT:
            raise _invalid(phrase("params/timeout must be <= {most}", most=LONGEST_TIMEOUT))
        if params.timeout is not None and params.is_background:
            raise _invalid(
                phrase("params/timeout is not for background processes: stop them with stop_background_process.")
            )
        if params.delay_ms > LONGEST_DELAY:
            raise _invalid(phrase("params/delay_ms must be <= {most}", most=LONGEST_DELAY))
        self._check_directory(params)

    def describe(self, params: ShellParams) -> str:
        said = params.command
        if params.directory:
            said += f" [in {params.directory}]"
        if params.description:
            said += f" ({' '.join(params.description.splitlines())})"
        return said

    async def propose(self, params: ShellParams) -> Confirmation | None:
        with self._opened(params) as (_, real):
            proposal = _Proposal(params, real)
        notes = (
            phrase("It stays in the background, also when this session ends.") if params.is_background else "",
            phrase("It may use the network.") if params.network else "",
            phrase("It is stopped after {seconds} seconds.", seconds=params.timeout) if params.timeout else "",
            self._shell.sandbox_note,
        )
        return ExecConfirmation(
            title=phrase("Confirm Shell Command"),
            command=params.command,
            directory=proposal.real_directory,
            description=" ".join(params.description.splitlines()),
            notes=tuple(filter(None, notes)),
            digest=proposal.digest,
            proposal=proposal,
        )

    async def can_try(self, confirmation: Confirmation) -> bool:
        """As the contract says. What stays in the background has no end after which there is something to show."""
        copies, proposal = self._shell.copies, confirmation.proposal
        if copies is None or not isinstance(proposal, _Proposal) or proposal.params.is_background:
            return False
        return await off_loop(lambda _: copies().work)

    async def try_in_copy(self, confirmation: Confirmation, context: ToolContext) -> TrialConfirmation:
        """As the contract says. What the command leaves running is ended with it."""
        params, copies = _approved(confirmation), self._shell.copies
        if copies is None or not isinstance(confirmation, ExecConfirmation):
            raise _not_as_approved()
        try:
            with self._opened(params) as (directory, real):
                if _Proposal(params, real).digest != confirmation.digest:
                    raise _not_as_approved()
                copy = await off_loop(lambda _: copies().open())
                try:
                    arguments = [*self._interpreter, params.command]
                    wrapped = copies().wrap(copy, arguments, real, network=params.network)
                    launch = Launch(wrapped.arguments, directory.fd, self._shell.environment)
                    ran = Ran(params.command, params.directory or None)
                    result = await self._watch(params, ran, launch, wrapped, context, leaves_nothing=True)
                    return trial_of(confirmation, result, copy, await off_loop(copy.examine))
                except BaseException:
                    await off_loop(lambda _: copy.throw_away())
                    raise
        except OSError as error:
            raise ToolFailure(_reason(error), ErrorType.SHELL_EXECUTE_ERROR) from error

    async def throw_away(self, trial: TrialConfirmation) -> None:
        """As the contract says."""
        await throw_away(trial)

    async def run(self, params: ShellParams, context: ToolContext) -> ToolResult:
        if isinstance(context.approved, TrialConfirmation):
            return await keep(context.approved)
        if context.approved is not None:
            params = _approved(context.approved)
        ran = Ran(params.command, params.directory or None)
        try:
            with self._opened(params) as (directory, real):
                if context.approved is not None and _Proposal(params, real).digest != context.approved.digest:
                    raise _not_as_approved()
                wrapped = self._shell.wrap([*self._interpreter, params.command], real, params.network)
                launch = Launch(wrapped.arguments, directory.fd, self._shell.environment)
                if params.is_background:
                    return await self._leave_running(params, ran, launch, real, wrapped)
                try:
                    return await self._watch(params, ran, launch, wrapped, context)
                finally:
                    wrapped.clean_up()
        except OSError as error:
            return not_started(ran, _reason(error))
        except WorkspaceError as error:
            if error.error_type is ErrorType.PATH_NOT_IN_WORKSPACE:
                raise
            return not_started(ran, error.message)

    async def _watch(
        self,
        params: ShellParams,
        ran: Ran,
        launch: Launch,
        wrapped: Wrapped,
        context: ToolContext,
        *,
        leaves_nothing: bool = False,
    ) -> ToolResult:
        limits = Limits(idle=self._shell.idle or None, total=params.timeout or self._shell.total or None)
        with Capture(self._shell) as capture:
            live = LiveOutput(context.update_output) if context.update_output is not None else None
            try:
                ended = await collect(
                    await capture.start(launch),
                    capture.stdout,
                    capture.stderr,
                    out=capture.out,
                    err=capture.err,
                    limits=limits,
                    on_output=None if live is None else live.add,
                    leaves_nothing=leaves_nothing,
                )
            except asyncio.CancelledError:
                if context.keep_partial is not None:
                    context.keep_partial(
                        cancelled(capture.of(ran)) if capture.has_started else cancelled_before_start()
                    )
                raise
            except OSError as error:
                return not_started(capture.of(ran), _reason(error))
            finally:
                if live is not None:
                    live.close()
            ran = capture.of(ran)
            if ended.why is not Why.EXITED or ended.exit is None:
                limit = limits.idle if ended.why is Why.IDLE else limits.total
                return cut_off(ran, ended.why, limit=limit or ended.seconds)
            survivors = () if leaves_nothing else not_named(wrapped.attendants, ended.exit.survivors)
            if survivors:
                capture.let_go()
                wrapped.let_go()
            return finished(ran, replace(ended.exit, survivors=survivors))

    async def _leave_running(
        self, params: ShellParams, ran: Ran, launch: Launch, real_directory: str, wrapped: Wrapped
    ) -> ToolResult:
        jobs = self._shell.jobs
        started: list[Job] = []

        def start(_: Stop) -> None:
            started.append(
                jobs.start(launch, command=params.command, directory=real_directory, when_over=wrapped.clean_up)
            )

        try:
            await off_loop(start)
            pid = started[0].pid
            job = await _after(jobs, pid, seconds=params.delay_ms / 1000)
            part = await off_loop(lambda _: jobs.read(pid, offset=0))
        except asyncio.CancelledError:
            for job in started:
                await off_loop(partial(_stop, jobs, job.pid))
            raise
        except OSError:
            wrapped.clean_up()
            raise
        if job.state is JobState.EXITED:
            return finished(replace(ran, stdout=part.text, pid=pid), Exit(job.exit_code, job.signal))
        return ToolResult(
            f"Command is running in background. PID: {pid}. Initial output:\n{part.text}",
            phrase("Background process started with PID {pid}.", pid=pid),
        )

    @cached_property
    def _interpreter(self) -> tuple[str, ...]:
        roots = [root.real_path for root in self._roots.directories]
        return find_shell(roots, self._shell.environment.get("PATH", ""))

    def _check_directory(self, params: ShellParams) -> None:
        if not params.directory:
            return
        try:
            status = self._roots.stat(self._location(params))
        except WorkspaceError as error:
            if error.error_type is ErrorType.FILE_NOT_FOUND:
                raise _invalid(phrase("Directory must exist.")) from error
            raise
        if not stat.S_ISDIR(status.st_mode):
            raise _invalid(phrase("Directory must be a directory, not a file."))

    def _location(self, params: ShellParams) -> Location:
        return self._roots.locate(params.directory) if params.directory else Location(self._roots.first, "")

    @contextmanager
    def _opened(self, params: ShellParams) -> Generator[tuple[OpenDirectory, str]]:
        """The directory to run in, and its real path.

        Raises WorkspaceError: it has gone, or is not in a workspace directory.
        """
        location = self._location(params)
        with self._roots.open_directory(location) as directory:
            if directory.status.st_nlink == 0:
                raise WorkspaceError(phrase("Directory was deleted"), ErrorType.FILE_NOT_FOUND, path=location.path)
            real = directory.real_path
            # A directory that may only be read is no place to run something in.
            if not any(_is_in(real, root.real_path) for root in self._roots.directories):
                raise outside(params.directory, self._roots.paths)
            yield directory, real


def _approved(confirmation: Confirmation) -> ShellParams:
    if not isinstance(confirmation.proposal, _Proposal):
        raise _not_as_approved()
    return confirmation.proposal.params


async def _after(jobs: Jobs, pid: int, *, seconds: float) -> Job:
    """The job when so many seconds have passed, or when it has ended."""
    deadline = time.monotonic() + seconds
    while True:
        job = await off_loop(lambda _: jobs.job(pid))
        left = deadline - time.monotonic()
        if left <= 0 or job.state is JobState.EXITED:
            return job
        await asyncio.sleep(min(left, _POLL_SECONDS))


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _stop(jobs: Jobs, pid: int, _: Stop) -> None:
    with suppress(ToolFailure):
        jobs.stop(pid)


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root.rstrip('/')}/")


def _invalid(reason: str) -> ToolFailure:
    return ToolFailure(reason, ErrorType.INVALID_TOOL_PARAMS)


def _not_as_approved() -> ToolFailure:
    return ToolFailure(phrase("What would run is not what was approved, so nothing was run."), ErrorType.STALE_FILE)
