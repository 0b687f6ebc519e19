"""From hints to JSON types: every kind of hint, as it is and as text."""

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import InitVar, dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypedDict,
    TypeVar,
    Union,
)
from uuid import UUID

import jsonschema_rs
import pytest
from annotated_types import Ge, Gt, Interval, Le, Lt, Predicate
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from tejat.core.tools.hints.json_types import (
    AnyType,
    ArrayType,
    CheckedType,
    DescribedType,
    LiteralType,
    MapType,
    NumberType,
    ScalarType,
    TupleType,
    TypeMismatch,
    UnionType,
)
from tejat.core.tools.hints.limits import Bounds, Lengths
from tejat.core.tools.hints.standard_types import DecimalType
from tejat.core.tools.hints.type_hints import declared_default, json_type_of_hint, resolve_hints
from tejat.core.tools.schema import Param

TEXT, INTEGER, NULL = ScalarType("string"), NumberType("integer"), ScalarType("null")


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Word(str, enum.Enum):  # noqa: UP042 -- as it is often written
    YES = "yes"


class Strange(enum.Enum):
    PAIR = (1, 2)


class Empty(enum.Enum):
    pass


@dataclass(frozen=True)
class Point:
    """A point.

    Attributes:
        x: Across.
    """

    x: int
    y: Annotated[float, Param("Down.", minimum=0)] = 0.5
    colour: "Colour" = Colour.RED
    tags: list[str] = field(default_factory=list)
    kept: int = field(default=0, init=False)
    shared: ClassVar[int] = 0


@dataclass(frozen=True)
class Line:
    ends: tuple[Point, Point]
    label: str | None = None


class Options(TypedDict):
    name: str
    size: NotRequired["Size"]


class Loose(TypedDict, total=False):
    name: Required[str]
    point: Point


class Inherited(Loose):
    more: Annotated[int, "How many more."]


class Written(TypedDict):
    """As hints are under `from __future__ import annotations`."""

    name: "str"
    size: "NotRequired[int]"
    other: "Annotated[Required[int], 'unused']"


@dataclass
class Tree:
    children: "list[Tree]"


@dataclass
class WithInitVar:
    seed: InitVar[int]


@dataclass
class WithDuration:
    took: timedelta


@dataclass
class WithFieldDefault:
    number: int = Field(ge=1)


class Person(BaseModel):
    name: str
    age: int = Field(ge=0, default=1)


class Node(BaseModel):
    children: "list[Node]"


@dataclass(frozen=True)
class Small:
    number: int


class Pair(NamedTuple):
    one: int


T = TypeVar("T")


class Box(Generic[T]):
    pass


UserId = NewType("UserId", int)
Percent = NewType("Percent", Annotated[int, Param(maximum=100)])  # pyright: ignore[reportGeneralTypeIssues]
IS_LOWER: Any = str.islower


