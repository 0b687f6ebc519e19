"""Limits that are looked at before each request, so that none goes past them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.prices import FixedPrices
from tejat.core.agent.events import EndReason
from tejat.core.agent.prices import Price
from tejat.core.frozen import replace
from tejat.core.model import Usage
from tejat.engine.loop.budget import Budget, BudgetLimits

PRICES = {"cheap": Price(1, 0.1, 10), "free": Price(0, 0, 0)}
TURNS = (
    "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in "
    "settings.json."
)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def budget(limits: BudgetLimits, clock: Clock | None = None) -> Budget:
    return Budget(limits, FixedPrices(PRICES.get), clock or Clock())


def test_without_limits_everything_is_counted_and_nothing_stops() -> None:
    clock = Clock()
    spent = budget(BudgetLimits(), clock)
    for _ in range(3):
        assert spent.exceeded_limit("cheap") is None
        spent.begin_turn()
        spent.record_usage(Usage(prompt=1_000_000, cached=500_000, output=100_000, thoughts=20_000, tool=7), "cheap")
        clock.now += 1000
    assert spent.turns == 3
    assert spent.usage == Usage(3_000_000, 1_500_000, 300_000, 60_000, 21)
    assert spent.cost == pytest.approx(3 * (0.500007 + 0.05 + 1.2))
    assert spent.seconds == 3000
    assert spent.remaining_seconds is None
    assert spent.exceeded_limit("unheard of") is None


def test_turns() -> None:
    spent = budget(BudgetLimits(turns=2))
    assert spent.exceeded_limit() is None
    spent.begin_turn()
    assert spent.exceeded_limit() is None
    spent.begin_turn()
    assert spent.exceeded_limit() == (EndReason.TURN_LIMIT, TURNS)
    assert budget(BudgetLimits(turns=0)).exceeded_limit() == (EndReason.TURN_LIMIT, TURNS)


def test_questions_on_the_side_take_tokens_but_no_turn() -> None:
    spent = budget(BudgetLimits(turns=1, tokens=1000))
    spent.record_usage(Usage(prompt=900, output=99), "cheap")
    assert spent.exceeded_limit() is None
    spent.record_usage(Usage(output=1), "cheap")
    assert spent.exceeded_limit() == (EndReason.TOKEN_LIMIT, "Reached the limit of 1,000 tokens (1,000 used).")


def test_money() -> None:
    spent = budget(BudgetLimits(cost=0.5))
    spent.record_usage(Usage(prompt=499_999), "cheap")
    assert spent.exceeded_limit("cheap") is None
    spent.record_usage(Usage(prompt=1), "cheap")
    assert spent.exceeded_limit("cheap") == (EndReason.COST_LIMIT, "Reached the cost limit of $0.5 ($0.5000 spent).")


def test_the_next_request_counts() -> None:
    spent = budget(BudgetLimits(tokens=1000))
    spent.record_usage(Usage(prompt=700), "cheap")
    assert spent.exceeded_limit("cheap", 300) is None
    message = "The next request (about 301 tokens) would exceed the limit of 1,000 tokens (700 used)."
    assert spent.exceeded_limit("cheap", 301) == (EndReason.TOKEN_LIMIT, message)


def test_the_next_request_costs_at_least_what_a_cached_one_does() -> None:
    spent = budget(BudgetLimits(cost=1))
    spent.record_usage(Usage(prompt=500_000), "cheap")
    cached = PRICES["cheap"].cached
    assert spent.exceeded_limit("cheap", int(500_000 / cached)) is None
    reached = spent.exceeded_limit("cheap", int(500_000 / cached) + 1_000)
    assert reached is not None
    assert reached[0] is EndReason.COST_LIMIT
    assert reached[1].startswith("The next request costs at least $0.5")
    assert reached[1].endswith(" and would exceed the cost limit of $1 ($0.5000 spent).")


def test_a_limit_of_nothing_allows_what_costs_nothing() -> None:
    assert budget(BudgetLimits(cost=0)).exceeded_limit("free", 1_000) is None
    assert budget(BudgetLimits(cost=0)).exceeded_limit("cheap", 1_000) is not None


@pytest.mark.parametrize(
    ("argument", "limits"),
    [
        ("max_turns", BudgetLimits(turns=0)),
        ("max_tokens", BudgetLimits(tokens=0)),
        ("max_cost", BudgetLimits(cost=0)),
        ("timeout", BudgetLimits(seconds=0)),
    ],
)
def test_a_limit_of_a_program_is_named_as_its_argument(argument: str, limits: BudgetLimits) -> None:
    reached = budget(replace(limits, arguments=frozenset({argument}))).exceeded_limit("cheap", 1_000)
    assert reached is not None
    assert reached[1].endswith(f" Increase {argument} to continue.")
    unnamed = budget(limits).exceeded_limit("cheap", 1_000)
    assert unnamed is not None
    assert argument not in unnamed[1]


def test_the_notice_of_a_program_names_its_argument() -> None:
    spent = budget(BudgetLimits(cost=1, arguments=frozenset({"max_cost"})))
    assert (spent.estimate_notice("mystery") or "").startswith("The price of mystery is unknown. max_cost assumes the ")


BOUND = (
    "The price of mystery is unknown. --max-cost assumes the highest known prices of dear: $100 per million "
    "input tokens, $100 per million output tokens. Set its price in model.prices."
)


def test_a_model_without_a_price_is_counted_with_a_stated_upper_bound() -> None:
    told: list[str] = []
    spent = Budget(BudgetLimits(cost=1), FixedPrices(PRICES.get), Clock(), told.append)
    assert spent.exceeded_limit("free") is None
    assert told == []
    for _ in range(2):
        assert spent.exceeded_limit("mystery") is None
        assert told == [BOUND]
    spent.record_usage(Usage(), "mystery")
    assert spent.cost == 0
    spent.record_usage(Usage(prompt=9_999), "mystery")
    assert spent.cost is None
    assert spent.exceeded_limit("mystery") is None
    spent.record_usage(Usage(prompt=1), "mystery")
    reached = "Reached the cost limit of $1 (at most $1.0000 spent; a price is unknown)."
    assert spent.exceeded_limit("free") == (EndReason.COST_LIMIT, reached)
    assert told == [BOUND]


def test_the_user_may_accept_the_upper_bound_or_leave_a_model_out() -> None:
    told: list[str] = []
    spent = Budget(BudgetLimits(cost=1), FixedPrices(PRICES.get), Clock(), told.append)
    assert spent.estimate_notice("cheap") is None
    assert spent.estimate_notice("mystery") == BOUND
    spent.accept_estimate("mystery")
    spent.record_usage(Usage(prompt=1_000), "mystery")
    spent.stop_counting("other")
    assert spent.estimate_notice("other") is None
    spent.record_usage(Usage(prompt=10**9), "other")
    assert spent.exceeded_limit("other") is None
    assert told == []


def test_without_a_cost_limit_nothing_is_estimated() -> None:
    told: list[str] = []
    spent = Budget(BudgetLimits(), FixedPrices(PRICES.get), Clock(), told.append)
    spent.record_usage(Usage(prompt=10**9), "mystery")
    assert (spent.exceeded_limit("mystery"), spent.estimate_notice("mystery"), spent.cost, told) == (
        None,
        None,
        None,
        [],
    )


def test_the_name_that_was_asked_by_comes_before_what_the_model_calls_itself() -> None:
    """A server of the user's own gives the bare name, under which nobody knows that it is free."""
    used = Usage(prompt=1_000_000)
    prices = FixedPrices({"ollama:big": Price(0, 0, 0), "flash": Price(0.3, 0, 1)}.get)
    local = Budget(BudgetLimits(cost=1), prices)
    local.record_usage(used, "ollama:big", "big")
    assert (local.cost, local.exceeded_limit("ollama:big")) == (0, None)
    latest = Budget(BudgetLimits(), prices)
    latest.record_usage(used, "gemini:some-name-for-the-latest", "flash")
    assert latest.cost == pytest.approx(0.3)


def test_time() -> None:
    clock = Clock()
    spent = budget(BudgetLimits(seconds=90), clock)
    assert spent.remaining_seconds == 90
    clock.now += 89.5
    assert spent.exceeded_limit() is None
    assert spent.remaining_seconds == 0.5
    clock.now += 0.5
    reached = (EndReason.TIME_LIMIT, "Reached the time limit of 90 seconds.")
    assert spent.exceeded_limit() == reached
    clock.now += 1000
    assert spent.remaining_seconds == 0
    assert spent.time_limit_reached() == reached


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5000), st.lists(st.integers(1, 400), min_size=1, max_size=50))
def test_never_more_than_one_request_past_the_limit(limit: int, requests: list[int]) -> None:
    spent = budget(BudgetLimits(tokens=limit))
    before = 0
    for tokens in requests:
        if spent.exceeded_limit():
            break
        before = spent.usage.total
        spent.record_usage(Usage(prompt=tokens), "free")
    assert before < limit
    assert bool(spent.exceeded_limit()) == (spent.usage.total >= limit)
