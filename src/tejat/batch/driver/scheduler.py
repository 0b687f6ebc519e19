"""The scheduler of a batch: starts jobs, within all limits, and sees to their outcomes."""

import asyncio
import heapq
from collections.abc import Callable, Collection
from typing import Any

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.budget import BatchBudget, Reservation
from tejat.batch.driver.commits import CommitStore
from tejat.batch.driver.ledger import TaskLedger, TaskState
from tejat.batch.driver.options import BatchClock, BatchOptions
from tejat.batch.driver.recovery import INTERRUPTED, has_leftovers
from tejat.batch.driver.results import ResultStore
from tejat.batch.driver.retries import MAX_LOSSES, CircuitBreaker, retry_wait
from tejat.batch.driver.usage import Spending, next_attempt, run_error, spending_of
from tejat.batch.engines.contract import Engine, EngineUnavailable, JobLost
from tejat.batch.events import BatchEvent, BatchNoticed, TaskEnded, TaskPhase, TaskProgressed, TaskRetried, TaskStarted
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.job import TaskJob
from tejat.batch.plan.plan_file import BatchPlan
from tejat.batch.plan.types import RejectedTask
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.runner.attempts import keep_attempt
from tejat.batch.runner.outcome import is_transient
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.workspace.threads.offload import run_blocking

_MAX_RETRIES = 250
"""What fits into a byte."""


class DriverParts(Frozen):
    """What the parts of a driver share."""

    options: BatchOptions
    directory: BatchDirectory
    plan: BatchPlan
    clock: BatchClock
    store: ResultStore
    ledger: TaskLedger
    budget: BatchBudget
    commits: CommitStore
    emit: Callable[[BatchEvent], None]


class _RunningJob(Frozen):
    index: int
    job: TaskJob
    reservation: Reservation


class _UnwritableRecord(Exception):
    """A record of the batch could not be written. The cause is an OSError."""