@pytest.mark.parametrize(
    ("hint", "json_type"),
    [
        (str, TEXT),
        (int, INTEGER),
        (float, NumberType("number")),
        (bool, ScalarType("boolean")),
        (None, NULL),
        (Any, AnyType()),
        (object, AnyType()),
        (UserId, INTEGER),
        (Optional[str], UnionType((TEXT, NULL))),  # noqa: UP045 -- as it is often written
        (Union[int, str, None], UnionType((INTEGER, TEXT, NULL))),  # noqa: UP007
        (int | str, UnionType((INTEGER, TEXT))),
        (Annotated[int | None, "x"] | str, UnionType((DescribedType(UnionType((INTEGER, NULL)), "x"), TEXT))),
        (Literal["a", 1, True, None], LiteralType((("a", "a"), (1, 1), (True, True), (None, None)))),
        (Literal[Colour.RED, "blue"], LiteralType((("red", Colour.RED), ("blue", "blue")))),
        (Literal[1, Size.SMALL], LiteralType(((1, 1),))),
        (Colour, LiteralType((("red", Colour.RED), ("green", Colour.GREEN)))),
        (Size, LiteralType(((1, Size.SMALL), (2, Size.LARGE)))),
        (Word, LiteralType((("yes", Word.YES),))),
        (list, ArrayType(AnyType(), list)),
        (list[int], ArrayType(INTEGER, list)),
        (Sequence[int], ArrayType(INTEGER, list)),
        (Iterable[int], ArrayType(INTEGER, list)),
        (tuple[int, ...], ArrayType(INTEGER, tuple)),
        (tuple, ArrayType(AnyType(), tuple)),
        (tuple[int, str], TupleType((INTEGER, TEXT))),
        (set[int], ArrayType(INTEGER, set)),
        (AbstractSet[Colour], ArrayType(LiteralType((("red", Colour.RED), ("green", Colour.GREEN))), set)),
        (frozenset[tuple[int, str]], ArrayType(TupleType((INTEGER, TEXT)), frozenset)),
        (dict, MapType(AnyType())),
        (dict[str, list[int]], MapType(ArrayType(INTEGER, list))),
        (Mapping[str, int], MapType(INTEGER)),
        (Annotated[int, "a number"], DescribedType(INTEGER, "a number")),
        (
            list[Annotated[int, Param("n", minimum=1)]],
            ArrayType(DescribedType(NumberType("integer", Bounds(1)), "n"), list),
        ),
        (Annotated[int, 3, ["unhashable"]], INTEGER),
    ],
)
def test_json_types(hint: object, json_type: object) -> None:
    assert json_type_of_hint(hint) == json_type


def test_json_types_of_aliases_that_are_statements() -> None:
    names: dict[str, Any] = {}
    try:
        exec("type Names = list[str]", names)  # noqa: S102 -- Python 3.11 cannot read it
    except SyntaxError:
        pytest.skip("this Python has no type statement")
    assert json_type_of_hint(names["Names"]) == ArrayType(TEXT, list)


