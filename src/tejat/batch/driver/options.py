"""Options of a batch, and its clock."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping

from tejat.core.frozen import Frozen, field


class BatchOptions(Frozen):
    """How the tasks of a batch are run.

    `jobs`, `address`, `is_shared`, `resources` and `passed_variables` are for the engine, see `EngineOptions`.
    `max_cost` (dollars) and `max_tokens` include what earlier runs of the batch used; `max_seconds` counts from the
    start of this run, and `max_failures` are tasks in a row that did not pass. `retries` are further attempts after
    transient failures of a service. `rates` are requests per minute by service. `redo` are statuses, task ids or `all`.
    `shard` is (i, n): only every n-th task, from task i on. `version` is that of the program, for the records.
    """

    directory: str
    engine: str = "local"
    jobs: int | None = None
    address: str = ""
    is_shared: bool = False
    resources: Mapping[str, float] | None = None
    passed_variables: tuple[str, ...] = ()
    max_cost: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    max_failures: int | None = None
    retries: int = 2
    rates: Mapping[str, float] = field(default_factory=dict[str, float])
    redo: tuple[str, ...] = ()
    keeps_trees: bool = False
    shard: tuple[int, int] | None = None
    version: str = ""

    @property
    def has_limits(self) -> bool:
        """Whether the batch as a whole has a limit."""
        limits = (self.max_cost, self.max_tokens, self.max_seconds, self.max_failures)
        return any(limit is not None for limit in limits)


class BatchClock(Frozen):
    """Time and chance. `random` returns a number from 0 up to 1."""

    now: Callable[[], float] = time.time
    """Seconds since 1970."""
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


SYSTEM_CLOCK = BatchClock()
