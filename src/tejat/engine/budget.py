"""How much a session may take: turns, tokens, money and time, looked at before each request."""

import time
from collections.abc import Callable

from tejat.core.agent_events import EndReason
from tejat.core.model import NO_USAGE, Usage
from tejat.core.value import value
from tejat.core.words import say
from tejat.engine.prices import Price, cost_of


@value
class Limits:
    """None: as much as it takes. `cost` is in dollars."""

    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class Budget:
    """What a session has used so far. The time runs from the moment it is made."""

    def __init__(
        self, limits: Limits, price_of: Callable[[str], Price | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = limits
        self._price_of = price_of
        self._clock = clock
        self._started = clock()
        self._cost = 0.0
        self._without_price: str | None = None
        self.turns = 0
        self.usage = NO_USAGE

    @property
    def cost(self) -> float | None:
        """Dollars, None as soon as a model took part whose price is unknown."""
        return self._cost if self._without_price is None else None

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    @property
    def remaining_seconds(self) -> float | None:
        """None if there is no limit; never less than nothing."""
        return None if self._limits.seconds is None else max(0.0, self._limits.seconds - self.seconds)

    def begin_turn(self) -> None:
        self.turns += 1

    def spend(self, usage: Usage, asked: str, answered: str = "") -> None:
        """Count what a request has used, a question on the side as well as a turn.

        `asked` is the model by the name that it was asked by, which tells who runs it; `answered` is what it calls
        itself, which may have a price where the other is only a name for the latest.
        """
        self.usage += usage
        price = self._price_of(asked) or self._price_of(answered)
        if price is not None:
            self._cost += cost_of(usage, price)
        elif usage.total:
            self._without_price = asked

    def problem(self, model: str = "") -> tuple[EndReason, str] | None:
        """The limit that is reached, with a sentence for the person; None if another request may go out.

        `model` is the one that would be asked: where money is limited, its price must be known.
        """
        limits = self._limits
        if limits.turns is not None and self.turns >= limits.turns:
            return EndReason.TURN_LIMIT, _out_of_turns()
        if limits.tokens is not None and self.usage.total >= limits.tokens:
            return EndReason.TOKEN_LIMIT, say(
                "Reached the limit of {tokens:,} tokens ({total:,} used).", tokens=limits.tokens, total=self.usage.total
            )
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return self.out_of_time()
        return None if limits.cost is None else self._cost_problem(limits.cost, model)

    def out_of_time(self) -> tuple[EndReason, str]:
        """How a session ends that has no time left."""
        return EndReason.TIME_LIMIT, say(
            "Reached the time limit of {seconds:g} seconds.", seconds=self._limits.seconds or 0
        )

    def _cost_problem(self, limit: float, model: str) -> tuple[EndReason, str] | None:
        if self._cost >= limit:
            return EndReason.COST_LIMIT, say(
                "Reached the cost limit of ${limit:g} (${cost:.4f} spent).", limit=limit, cost=self._cost
            )
        unknown = self._without_price or (model if model and self._price_of(model) is None else None)
        if unknown is None:
            return None
        return EndReason.COST_LIMIT, say(
            "The price of the model {model} is not known, so a cost limit cannot be kept. "
            "Tell its price in the setting model.prices, or run without the limit.",
            model=unknown,
        )


def _out_of_turns() -> str:
    return say(
        "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in "
        "settings.json."
    )
