"""Two batches on the same tasks: which tasks each of them passed, what they cost, and whether it may be chance."""

from collections.abc import Iterable, Sequence

from tejat.batch.report.figures import BatchFigures, collect_figures
from tejat.batch.result import TaskResult, TaskStatus
from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum


class PairOutcome(StrEnum):
    """What became of a task in two batches.

    A task that could not be tried in one of them says nothing about the other: it is `untried`, and not counted.
    """

    BOTH_PASSED = "both_passed"
    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"
    NEITHER = "neither"
    UNTRIED = "untried"
    MISSING = "missing"
    """Only one batch has the task."""


class TaskPair(Frozen):
    """The results of a task in two batches, None where there is none."""

    id: str
    first: TaskResult | None
    second: TaskResult | None

    @property
    def outcome(self) -> PairOutcome:
        if self.first is None or self.second is None:
            return PairOutcome.MISSING
        if not (_is_tried(self.first) and _is_tried(self.second)):
            return PairOutcome.UNTRIED
        return _OUTCOMES[self.first.status is TaskStatus.PASSED, self.second.status is TaskStatus.PASSED]


class PairedTotals(Frozen):
    """A quantity on the tasks that both batches passed and have a value for."""

    tasks: int = 0
    first: float = 0.0
    second: float = 0.0
    first_lower: int = 0
    """Tasks on which the first batch needed less."""
    second_lower: int = 0

    @property
    def change(self) -> float | None:
        """The second total relative to the first one, such as -0.2 for 20 % less. None without a first one."""
        return self.second / self.first - 1 if self.first else None


class BatchComparison(Frozen):
    """A comparison of two batches. `p_value` is the probability that batches that are equally good differ so much."""

    first_name: str
    second_name: str
    first: BatchFigures
    second: BatchFigures
    pairs: Sequence[TaskPair]
    cost: PairedTotals
    seconds: PairedTotals
    p_value: float

    def count(self, outcome: PairOutcome) -> int:
        return sum(pair.outcome is outcome for pair in self.pairs)


def compare_batches(
    first: Iterable[TaskResult],
    second: Iterable[TaskResult],
    *,
    first_name: str,
    second_name: str,
) -> BatchComparison:
    """Compare two batches by the ids of their tasks. The order is that of the first one."""
    ours = {result.id: result for result in first}
    theirs = {result.id: result for result in second}
    pairs = [TaskPair(each, ours.get(each), theirs.get(each)) for each in ours | theirs]
    passed = [
        (pair.first, pair.second)
        for pair in pairs
        if pair.first is not None and pair.second is not None and pair.outcome is PairOutcome.BOTH_PASSED
    ]
    costs = [(one.cost, other.cost) for one, other in passed if one.cost is not None and other.cost is not None]
    outcomes = [pair.outcome for pair in pairs]
    return BatchComparison(
        first_name=first_name,
        second_name=second_name,
        first=collect_figures(ours.values()),
        second=collect_figures(theirs.values()),
        pairs=pairs,
        cost=_paired_totals(costs),
        seconds=_paired_totals([(one.seconds, other.seconds) for one, other in passed]),
        p_value=sign_test(outcomes.count(PairOutcome.ONLY_FIRST), outcomes.count(PairOutcome.ONLY_SECOND)),
    )


def sign_test(first: int, second: int) -> float:
    """The exact two-sided p-value of McNemar's test, for tasks that only one of two batches passed.

    If both batches are equally good, each such task is a toss of a coin.
    """
    tosses, fewer = first + second, min(first, second)
    ways, tail = 1, 1
    for heads in range(fewer):
        ways = ways * (tosses - heads) // (heads + 1)
        tail += ways
    return min(2 * tail / 2**tosses, 1.0)


def _paired_totals(values: Sequence[tuple[float, float]]) -> PairedTotals:
    return PairedTotals(
        len(values),
        sum(one for one, _other in values),
        sum(other for _one, other in values),
        sum(one < other for one, other in values),
        sum(other < one for one, other in values),
    )


def _is_tried(result: TaskResult) -> bool:
    return result.status in (TaskStatus.PASSED, TaskStatus.FAILED)


_OUTCOMES = {
    (True, True): PairOutcome.BOTH_PASSED,
    (True, False): PairOutcome.ONLY_FIRST,
    (False, True): PairOutcome.ONLY_SECOND,
    (False, False): PairOutcome.NEITHER,
}
