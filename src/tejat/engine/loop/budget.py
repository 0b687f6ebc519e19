"""How much a session may take: turns, tokens, money and time, looked at before each request."""

import time
from collections.abc import Callable

from tejat.core.agent.events import EndReason
from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.model import NO_USAGE, Usage
from tejat.engine.loop.prices import Price, cost_of


@frozen
class BudgetLimits:
    """None: as much as it takes. `cost` is in dollars."""

    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class Budget:
    """What a session has used so far. The time runs from the moment it is made."""

    def __init__(
        self, limits: BudgetLimits, price_of: Callable[[str], Price | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = limits
        self._price_of = price_of
        self._clock = clock
        self._started = clock()
        self._cost = 0.0
        self._unpriced_model: str | None = None
        self.turns = 0
        self.usage = NO_USAGE

    @property
    def cost(self) -> float | None:
        """Dollars, None as soon as a model took part whose price is unknown."""
        return self._cost if self._unpriced_model is None else None

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    @property
    def remaining_seconds(self) -> float | None:
        """None if there is no limit; never less than nothing."""
        return None if self._limits.seconds is None else max(0.0, self._limits.seconds - self.seconds)

    def begin_turn(self) -> None:
        self.turns += 1

    def record_usage(self, usage: Usage, requested_model: str, reported_model: str = "") -> None:
        """Count what a request has used, a question on the side as well as a turn.

        `asked` is the model by the name that it was asked by, which tells who runs it; `answered` is what it calls
        itself, which may have a price where the other is only a name for the latest.
        """
        self.usage += usage
        price = self._price_of(requested_model) or self._price_of(reported_model)
        if price is not None:
            self._cost += cost_of(usage, price)
        elif usage.total:
            self._unpriced_model = requested_model

    def exceeded_limit(self, model: str = "") -> tuple[EndReason, str] | None:
        """The limit that is reached, with a sentence for the person; None if another request may go out.

        `model` is the one that would be asked: where money is limited, its price must be known.
        """
        limits = self._limits
        if limits.turns is not None and self.turns >= limits.turns:
            return EndReason.TURN_LIMIT, _turn_limit_message()
        if limits.tokens is not None and self.usage.total >= limits.tokens:
            return EndReason.TOKEN_LIMIT, _(
                "Reached the limit of {tokens:,} tokens ({total:,} used).", tokens=limits.tokens, total=self.usage.total
            )
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return self.time_limit_reached()
        return None if limits.cost is None else self._exceeded_cost_limit(limits.cost, model)

    def time_limit_reached(self) -> tuple[EndReason, str]:
        """How a session ends that has no time left."""
        return EndReason.TIME_LIMIT, _(
            "Reached the time limit of {seconds:g} seconds.", seconds=self._limits.seconds or 0
        )

    def _exceeded_cost_limit(self, limit: float, model: str) -> tuple[EndReason, str] | None:
        if self._cost >= limit:
            return EndReason.COST_LIMIT, _(
                "Reached the cost limit of ${limit:g} (${cost:.4f} spent).", limit=limit, cost=self._cost
            )
        unknown = self._unpriced_model or (model if model and self._price_of(model) is None else None)
        if unknown is None:
            return None
        return EndReason.COST_LIMIT, _(
            "The price of the model {model} is not known, so a cost limit cannot be kept. "
            "Tell its price in the setting model.prices, or run without the limit.",
            model=unknown,
        )


def _turn_limit_message() -> str:
    return _(
        "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in "
        "settings.json."
    )
