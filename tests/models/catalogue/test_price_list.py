"""Whose price is whose: the user's own, and those of the catalogue on a day."""

from functools import partial

import pytest

from tejat.core.agent.prices import FREE, Price
from tejat.models.catalogue.catalogue_file import load_catalogue
from tejat.models.catalogue.price_list import PriceList, day_of

GEMINI_PRO = Price(1.25, 0.125, 10, steps=((200_000, Price(2.5, 0.25, 15)),))
DAY = "2026-11-17"


def price_list(own: dict[str, Price] | None = None, day: str = DAY) -> PriceList:
    return PriceList(partial(load_catalogue, ""), own or {}, lambda: day)


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
        ("gemini-3.1-pro-preview-customtools", Price(2, 0.2, 12, steps=((200_000, Price(4, 0.4, 18)),))),
        ("openai:gpt-5", Price(1.25, 0.125, 10)),
        ("gpt-5-mini-2025-08-07", Price(0.25, 0.025, 2)),
        ("o3", Price(2, 0.5, 8)),
        ("o3-pro", Price(20, 20, 80)),
        ("claude-opus-4-1-20250805", Price(15, 1.5, 75, 18.75)),
        ("claude-opus-5", Price(5, 0.5, 25, 6.25)),
        ("claude-opus-5-5@20261001", Price(4, 0.2, 20, 5)),
        ("anthropic:claude-haiku-4-5", Price(1, 0.1, 5, 1.25)),
        ("bedrock:global.anthropic.claude-opus-5-v1:0", Price(5, 0.5, 25, 6.25)),
        ("bedrock:anthropic.claude-3-haiku-20240307-v1:0", Price(0.25, 0.03, 1.25, 0.3)),
        ("ollama:llama3.3:70b", FREE),
        ("ollama:gpt-5", FREE),
        ("scripted:/some/where/demo.toml", FREE),
        ("gemma-3-27b-it", FREE),
        ("gemma-4-31b-it", FREE),
    ],
)
def test_the_price_of_a_model(model: str, price: Price) -> None:
    assert price_list().price_of(model) == price


@pytest.mark.parametrize(
    "model",
    [
        *("gemini-2.55-pro", "gemini-2.5-promise", "gemini-2.5-pro-tts", "gemini-3.1-pro", "gpt-5.9", "gpt-5-huge"),
        *("claude-opus-5-6", "claude-opus-6", "gemini-3.8-flash-lite", "gpt-4o-audio-preview", "llama3.3:70b"),
        *("openai:my-own", "bedrock:meta.llama", ""),
    ],
)
def test_a_price_is_never_guessed_from_a_similar_name(model: str) -> None:
    assert price_list().price_of(model) is None


@pytest.mark.parametrize("region", ["", "us.", "eu.", "us-gov."])
def test_a_single_region_of_bedrock_costs_more(region: str) -> None:
    price = price_list().price_of(f"bedrock:{region}anthropic.claude-haiku-5-5-v1:0")
    assert price is not None
    assert (price.input, price.cached, price.output) == pytest.approx((0.11, 0.011, 0.55))
    assert price.for_prompt(100_001).input == pytest.approx(0.55)


def test_the_price_of_the_day() -> None:
    """Gemini 3.8 Flash is announced to double in 2027."""
    prices = [price_list(day=day).price_of("gemini-3.8-flash") for day in ("2026-12-31", "2027-01-01", "2028-01-01")]
    assert prices == [Price(0.75, 0.075, 3.75), Price(1.5, 0.15, 7.5), Price(1.5, 0.15, 7.5)]


def test_the_users_own_prices_win() -> None:
    prices = price_list({"gemini-2.5": Price(1, 2, 3), "openai:my-own": Price(4, 5, 6), "ollama:big": Price(7, 8, 9)})
    assert prices.price_of("gemini-2.5-pro") == Price(1, 2, 3)
    assert prices.price_of("openai:my-own") == Price(4, 5, 6)
    assert prices.price_of("ollama:big:70b") == Price(7, 8, 9)
    assert prices.price_of("ollama:small") == FREE


@pytest.mark.parametrize(
    ("model", "service"),
    [
        ("openai:my-own", "openai"),
        ("azure:my-own", "openai"),
        ("anthropic:claude-next", "anthropic"),
        ("claude-next-9", "anthropic"),
        ("vertex:gemini-9-pro", "gemini"),
        ("gemini-9-pro", "gemini"),
        ("mystery", ""),
    ],
)
def test_no_model_of_the_service_is_dearer_than_the_upper_bound(model: str, service: str) -> None:
    bound, named = price_list().upper_bound(model)
    assert named == service
    seen = 0
    for entry in load_catalogue(""):
        if (service and entry.service != service) or entry.is_retired(DAY):
            continue
        price = entry.price_on(DAY)
        assert price is not None
        for step in (price, *(step for _, step in price.steps)):
            seen += 1
            assert step.input <= bound.input
            assert step.cached <= bound.cached
            assert step.output <= bound.output
    assert seen > 5


def test_days() -> None:
    assert day_of(0.0) == "1970-01-01"
    assert day_of() >= "2026-11-17"
