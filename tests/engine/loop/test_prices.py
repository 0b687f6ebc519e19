"""What models cost: every price that comes with the program, and whose price is whose."""

import pytest

from tejat.core.model import Usage
from tejat.engine.loop.prices import Price, PriceList, cost_of

FREE = Price(0, 0, 0)
GEMINI_PRO = Price(1.25, 0.125, 10, 200_000, Price(2.5, 0.25, 15))


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gemini-2.5-pro", GEMINI_PRO),
        ("gemini-2.5-pro-preview-05-06", GEMINI_PRO),
        ("gemini:gemini-2.5-pro", GEMINI_PRO),
        ("vertex:gemini-2.5-pro", GEMINI_PRO),
        ("models/gemini-2.5-pro", GEMINI_PRO),
        ("publishers/google/models/gemini-2.5-pro@002", GEMINI_PRO),
        ("gemini-2.5-flash", Price(0.3, 0.03, 2.5)),
        ("gemini-2.5-flash-lite-preview", Price(0.1, 0.01, 0.4)),
        ("gemini-2.55-pro", None),
        ("gemini-2.5-promise", None),
        ("openai:gpt-5", Price(1.25, 0.125, 10)),
        ("gpt-5-mini-2025-08-07", Price(0.25, 0.025, 2)),
        ("gpt-5.9", None),
        ("o3", Price(2, 0.5, 8)),
        ("o3-pro", Price(20, 20, 80)),
        ("claude-opus-4-1-20250805", Price(15, 1.5, 75)),
        ("claude-opus-4-5", Price(5, 0.5, 25)),
        ("anthropic:claude-haiku-4-5", Price(1, 0.1, 5)),
        ("ollama:llama3.3:70b", FREE),
        ("ollama:gpt-5", FREE),
        ("scripted:/some/where/demo.toml", FREE),
        ("gemma-3-27b-it", FREE),
        ("llama3.3:70b", None),
        ("openai:my-own", None),
        ("", None),
    ],
)
def test_the_price_of_a_model(model: str, price: Price | None) -> None:
    assert PriceList().price_of(model) == price


def test_every_listed_price_makes_sense() -> None:
    prices = PriceList()
    assert prices.price_of("gemini-2.5-pro")
    known = prices._builtin
    assert known is not None
    assert len(known) > 40
    for name, price in known.items():
        assert 0 <= price.cached <= price.input <= price.output, name
        assert (price.threshold is None) == (price.beyond is None), name
        if price.beyond is not None:
            assert price.beyond.input > price.input, name


def test_the_users_own_prices_win() -> None:
    prices = PriceList({"gemini-2.5": Price(1, 2, 3), "openai:my-own": Price(4, 5, 6), "ollama:big": Price(7, 8, 9)})
    assert prices.price_of("gemini-2.5-pro") is not None
    assert prices.price_of("gemini-2.5-pro") == Price(1, 2, 3)
    assert prices.price_of("openai:my-own") == Price(4, 5, 6)
    assert prices.price_of("ollama:big:70b") == Price(7, 8, 9)
    assert prices.price_of("ollama:small") == FREE


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
    ],
)
def test_the_cost_of_a_request(usage: Usage, dollars: float) -> None:
    assert cost_of(usage, GEMINI_PRO) == pytest.approx(dollars)
