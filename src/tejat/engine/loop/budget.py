"""The budget of a session: turns, tokens, cost and time, checked before each request."""

import time
from collections.abc import Callable

from tejat.core.agent.events import EndReason
from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.model import NO_USAGE, Usage
from tejat.engine.loop.prices import Price, cost_of


@frozen
class BudgetLimits:
    """Limits of a session, None for no limit. `cost` is in dollars."""

    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class Budget:
    """What a session has used so far. Its time starts at construction."""

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
        """Dollars, None if the price of any model used is unknown."""
        return self._cost if self._unpriced_model is None else None

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the time limit, at least 0; None if there is no limit."""
        return None if self._limits.seconds is None else max(0.0, self._limits.seconds - self.seconds)

    def begin_turn(self) -> None:
        self.turns += 1

    def record_usage(self, usage: Usage, requested_model: str, reported_model: str = "") -> None:
        """Count the usage of a request.

        `requested_model` is the name that was requested, with its provider; `reported_model` is the name in the
        response, which may have a price if the first is only an alias.
        """
        self.usage += usage
        price = self._price_of(requested_model) or self._price_of(reported_model)
        if price is not None:
            self._cost += cost_of(usage, price)
        elif usage.total:
            self._unpriced_model = requested_model

    def exceeded_limit(self, model: str = "") -> tuple[EndReason, str] | None:
        """Return the limit that is reached, with a message for the user; None if another request may go out.

        `model` is the one that would be used: with a cost limit its price must be known.
        """
        limits = self._limits
        if limits.turns is not None and self.turns >= limits.turns:
            return EndReason.TURN_LIMIT, _(
                "Reached max session turns for this session. Increase the number of turns by specifying "
                "maxSessionTurns in settings.json."
            )
        if limits.tokens is not None and self.usage.total >= limits.tokens:
            return EndReason.TOKEN_LIMIT, _(
                "Reached the limit of {tokens:,} tokens ({total:,} used).", tokens=limits.tokens, total=self.usage.total
            )
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return self.time_limit_reached()
        return None if limits.cost is None else self._exceeded_cost_limit(limits.cost, model)

    def time_limit_reached(self) -> tuple[EndReason, str]:
        """Return the end of a session whose time is up."""
        seconds = self._limits.seconds or 0
        return EndReason.TIME_LIMIT, _("Reached the time limit of {seconds:g} seconds.", seconds=seconds)

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
