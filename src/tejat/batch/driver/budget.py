"""The limits of a batch: dollars, tokens and seconds, shared among the jobs that run at once."""

from collections.abc import Callable

from tejat.batch.driver.options import BatchOptions
from tejat.batch.driver.usage import Spending
from tejat.batch.result import TaskResult, TaskStatus
from tejat.batch.task import TaskLimits
from tejat.core.exit_codes import EXIT_LIMIT
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _

_MIN_COST = 0.01
_MIN_TOKENS = 1000
_MIN_SECONDS = 1.0
_SECONDS_TOLERANCE = 0.5


class Reservation(Frozen):
    """What a job may use. `limits` are those of its task, lowered where the batch has less left.

    `caps` names what was lowered: `cost`, `tokens` or `seconds`.
    """

    limits: TaskLimits
    caps: frozenset[str] = frozenset()
    cost: float = 0.0
    tokens: int = 0


class BatchBudget:
    """What the batch has used, and what running jobs have reserved.

    Every job reserves what it may use at most, so jobs that run at once cannot exceed a limit together. A task with a
    limit of its own reserves that, any other one an equal share of what is left. A single answer of a model can exceed
    the limit of its run, because its size is not known in advance. A check is not part of a run: it can exceed
    `max_seconds` by its own time limit.
    """

    def __init__(self, options: BatchOptions, monotonic: Callable[[], float]) -> None:
        self._options = options
        self._monotonic = monotonic
        self._started = monotonic()
        self._reserved_cost = 0.0
        self._reserved_tokens = 0
        self.cost = 0.0
        """Dollars, without those of models whose price is unknown."""
        self.tokens = 0

    def add(self, spending: Spending) -> None:
        """Count what an attempt used."""
        self.cost += spending.cost or 0.0
        self.tokens += spending.tokens

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the time limit, None without one."""
        limit = self._options.max_seconds
        return None if limit is None else self._started + limit - self._monotonic()

    def exhausted_reason(self) -> str:
        """Which limit is reached, for the user; empty if none is."""
        options = self._options
        seconds = self.remaining_seconds
        if seconds is not None and seconds < _MIN_SECONDS:
            return _("The time limit of the batch is reached ({seconds:g} seconds).", seconds=options.max_seconds)
        if options.max_cost is not None and options.max_cost - self.cost < _MIN_COST:
            return _cost_reason(options.max_cost, self.cost)
        if options.max_tokens is not None and options.max_tokens - self.tokens < _MIN_TOKENS:
            return _token_reason(options.max_tokens, self.tokens)
        return ""

    def reserve(self, limits: TaskLimits, *, jobs: int, is_idle: bool) -> Reservation | None:
        """Reserve what a task may use; None while too little is left.

        `jobs` is how many tasks share the rest. With `is_idle` no other job runs: the task gets all that is left.
        """
        if is_idle:
            self._reserved_cost, self._reserved_tokens = 0.0, 0
        options, sharers = self._options, max(jobs, 1)
        cost, tokens = limits.cost, limits.tokens
        if options.max_cost is not None:
            share = max((options.max_cost - self.cost) / sharers, _MIN_COST)
            cost = _allot(cost, share, options.max_cost - self.cost - self._reserved_cost, is_idle=is_idle)
        if options.max_tokens is not None:
            share = max((options.max_tokens - self.tokens) // sharers, _MIN_TOKENS)
            free_tokens = options.max_tokens - self.tokens - self._reserved_tokens
            tokens = int(_allot(tokens, share, free_tokens, is_idle=is_idle))
        bounds = [each for each in (self.remaining_seconds, limits.seconds) if each is not None]
        seconds = min(bounds) if bounds else None
        too_little = (
            (cost is not None and cost < min(_MIN_COST, limits.cost or _MIN_COST))
            or (tokens is not None and tokens < min(_MIN_TOKENS, limits.tokens or _MIN_TOKENS))
            or (seconds is not None and seconds < min(_MIN_SECONDS, limits.seconds or _MIN_SECONDS))
        )
        if too_little:
            return None
        return self._take(limits, cost=cost, tokens=tokens, seconds=seconds)

    def settle(self, reservation: Reservation, spending: Spending) -> None:
        """Replace a reservation by what the job really used."""
        self._reserved_cost = max(0.0, self._reserved_cost - reservation.cost)
        self._reserved_tokens = max(0, self._reserved_tokens - reservation.tokens)
        self.add(spending)

    def reached_cap(self, reservation: Reservation, result: TaskResult, run_error: str) -> str:
        """The limit of the batch that ended a run early, for the user; empty if none did.

        `run_error` is the type of the error that the run ended with, empty if unknown.
        """
        if result.exit_code != EXIT_LIMIT or result.status is TaskStatus.PASSED:
            return ""
        options, limits = self._options, reservation.limits
        if "cost" in reservation.caps and _is_end(run_error, "cost_limit", result.cost, limits.cost):
            return _cost_reason(options.max_cost or 0.0, self.cost, limits.cost)
        if "tokens" in reservation.caps and _is_end(run_error, "token_limit", result.tokens, limits.tokens):
            return _token_reason(options.max_tokens or 0, self.tokens, limits.tokens)
        used_seconds = result.run_seconds + _SECONDS_TOLERANCE
        if "seconds" in reservation.caps and _is_end(run_error, "time_limit", used_seconds, limits.seconds):
            return _("The time limit of the batch is reached ({seconds:g} seconds).", seconds=options.max_seconds)
        return ""

    def _take(
        self, limits: TaskLimits, *, cost: float | None, tokens: int | None, seconds: float | None
    ) -> Reservation:
        lowered = replace(limits, cost=cost, tokens=tokens, seconds=seconds)
        caps = frozenset(
            name for name in ("cost", "tokens", "seconds") if getattr(lowered, name) != getattr(limits, name)
        )
        reserved_cost = cost or 0.0 if self._options.max_cost is not None else 0.0
        reserved_tokens = tokens or 0 if self._options.max_tokens is not None else 0
        self._reserved_cost += reserved_cost
        self._reserved_tokens += reserved_tokens
        return Reservation(lowered, caps, reserved_cost, reserved_tokens)


def _allot(own: float | None, share: float, free: float, *, is_idle: bool) -> float:
    """What a task may use: its own limit if there is one, else a share of what is left; 0 to wait for others."""
    if own is None:
        return min(free, share)
    return own if own <= free else free if is_idle else 0.0


def _is_end(run_error: str, name: str, used: float | None, limit: float | None) -> bool:
    if run_error:
        return run_error == name
    return used is None or limit is None or used >= limit


def _cost_reason(limit: float, used: float, share: float | None = None) -> str:
    if share is None:
        return _("The cost limit of the batch is reached: ${used:.2f} of ${limit:.2f} spent.", used=used, limit=limit)
    return _(
        "The cost limit of the batch is reached: ${used:.2f} of ${limit:.2f} spent, and a task needs more than its "
        "share of the rest, ${share:.2f}. Raise --max-cost to continue.",
        used=used,
        limit=limit,
        share=share,
    )


def _token_reason(limit: int, used: int, share: int | None = None) -> str:
    if share is None:
        return _("The token limit of the batch is reached: {used:,} of {limit:,} used.", used=used, limit=limit)
    return _(
        "The token limit of the batch is reached: {used:,} of {limit:,} used, and a task needs more than its share of "
        "the rest, {share:,}. Raise --max-tokens to continue.",
        used=used,
        limit=limit,
        share=share,
    )
