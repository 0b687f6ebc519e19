"""The budget of a session: turns, tokens, cost and time, checked before each request."""

import time
from collections.abc import Callable
from typing import Protocol

from tejat.core.agent.events import EndReason
from tejat.core.agent.prices import Price, cost_of
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.model import NO_USAGE, Usage
from tejat.core.tools.cancellation import CancelReason

_CLOCK_TOLERANCE = 0.001


class BudgetLimits(Frozen):
    """Limits of a session, None for no limit. `cost` is in dollars.

    `arguments` are the limits that a program gave, by their names in `Agent`: messages then name these.
    """

    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    arguments: frozenset[str] = frozenset()


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

    @property
    def is_time_over(self) -> bool:
        """Whether the time limit is reached. Timers may fire a moment early."""
        remaining = self.remaining_seconds
        return remaining is not None and remaining < _CLOCK_TOLERANCE

    def why_cancelled(self) -> CancelReason:
        """Why a call of the run is being cancelled."""
        return CancelReason.TIME_LIMIT if self.is_time_over else CancelReason.CANCELLED

    @property
    def limits_requests(self) -> bool:
        """Whether the size of the next request matters."""
        return self._limits.tokens is not None or self._limits.cost is not None

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
            "The price of {model} is unknown. {limit} assumes {which}: ${input:g} per million "
            "input tokens, ${output:g} per million output tokens. Set its price in model.prices.",
            model=model,
            limit="max_cost" if "max_cost" in self._limits.arguments else "--max-cost",
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

    def exceeded_limit(self, model: str = "", request_tokens: int = 0) -> tuple[EndReason, str] | None:
        """Return the limit that another request would exceed, with a message for the user; None if it may go out.

        `model` is the one that would be used: with a cost limit, the user is told if its price is unknown.
        `request_tokens` is an estimate of the tokens that would be sent.
        """
        limits = self._limits
        if limits.turns is not None and self.turns >= limits.turns:
            if "max_turns" in limits.arguments:
                message = _("Reached the limit of {turns} turns.", turns=limits.turns)
                return EndReason.TURN_LIMIT, self._with_argument(message, "max_turns")
            return EndReason.TURN_LIMIT, _(
                "Reached max session turns for this session. Increase the number of turns by specifying "
                "maxSessionTurns in settings.json."
            )
        return self.exceeded_resource(model, request_tokens)

    def exceeded_resource(self, model: str = "", request_tokens: int = 0) -> tuple[EndReason, str] | None:
        """Like `exceeded_limit` for tokens, time and cost, which sub-agents use up too."""
        limits = self._limits
        if limits.tokens is not None and (message := self._token_message(limits.tokens, request_tokens)):
            return EndReason.TOKEN_LIMIT, self._with_argument(message, "max_tokens")
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return self.time_limit_reached()
        return self.exceeded_cost_limit(model, request_tokens)

    def exceeded_cost_limit(self, model: str = "", request_tokens: int = 0) -> tuple[EndReason, str] | None:
        """Like `exceeded_limit` for the cost alone: another model may be dearer."""
        limit = self._limits.cost
        if limit is None:
            return None
        if message := self._cost_message(limit, model, request_tokens):
            return EndReason.COST_LIMIT, self._with_argument(message, "max_cost")
        if model:
            self._announce_estimate(model)
        return None

    def time_limit_reached(self) -> tuple[EndReason, str]:
        """Return the end of a session whose time is up."""
        message = _("Reached the time limit of {seconds:g} seconds.", seconds=self._limits.seconds or 0)
        return EndReason.TIME_LIMIT, self._with_argument(message, "timeout")

    def _with_argument(self, message: str, argument: str) -> str:
        if argument not in self._limits.arguments:
            return message
        return _("{message} Increase {argument} to continue.", message=message, argument=argument)

    def _token_message(self, limit: int, request_tokens: int) -> str:
        used = self.usage.total
        if used >= limit:
            return _("Reached the limit of {tokens:,} tokens ({total:,} used).", tokens=limit, total=used)
        if used + request_tokens <= limit:
            return ""
        return _(
            "The next request (about {request:,} tokens) would exceed the limit of {tokens:,} tokens ({total:,} used).",
            request=request_tokens,
            tokens=limit,
            total=used,
        )

    def _cost_message(self, limit: float, model: str, request_tokens: int) -> str:
        spent = self._cost + self._estimated_cost
        if spent > limit or (spent == limit and spent):
            if self._estimated_cost:
                return _(
                    "Reached the cost limit of ${limit:g} (at most ${cost:.4f} spent; a price is unknown).",
                    limit=limit,
                    cost=spent,
                )
            return _("Reached the cost limit of ${limit:g} (${cost:.4f} spent).", limit=limit, cost=spent)
        request_cost = self._minimum_cost(model, request_tokens)
        if spent + request_cost <= limit:
            return ""
        return _(
            "The next request costs at least ${request:.4f} and would exceed the cost limit of ${limit:g} "
            "(${cost:.4f} spent).",
            request=request_cost,
            limit=limit,
            cost=spent,
        )

    def _minimum_cost(self, model: str, request_tokens: int) -> float:
        """The dollars that a request costs even if all of it comes from a cache and the answer is empty."""
        if not model or not request_tokens or model in self._uncounted_models:
            return 0.0
        price = self.prices.price_of(model) or self.prices.upper_bound(model)[0]
        return cost_of(Usage(prompt=request_tokens, cached=request_tokens), price)
