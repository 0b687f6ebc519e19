"""A json_type takes exactly what its schema accepts, and makes of it what was meant."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.tools.hints.json_types import (
    AnyType,
    ArrayType,
    CheckedType,
    DescribedType,
    JsonType,
    LiteralType,
    MapType,
    NumberType,
    ObjectType,
    Property,
    ScalarType,
    TupleType,
    TypeMismatch,
    UnionType,
    json_equal,
)
from tejat.core.tools.hints.limits import Bounds, Lengths

IS_DIGIT: Any = str.isdigit
TO_INT: Any = int
TEXT, TRUTH, NULL = ScalarType("string"), ScalarType("boolean"), ScalarType("null")
POINT = ObjectType(
    (Property("x", NumberType("integer")), Property("y", NumberType("number"), is_required=False, default=0)), dict
)


def accepts(json_type: JsonType, value: object) -> bool:
    """As an independent implementation of JSON Schema sees it."""
    return jsonschema_rs.Draft202012Validator(json_type.schema()).is_valid(value)


def takes(json_type: JsonType, value: object) -> bool:
    try:
        json_type.parse(value, "params")
    except TypeMismatch:
        return False
    return True


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, -2.0, 1e300, ""])
    | (st.sampled_from(["a", "b", "ab", "x", "y"]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abxy"), inner, max_size=3),
    max_leaves=6,
)


def choices() -> st.SearchStrategy[JsonType]:
    def distinct(values: list[Any]) -> LiteralType:
        kept: list[Any] = []
        for value in values:
            if not any(json_equal(value, other) for other in kept):
                kept.append(value)
        return LiteralType(tuple((value, value) for value in kept))

    return st.lists(SCALARS, min_size=1, max_size=4).map(distinct)


def records(inner: st.SearchStrategy[JsonType]) -> st.SearchStrategy[JsonType]:
    members = st.lists(
        st.builds(Property, st.sampled_from("abxy"), inner, st.booleans()),
        max_size=3,
        unique_by=lambda member: member.name,
    )
    return members.map(lambda found: ObjectType(tuple(found), dict))


LENGTHS = st.builds(Lengths, st.none() | st.integers(0, 2), st.none() | st.integers(2, 3))
LOW = st.none() | st.integers(-2, 0) | st.just(-1.5)
HIGH = st.none() | st.integers(1, 2) | st.just(0.5)
BOUNDS = st.builds(Bounds, LOW, LOW, HIGH, HIGH, st.none() | st.sampled_from([1, 2, 0.5, 1.5]))
JSON_TYPES: st.SearchStrategy[Any] = st.recursive(
    st.just(AnyType())
    | st.sampled_from([TEXT, TRUTH, NULL])
    | st.builds(ScalarType, st.just("string"), LENGTHS, st.none() | st.sampled_from(["a", "^a", "b$", "^[ab]$"]))
    | st.builds(NumberType, st.sampled_from(["integer", "number"]), BOUNDS)
    | choices(),
    lambda inner: (
        st.builds(ArrayType, inner, st.just(list), LENGTHS)
        | st.lists(inner, min_size=1, max_size=3).map(lambda members: TupleType(tuple(members)))
        | st.builds(MapType, inner, LENGTHS)
        | records(inner)
        | st.lists(inner, min_size=1, max_size=3).map(lambda members: UnionType(tuple(members)))
        | st.builds(DescribedType, inner, st.sampled_from(["", "a word"]), st.just({"examples": [1]}))
    ),
    max_leaves=6,
)


@given(JSON_TYPES, st.lists(VALUES, min_size=1, max_size=8))
@settings(max_examples=400, deadline=None)
def test_exactly_what_the_schema_accepts_is_taken(json_type: JsonType, values: list[object]) -> None:
    for value in values:
        assert takes(json_type, value) is accepts(json_type, value), (json_type.schema(), value)


@given(JSON_TYPES)
@settings(max_examples=200, deadline=None)
def test_schemas_are_json_schemas_of_the_latest_draft(json_type: JsonType) -> None:
    schema = json.loads(json.dumps(json_type.schema()))
    assert jsonschema_rs.meta.is_valid({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


@pytest.mark.parametrize(
    ("json_type", "given", "taken"),
    [
        (NumberType("integer"), 3.0, 3),
        (NumberType("integer"), 10**400, 10**400),
        (NumberType("number"), 3, 3.0),
        (NumberType("number"), 10**400, 10**400),
        (LiteralType(((1, "one"), (True, "yes"))), True, "yes"),
        (LiteralType(((1, "one"), (True, "yes"))), 1.0, "one"),
        (ArrayType(TEXT, tuple), ["a"], ("a",)),
        (ArrayType(TEXT, set), ["a", "a"], {"a"}),
        (TupleType((TEXT, NumberType("number"))), ["a", 1], ("a", 1.0)),
        (MapType(ArrayType(NumberType("integer"), tuple)), {"a": [1.0]}, {"a": (1,)}),
        (POINT, {"x": 1.0}, {"x": 1}),
        (UnionType((NumberType("integer"), TEXT)), "a", "a"),
        (UnionType((NumberType("number"), NumberType("integer"))), 1, 1.0),
        (AnyType(), [{"a": None}], [{"a": None}]),
    ],
)
def test_what_becomes_of_it(json_type: JsonType, given: object, taken: object) -> None:
    found = json_type.parse(given, "params")
    assert (found, type(found)) == (taken, type(taken))


@pytest.mark.parametrize(
    ("json_type", "given", "problem"),
    [
        (TEXT, 1, "it must be string"),
        (ScalarType("string", Lengths(2)), "a", "it must NOT have fewer than 2 characters"),
        (ScalarType("string", pattern="^b"), "a", 'it must match pattern "^b"'),
        (NumberType("integer"), 1.5, "it must be integer"),
        (NumberType("integer"), True, "it must be integer"),
        (NumberType("number"), float("nan"), "it must be number"),
        (NumberType("number"), float("inf"), "it must be number"),
        (NumberType("integer", Bounds(1)), 0, "it must be >= 1"),
        (LiteralType((("a", 1), (2, 2))), 1, 'it must be one of "a", 2'),
        (LiteralType((("a", 1),)), "b", 'it must be "a"'),
        (ArrayType(TEXT, list), "a", "it must be array"),
        (ArrayType(TEXT, list), ["a", 1], "it/1 must be string"),
        (ArrayType(TEXT, list, Lengths(2)), ["a"], "it must NOT have fewer than 2 items"),
        (ArrayType(TEXT, set, Lengths(2)), ["a", "a"], "it must NOT have fewer than 2 different items"),
        (MapType(TEXT, Lengths(None, 1)), {"a": "", "b": ""}, "it must NOT have more than 1 properties"),
        (CheckedType(TEXT, IS_DIGIT), "a", "it must satisfy str.isdigit"),
        (CheckedType(TEXT, IS_DIGIT), 1, "it must be string"),
        (CheckedType(TEXT, TO_INT), "a", "it is refused: invalid literal for int() with base 10: 'a'"),
        (TupleType((TEXT, TEXT)), ["a"], "it must have exactly 2 items"),
        (TupleType((TEXT, TRUTH)), ["a", "b"], "it/1 must be boolean"),
        (MapType(TEXT), [], "it must be object"),
        (MapType(TEXT), {"a": 1}, "it/a must be string"),
        (POINT, {}, "it must have required property 'x'"),
        (POINT, {"x": 1, "z": 1}, "it must NOT have the property 'z'"),
        (POINT, {"x": 1, "y": "1"}, "it/y must be number"),
        (UnionType((TEXT, NULL)), 1, "it must be string or null"),
        (UnionType((POINT, NULL)), {"x": "1"}, "it/x must be integer"),
        (UnionType((POINT, NULL)), [], "it must be object or null"),
        (UnionType((NumberType("integer", Bounds(1)), TEXT)), 0, "it must be >= 1"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(json_type: JsonType, given: object, problem: str) -> None:
    with pytest.raises(TypeMismatch) as caught:
        json_type.parse(given, "it")
    assert str(caught.value) == problem


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_a_record_may_refuse_what_it_is_made_of(error: Callable[[str], Exception]) -> None:
    def refuse(_: dict[str, object]) -> object:
        raise error("too far away")

    with pytest.raises(TypeMismatch, match=r"^it is refused: too far away$"):
        ObjectType(POINT.properties, refuse).parse({"x": 1}, "it")


def test_what_a_model_is_told() -> None:
    member = Property("where", UnionType((POINT, NULL)), is_required=False, description="A place.")
    point = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "number", "default": 0}},
        "required": ["x"],
        "additionalProperties": False,
    }
    assert member.schema() == {"anyOf": [point, {"type": "null"}], "description": "A place."}
    assert TupleType((TEXT, TEXT)).schema() == {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 2,
        "maxItems": 2,
    }
    assert TupleType((TEXT, TRUTH)).schema() == {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "boolean"}],
        "items": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        "minItems": 2,
        "maxItems": 2,
    }
    assert LiteralType(((1, 1), (1.5, 1.5))).schema() == {"type": "number", "enum": [1, 1.5]}
    assert LiteralType(((1, 1), ("a", "a"))).schema() == {"enum": [1, "a"]}
