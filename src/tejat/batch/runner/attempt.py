"""One attempt at a task, step by step."""

import asyncio
import os
import platform
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress

from tejat.batch.directory import BatchDirectory
from tejat.batch.engines.contract import JobLost, ReportActivity
from tejat.batch.events import TaskPhase
from tejat.batch.git.commit import resolve_commit
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import Mirror, open_mirror
from tejat.batch.git.patch import PatchSummary, write_patch
from tejat.batch.git.tree import create_tree
from tejat.batch.job import TaskJob
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.runner.attempts import remember_mirror
from tejat.batch.runner.background import stop_background_jobs
from tejat.batch.runner.child_request import ACTIVITY, CHECKED, ChildRequest, ChildWork
from tejat.batch.runner.outcome import CheckReport, RunReport, Verdict, judge_run, judge_task
from tejat.batch.runner.records import is_full_error, record_run, write_plain_file
from tejat.batch.runner.template_client import TemplateProcess
from tejat.batch.runner.work_folder import remove_work
from tejat.config.paths import app_paths
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_LIMIT, EXIT_OK
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.messages.types import JsonValue
from tejat.workspace.files.private_files import make_private_directory, open_private_file
from tejat.workspace.processes.spawn import signal_name
from tejat.workspace.threads.daemon import run_in_daemon

_GRACE_SECONDS = 60.0
"""How much longer than its own limit a process may take before it is stopped from here."""
_SIGNAL_CODES = frozenset({129, EXIT_INTERRUPTED, 143})
_PARTIAL_PATCH_SECONDS = 60.0


