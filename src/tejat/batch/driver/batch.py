"""A run of a batch, from its lock to its end."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.budget import BatchBudget
from tejat.batch.driver.commits import CommitStore
from tejat.batch.driver.event_file import BatchEventFile
from tejat.batch.driver.ledger import TaskLedger, TaskState
from tejat.batch.driver.lock import lock_batch
from tejat.batch.driver.options import SYSTEM_CLOCK, BatchClock, BatchOptions
from tejat.batch.driver.recovery import BatchRecovery, check_redo
from tejat.batch.driver.results import ResultStore
from tejat.batch.driver.scheduler import DriverParts, TaskScheduler
from tejat.batch.driver.settings import check_directory, record_end, record_start
from tejat.batch.driver.usage import next_attempt
from tejat.batch.engines.contract import EngineOptions
from tejat.batch.engines.registry import ENGINES, find_engine
from tejat.batch.events import BatchEnded, BatchEvent, BatchListener, BatchNoticed, BatchStarted
from tejat.batch.plan.plan_file import BatchPlan
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.task import BatchTask
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.models.rate_limits.rate_file import create_rate_file
from tejat.workspace.files.private_files import make_missing_directories


async def run_batch(
    options: BatchOptions,
    plan: BatchPlan,
    listeners: Sequence[BatchListener],
    *,
    is_locked: bool = False,
    clock: BatchClock = SYSTEM_CLOCK,
) -> BatchEnded:
    """Run the tasks of a plan that have no result yet, and record what becomes of them.

    It can be killed at any moment and started again. At its end `results.jsonl` has one line for each task; if a limit
    ended it, those that did not start or did not finish are `skipped`, and run the next time. No line is written for
    them if running jobs were stopped too: by an interrupt, an engine that is gone, or a full disk.

    Cancelling the call stops the running jobs, waits for them and keeps what they left; after BatchStarted, listeners
    get BatchEnded before CancelledError is raised. A second cancellation does not wait.

    `is_locked` means that the caller holds the lock of the batch, which protects the plan as well.

    Raises UsageError if the batch cannot start: another process runs it, the directory is not one of a batch, or the
    engine is unavailable.
    """
    if options.engine not in ENGINES:
        known = ", ".join(ENGINES)
        raise UsageError(_("Unknown engine {name!r}. Use one of: {known}.", name=options.engine, known=known))
    directory = BatchDirectory(options.directory)
    check_directory(directory)
    check_redo(options.redo, plan)
    with ExitStack() as stack:
        with _explain_errors(directory):
            make_missing_directories(directory.tasks)
            if not is_locked:
                stack.enter_context(lock_batch(directory))
            run = _BatchRun(options, directory, plan, listeners, clock)
        return await run.run()


@contextmanager
def _explain_errors(directory: BatchDirectory) -> Generator[None]:
    """Raises UsageError instead of OSError."""
    try:
        yield
    except OSError as error:
        path = error.filename or directory.path
        raise UsageError(_("Cannot write to {path}: {why}.", path=path, why=error.strerror or error)) from error


class _BatchRun:
    def __init__(
        self,
        options: BatchOptions,
        directory: BatchDirectory,
        plan: BatchPlan,
        listeners: Sequence[BatchListener],
        clock: BatchClock,
    ) -> None:
        self._listeners = listeners
        self._events = BatchEventFile(directory, clock.now)
        self._scheduler: TaskScheduler | None = None
        self._started = clock.monotonic()
        self._parts = DriverParts(
            options,
            directory,
            plan,
            clock,
            store=ResultStore(directory),
            ledger=TaskLedger(len(plan), options.shard),
            budget=BatchBudget(options, clock.monotonic),
            commits=CommitStore(directory),
            emit=self._emit,
        )

    async def run(self) -> BatchEnded:
        """Run, and shield what is being recorded from a cancellation. Raises UsageError."""
        work = asyncio.ensure_future(self._run())
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if self._scheduler is None:
                work.cancel()
            else:
                self._scheduler.interrupt()
            await asyncio.wait((work,))
            if not work.cancelled():
                work.exception()
            raise
        finally:
            work.cancel()

    async def _run(self) -> BatchEnded:
        parts = self._parts
        try:
            with _explain_errors(parts.directory):
                self._prepare()
            await self._run_tasks()
            return self._end()
        finally:
            await parts.commits.close()
            self._events.close()
            with suppress(OSError):
                parts.store.close()

    def _prepare(self) -> None:
        """Raises OSError, UsageError."""
        parts = self._parts
        record_start(parts.directory, parts.options, total=parts.ledger.total, now=parts.clock.now())
        BatchRecovery(
            parts.directory,
            parts.plan,
            parts.options.redo,
            store=parts.store,
            ledger=parts.ledger,
            budget=parts.budget,
            notify=lambda message: self._emit(BatchNoticed(message)),
        ).recover()
        parts.commits.load(self._is_unfinished)
        try:
            create_rate_file(parts.directory.rates, parts.options.rates)
        except ValueError as error:
            raise UsageError(str(error)) from error

    def _is_unfinished(self, task_id: str) -> bool:
        index = self._parts.plan.index(task_id)
        return index is not None and self._parts.ledger.state(index) is TaskState.WAITING

    async def _run_tasks(self) -> None:
        parts = self._parts
        options = parts.options
        if parts.ledger.unfinished == 0:
            self._emit_start(options.jobs or 1)
            return
        engine_options = EngineOptions(
            parts.directory.path,
            options.jobs,
            options.address,
            options.is_shared,
            options.resources,
            options.passed_variables,
        )
        async with find_engine(options.engine)(engine_options) as engine:
            self._emit_start(engine.jobs)
            self._scheduler = TaskScheduler(parts, engine)
            await self._scheduler.run()

    def _emit_start(self, jobs: int) -> None:
        parts = self._parts
        finished = {status: count for status, count in parts.ledger.counts.items() if count}
        self._emit(
            BatchStarted(
                parts.ledger.total,
                finished,
                spent_cost=parts.budget.cost,
                spent_tokens=parts.budget.tokens,
                jobs=jobs,
                engine=parts.options.engine,
            )
        )

    def _end(self) -> BatchEnded:
        parts, scheduler = self._parts, self._scheduler
        reason = scheduler.reason if scheduler else ""
        if scheduler and reason and scheduler.is_orderly:
            reason = self._skip_rest(reason)
        ended = BatchEnded(
            dict(parts.ledger.counts),
            parts.budget.cost,
            parts.budget.tokens,
            parts.clock.monotonic() - self._started,
            reason,
            parts.ledger.unknown_costs,
            is_limit=bool(scheduler and scheduler.reason and scheduler.is_orderly),
        )
        # The totals are a convenience: on a full disk the end is still reported.
        with suppress(OSError, UsageError):
            record_end(parts.directory, ended, now=parts.clock.now())
        self._emit(ended)
        return ended

    def _skip_rest(self, reason: str) -> str:
        """Add the lines of tasks that a limit kept from running, and return the reason of the end."""
        parts = self._parts
        try:
            for index in parts.ledger.indexes(TaskState.WAITING, TaskState.STARTED):
                task = parts.plan.read(index)
                attempts = next_attempt(parts.directory.task(task.id)) - 1
                where = (task.repo, task.model or "") if isinstance(task, BatchTask) else ("", "")
                result = TaskResult(
                    task.id,
                    TaskStatus.SKIPPED,
                    TaskFailure.BATCH_LIMIT,
                    reason,
                    attempts=attempts,
                    repo=where[0],
                    model=where[1],
                    ended=parts.clock.now(),
                )
                parts.store.append(result)
                parts.ledger.add_result(index, result)
        except OSError as error:
            return f"{reason} " + _("Cannot write to {path}: {why}.", path=parts.directory.results, why=error.strerror)
        return reason

    def _emit(self, event: BatchEvent) -> None:
        self._events(event)
        for listener in self._listeners:
            listener(event)
