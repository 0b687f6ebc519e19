"""Limits of values: bounds of numbers, lengths of texts and collections."""

from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, TypeVar

from tejat.core.frozen import frozen
from tejat.core.messages.types import JsonValue

Number: TypeAlias = int | float | Decimal

_N = TypeVar("_N", bound=Number)


@frozen
class Bounds:
    """The limits of a number."""

    minimum: Number | None = None
    exclusive_minimum: Number | None = None
    maximum: Number | None = None
    exclusive_maximum: Number | None = None
    multiple_of: Number | None = None

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


@frozen
class Lengths:
    """The limits of a length."""

    minimum: int | None = None
    maximum: int | None = None

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


def _keyword(name: str, number: Number | None) -> dict[str, JsonValue]:
    if number is None:
        return {}
    if isinstance(number, Decimal):
        number = int(number) if number == int(number) else float(number)
    return {name: number}


def _stricter(one: _N | None, other: _N | None, *, largest: bool) -> _N | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other) if largest else min(one, other)


def _exact(number: Number) -> Fraction:
    """The number as it is written: 0.3 is three times 0.1."""
    return Fraction(repr(number) if isinstance(number, float) else number)
