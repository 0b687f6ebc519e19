"""A shape takes exactly what its schema accepts, and makes of it what was meant."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.shapes import (
    Anything,
    Choice,
    Either,
    Items,
    Keyed,
    Member,
    Noted,
    Number,
    Plain,
    Record,
    Row,
    Shape,
    Unfit,
    same_json,
)

TEXT, TRUTH, NULL = Plain("string"), Plain("boolean"), Plain("null")
POINT = Record((Member("x", Number("integer")), Member("y", Number("number"), is_required=False, default=0)), dict)


def accepts(shape: Shape, value: object) -> bool:
    """As an independent implementation of JSON Schema sees it."""
    return jsonschema_rs.Draft202012Validator(shape.schema()).is_valid(value)


def takes(shape: Shape, value: object) -> bool:
    try:
        shape.take(value, "params")
    except Unfit:
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


def choices() -> st.SearchStrategy[Shape]:
    def distinct(values: list[Any]) -> Choice:
        kept: list[Any] = []
        for value in values:
            if not any(same_json(value, other) for other in kept):
                kept.append(value)
        return Choice(tuple((value, value) for value in kept))

    return st.lists(SCALARS, min_size=1, max_size=4).map(distinct)


def records(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    members = st.lists(
        st.builds(Member, st.sampled_from("abxy"), inner, st.booleans()),
        max_size=3,
        unique_by=lambda member: member.name,
    )
    return members.map(lambda found: Record(tuple(found), dict))


SHAPES: st.SearchStrategy[Any] = st.recursive(
    st.just(Anything())
    | st.sampled_from([TEXT, TRUTH, NULL])
    | st.builds(Plain, st.just("string"), st.integers(0, 2))
    | st.builds(Number, st.sampled_from(["integer", "number"]), st.none() | st.integers(-2, 2))
    | choices(),
    lambda inner: (
        st.builds(Items, inner, st.just(list), st.none() | st.integers(0, 2))
        | st.lists(inner, min_size=1, max_size=3).map(lambda members: Row(tuple(members)))
        | st.builds(Keyed, inner)
        | records(inner)
        | st.lists(inner, min_size=1, max_size=3).map(lambda members: Either(tuple(members)))
        | st.builds(Noted, inner, st.just("a word"))
    ),
    max_leaves=6,
)


@given(SHAPES, st.lists(VALUES, min_size=1, max_size=8))
@settings(max_examples=400, deadline=None)
def test_exactly_what_the_schema_accepts_is_taken(shape: Shape, values: list[object]) -> None:
    for value in values:
        assert takes(shape, value) is accepts(shape, value), (shape.schema(), value)


@given(SHAPES)
@settings(max_examples=200, deadline=None)
def test_schemas_are_json_schemas_of_the_latest_draft(shape: Shape) -> None:
    schema = json.loads(json.dumps(shape.schema()))
    assert jsonschema_rs.meta.is_valid({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


@pytest.mark.parametrize(
    ("shape", "given", "taken"),
    [
        (Number("integer"), 3.0, 3),
        (Number("integer"), 10**400, 10**400),
        (Number("number"), 3, 3.0),
        (Number("number"), 10**400, 10**400),
        (Choice(((1, "one"), (True, "yes"))), True, "yes"),
        (Choice(((1, "one"), (True, "yes"))), 1.0, "one"),
        (Items(TEXT, tuple), ["a"], ("a",)),
        (Items(TEXT, set), ["a", "a"], {"a"}),
        (Row((TEXT, Number("number"))), ["a", 1], ("a", 1.0)),
        (Keyed(Items(Number("integer"), tuple)), {"a": [1.0]}, {"a": (1,)}),
        (POINT, {"x": 1.0}, {"x": 1}),
        (Either((Number("integer"), TEXT)), "a", "a"),
        (Either((Number("number"), Number("integer"))), 1, 1.0),
        (Anything(), [{"a": None}], [{"a": None}]),
    ],
)
def test_what_becomes_of_it(shape: Shape, given: object, taken: object) -> None:
    found = shape.take(given, "params")
    assert (found, type(found)) == (taken, type(taken))


@pytest.mark.parametrize(
    ("shape", "given", "problem"),
    [
        (TEXT, 1, "it must be string"),
        (Plain("string", 2), "a", "it must NOT have fewer than 2 characters"),
        (Number("integer"), 1.5, "it must be integer"),
        (Number("integer"), True, "it must be integer"),
        (Number("number"), float("nan"), "it must be number"),
        (Number("number"), float("inf"), "it must be number"),
        (Number("integer", 1), 0, "it must be >= 1"),
        (Choice((("a", 1), (2, 2))), 1, 'it must be one of "a", 2'),
        (Choice((("a", 1),)), "b", 'it must be "a"'),
        (Items(TEXT, list), "a", "it must be array"),
        (Items(TEXT, list), ["a", 1], "it/1 must be string"),
        (Items(TEXT, list, 2), ["a"], "it must NOT have fewer than 2 items"),
        (Row((TEXT, TEXT)), ["a"], "it must have exactly 2 items"),
        (Row((TEXT, TRUTH)), ["a", "b"], "it/1 must be boolean"),
        (Keyed(TEXT), [], "it must be object"),
        (Keyed(TEXT), {"a": 1}, "it/a must be string"),
        (POINT, {}, "it must have required property 'x'"),
        (POINT, {"x": 1, "z": 1}, "it must NOT have the property 'z'"),
        (POINT, {"x": 1, "y": "1"}, "it/y must be number"),
        (Either((TEXT, NULL)), 1, "it must be string or null"),
        (Either((POINT, NULL)), {"x": "1"}, "it/x must be integer"),
        (Either((POINT, NULL)), [], "it must be object or null"),
        (Either((Number("integer", 1), TEXT)), 0, "it must be >= 1"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(shape: Shape, given: object, problem: str) -> None:
    with pytest.raises(Unfit) as caught:
        shape.take(given, "it")
    assert str(caught.value) == problem


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_a_record_may_refuse_what_it_is_made_of(error: Callable[[str], Exception]) -> None:
    def refuse(_: dict[str, object]) -> object:
        raise error("too far away")

    with pytest.raises(Unfit, match=r"^it is refused: too far away$"):
        Record(POINT.members, refuse).take({"x": 1}, "it")


def test_what_a_model_is_told() -> None:
    member = Member("where", Either((POINT, NULL)), is_required=False, description="A place.")
    point = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "number", "default": 0}},
        "required": ["x"],
        "additionalProperties": False,
    }
    assert member.schema() == {"anyOf": [point, {"type": "null"}], "description": "A place."}
    assert Row((TEXT, TEXT)).schema() == {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
    assert Row((TEXT, TRUTH)).schema() == {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "boolean"}],
        "items": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        "minItems": 2,
        "maxItems": 2,
    }
    assert Choice(((1, 1), (1.5, 1.5))).schema() == {"type": "number", "enum": [1, 1.5]}
    assert Choice(((1, 1), ("a", "a"))).schema() == {"enum": [1, "a"]}
