"""Limits: what they declare, what breaks them, and several at once."""

from datetime import date
from decimal import Decimal
from functools import partial
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.tools.hints.limits import Bounds, Lengths, Number, TimeBounds

_Limits = TypeVar("_Limits", Bounds, Lengths)


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
    assert Bounds(1, 2, 4, 5, 5).schema() == {
        "minimum": 1,
        "exclusiveMinimum": 2,
        "maximum": 4,
        "exclusiveMaximum": 5,
        "multipleOf": 5,
    }
    assert Bounds(Decimal("1"), maximum=Decimal("2.5")).schema() == {"minimum": 1, "maximum": 2.5}
    assert Lengths(1, 2).schema("Items") == {"minItems": 1, "maxItems": 2}
    assert Bounds().schema() == Lengths().schema("Length") == {}


@pytest.mark.parametrize("step", [0, -2, 0.0, Decimal(0), float("nan")])
def test_steps_are_positive(step: Number) -> None:
    with pytest.raises(TypeError, match="only of one above 0"):
        Bounds(multiple_of=step)


@pytest.mark.parametrize(
    "limits", [(5, None, 1, None), (5, None, None, 5), (None, 5, 5, None), (None, 5, None, 5), (Decimal(2), None, 1.5)]
)
def test_some_number_is_within_bounds(limits: tuple[Number | None, ...]) -> None:
    with pytest.raises(TypeError, match=r"nothing can be >=? [0-9]+ and <=? [0-9.]+"):
        Bounds(*limits)


def test_some_moment_is_within_bounds() -> None:
    early, late = date(2026, 1, 1), date(2026, 2, 1)
    assert TimeBounds(early, None, late).problem(early) is None
    for limits in ((late, None, early), (early, None, None, early), (None, early, early)):
        with pytest.raises(TypeError, match=r"nothing can be >=? 2026-0[12]-01 and <=? 2026-01-01"):
            TimeBounds(*limits)


@pytest.mark.parametrize("limits", [(-1, None), (None, -1)])
def test_lengths_are_not_negative(limits: tuple[int | None, int | None]) -> None:
    with pytest.raises(TypeError, match="cannot be limited to -1, only to 0 or more"):
        Lengths(*limits)


def test_some_length_is_within_the_limits() -> None:
    with pytest.raises(TypeError, match="no length is within the limits: the least is 3, the most 2"):
        Lengths(3, 2)
    assert Lengths(2, 2).problem(2, "items") is None


LIMITS = st.none() | st.integers(-3, 3)
SIZES = st.none() | st.integers(0, 4)


def _possible(limits: type[_Limits], *drawn: int | None) -> _Limits | None:
    try:
        return limits(*drawn)
    except TypeError:
        return None


def _merge(one: _Limits, other: _Limits) -> _Limits | None:
    try:
        return one.merge(other)
    except TypeError:
        return None


@given(*(st.builds(partial(_possible, Bounds), LIMITS, LIMITS, LIMITS, LIMITS).filter(bool) for _ in range(2)))
def test_merged_bounds_hold_both(one: Bounds, other: Bounds) -> None:
    merged = _merge(one, other)
    for number in (-4, -3.5, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4):
        breaks_one = one.problem(number) is not None or other.problem(number) is not None
        assert (merged is None or merged.problem(number) is not None) == breaks_one


@given(*(st.builds(partial(_possible, Lengths), SIZES, SIZES).filter(bool) for _ in range(2)))
def test_merged_lengths_hold_both(one: Lengths, other: Lengths) -> None:
    merged = _merge(one, other)
    for length in range(6):
        breaks_one = one.problem(length, "x") is not None or other.problem(length, "x") is not None
        assert (merged is None or merged.problem(length, "x") is not None) == breaks_one


def test_two_steps_are_refused() -> None:
    with pytest.raises(TypeError, match="a multiple of one step only"):
        Bounds(multiple_of=2).merge(Bounds(multiple_of=3))
    assert Bounds(multiple_of=2).merge(Bounds(multiple_of=2)) == Bounds(multiple_of=2).merge(Bounds())
