"""Windows and prices, short enough for a table."""

import pytest

from tejat.core.agent.prices import FREE, Price
from tejat.core.text.model_figures import format_price, format_window


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (None, ""),
        (4_096, "4,096"),
        (8_192, "8,192"),
        (16_385, "16k"),
        (128_000, "128k"),
        (131_072, "128k"),
        (200_000, "200k"),
        (262_144, "256k"),
        (272_000, "272k"),
        (1_000_000, "1M"),
        (1_048_576, "1M"),
        (1_047_576, "1.05M"),
        (1_050_000, "1.05M"),
        (2_097_152, "2M"),
    ],
)
def test_windows(tokens: int | None, text: str) -> None:
    assert format_window(tokens) == text


def test_prices() -> None:
    assert [
        format_price(price) for price in (None, FREE, Price(2, 0, 12), Price(0.75, 0, 3.75), Price(0.075, 0, 0.3))
    ] == [
        "",
        "free",
        "$2.00 / $12.00",
        "$0.75 / $3.75",
        "$0.075 / $0.30",
    ]