class JobAttempt:
    """One attempt at a task. `open_template` returns the process that forks children."""

    def __init__(self, job: TaskJob, report: ReportActivity, open_template: Callable[[], TemplateProcess]) -> None:
        self._job = job
        self._report = report
        self._open_template = open_template
        self._directory = BatchDirectory(job.directory)
        self._task = self._directory.task(job.task.id)
        self._mirror: Mirror | None = None
        self._run: RunReport | None = None
        self._patch = PatchSummary(0, 0, 0)
        self._check: CheckReport | None = None
        self._warnings: list[str] = []
        self._tokens = 0
        self._run_seconds = 0.0
        self._started = time.time()
        self._began = time.monotonic()

    async def execute(self, mirror: Mirror | None) -> TaskResult:
        """Do all steps. Raises JobLost; on cancellation the patch of what was done so far is written first."""
        try:
            verdict = await self._do_steps(mirror)
        except RepositoryProblem as problem:
            verdict = Verdict(TaskStatus.ERROR, problem.failure, str(problem))
        except OSError as error:
            failure = TaskFailure.DISK_FULL if is_full_error(error) else TaskFailure.INTERNAL
            verdict = Verdict(TaskStatus.ERROR, failure, _describe_error(error))
        if not self._job.keeps_tree and not await run_in_daemon(lambda: remove_work(self._task.work)):
            self._warnings.append(_("Could not remove {path}.", path=self._task.work))
        return self._make_result(verdict)

    async def _do_steps(self, mirror: Mirror | None) -> Verdict:
        """Raises RepositoryProblem, OSError, JobLost."""
        job, task = self._job, self._task
        self._report(TaskPhase.PREPARING, "", 0)
        self._mirror = mirror = await self._prepare(mirror)
        self._report(TaskPhase.RUNNING, "", 0)
        began = time.monotonic()
        try:
            code = await self._run_agent(mirror)
        except asyncio.CancelledError:
            await _complete(self._keep_partial_patch(mirror))
            raise
        self._run_seconds = time.monotonic() - began
        self._report(TaskPhase.RECORDING, "", self._tokens)
        self._patch = await write_patch(mirror, task)
        self._warnings.extend(self._patch.warnings)
        self._run = record_run(task, code, self._tokens)
        self._ensure_transcript(self._run)
        if job.task.check and judge_run(self._run).status is not TaskStatus.ERROR:
            self._report(TaskPhase.CHECKING, "", self._run.tokens)
            self._check = await self._run_check(mirror)
            self._warnings.extend(self._check.warnings)
        verdict = judge_task(job.task, self._run, self._patch, self._check)
        if verdict.status is TaskStatus.PASSED and self._run.exit_code != EXIT_OK:
            code = self._run.exit_code
            self._warnings.append(_("The check passed, but the run ended with exit code {code}.", code=code))
        return verdict

    async def _prepare(self, mirror: Mirror | None) -> Mirror:
        """Make the folder and the working copy. Raises OSError, RepositoryProblem."""
        job, task = self._job, self._task
        await run_in_daemon(self._clear_folder)
        if mirror is None:
            commit = job.commit or await resolve_commit(job.task)
            mirror = await open_mirror(job.task, commit, self._directory)
        await create_tree(mirror, task)
        remember_mirror(task, mirror)
        return mirror

    def _clear_folder(self) -> None:
        """Make the folder of the task, without anything that an earlier attempt left. Raises OSError."""
        task = self._task
        make_private_directory(task.path)
        for path in (task.patch, task.run, task.events, task.transcript, task.stderr, task.check):
            with suppress(FileNotFoundError):
                os.unlink(path)
        if os.path.lexists(task.work):
            remove_work(task.work)
        make_private_directory(task.work)

    async def _run_agent(self, mirror: Mirror) -> int:
        """Run the agent and return its exit code. Raises JobLost, OSError."""
        seconds = self._job.task.limits.seconds
        request = ChildRequest(ChildWork.RUN, self._job, mirror.path)
        code = await self._run_child(request, None if seconds is None else seconds + _GRACE_SECONDS)
        # Nothing may change the tree any more.
        await self._stop_background_jobs()
        return EXIT_LIMIT if code is None else code

    async def _run_check(self, mirror: Mirror) -> CheckReport:
        """Raises JobLost, OSError."""
        found: list[CheckReport] = []
        request = ChildRequest(ChildWork.CHECK, self._job, mirror.path)
        began = time.monotonic()
        code = await self._run_child(request, self._job.task.check_seconds + _GRACE_SECONDS, found)
        seconds = time.monotonic() - began
        if found:
            return replace(found[0], seconds=seconds)
        if code is None:
            return CheckReport(None, seconds, is_timed_out=True)
        return CheckReport(None, seconds, problem=_("it ended with exit code {code}", code=code))

    async def _run_child(
        self, request: ChildRequest, seconds: float | None, checked: list[CheckReport] | None = None
    ) -> int | None:
        """Run a child and return its exit code, None if it had to be stopped. Raises JobLost, OSError."""

        def on_message(kind: str, fields: dict[str, JsonValue]) -> None:
            if kind == ACTIVITY:
                self._tokens = int(str(fields.get("tokens", 0)))
                self._report(TaskPhase.RUNNING, str(fields.get("line", "")), self._tokens)
            elif kind == CHECKED and checked is not None:
                checked.append(_read_check(fields))

        is_run = request.work is ChildWork.RUN
        with _open_output(self._task.stderr) as stderr, _open_output(self._task.events if is_run else None) as stdout:
            process = await self._open_template().start(request, stdout=stdout, stderr=stderr, on_message=on_message)
        try:
            async with asyncio.timeout(seconds):
                code = await process.wait()
        except TimeoutError:
            await process.stop()
            return None
        except asyncio.CancelledError:
            await _complete(process.stop())
            raise
        finally:
            process.release()
        if code < 0 or (is_run and code in _SIGNAL_CODES):
            raise _lost(code)
        return code

    async def _keep_partial_patch(self, mirror: Mirror) -> None:
        """Write what a stopped run has changed so far. Raises nothing: a later process can do it too."""
        with suppress(OSError, RepositoryProblem, TimeoutError):
            async with asyncio.timeout(_PARTIAL_PATCH_SECONDS):
                await self._stop_background_jobs()
                await write_patch(mirror, self._task)

    async def _stop_background_jobs(self) -> None:
        directory = app_paths({**os.environ, "XDG_STATE_HOME": self._task.state}).jobs
        await run_in_daemon(lambda: stop_background_jobs(directory))

    def _ensure_transcript(self, run: RunReport) -> None:
        """Write a transcript for a run that ended before its conversation began."""
        if not os.path.exists(self._task.transcript):
            message = run.message or _("The run ended with exit code {code}.", code=run.exit_code)
            write_plain_file(self._task.transcript, "# " + _("No conversation") + f"\n\n{message}\n")

    def _make_result(self, verdict: Verdict) -> TaskResult:
        job, task, run, check = self._job, self._task, self._run, self._check
        has_patch = os.path.exists(task.patch)
        return TaskResult(
            id=job.task.id,
            status=verdict.status,
            failure=verdict.failure,
            message=verdict.message,
            exit_code=None if run is None else run.exit_code,
            check_exit_code=None if check is None else check.exit_code,
            cost=0.0 if run is None else run.cost,
            tokens=self._tokens if run is None else run.tokens,
            seconds=round(time.monotonic() - self._began, 3),
            run_seconds=round(self._run_seconds, 3),
            check_seconds=0.0 if check is None else round(check.seconds, 3),
            patch=self._directory.relative(task.patch) if has_patch else "",
            files_changed=self._patch.files_changed,
            lines_added=self._patch.lines_added,
            lines_removed=self._patch.lines_removed,
            tool_calls=0 if run is None else run.tool_calls,
            denied_calls=0 if run is None else len(run.denials),
            attempts=job.attempt,
            model=(run.model if run is not None else "") or job.task.model or "",
            repo=job.task.repo,
            commit=job.commit if self._mirror is None else self._mirror.commit,
            node=platform.node(),
            directory=self._directory.relative(task.path),
            started=round(self._started, 3),
            ended=round(time.time(), 3),
            warnings=tuple(self._warnings),
        )


@contextmanager
def _open_output(path: str | None) -> Generator[int]:
    """A descriptor that appends to a new or existing file, or discards without one. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    descriptor = os.open(os.devnull, os.O_WRONLY) if path is None else open_private_file(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


async def _complete(step: "Coroutine[object, object, None]") -> None:
    """Wait for a step although the caller was cancelled, and is cancelled again. The step has a time limit."""
    running = asyncio.ensure_future(step)
    while not running.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait((running,))
    running.result()


def _read_check(fields: dict[str, JsonValue]) -> CheckReport:
    warnings = fields.pop("warnings", [])
    texts = tuple(map(str, warnings)) if isinstance(warnings, list) else ()
    return CheckReport(**fields, warnings=texts)  # type: ignore[arg-type]


def _lost(code: int) -> JobLost:
    if code < 0:
        name = signal_name(-code)
        return JobLost(
            _("The run was killed by {signal}. If the machine is short of memory, use fewer jobs.", signal=name)
        )
    return JobLost(_("The run was stopped by {signal}.", signal=signal_name(code - 128)))


def _describe_error(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{reason}: {error.filename}" if error.filename else reason
