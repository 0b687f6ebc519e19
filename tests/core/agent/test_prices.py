"""What a request costs: by the length of its prompt, with its caches and thoughts."""

import pytest

from tejat.core.agent.prices import Price, cost_of
from tejat.core.model import Usage

GEMINI_PRO = Price(1.25, 0.125, 10, steps=((200_000, Price(2.5, 0.25, 15)),))
CLAUDE = Price(3, 0.3, 15, cache_write=3.75)
THREE_STEPS = Price(1, 1, 1, steps=((100, Price(2, 2, 2)), (1000, Price(3, 3, 3))))


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(), 0),
        (Usage(prompt=100_000), 0.125),
        (Usage(prompt=100_000, cached=80_000), 0.025 + 0.01),
        (Usage(output=10_000, thoughts=10_000), 0.2),
        (Usage(tool=100_000), 0.125),
        (Usage(prompt=200_000), 0.25),
        (Usage(prompt=200_001), 200_001 * 2.5 / 1e6),
        (Usage(prompt=400_000, cached=400_000, output=100_000), 0.1 + 1.5),
        (Usage(prompt=10, cached=20), 20 * 0.125 / 1e6),
        (Usage(prompt=100_000, cache_write=100_000), 0.125),
    ],
)
def test_the_cost_of_a_request(usage: Usage, dollars: float) -> None:
    assert cost_of(usage, GEMINI_PRO) == pytest.approx(dollars)


def test_writing_to_a_cache_has_its_own_price() -> None:
    usage = Usage(prompt=1_000_000, cached=500_000, cache_write=300_000, output=100_000)
    assert cost_of(usage, CLAUDE) == pytest.approx(0.2 * 3 + 0.5 * 0.3 + 0.3 * 3.75 + 0.1 * 15)


@pytest.mark.parametrize(("tokens", "price"), [(0, 1), (100, 1), (101, 2), (1000, 2), (1001, 3)])
def test_steps(tokens: int, price: float) -> None:
    assert THREE_STEPS.for_prompt(tokens).input == price
