"""The budget of a session: turns, tokens, cost and time, checked before each request."""

import time
from collections.abc import Callable
from typing import Protocol

from tejat.core.agent.events import EndReason
from tejat.core.agent.prices import Price, cost_of
from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.model import NO_USAGE, Usage


@frozen
class BudgetLimits:
    """Limits of a session, None for no limit. `cost` is in dollars."""

    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class Prices(Protocol):
    """Prices of models by name."""

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model now, None if it is unknown."""
        ...

    def upper_bound(self, model: str) -> tuple[Price, str]:
        """Return a price that no known model of the same service exceeds, and that service ("" if unknown)."""
        ...


class Budget:
    """What a session has used so far. Its time starts at construction.

    With a cost limit, a model without a known price is counted with an upper bound. `on_estimate` is called with a
    message for the user when that begins, once for each model.
    """

    def __init__(
        self,
        limits: BudgetLimits,
        prices: Prices,
        clock: Callable[[], float] = time.monotonic,
        on_estimate: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._limits = limits
        self.prices = prices
        self._clock = clock
        self._on_estimate = on_estimate
        self._started = clock()
        self._cost = 0.0
        self._estimated_cost = 0.0
        """Of models without a known price, with an upper bound of it."""
        self._has_unknown_cost = False
        self._estimated_models: set[str] = set()
        self._uncounted_models: set[str] = set()
        self.turns = 0
        self.usage = NO_USAGE

    @property
    def cost(self) -> float | None:
        """Dollars, None if the price of any model used is unknown."""
        return None if self._has_unknown_cost else self._cost

    @property
    def highest_cost(self) -> float | None:
        """Dollars with upper bounds of unknown prices, None if these are not counted."""
        is_counted = self._limits.cost is not None and not self._uncounted_models
        return self._cost + self._estimated_cost if is_counted else None

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
        price = self.prices.price_of(requested_model) or self.prices.price_of(reported_model)
        if price is not None:
            self._cost += cost_of(usage, price)
        elif usage.total:
            self._has_unknown_cost = True
            if self._limits.cost is not None and requested_model not in self._uncounted_models:
                self._announce_estimate(requested_model)
                self._estimated_cost += cost_of(usage, self.prices.upper_bound(requested_model)[0])

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model now, None if it is unknown."""
        return self.prices.price_of(model)

    def estimate_notice(self, model: str) -> str | None:
        """Return what to tell the user before a model is counted with an upper bound; None if it need not be."""
        is_counted = self._limits.cost is not None and model not in self._uncounted_models
        if not is_counted or self.prices.price_of(model) is not None:
            return None
        bound, service = self.prices.upper_bound(model)
        of_service = (
            _("the highest known prices of {service}", service=service) if service else _("the highest known prices")
        )
        return _(
            "The price of {model} is unknown. --max-cost assumes {which}: ${input:g} per million "
            "input tokens, ${output:g} per million output tokens. Set its price in model.prices.",
            model=model,
            which=of_service,
            input=bound.input,
            output=bound.output,
        )

    def accept_estimate(self, model: str) -> None:
        """Count a model with an upper bound without telling the user again."""
        self._estimated_models.add(model)

    def stop_counting(self, model: str) -> None:
        """Leave a model without a known price out of the cost limit."""
        self._uncounted_models.add(model)

    def _announce_estimate(self, model: str) -> None:
        notice = None if model in self._estimated_models else self.estimate_notice(model)
        self._estimated_models.add(model)
        if notice is not None:
            self._on_estimate(notice)

    def exceeded_limit(self, model: str = "") -> tuple[EndReason, str] | None:
        """Return the limit that is reached, with a message for the user; None if another request may go out.

        `model` is the one that would be used: with a cost limit, the user is told if its price is unknown.
        """
        limits = self._limits
        if limits.turns is not None and self.turns >= limits.turns:
            return EndReason.TURN_LIMIT, _(
                "Reached max session turns for this session. Increase the number of turns by specifying "
                "maxSessionTurns in settings.json."
            )
        return self.exceeded_resource(model)

    def exceeded_resource(self, model: str = "") -> tuple[EndReason, str] | None:
        """Like `exceeded_limit` for tokens, time and cost, which sub-agents use up too."""
        limits = self._limits
        if limits.tokens is not None and self.usage.total >= limits.tokens:
            return EndReason.TOKEN_LIMIT, _(
                "Reached the limit of {tokens:,} tokens ({total:,} used).", tokens=limits.tokens, total=self.usage.total
            )
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return self.time_limit_reached()
        return self.exceeded_cost_limit(model)

    def exceeded_cost_limit(self, model: str = "") -> tuple[EndReason, str] | None:
        """Like `exceeded_limit` for the cost alone: another model may be dearer."""
        return None if self._limits.cost is None else self._exceeded_cost_limit(self._limits.cost, model)

    def time_limit_reached(self) -> tuple[EndReason, str]:
        """Return the end of a session whose time is up."""
        seconds = self._limits.seconds or 0
        return EndReason.TIME_LIMIT, _("Reached the time limit of {seconds:g} seconds.", seconds=seconds)

    def _exceeded_cost_limit(self, limit: float, model: str) -> tuple[EndReason, str] | None:
        spent = self._cost + self._estimated_cost
        if spent < limit:
            if model:
                self._announce_estimate(model)
            return None
        if self._estimated_cost:
            return EndReason.COST_LIMIT, _(
                "Reached the cost limit of ${limit:g} (at most ${cost:.4f} spent; a price is unknown).",
                limit=limit,
                cost=spent,
            )
        return EndReason.COST_LIMIT, _(
            "Reached the cost limit of ${limit:g} (${cost:.4f} spent).", limit=limit, cost=spent
        )
