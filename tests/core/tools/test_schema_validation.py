"""Arguments against schemas that others wrote."""

import socket
import time
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.types import JsonValue
from tejat.core.tools.schema_validation import schema_problem, validation_problem

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "number", "minimum": 1},
        "mode": {"enum": ["fast", "slow"]},
        "tags": {"type": "array", "items": {"type": ["string", "null"]}},
        "inner": {"type": "object", "required": ["deep"]},
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a"},
        {"path": "a", "limit": 1.5, "mode": "slow", "tags": ["x", None], "inner": {"deep": 0}, "other": {}},
        MappingProxyType({"path": "a"}),
    ],
)
def test_what_fits(arguments: object) -> None:
    assert validation_problem(arguments, SCHEMA) is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "params must have required property 'path'"),
        ({"path": 5}, "params/path must be string"),
        ({"path": "a", "limit": "x"}, "params/limit must be number"),
        ({"path": "a", "tags": ["x", 5]}, "params/tags/1 must be null or string"),
        ({"path": "a", "inner": {}}, "params/inner must have required property 'deep'"),
        ({"path": 5, "inner": {}}, "params/path must be string, params/inner must have required property 'deep'"),
    ],
)
def test_what_is_wrong_is_said_by_field(arguments: object, told: str) -> None:
    assert validation_problem(arguments, SCHEMA) == told


@pytest.mark.parametrize(("field", "value"), [("limit", 0), ("mode", "soon")])
def test_other_rules_name_the_field_too(field: str, value: object) -> None:
    problem = validation_problem({"path": "a", field: value}, SCHEMA)
    assert problem is not None
    assert problem.startswith(f"params/{field}: ")


@pytest.mark.parametrize("name", ["it's", "a'b", "über"])
def test_a_missing_name_is_quoted_as_it_is(name: str) -> None:
    assert validation_problem({}, {"required": [name]}) == f"params must have required property '{name}'"


@pytest.mark.parametrize("arguments", [None, [], "path", 5, True, [("path", "a")]])
def test_arguments_must_be_an_object(arguments: object) -> None:
    assert validation_problem(arguments, SCHEMA) == "Value of params must be an object"
    assert validation_problem(arguments, {}) == "Value of params must be an object"


def test_unknown_keywords_and_formats_still_let_the_rest_be_checked() -> None:
    schema = {"properties": {"a": {"type": "string", "format": "postcode", "x-shiny": 3}, "b": {"format": "email"}}}
    assert validation_problem({"a": "x", "b": "not an address"}, schema) is None
    assert validation_problem({"a": 5}, schema) == "params/a must be string"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense", "required": ["a"]},
        {"required": "a"},
        {"properties": {"a": {"pattern": "("}}, "required": ["a"]},
        {"properties": 5, "required": ["a"]},
        {"$ref": "#/definitions/missing"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$schema": 5, "required": ["a"]},
        {"required": ["a"], "properties": {1: {}}},
        {"required": ["a"], "default": b"bytes"},
    ],
)
def test_a_schema_that_cannot_be_used_blocks_no_call(schema: dict[str, Any]) -> None:
    assert validation_problem({}, schema) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#", "required": ["a"]},
        {"properties": {"child": {"$ref": "#"}}, "required": ["a"]},
        {"properties": {"children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["a"]},
        {
            "definitions": {"x": {"properties": {"y": {"$ref": "#/definitions/y"}}}, "y": {"$ref": "#/definitions/x"}},
            "properties": {"x": {"$ref": "#/definitions/x"}},
            "required": ["a"],
        },
    ],
)
def test_a_schema_that_refers_to_itself_ends(schema: dict[str, Any]) -> None:
    fine: dict[str, object] = {"a": 1, "child": {"a": 1}, "children": [{"a": 1}], "x": {"y": {"y": {}}}}
    assert validation_problem(fine, schema) is None


def test_a_schema_of_a_tree_is_checked_all_the_way_down() -> None:
    schema = {"properties": {"children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["a"]}
    assert validation_problem({"a": 1, "children": [{"a": 1}, {}]}, schema) == (
        "params/children/1 must have required property 'a'"
    )


def test_references_that_repeat_are_followed_each_time() -> None:
    schema = {
        "definitions": {"name": {"type": "string"}},
        "properties": {"a": {"$ref": "#/definitions/name"}, "b": {"$ref": "#/definitions/name"}},
    }
    assert validation_problem({"a": "x", "b": "y"}, schema) is None
    assert validation_problem({"a": 1, "b": 2}, schema) == "params/a must be string, params/b must be string"


def test_nothing_is_ever_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        assert validation_problem({}, {"$ref": f"http://127.0.0.1:{port}/schema.json"}) is None
        assert validation_problem({}, {"$schema": f"http://127.0.0.1:{port}/schema.json"}) is None
        with pytest.raises(TimeoutError):
            server.accept()


def test_the_dialect_is_the_one_that_the_schema_names() -> None:
    tuples = {"properties": {"pair": {"prefixItems": [{"type": "string"}]}}}
    newest = {"$schema": "https://json-schema.org/draft/2020-12/schema", **tuples}
    assert validation_problem({"pair": [5]}, newest) == "params/pair/0 must be string"
    assert validation_problem({"pair": [5]}, tuples) is None


@pytest.mark.parametrize("dialect", ["http://127.0.0.1:9/own-dialect", ""])
def test_a_dialect_nobody_knows_is_read_as_draft_7(dialect: str) -> None:
    assert validation_problem({}, {"$schema": dialect, "required": ["a"]}) == "params must have required property 'a'"


@pytest.mark.parametrize(
    ("schema", "flaw"),
    [
        ({}, None),
        ({"type": "object", "properties": {"a": {"type": "string", "unknown": 1, "format": "own"}}}, None),
        ({"required": "a"}, '"a" is not of type "array"'),
        ({"properties": {"a": {"required": True}}}, 'true is not of type "array"'),
        ({"$ref": "#/nowhere"}, "Pointer '/nowhere' does not exist"),
    ],
)
def test_a_schema_may_be_none(schema: dict[str, JsonValue], flaw: str | None) -> None:
    assert schema_problem(schema) == flaw


def test_a_pattern_made_to_take_forever_does_not() -> None:
    schema = {"properties": {"a": {"pattern": "^(a|a)*(?=c)$"}}}
    started = time.process_time()
    problem = validation_problem({"a": "a" * 60 + "b"}, schema)
    assert time.process_time() - started < 5
    assert problem is not None
    assert problem.startswith("params/a: ")


@pytest.mark.parametrize("value", [b"bytes", {1: 2}, object(), {"deep": {"er": {1, 2}}}])
def test_what_json_cannot_say_is_a_problem_and_not_a_crash(value: object) -> None:
    problem = validation_problem({"path": value}, SCHEMA)
    assert problem is not None
    assert "params" in problem


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "minimum", "pattern", "$ref", "anyOf", "additionalProperties"]
)


@given(JSON, st.dictionaries(KEYWORDS | st.text(max_size=4), JSON, max_size=4))
@settings(max_examples=300, deadline=None)
def test_no_schema_and_no_arguments_crash(arguments: object, schema: dict[str, Any]) -> None:
    problem = validation_problem(arguments, schema)
    assert problem is None or "params" in problem
