"""A cost limit and a model without a known price: the user is asked at a terminal."""

import asyncio

import pytest

from support.prices import FixedPrices
from support.prompter import FakePrompter, report_text
from tejat.app.onboarding.cost_limit import ask_about_unknown_price
from tejat.core.agent.prices import Price
from tejat.core.model import Usage
from tejat.core.ui.prompter import Choice
from tejat.engine.loop.budget import Budget, BudgetLimits


def budget(cost: float | None, told: list[str]) -> Budget:
    return Budget(BudgetLimits(cost=cost), FixedPrices({"known": Price(1, 1, 1)}.get), on_estimate=told.append)


@pytest.mark.parametrize(("cost", "model"), [(None, "mystery"), (1.0, "known")])
def test_nothing_is_asked_where_nothing_is_unclear(cost: float | None, model: str) -> None:
    person = FakePrompter()
    assert asyncio.run(ask_about_unknown_price(budget(cost, []), model, person))
    assert person.asked == []


@pytest.mark.parametrize(
    ("answer", "is_used", "cost"), [(0, True, 100.0), (1, True, None), (2, False, 0.0), (None, False, 0.0)]
)
def test_the_answers(answer: int | None, is_used: bool, cost: float | None) -> None:
    told: list[str] = []
    spent, person = budget(500, told), FakePrompter(choices=[answer])
    assert asyncio.run(ask_about_unknown_price(spent, "mystery", person)) is is_used
    (asked,) = person.asked
    assert isinstance(asked, Choice)
    assert asked.report is not None
    assert report_text(asked.report).startswith("The price of mystery is unknown. --max-cost assumes ")
    if is_used:
        assert spent.exceeded_limit("mystery") is None
        spent.record_usage(Usage(prompt=1_000_000), "mystery")
    assert (spent.highest_cost, told) == (cost, [])
