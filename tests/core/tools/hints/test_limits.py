"""Limits: what they declare, what breaks them, and several at once."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.tools.hints.limits import Bounds, Lengths


@pytest.mark.parametrize(
    ("bounds", "number", "problem"),
    [
        (Bounds(1), 1, None),
        (Bounds(1), 0.5, "must be >= 1"),
        (Bounds(exclusive_minimum=1), 1, "must be > 1"),
        (Bounds(maximum=1), 1, None),
        (Bounds(maximum=1), 1.5, "must be <= 1"),
        (Bounds(exclusive_maximum=1), 1, "must be < 1"),
        (Bounds(multiple_of=0.1), 0.3, None),
        (Bounds(multiple_of=0.1), 0.35, "must be multiple of 0.1"),
        (Bounds(multiple_of=3), 10**400 * 3, None),
        (Bounds(Decimal("0.1")), Decimal("0.05"), "must be >= 0.1"),
    ],
)
def test_what_breaks_bounds(bounds: Bounds, number: float, problem: str | None) -> None:
    assert bounds.problem(number) == problem


@pytest.mark.parametrize(
    ("length", "problem"),
    [(0, "must NOT have fewer than 1 items"), (1, None), (2, None), (3, "must NOT have more than 2 items")],
)
def test_what_breaks_lengths(length: int, problem: str | None) -> None:
    assert Lengths(1, 2).problem(length, "items") == problem


def test_what_they_declare() -> None:
    assert Bounds(1, 2, 3, 4, 5).schema() == {
        "minimum": 1,
        "exclusiveMinimum": 2,
        "maximum": 3,
        "exclusiveMaximum": 4,
        "multipleOf": 5,
    }
    assert Bounds(Decimal("1"), maximum=Decimal("2.5")).schema() == {"minimum": 1, "maximum": 2.5}
    assert Lengths(1, 2).schema("Items") == {"minItems": 1, "maxItems": 2}
    assert Bounds().schema() == Lengths().schema("Length") == {}


LIMITS = st.none() | st.integers(-3, 3)


@given(*(st.builds(Bounds, LIMITS, LIMITS, LIMITS, LIMITS) for _ in range(2)), st.integers(-4, 4))
def test_merged_bounds_hold_both(one: Bounds, other: Bounds, number: int) -> None:
    breaks_one = one.problem(number) is not None or other.problem(number) is not None
    assert (one.merge(other).problem(number) is not None) == breaks_one


@given(*(st.builds(Lengths, LIMITS, LIMITS) for _ in range(2)), st.integers(0, 4))
def test_merged_lengths_hold_both(one: Lengths, other: Lengths, length: int) -> None:
    breaks_one = one.problem(length, "x") is not None or other.problem(length, "x") is not None
    assert (one.merge(other).problem(length, "x") is not None) == breaks_one


def test_two_steps_are_refused() -> None:
    with pytest.raises(TypeError, match="a multiple of one step only"):
        Bounds(multiple_of=2).merge(Bounds(multiple_of=3))
    assert Bounds(multiple_of=2).merge(Bounds(multiple_of=2)) == Bounds(multiple_of=2).merge(Bounds())
