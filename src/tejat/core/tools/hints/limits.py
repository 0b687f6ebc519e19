"""Limits of values: bounds of numbers, of dates and times, lengths of texts and collections."""

import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonValue

if TYPE_CHECKING:
    from datetime import date, time

Number: TypeAlias = int | float | Decimal

_N = TypeVar("_N")


class Bounds(Frozen):
    """The limits of a number. Raises TypeError if no number can be within them."""

    minimum: Number | None = None
    exclusive_minimum: Number | None = None
    maximum: Number | None = None
    exclusive_maximum: Number | None = None
    multiple_of: Number | None = None

    def __post_init__(self) -> None:
        if self.multiple_of is not None and not self.multiple_of > 0:
            raise TypeError(f"a number cannot be a multiple of {self.multiple_of}, only of one above 0")
        _check_range(self)

    def schema(self) -> dict[str, JsonValue]:
        return (
            _keyword("minimum", self.minimum)
            | _keyword("exclusiveMinimum", self.exclusive_minimum)
            | _keyword("maximum", self.maximum)
            | _keyword("exclusiveMaximum", self.exclusive_maximum)
            | _keyword("multipleOf", self.multiple_of)
        )

    def problem(self, number: Number) -> str | None:
        """The first limit that the number breaks, in words, or None."""
        if self.minimum is not None and number < self.minimum:
            return f"must be >= {self.minimum}"
        if self.exclusive_minimum is not None and number <= self.exclusive_minimum:
            return f"must be > {self.exclusive_minimum}"
        if self.maximum is not None and number > self.maximum:
            return f"must be <= {self.maximum}"
        if self.exclusive_maximum is not None and number >= self.exclusive_maximum:
            return f"must be < {self.exclusive_maximum}"
        if self.multiple_of is not None and _exact(number) % _exact(self.multiple_of):
            return f"must be multiple of {self.multiple_of}"
        return None

    def merge(self, other: "Bounds") -> "Bounds":
        """The bounds of both. Raises TypeError if they name different steps."""
        if None not in (self.multiple_of, other.multiple_of) and self.multiple_of != other.multiple_of:
            raise TypeError("a number can be a multiple of one step only")
        return Bounds(
            _stricter(self.minimum, other.minimum, largest=True),
            _stricter(self.exclusive_minimum, other.exclusive_minimum, largest=True),
            _stricter(self.maximum, other.maximum, largest=False),
            _stricter(self.exclusive_maximum, other.exclusive_maximum, largest=False),
            self.multiple_of if other.multiple_of is None else other.multiple_of,
        )


class TimeBounds(Frozen):
    """The limits of a date, a time or both. JSON Schema has no keyword for them, so they are declared in words.

    Raises TypeError if nothing can be within them.
    """

    minimum: "date | time | None" = None
    exclusive_minimum: "date | time | None" = None
    maximum: "date | time | None" = None
    exclusive_maximum: "date | time | None" = None

    def __post_init__(self) -> None:
        _check_range(self)

    @property
    def moments(self) -> "list[date | time]":
        found = (self.minimum, self.exclusive_minimum, self.maximum, self.exclusive_maximum)
        return [each for each in found if each is not None]

    def words(self) -> str:
        """What a model is told, such as "Must be on or after 2026-01-01 and before 2027-01-01"."""
        phrases = [phrase for _limit, phrase, _is_met in self._rules()]
        return f"Must be {' and '.join(phrases)}." if phrases else ""

    def problem(self, moment: "date | time") -> str | None:
        """The first limit that a moment breaks, in words, or None."""
        for limit, phrase, is_met in self._rules():
            try:
                if not is_met(moment, limit):
                    return f"must be {phrase}"
            except TypeError:  # one of them has no time zone
                return "must have a time zone" if _has_zone(limit) else "must NOT have a time zone"
        return None

    def merge(self, other: "TimeBounds") -> "TimeBounds":
        """The bounds of both. Raises TypeError if they cannot be compared."""
        return TimeBounds(
            _stricter(self.minimum, other.minimum, largest=True),
            _stricter(self.exclusive_minimum, other.exclusive_minimum, largest=True),
            _stricter(self.maximum, other.maximum, largest=False),
            _stricter(self.exclusive_maximum, other.exclusive_maximum, largest=False),
        )

    def _rules(self) -> "Iterator[tuple[date | time, str, Callable[[Any, Any], bool]]]":
        for limit, words, is_met in (
            (self.minimum, "{at} or after", operator.ge),
            (self.exclusive_minimum, "after", operator.gt),
            (self.maximum, "{at} or before", operator.le),
            (self.exclusive_maximum, "before", operator.lt),
        ):
            if limit is not None:
                at = "at" if hasattr(limit, "hour") else "on"
                yield limit, f"{words.format(at=at)} {limit.isoformat()}", is_met


class Lengths(Frozen):
    """The limits of a length. Raises TypeError if no length can be within them."""

    minimum: int | None = None
    maximum: int | None = None

    def __post_init__(self) -> None:
        for limit in (self.minimum, self.maximum):
            if limit is not None and limit < 0:
                raise TypeError(f"a length cannot be limited to {limit}, only to 0 or more")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise TypeError(f"no length is within the limits: the least is {self.minimum}, the most {self.maximum}")

    def schema(self, noun: str) -> dict[str, JsonValue]:
        """The keywords, for `Length`, `Items` or `Properties`."""
        return _keyword(f"min{noun}", self.minimum) | _keyword(f"max{noun}", self.maximum)

    def problem(self, length: int, units: str) -> str | None:
        """The limit that the length breaks, in words, or None."""
        if self.minimum is not None and length < self.minimum:
            return f"must NOT have fewer than {self.minimum} {units}"
        if self.maximum is not None and length > self.maximum:
            return f"must NOT have more than {self.maximum} {units}"
        return None

    def merge(self, other: "Lengths") -> "Lengths":
        """The limits of both."""
        return Lengths(
            _stricter(self.minimum, other.minimum, largest=True), _stricter(self.maximum, other.maximum, largest=False)
        )


def _check_range(limits: "Bounds | TimeBounds") -> None:
    """Raises TypeError if the lower limit is above the upper one, or if they cannot be compared."""
    given: Any = limits  # two numbers or two moments
    lowest = ((">=", given.minimum), (">", given.exclusive_minimum))
    highest = (("<=", given.maximum), ("<", given.exclusive_maximum))
    for (above, low), (below, high) in product(lowest, highest):
        if low is None or high is None:
            continue
        if low > high or (low == high and (above, below) != (">=", "<=")):
            raise TypeError(f"nothing can be {above} {low} and {below} {high}")


def _keyword(name: str, number: Number | None) -> dict[str, JsonValue]:
    if number is None:
        return {}
    if isinstance(number, Decimal):
        number = int(number) if number == int(number) else float(number)
    return {name: number}


def _stricter(one: _N | None, other: _N | None, *, largest: bool) -> _N | None:
    if one is None or other is None:
        return other if one is None else one
    both: list[Any] = [one, other]
    return max(both) if largest else min(both)


def _has_zone(moment: "date | time") -> bool:
    return getattr(moment, "tzinfo", None) is not None


def _exact(number: Number) -> Fraction:
    """The number as it is written: 0.3 is three times 0.1."""
    return Fraction(repr(number) if isinstance(number, float) else number)
