"""Types of the standard library: what is taken, what is refused, and how they are written."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path, PurePosixPath
from uuid import UUID

import pytest

from tejat.core.tools.hints.json_types import TypeMismatch
from tejat.core.tools.hints.limits import Bounds
from tejat.core.tools.hints.standard_types import STANDARD_TYPES, DecimalType, path_type, standard_to_json


@pytest.mark.parametrize(
    ("hint", "given", "parsed"),
    [
        (datetime, "2026-02-03T04:05:06+02:00", datetime.fromisoformat("2026-02-03T04:05:06+02:00")),
        (datetime, "2026-02-03", datetime.fromisoformat("2026-02-03")),
        (UUID, "{00000000-0000-0000-0000-000000000001}", UUID(int=1)),
        (Decimal, 3, Decimal(3)),
        (Decimal, "0.10", Decimal("0.10")),
    ],
)
def test_what_is_taken(hint: object, given: object, parsed: object) -> None:
    assert STANDARD_TYPES[hint].parse(given, "it") == parsed


@pytest.mark.parametrize(
    ("hint", "given", "problem"),
    [
        (date, "tomorrow", 'it must match format "date"'),
        (date, 20260203, "it must be string"),
        (time, "25:00", 'it must match format "time"'),
        (datetime, "soon", 'it must match format "date-time"'),
        (UUID, "1", 'it must match format "uuid"'),
        (Decimal, "much", "it must be number"),
        (Decimal, "NaN", "it must be number"),
        (Decimal, float("inf"), "it must be number"),
        (Decimal, True, "it must be number"),
        (Decimal, [], "it must be number"),
    ],
)
def test_what_is_refused(hint: object, given: object, problem: str) -> None:
    with pytest.raises(TypeMismatch) as caught:
        STANDARD_TYPES[hint].parse(given, "it")
    assert str(caught.value) == problem


def test_paths() -> None:
    for hint in (Path, PurePosixPath):
        json_type = path_type(hint)
        assert json_type is not None
        assert json_type.parse("a/b", "it") == hint("a/b")
        with pytest.raises(TypeMismatch, match="it must be string"):
            json_type.parse(None, "it")
    assert path_type(str) is None


def test_bounds_of_decimals_hold_for_texts_too() -> None:
    positive = DecimalType(Bounds(exclusive_minimum=0))
    assert positive.schema() == {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}
    with pytest.raises(TypeMismatch, match="it must be > 0"):
        positive.parse("-0.1", "it")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime(2026, 2, 3, tzinfo=UTC), "2026-02-03T00:00:00+00:00"),
        (date(2026, 2, 3), "2026-02-03"),
        (time(1, 2), "01:02:00"),
        (PurePosixPath("a/b"), "a/b"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), "1.10"),
        ("text", None),
        (3, None),
    ],
)
def test_how_they_are_written(value: object, text: str | None) -> None:
    assert standard_to_json(value) == text