POINT_SCHEMA = {
    "type": "object",
    "properties": {
        "x": {"type": "integer", "description": "Across."},
        "y": {"type": "number", "minimum": 0, "description": "Down.", "default": 0.5},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["x"],
    "additionalProperties": False,
}


class TestRecords:
    def test_dataclasses_are_told_with_their_defaults_and_descriptions(self) -> None:
        assert json_type_of_hint(Point).schema() == POINT_SCHEMA

    def test_dataclasses_are_made(self) -> None:
        given = {"ends": [{"x": 1.0}, {"x": 2, "y": 3, "colour": "green", "tags": ["a"]}]}
        assert json_type_of_hint(Line).parse(given, "it") == Line((Point(1), Point(2, 3.0, Colour.GREEN, ["a"])))

    @pytest.mark.parametrize(
        ("hint", "required", "names"),
        [
            (Options, ["name"], {"name", "size"}),
            (Loose, ["name"], {"name", "point"}),
            (Inherited, ["name", "more"], {"name", "point", "more"}),
            (Written, ["name", "other"], {"name", "size", "other"}),
        ],
    )
    def test_typed_dicts_know_what_is_required(self, hint: type, required: list[str], names: set[str]) -> None:
        schema: Any = json_type_of_hint(hint).schema()
        assert sorted(schema["required"]) == sorted(required)
        assert (set(schema["properties"]), schema["additionalProperties"]) == (names, False)

    def test_typed_dicts_are_dicts_of_what_was_hinted(self) -> None:
        assert json_type_of_hint(Options).parse({"name": "a", "size": 1}, "it") == {"name": "a", "size": Size.SMALL}
        assert json_type_of_hint(Loose).parse({"name": "a", "point": {"x": 1}}, "it") == {
            "name": "a",
            "point": Point(1),
        }

    def test_the_first_record_that_fits_is_meant(self) -> None:
        either = json_type_of_hint(Small | Point)
        assert [either.parse(given, "it") for given in ({"number": 1}, {"x": 1})] == [Small(1), Point(1)]

    def test_small_frozen_ones_can_stand_in_sets(self) -> None:
        assert json_type_of_hint(set[Small]).parse([{"number": 1}, {"number": 1}], "it") == {Small(1)}


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (timedelta, "timedelta is not supported as the type of a parameter"),
        (bytes, "bytes is not supported as the type of a parameter"),
        (complex, "complex is not supported as the type of a parameter"),
        (Pair, "Pair is not supported as the type of a parameter"),
        (Box[int], "Box[int] is not supported as the type of a parameter"),
        (list[timedelta], "timedelta is not supported as the type of a parameter"),
        (type[int], "type[int] is not supported as the type of a parameter"),
        (T, "~T is not supported as the type of a parameter"),
        (3, "3 is not supported as the type of a parameter"),
        (WithDuration, "WithDuration.took: timedelta is not supported as the type of a parameter"),
        (WithInitVar, "WithInitVar has an InitVar"),
        (Tree, "Tree.children: Tree contains itself"),
        (Strange, "Strange has the value (1, 2)"),
        (Literal[b"a"], "has the value b'a'"),
        (Empty, "Empty has no members"),
        (dict[int, str], "the keys of a dict must be str, not int"),
        (set[list[int]], "list[int] is not hashable and cannot be in a set"),
        (set[Point], "Point is not hashable and cannot be in a set"),
        (set, "Any is not hashable and cannot be in a set"),
        (tuple[()], "an empty tuple"),
        (Annotated[str, Param(minimum=1)], "there is nothing to limit in str"),
        (list[Annotated[int, Param(aliases=("a",))]], "only a parameter itself can have aliases"),
        (Annotated[int, Param(json_type="number")], "Param(json_type=...) has no meaning here"),
        (Annotated[int, Param(min_length=1)], "there is nothing to limit in int: a length is for texts"),
        (Annotated[int, Param(pattern="a")], "there is nothing to limit in int: a pattern is for texts"),
        (Annotated[list[int], Param(min_item_length=1)], "min_item_length is for lists of texts"),
        (
            Annotated[date, Ge(3)],
            "there is nothing to limit in date: bounds are for numbers; limit a date by a date: Ge(",
        ),
        (Annotated[int, Ge(date(2026, 1, 1))], "there is nothing to limit in int: dates and times are bounds of dates"),
        (
            Annotated[date, Ge(datetime(2026, 1, 1, tzinfo=UTC))],
            "a date is limited by a date, not by datetime",
        ),
        (Annotated[datetime, Ge(date(2026, 1, 1))], "a datetime is limited by a datetime, not by datetime.date("),
        (
            Annotated[str, Ge(time(8))],
            "there is nothing to limit in str: dates and times are bounds of dates and times",
        ),
        (list[Annotated[int, Field(default=3)]], "the default of a Field(...) works for parameters of functions only"),
        (WithFieldDefault, "WithFieldDefault.number: write Field(...) inside of Annotated[...]"),
        (Node, "Node contains itself"),
    ],
)
def test_what_a_model_cannot_give_is_refused(hint: object, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        json_type_of_hint(hint)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("hint", "json_type"),
    [
        (Annotated[int, Param(minimum=2)], NumberType("integer", Bounds(2))),
        (Annotated[int | None, Param(minimum=2)], UnionType((NumberType("integer", Bounds(2)), NULL))),
        (Annotated[float, Param(exclusive_minimum=0, maximum=1.5)], NumberType("number", Bounds(None, 0, 1.5))),
        (Annotated[list[int], Param(min_length=1)], ArrayType(INTEGER, list, Lengths(1))),
        (
            Annotated[list[str], Param(min_length=1, min_item_length=2)],
            ArrayType(ScalarType("string", Lengths(2)), list, Lengths(1)),
        ),
        (Annotated[list[str], Param(min_item_length=2)], ArrayType(ScalarType("string", Lengths(2)), list)),
        (Annotated[dict[str, int], Param(max_length=2)], MapType(INTEGER, Lengths(None, 2))),
        (
            Annotated[str | int, Param(max_length=3, pattern="^a"), Param(maximum=5)],
            UnionType((ScalarType("string", Lengths(None, 3), "^a"), NumberType("integer", Bounds(maximum=5)))),
        ),
        (Annotated[Decimal, Param(minimum=0)], DecimalType(Bounds(0))),
        (Annotated[Percent, Param(maximum=200)], NumberType("integer", Bounds(maximum=100))),
        (Annotated[int, Param(examples=(1, 2))], DescribedType(INTEGER, "", {"examples": [1, 2]})),
        (Annotated[str, Predicate(str.islower)], CheckedType(TEXT, IS_LOWER)),
    ],
)
def test_limits(hint: object, json_type: object) -> None:
    assert json_type_of_hint(hint) == json_type


