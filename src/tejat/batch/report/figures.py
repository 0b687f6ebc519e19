"""Figures of a batch, collected from its results in one pass."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.text.labels import is_cost_unknown
from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonObject

_INTERVAL_DEVIATIONS = 1.959964
"""Standard deviations to either side for 95 %."""


class ValueSpread(Frozen):
    """The distribution of a quantity over tasks. All are 0 if there is no task."""

    count: int = 0
    total: float = 0.0
    mean: float = 0.0
    median: float = 0.0
    p90: float = 0.0
    largest: float = 0.0


class GroupFigures(Frozen):
    """The totals of the tasks with one model or one repository."""

    name: str
    counts: Mapping[TaskStatus, int]
    cost: float
    tokens: int
    seconds: float

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def pass_rate(self) -> float | None:
        return pass_rate(self.counts)


class BatchFigures(Frozen):
    """Figures of a batch. Costs are in dollars and without the `unknown_costs`, tasks whose price is unknown.

    `seconds` is the time of tasks, `run_seconds` and `check_seconds` the parts of the agent and of checks. Tasks that
    never ran have no time and no cost. `wall_seconds` is from the first start to the last end.
    """

    counts: Mapping[TaskStatus, int]
    failures: Mapping[TaskFailure, int]
    cost: ValueSpread
    unknown_costs: int
    seconds: ValueSpread
    run_seconds: float
    check_seconds: float
    wall_seconds: float
    tokens: int
    tool_calls: int
    denied_calls: int
    retries: int
    files_changed: int
    lines_added: int
    lines_removed: int
    models: tuple[GroupFigures, ...]
    repositories: tuple[GroupFigures, ...]
    task_seconds: Sequence[float]
    """Sorted, for a histogram."""
    task_costs: Sequence[float]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def pass_rate(self) -> float | None:
        return pass_rate(self.counts)

    @property
    def pass_interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the pass rate (Wilson), None without tasks."""
        return _wilson_interval(self.counts.get(TaskStatus.PASSED, 0), _tried(self.counts))

    @property
    def cost_per_pass(self) -> float | None:
        """Dollars for each passed task, None if none passed or a price is unknown."""
        passed = self.counts.get(TaskStatus.PASSED, 0)
        return self.cost.total / passed if passed and not self.unknown_costs else None


def collect_figures(results: Iterable[TaskResult]) -> BatchFigures:
    """Collect the figures of results, of which none is kept."""
    collector = _Collector()
    for result in results:
        collector.add(result)
    return collector.figures()


def pass_rate(counts: Mapping[TaskStatus, int]) -> float | None:
    """The share of passed tasks. Errors count as not passed, skipped tasks not at all. None without tasks."""
    tried = _tried(counts)
    return counts.get(TaskStatus.PASSED, 0) / tried if tried else None


