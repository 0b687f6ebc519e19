"""Types of the standard library that are written as text or as numbers in JSON: paths, dates, UUIDs, decimals."""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import cast
from uuid import UUID

from tejat.core.frozen import Frozen, field, replace
from tejat.core.messages.types import JsonValue
from tejat.core.tools.hints.json_types import JsonType, TypeMismatch, check_limit, wrong_type
from tejat.core.tools.hints.limits import Bounds, TimeBounds


class FormattedType(Frozen):
    """A string in a format, and the Python value that it stands for. Only dates and times have bounds."""

    format: str
    build: Callable[[str], object]
    bounds: TimeBounds = TimeBounds()
    expected: str = field(default="string", init=False)
    is_hashable: bool = field(default=True, init=False)

    def schema(self) -> dict[str, JsonValue]:
        declared: dict[str, JsonValue] = {"type": "string", "format": self.format}
        return {**declared, "description": self.limit_words} if self.limit_words else declared

    @property
    def limit_words(self) -> str:
        """The bounds, which a description has to tell the model."""
        return self.bounds.words()

    def parse(self, value: object, where: str) -> object:
        if not isinstance(value, str):
            raise wrong_type(where, self.expected)
        try:
            built = self.build(value)
        except ValueError:
            raise TypeMismatch(where, f"must match format {json.dumps(self.format)}") from None
        if self.bounds.moments:
            check_limit(where, self.bounds.problem(cast("date | time", built)))
        return built

    def limit(self, bounds: TimeBounds) -> "FormattedType | None":
        """The type with bounds, None if it has none. Raises TypeError for bounds of another type."""
        cls = _MOMENTS.get(self.format)
        if cls is None:
            return None
        for each in bounds.moments:
            if type(each) is not cls:
                raise TypeError(f"a {cls.__name__} is limited by a {cls.__name__}, not by {each!r}")
        return replace(self, bounds=self.bounds.merge(bounds))


_MOMENTS: Mapping[str, type] = {"date": date, "time": time, "date-time": datetime}


class DecimalType(Frozen):
    """A `Decimal`: a number, or a text if the digits matter."""

    bounds: Bounds = Bounds()
    expected: str = field(default="number", init=False)
    is_hashable: bool = field(default=True, init=False)

    def schema(self) -> dict[str, JsonValue]:
        return {"anyOf": [{"type": "number", **self.bounds.schema()}, {"type": "string"}]}

    def parse(self, value: object, where: str) -> object:
        number = _to_decimal(value)
        if number is None:
            raise wrong_type(where, self.expected)
        check_limit(where, self.bounds.problem(number))
        return number


def _to_decimal(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def path_type(hint: type) -> JsonType | None:
    """The JSON type of a class of paths, such as `pathlib.Path`; None for any other class."""
    return FormattedType("path", hint) if hasattr(hint, "__fspath__") else None


STANDARD_TYPES: Mapping[object, JsonType] = {
    datetime: FormattedType("date-time", datetime.fromisoformat),
    date: FormattedType("date", date.fromisoformat),
    time: FormattedType("time", time.fromisoformat),
    UUID: FormattedType("uuid", UUID),
    Decimal: DecimalType(),
}


def standard_to_json(value: object) -> str | None:
    """The text of a value of these types, None for any other value."""
    match value:
        case date() | time():
            return value.isoformat()
        case UUID() | Decimal():
            return str(value)
        case _:
            return str(value) if hasattr(value, "__fspath__") else None
