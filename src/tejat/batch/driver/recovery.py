"""What earlier runs of a batch left: results, lines, and attempts that were not finished."""

import os
from collections.abc import Callable

from tejat.batch.directory import BatchDirectory, TaskDirectory
from tejat.batch.driver.budget import BatchBudget
from tejat.batch.driver.ledger import TaskLedger, TaskState
from tejat.batch.driver.results import InvalidResult, ResultStore
from tejat.batch.driver.usage import Spending, earlier_spending
from tejat.batch.plan.plan_file import BatchPlan
from tejat.batch.plan.types import RejectedTask
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.runner.attempts import keep_attempt
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext

INTERRUPTED = "interrupted"
_REDO = "redo"
_UNREADABLE = "unreadable result"
_ALL = "all"
_REJECTIONS = frozenset({TaskFailure.INPUT, TaskFailure.DUPLICATE_ID, TaskFailure.REPOSITORY})


def check_redo(words: tuple[str, ...], plan: BatchPlan) -> None:
    """Check that the words are statuses or ids of tasks. Raises UsageError."""
    statuses = [_ALL, *(status.value for status in TaskStatus)]
    for word in words:
        if word not in statuses and plan.index(word) is None:
            known = ", ".join(statuses)
            raise UsageError(
                _(
                    "Nothing to redo: no task has the id {word!r}. Use an id, or one of: {known}.",
                    word=word,
                    known=known,
                )
            )


class BatchRecovery:
    """Brings the directory of a batch into order, and fills the ledger and the budget.

    Afterwards `results.jsonl` has one line for each task with a result, and no other. Tasks without one have an empty
    folder: what an unfinished attempt left is among its attempts, and so is a result that is to be replaced. The lines
    of replaced results go first, so a killed process leaves each result either recorded or kept.
    """

    def __init__(
        self,
        directory: BatchDirectory,
        plan: BatchPlan,
        redo: tuple[str, ...],
        *,
        store: ResultStore,
        ledger: TaskLedger,
        budget: BatchBudget,
        notify: Callable[[str], None],
    ) -> None:
        self._directory = directory
        self._plan = plan
        self._redo = frozenset(redo)
        self._store = store
        self._ledger = ledger
        self._budget = budget
        self._notify = notify

    def recover(self) -> None:
        """Raises OSError."""
        damaged = self._store.keep_lines(self._keeps_line)
        if damaged:
            self._notify(
                ngettext(
                    "{count} damaged line was removed from results.jsonl.",
                    "{count} damaged lines were removed from results.jsonl.",
                    damaged,
                )
            )
        for index, task_id in enumerate(self._plan.ids):
            if self._ledger.state(index) is not TaskState.FOREIGN:
                self._recover_task(index, task_id)

    def _keeps_line(self, result: TaskResult) -> bool:
        index = self._plan.index(result.id)
        if index is None:
            return False
        state = self._ledger.state(index)
        if state is TaskState.FOREIGN:
            return True
        if state is not TaskState.WAITING or result.status is TaskStatus.SKIPPED:
            return False
        if self._is_redone(index, result):
            self._ledger.set_state(index, TaskState.REDONE)
            return False
        self._add(index, result)
        return True

    def _is_redone(self, index: int, result: TaskResult) -> bool:
        if self._redo & {_ALL, result.status.value, result.id}:
            return True
        if result.attempts or result.failure not in _REJECTIONS:
            return False
        # A line of the task file that was wrong may be right now, or wrong in another way.
        entry = self._plan.read(index)
        return not isinstance(entry, RejectedTask) or entry.message != result.message

    def _add(self, index: int, result: TaskResult) -> None:
        self._ledger.add_result(index, result)
        self._budget.add(Spending(result.cost, result.tokens))

    def _recover_task(self, index: int, task_id: str) -> None:
        task = self._directory.task(task_id)
        if self._ledger.state(index) is not TaskState.DONE:
            if not os.path.isdir(task.path):
                self._ledger.set_state(index, TaskState.WAITING)
                return
            self._recover_unfinished(index, task_id, task)
        for spending in earlier_spending(task):
            self._budget.add(spending)

    def _recover_unfinished(self, index: int, task_id: str, task: TaskDirectory) -> None:
        reason = INTERRUPTED
        try:
            result = self._store.read(task_id)
        except InvalidResult:
            reason = _UNREADABLE
            self._notify(_("The result of task {id} cannot be read. The task runs again.", id=task_id))
        else:
            if result is not None:
                if self._ledger.state(index) is TaskState.WAITING and not self._is_redone(index, result):
                    self._store.append(result)
                    self._add(index, result)
                    return
                reason = _REDO
        self._ledger.set_state(index, TaskState.WAITING)
        if has_leftovers(task):
            keep_attempt(task, reason)


def has_leftovers(task: TaskDirectory) -> bool:
    """Whether the folder of a task holds anything besides earlier attempts. Raises OSError."""
    try:
        return any(name != os.path.basename(task.attempts) for name in os.listdir(task.path))
    except FileNotFoundError:
        return False
