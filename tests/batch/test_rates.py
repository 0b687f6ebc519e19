"""Rates of the command line."""

import pytest

from tejat.batch.rates import parse_rate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gemini=60/min", ("gemini", 60.0)),
        ("openai=2.5/s", ("openai", 150.0)),
        ("anthropic=120/h", ("anthropic", 2.0)),
        (" Gemini = 60 / Minute ", ("gemini", 60.0)),
        ("scripted=1/sec", ("scripted", 60.0)),
    ],
)
def test_rates(text: str, expected: tuple[str, float]) -> None:
    assert parse_rate(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gemini",
        "gemini=60",
        "gemini=/min",
        "gemini=60/day",
        "gemini=0/min",
        "gemini=-1/min",
        "=60/min",
        "g=1.2.3/s",
    ],
)
def test_not_a_rate(text: str) -> None:
    with pytest.raises(ValueError, match=r"SERVICE=NUMBER/min, for example gemini=60/min\. The units are /s, /min"):
        parse_rate(text)


def test_a_number_without_end() -> None:
    with pytest.raises(ValueError, match="Not a rate"):
        parse_rate(f"gemini={'9' * 400}/min")


def test_a_service_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"Unknown service 'gemni'\. Use one of: gemini, vertex, "):
        parse_rate("gemni=60/min")