@pytest.mark.parametrize(
    ("hint", "given", "parsed", "declared"),
    [
        (Path, "a/b", Path("a/b"), {"type": "string", "format": "path"}),
        (date, "2026-02-03", date(2026, 2, 3), {"type": "string", "format": "date"}),
        (time, "10:30", time(10, 30), {"type": "string", "format": "time"}),
        (
            datetime,
            "2026-02-03T04:05Z",
            datetime(2026, 2, 3, 4, 5, tzinfo=UTC),
            {"type": "string", "format": "date-time"},
        ),
        (UUID, "0" * 32, UUID(int=0), {"type": "string", "format": "uuid"}),
        (Decimal, 0.1, Decimal("0.1"), {"anyOf": [{"type": "number"}, {"type": "string"}]}),
    ],
)
def test_types_of_the_standard_library(hint: object, given: object, parsed: object, declared: object) -> None:
    json_type = json_type_of_hint(hint)
    assert (json_type.parse(given, "it"), json_type.schema()) == (parsed, declared)


def test_pydantic_models_declare_and_validate_themselves() -> None:
    json_type = json_type_of_hint(list[Person])
    assert json_type.parse([{"name": "Ada", "age": "3"}], "it") == [Person(name="Ada", age=3)]
    with pytest.raises(TypeMismatch, match="it/0/age must be greater than or equal to 0"):
        json_type.parse([{"name": "Ada", "age": -1}], "it")


@pytest.mark.parametrize(
    ("hint", "given", "problem"),
    [
        (Annotated[int, AfterValidator(abs), Field(ge=3)], 2, "it must be greater than or equal to 3"),
        (Annotated[str, StringConstraints(to_lower=True, max_length=2)], "abc", "it is refused: String should"),
    ],
)
def test_what_only_pydantic_knows_is_left_to_it(hint: object, given: object, problem: str) -> None:
    with pytest.raises(TypeMismatch) as caught:
        json_type_of_hint(hint).parse(given, "it")
    assert str(caught.value).startswith(problem)


def test_hints_written_as_text() -> None:
    names = {"Point": Point, "Annotated": Annotated}
    assert resolve_hints({"a": "Annotated[Point, 'x']", "b": int}, names) == {"a": Annotated[Point, "x"], "b": int}
    with pytest.raises(TypeError, match="the type hint 'Missing' cannot be found"):
        resolve_hints({"a": "list[Missing]"}, names)


@pytest.mark.parametrize(
    ("default", "told"),
    [
        (Size.LARGE, 2),
        (Colour.RED, "red"),
        ("", ""),
        (0, 0),
        (False, False),
        (1.5, 1.5),
        (float("inf"), None),
        ([], None),
    ],
)
def test_defaults(default: object, told: object) -> None:
    assert declared_default(default) is told or declared_default(default) == told