def spread(values: Sequence[float]) -> ValueSpread:
    """The distribution of sorted values."""
    if not values:
        return ValueSpread()
    count, total = len(values), sum(values)
    median = (values[(count - 1) // 2] + values[count // 2]) / 2
    return ValueSpread(count, total, total / count, median, values[min(count * 9 // 10, count - 1)], values[-1])


def figures_to_json(figures: BatchFigures) -> JsonObject:
    """The figures as a JSON object: `report.json`."""
    interval = figures.pass_interval
    return {
        "total": figures.total,
        **{status.value: figures.counts.get(status, 0) for status in TaskStatus},
        "pass_rate": figures.pass_rate,
        "pass_interval": None if interval is None else list(interval),
        "failures": {failure.value: count for failure, count in figures.failures.items()},
        "cost": {**_spread_to_json(figures.cost), "per_pass": figures.cost_per_pass, "unknown": figures.unknown_costs},
        "seconds": {
            **_spread_to_json(figures.seconds),
            "run": figures.run_seconds,
            "check": figures.check_seconds,
            "wall": figures.wall_seconds,
        },
        "tokens": figures.tokens,
        "tool_calls": figures.tool_calls,
        "denied_calls": figures.denied_calls,
        "retries": figures.retries,
        "files_changed": figures.files_changed,
        "lines_added": figures.lines_added,
        "lines_removed": figures.lines_removed,
        "models": [_group_to_json(group) for group in figures.models],
        "repositories": [_group_to_json(group) for group in figures.repositories],
    }


class _Group:
    def __init__(self) -> None:
        self.counts: Counter[TaskStatus] = Counter()
        self.cost = 0.0
        self.tokens = 0
        self.seconds = 0.0

    def add(self, result: TaskResult) -> None:
        self.counts[result.status] += 1
        self.cost += result.cost or 0.0
        self.tokens += result.tokens
        self.seconds += result.seconds


class _Collector:
    def __init__(self) -> None:
        self._all = _Group()
        self._failures: Counter[TaskFailure] = Counter()
        self._models: dict[str, _Group] = {}
        self._repositories: dict[str, _Group] = {}
        self._seconds, self._costs = array("d"), array("d")
        self._sums: Counter[str] = Counter()
        self._times = [0.0, 0.0]
        self._first, self._last = float("inf"), 0.0
        self._unknown = 0

    def add(self, result: TaskResult) -> None:
        self._all.add(result)
        if result.failure is not TaskFailure.NONE:
            self._failures[result.failure] += 1
        if result.model:
            self._models.setdefault(result.model, _Group()).add(result)
        if result.repo:
            self._repositories.setdefault(result.repo, _Group()).add(result)
        if result.seconds > 0:
            self._seconds.append(result.seconds)
        if result.cost is not None:
            self._costs.append(result.cost)
        self._unknown += is_cost_unknown(result)
        for name in _SUMMED:
            self._sums[name] += getattr(result, name)
        self._sums["retries"] += max(result.attempts - 1, 0)
        self._times = [self._times[0] + result.run_seconds, self._times[1] + result.check_seconds]
        if result.started and result.ended:
            self._first, self._last = min(self._first, result.started), max(self._last, result.ended)

    def figures(self) -> BatchFigures:
        seconds, costs = sorted(self._seconds), sorted(self._costs)
        return BatchFigures(
            counts=dict(self._all.counts),
            failures=dict(sorted(self._failures.items(), key=lambda each: (-each[1], each[0]))),
            cost=spread(costs),
            unknown_costs=self._unknown,
            seconds=spread(seconds),
            run_seconds=self._times[0],
            check_seconds=self._times[1],
            wall_seconds=max(self._last - self._first, 0.0) if self._last else 0.0,
            tokens=self._all.tokens,
            models=_groups(self._models),
            repositories=_groups(self._repositories),
            task_seconds=array("d", seconds),
            task_costs=array("d", costs),
            retries=self._sums["retries"],
            **{name: self._sums[name] for name in _SUMMED},
        )


_SUMMED = ("tool_calls", "denied_calls", "files_changed", "lines_added", "lines_removed")


def _groups(groups: Mapping[str, _Group]) -> tuple[GroupFigures, ...]:
    """The groups, the largest first."""
    made = [
        GroupFigures(name, dict(group.counts), group.cost, group.tokens, group.seconds)
        for name, group in groups.items()
    ]
    return tuple(sorted(made, key=lambda each: (-each.total, each.name)))


def _tried(counts: Mapping[TaskStatus, int]) -> int:
    return sum(count for status, count in counts.items() if status is not TaskStatus.SKIPPED)


def _wilson_interval(passed: int, tried: int) -> tuple[float, float] | None:
    if not tried:
        return None
    share, square = passed / tried, _INTERVAL_DEVIATIONS**2
    middle = (share + square / (2 * tried)) / (1 + square / tried)
    half = _INTERVAL_DEVIATIONS * sqrt(share * (1 - share) / tried + square / (4 * tried**2)) / (1 + square / tried)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _spread_to_json(values: ValueSpread) -> JsonObject:
    return {
        "tasks": values.count,
        "total": values.total,
        "mean": values.mean,
        "median": values.median,
        "p90": values.p90,
        "largest": values.largest,
    }


def _group_to_json(group: GroupFigures) -> JsonObject:
    return {
        "name": group.name,
        "total": group.total,
        **{status.value: group.counts.get(status, 0) for status in TaskStatus},
        "pass_rate": group.pass_rate,
        "cost": group.cost,
        "tokens": group.tokens,
        "seconds": group.seconds,
    }