class TaskScheduler:
    """Runs the waiting tasks of a ledger on an engine. One task of the event loop, so nothing here needs a lock.

    `reason` says why it stopped early, empty if it did not. `is_orderly` is false if running jobs were stopped too.
    """

    def __init__(self, parts: DriverParts, engine: Engine) -> None:
        self.reason = ""
        self.is_orderly = True
        self._parts = parts
        self._engine = engine
        # Jobs in a queue have their share of a limit before it is known what others used.
        self._places = engine.jobs + (0 if parts.options.has_limits else engine.queue)
        self._breaker = CircuitBreaker(self._places, parts.clock.random)
        self._running: dict[asyncio.Task[TaskResult], _RunningJob] = {}
        self._interrupted = asyncio.Event()
        self._next = 0
        self._retries: list[tuple[float, int]] = []
        """Tasks that wait for another attempt, with the time of it: a heap."""
        # One byte per task: how often it failed and was lost in this run.
        self._failures = bytearray(len(parts.plan))
        self._losses = bytearray(len(parts.plan))
        self._failures_in_a_row = 0
        self._unpriced_models: set[str] = set()

    def interrupt(self) -> None:
        """Stop the running jobs and end."""
        self._interrupted.set()

    async def run(self) -> None:
        """Run until every task has a result, or a limit is reached, or an interrupt."""
        try:
            await self._record_rejected()
            while True:
                self._start_jobs()
                if not self._running and (self.reason or not self._has_waiting_tasks()):
                    return
                await self._wait()
                for ended in [each for each in self._running if each.done()]:
                    await self._finish(ended, self._running.pop(ended))
        finally:
            await _cancel_all(self._running)

    # Starts

    async def _record_rejected(self) -> None:
        """Give tasks that cannot be tried their result."""
        for index in self._parts.ledger.indexes(TaskState.WAITING):
            entry = self._parts.plan.read(index)
            if isinstance(entry, RejectedTask) and not self.reason:
                result = TaskResult(
                    entry.id, TaskStatus.ERROR, entry.failure, entry.message, attempts=0, ended=self._parts.clock.now()
                )
                await self._record(index, result)

    def _start_jobs(self) -> None:
        if self._interrupted.is_set():
            self._stop_now(_("Interrupted."))
        while not self.reason and len(self._running) < self._places:
            now = self._parts.clock.monotonic()
            index = self._peek(now) if self._breaker.may_start(now) else None
            if index is None or not self._start(index):
                return

    def _start(self, index: int) -> bool:
        """Start a job if the limits allow it now."""
        parts = self._parts
        self.reason = parts.budget.exhausted_reason()
        task = parts.plan.read(index)
        if self.reason or isinstance(task, RejectedTask):
            return False
        jobs = min(self._places, parts.ledger.unfinished)
        reservation = parts.budget.reserve(task.limits, jobs=jobs, is_idle=not self._running)
        if reservation is None:
            return False
        self._take(index)
        job = TaskJob(
            replace(task, limits=reservation.limits),
            parts.directory.path,
            attempt=next_attempt(parts.directory.task(task.id)),
            rates=parts.options.rates,
            keeps_tree=parts.options.keeps_trees,
        )
        self._breaker.note_start(index)
        parts.emit(TaskStarted(task.id, job.attempt))
        running = asyncio.ensure_future(self._run_job(job))
        self._running[running] = _RunningJob(index, job, reservation)
        return True

    def _peek(self, now: float) -> int | None:
        """The next task that may start: one whose wait is over, or one that has not been tried."""
        if self._retries and self._retries[0][0] <= now:
            return self._retries[0][1]
        ledger = self._parts.ledger
        while self._next < len(self._parts.plan) and ledger.state(self._next) is not TaskState.WAITING:
            self._next += 1
        return self._next if self._next < len(self._parts.plan) else None

    def _take(self, index: int) -> None:
        if self._parts.ledger.state(index) is TaskState.STARTED:
            heapq.heappop(self._retries)
        self._parts.ledger.set_state(index, TaskState.STARTED)

    def _has_waiting_tasks(self) -> bool:
        return bool(self._retries) or self._peek(0.0) is not None

    async def _run_job(self, job: TaskJob) -> TaskResult:
        """Raises what the engine raises, and _UnwritableRecord."""
        task = job.task
        try:
            commit = await self._parts.commits.find(task)
        except RepositoryProblem as error:
            return TaskResult(task.id, TaskStatus.ERROR, error.failure, str(error))
        except OSError as error:
            raise _UnwritableRecord from error

        def report(phase: TaskPhase, activity: str, tokens: int) -> None:
            self._parts.emit(TaskProgressed(task.id, phase, activity, tokens))

        return await self._engine.run(replace(job, commit=commit), report)

    async def _wait(self) -> None:
        """Wait for the end of a job, for the time of the next start, or for an interrupt."""
        timers: list[asyncio.Future[Any]] = []
        if self.is_orderly:
            timers.append(asyncio.ensure_future(self._interrupted.wait()))
            seconds = self._seconds_to_wait()
            if seconds is not None:
                timers.append(asyncio.ensure_future(self._parts.clock.sleep(seconds)))
        try:
            await asyncio.wait((*self._running, *timers), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel_all(timers)

    def _seconds_to_wait(self) -> float | None:
        """Seconds until a task may start, None if that does not depend on time."""
        if self.reason or len(self._running) >= self._places:
            return None
        now = self._parts.clock.monotonic()
        pause = self._breaker.wait_seconds(now)
        if pause is not None or not self._breaker.may_start(now):
            return pause
        is_later = self._retries and self._retries[0][0] > now
        return self._retries[0][0] - now if is_later else None

    # Outcomes

    async def _finish(self, ended: "asyncio.Task[TaskResult]", running: _RunningJob) -> None:
        if ended.cancelled():
            error: BaseException | None = JobLost(_("The engine cancelled the job."))
        else:
            error = ended.exception()
        match error:
            case None:
                await self._judge(running, ended.result())
            case JobLost() if self.is_orderly:
                await self._retry_lost(running, str(error))
            case JobLost():
                await self._keep(running, INTERRUPTED)
            case EngineUnavailable():
                self._stop_now(str(error))
                await self._keep(running, INTERRUPTED)
            case _UnwritableRecord(__cause__=OSError() as cause):
                self._settle(running)
                self._stop_unwritable(cause)
            case Exception():
                self._breaker.note_end(running.index)
                self._settle(running)
                message = report_unexpected(error, f"task {running.job.task.id}")
                result = TaskResult(running.job.task.id, TaskStatus.ERROR, TaskFailure.INTERNAL, message)
                await self._conclude(running, result)
            case _:
                raise error

    async def _judge(self, running: _RunningJob, result: TaskResult) -> None:
        """See to a result: it is the task's, or another attempt is due."""
        parts, index = self._parts, running.index
        spending = Spending(result.cost, result.tokens)
        if is_transient(result):
            pause = self._breaker.note_failure(index, parts.clock.monotonic())
            if pause:
                self._notify(
                    _(
                        "The service fails for every task: {reason} No task is started for {seconds:.0f} seconds.",
                        reason=result.message,
                        seconds=pause,
                    )
                )
            if self.reason or self._failures[index] < min(parts.options.retries, _MAX_RETRIES):
                self._failures[index] += 1
                wait = retry_wait(self._failures[index], parts.clock.random)
                await self._retry(running, spending, result.message, wait)
                return
        elif result.exit_code is not None:
            self._breaker.note_answer()
        else:
            self._breaker.note_end(index)
        self._settle(running, spending)
        folder = parts.directory.task(result.id)
        reason = parts.budget.reached_cap(running.reservation, result, run_error(folder))
        if reason:
            # The task would have gone on: it is not done, and runs again when there is more to spend.
            self.reason = self.reason or reason
            await self._keep_attempt(running, reason)
            return
        self._note_unknown_price(result)
        await self._conclude(running, result)

    async def _retry_lost(self, running: _RunningJob, message: str) -> None:
        index = running.index
        self._breaker.note_end(index)
        self._losses[index] += 1
        if self._losses[index] < MAX_LOSSES:
            wait = retry_wait(self._losses[index], self._parts.clock.random, is_lost=True)
            await self._retry(running, self._spending(running), message, wait)
            return
        self._settle(running, self._spending(running))
        result = TaskResult(running.job.task.id, TaskStatus.ERROR, TaskFailure.LOST, message)
        await self._conclude(running, result)

    async def _retry(self, running: _RunningJob, spending: Spending, reason: str, wait: float) -> None:
        """Keep an attempt and plan the next one."""
        self._settle(running, spending)
        await self._keep_attempt(running, reason)
        if not self.reason:
            heapq.heappush(self._retries, (self._parts.clock.monotonic() + wait, running.index))
            self._parts.emit(TaskRetried(running.job.task.id, running.job.attempt, reason, wait))

    async def _conclude(self, running: _RunningJob, result: TaskResult) -> None:
        """Record the result of a task, and stop after too many failures in a row."""
        job, directory = running.job, self._parts.directory
        task = job.task
        await self._record(
            running.index,
            replace(
                result,
                id=task.id,
                attempts=job.attempt,
                repo=result.repo or task.repo,
                model=result.model or task.model or "",
                directory=directory.relative(directory.task(task.id).path),
                ended=result.ended or self._parts.clock.now(),
            ),
        )
        self._failures_in_a_row = 0 if result.status is TaskStatus.PASSED else self._failures_in_a_row + 1
        limit = self._parts.options.max_failures
        if limit is not None and self._failures_in_a_row >= limit:
            self.reason = self.reason or _("{count} tasks in a row did not pass.", count=limit)

    async def _record(self, index: int, result: TaskResult) -> None:
        parts = self._parts
        try:
            await run_blocking(lambda _stop: parts.store.write(result))
            parts.ledger.add_result(index, result)
            parts.commits.forget(result.id)
            parts.store.append(result)
        except OSError as error:
            self._stop_unwritable(error)
        if parts.ledger.state(index) is TaskState.DONE:
            parts.emit(TaskEnded(result))

    # Stops

    def _stop_now(self, reason: str) -> None:
        """Stop starting, and stop the running jobs."""
        self.reason = self.reason or reason
        self.is_orderly = False
        for running in self._running:
            running.cancel()

    def _stop_unwritable(self, error: OSError) -> None:
        self._stop_now(
            _(
                "Cannot write to {path}: {why}. Run the same command again to continue.",
                path=error.filename or self._parts.directory.path,
                why=error.strerror or str(error),
            )
        )

    async def _keep(self, running: _RunningJob, reason: str) -> None:
        """Keep the attempt of a job that was stopped."""
        self._settle(running, self._spending(running))
        await self._keep_attempt(running, reason)

    async def _keep_attempt(self, running: _RunningJob, reason: str) -> None:
        folder = self._parts.directory.task(running.job.task.id)
        try:
            if has_leftovers(folder):
                await run_blocking(lambda _stop: keep_attempt(folder, reason))
        except OSError as error:
            self._stop_unwritable(error)

    def _spending(self, running: _RunningJob) -> Spending:
        return spending_of(self._parts.directory.task(running.job.task.id))

    def _settle(self, running: _RunningJob, spending: Spending | None = None) -> None:
        self._parts.budget.settle(running.reservation, spending or Spending())

    def _note_unknown_price(self, result: TaskResult) -> None:
        is_unknown = result.cost is None and result.tokens > 0 and result.model not in self._unpriced_models
        if is_unknown and self._parts.options.max_cost is not None:
            self._unpriced_models.add(result.model)
            self._notify(
                _(
                    "Price of {model} unknown: --max-cost limits each of its tasks, but cannot limit the batch. Set "
                    "the price in model.prices.",
                    model=result.model or "?",
                )
            )

    def _notify(self, message: str) -> None:
        self._parts.emit(BatchNoticed(message))


async def _cancel_all(waits: "Collection[asyncio.Future[Any]]") -> None:
    """Cancel and wait until all have ended."""
    for each in waits:
        each.cancel()
    await asyncio.gather(*waits, return_exceptions=True)