HINTS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([str, int, float, bool, None, Any, Colour, Size, Literal["a", 1], Point, Options, Loose, Line]),
    lambda inner: (
        inner.map(lambda hint: list[hint])
        | inner.map(lambda hint: dict[str, hint])
        | inner.map(lambda hint: tuple[hint, ...])
        | inner.map(lambda hint: Optional[hint])  # noqa: UP045 -- `|` does not take every hint
        | st.tuples(inner, inner).map(lambda hints: Union[hints])  # noqa: UP007
        | st.tuples(inner, inner).map(lambda hints: tuple[hints])
    ),
    max_leaves=4,
)
GIVEN = st.recursive(
    st.sampled_from([None, True, 0, 1, 2, 1.0, 1.5, -1, "a", "red", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["x", "y", "name", "size", "point", "ends", "colour"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(HINTS, st.lists(GIVEN, min_size=1, max_size=10))
@settings(max_examples=300, deadline=None)
def test_the_schema_of_a_hint_accepts_exactly_what_is_converted(hint: object, values: list[object]) -> None:
    json_type = json_type_of_hint(hint)
    validator = jsonschema_rs.Draft202012Validator(json_type.schema())
    for value in values:
        try:
            json_type.parse(value, "it")
        except TypeMismatch:
            assert not validator.is_valid(value), (hint, value)
        else:
            assert validator.is_valid(value), (hint, value)


class TestBoundsOfDates:
    @pytest.mark.parametrize(
        ("hint", "words", "accepted", "refused"),
        [
            (Annotated[date, Ge(date(2026, 1, 1))], "on or after 2026-01-01", "2026-01-01", "2025-12-31"),
            (Annotated[date, Gt(date(2026, 1, 1))], "after 2026-01-01", "2026-01-02", "2026-01-01"),
            (Annotated[date, Le(date(2026, 1, 1))], "on or before 2026-01-01", "2026-01-01", "2026-01-02"),
            (Annotated[date, Lt(date(2026, 1, 1))], "before 2026-01-01", "2025-12-31", "2026-01-01"),
            (Annotated[date, Field(ge=date(2026, 1, 1))], "on or after 2026-01-01", "2026-01-01", "2025-12-31"),
            (Annotated[time, Ge(time(8))], "at or after 08:00:00", "08:00", "07:59"),
            (
                Annotated[datetime, Ge(datetime(2026, 1, 1, tzinfo=UTC))],
                "at or after 2026-01-01T00:00:00+00:00",
                "2026-01-01T01:00:00+01:00",
                "2025-12-31T23:00:00Z",
            ),
        ],
    )
    def test_are_told_and_checked(self, hint: object, words: str, accepted: str, refused: str) -> None:
        json_type = json_type_of_hint(hint)
        assert json_type.schema()["description"] == f"Must be {words}."
        assert json_type.parse(accepted, "it") is not None
        with pytest.raises(TypeMismatch, match=re.escape(f"it must be {words}")):
            json_type.parse(refused, "it")

    def test_join_the_description(self) -> None:
        bounds = Interval(ge=date(2026, 1, 1), lt=date(2027, 1, 1))
        for text in ("The day", "The day."):
            schema = json_type_of_hint(Annotated[date, bounds, text]).schema()
            assert schema["description"] == "The day. Must be on or after 2026-01-01 and before 2027-01-01."

    def test_of_an_optional_date(self) -> None:
        json_type = json_type_of_hint(Annotated[date | None, Ge(date(2026, 1, 1)), "The day."])
        assert json_type.parse(None, "it") is None
        assert json_type.schema()["description"] == "The day."
        assert "Must be on or after 2026-01-01." in str(json_type.schema()["anyOf"])

    def test_the_stricter_of_two_holds(self) -> None:
        json_type = json_type_of_hint(Annotated[date, Ge(date(2026, 1, 1)), Ge(date(2026, 2, 1))])
        assert json_type.schema()["description"] == "Must be on or after 2026-02-01."

    def test_a_time_zone_is_needed_where_the_bound_has_one(self) -> None:
        aware = json_type_of_hint(Annotated[datetime, Ge(datetime(2026, 1, 1, tzinfo=UTC))])
        with pytest.raises(TypeMismatch, match="it must have a time zone"):
            aware.parse("2026-01-02T00:00:00", "it")
        naive = json_type_of_hint(Annotated[datetime, Ge(datetime(2026, 1, 1))])  # noqa: DTZ001
        with pytest.raises(TypeMismatch, match="it must NOT have a time zone"):
            naive.parse("2026-01-02T00:00:00Z", "it")
