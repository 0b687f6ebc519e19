"""Schemas of all kinds that servers have, as models are told them."""

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.json_text import dump_json
from tejat.mcp.features.tool_schema import MAX_CHARACTERS, MAX_DEPTH, schema_for_model

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
REPEATS = "(this part repeats itself; what it holds is not told again)"


def of(inner: Any) -> dict[str, Any]:
    """A tool with one parameter."""
    return {"type": "object", "properties": {"p": inner}}


# What a parameter may look like, and what is told of it.
PARAMETERS: dict[str, tuple[Any, Any]] = {
    "a plain one": ({"type": "string", "description": "A path"}, {"description": "A path", "type": "string"}),
    "anything": ({}, {}),
    "anything as true": (True, {}),
    "nothing known": (None, {}),
    "no schema": ("string", {}),
    "only a description": ({"description": "Whatever"}, {"description": "Whatever"}),
    "an unknown type": ({"type": "any", "description": "d"}, {"description": "d"}),
    "a type of another house": ({"type": "STRING"}, {"type": "string"}),
    "a type that is a number": ({"type": 5}, {}),
    "null alone": ({"type": "null"}, {"nullable": True}),
    "text or null": ({"type": ["string", "null"]}, {"nullable": True, "type": "string"}),
    "null first": ({"type": ["null", "integer"], "default": None}, {"nullable": True, "type": "integer"}),
    "one type in a list": ({"type": ["boolean"]}, {"type": "boolean"}),
    "several types": (
        {"type": ["string", "number"], "default": "x"},
        {"anyOf": [{"type": "string"}, {"type": "number"}]},
    ),
    "several types with what they hold": (
        {"type": ["array", "object", "null"], "items": {"type": "string"}, "properties": {"a": {}}, "required": ["a"]},
        {
            "nullable": True,
            "anyOf": [
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "properties": {"a": {}}, "required": ["a"]},
            ],
        },
    ),
    "nullable as OpenAPI has it": ({"type": "string", "nullable": True}, {"nullable": True, "type": "string"}),
    "an optional of pydantic": (
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "P"},
        {"nullable": True, "type": "string"},
    ),
    "a default beside anyOf": (
        {"anyOf": [{"type": "string"}, {"type": "integer"}], "default": "a", "description": "d"},
        {"description": "d", "anyOf": [{"type": "string"}, {"type": "integer"}]},
    ),
    "oneOf is a choice": (
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    ),
    "a choice of one": ({"anyOf": [{"type": "string", "format": "uri"}]}, {"type": "string"}),
    "the same twice": ({"anyOf": [{"type": "string"}, {"type": "string", "format": "uri"}]}, {"type": "string"}),
    "a choice in which anything goes": ({"anyOf": [{"type": "string"}, {}]}, {}),
    "a choice with false": ({"anyOf": [{"type": "string"}, False]}, {"type": "string"}),
    "a choice that is no list": ({"anyOf": {"type": "string"}}, {}),
    "a choice of nothing": ({"anyOf": []}, {}),
    "literals of TypeScript": (
        {"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "string", "enum": ["b", "c"]}]},
        {"type": "string", "enum": ["a", "b", "c"]},
    ),
    "literals with words": (
        {"oneOf": [{"const": "a", "description": "first"}, {"const": "b"}]},
        {"anyOf": [{"description": "first", "type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}]},
    ),
    "a constant": ({"const": "x"}, {"type": "string", "enum": ["x"]}),
    "a constant null": ({"const": None}, {"nullable": True}),
    "an enumeration without a type": ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
    "an enumeration of numbers": ({"enum": [1, 2]}, {"type": "number", "enum": [1, 2]}),
    "a mixed enumeration": ({"enum": ["a", 1]}, {"enum": ["a", 1]}),
    "an enumeration with null": (
        {"type": "string", "enum": ["a", None]},
        {"enum": ["a"], "nullable": True, "type": "string"},
    ),
    "an enumeration of truth values": ({"type": "boolean", "enum": [True]}, {"type": "boolean"}),
    "an enumeration of objects": ({"enum": [{}, "a"]}, {}),
    "an empty enumeration": ({"type": "string", "enum": []}, {"type": "string"}),
    "an enumeration with what nobody sees": (
        {"type": "string", "enum": ["a", "b\u200b"]},
        {"enum": ["a"], "type": "string"},
    ),
    "formats of texts": ({"type": "string", "format": "email"}, {"type": "string"}),
    "a date": ({"type": "string", "format": "date-time"}, {"format": "date-time", "type": "string"}),
    "formats of numbers": ({"type": "integer", "format": "int64"}, {"format": "int64", "type": "integer"}),
    "limits": (
        {"type": "number", "minimum": 0, "exclusiveMaximum": 1.5, "multipleOf": 0.5, "default": 1},
        {"minimum": 0, "exclusiveMaximum": 1.5, "multipleOf": 0.5, "default": 1, "type": "number"},
    ),
    "limits of draft 4": (
        {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": "9"},
        {"minimum": 0, "type": "number"},
    ),
    "a pattern": (
        {"type": "string", "pattern": "^a$", "minLength": 1, "examples": ["a"]},
        {"minLength": 1, "pattern": "^a$", "type": "string"},
    ),
    "words of other vocabularies": (
        {"type": "string", "$comment": "c", "$id": "i", "x-order": 1, "deprecated": True, "readOnly": True},
        {"type": "string"},
    ),
    "conditions": (
        {"type": "string", "if": {"const": "a"}, "then": {"minLength": 1}, "not": {"const": "b"}},
        {"type": "string"},
    ),
    "a list": ({"type": "array", "items": {"type": "string"}}, {"items": {"type": "string"}, "type": "array"}),
    "a list of anything": ({"type": "array", "uniqueItems": True}, {"uniqueItems": True, "items": {}, "type": "array"}),
    "a list without a type": ({"items": {"type": "string"}}, {"items": {"type": "string"}, "type": "array"}),
    "a list of whatever": ({"type": "array", "items": True}, {"items": {}, "type": "array"}),
    "a tuple of draft 7": (
        {"type": "array", "items": [{"type": "number"}, {"type": "number"}], "minItems": 2},
        {"minItems": 2, "items": {"type": "number"}, "type": "array"},
    ),
    "a tuple of 2020": (
        {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
        {"items": {"anyOf": [{"type": "number"}, {"type": "string"}]}, "type": "array"},
    ),
    "an object within": (
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False, "required": ["a"]},
        {"properties": {"a": {"type": "string"}}, "required": ["a"], "type": "object"},
    ),
    "an object without a type": ({"properties": {}}, {"properties": {}, "type": "object"}),
    "a map": (
        {"type": "object", "additionalProperties": {"type": "string"}, "patternProperties": {"a": {}}},
        {"properties": {}, "type": "object"},
    ),
    "required as draft 3 has it": ({"type": "string", "required": True}, {"type": "string"}),
    "required but not described": (
        {"type": "object", "properties": {}, "required": ["a", "a", 5]},
        {"properties": {"a": {}}, "required": ["a"], "type": "object"},
    ),
    "a property that cannot be": (
        {"type": "object", "properties": {"a": False, "b": None}},
        {"properties": {"b": {}}, "type": "object"},
    ),
    "properties that are a list": ({"type": "object", "properties": ["a"]}, {"properties": {}, "type": "object"}),
    "a title that is the name": ({"type": "string", "title": "P"}, {"type": "string"}),
    "a title that says more": ({"type": "string", "title": "The P"}, {"title": "The P", "type": "string"}),
    "hidden words": ({"type": "string", "description": "a\u200b\U000e0041b"}, {"description": "ab", "type": "string"}),
    "a hidden default": ({"type": "string", "default": "a\u202e"}, {"type": "string"}),
    "a default of many values": (
        {"type": "array", "default": [1, {"a": None}]},
        {"default": [1, {"a": None}], "items": {}, "type": "array"},
    ),
    "allOf of one": (
        {"allOf": [{"type": "string", "description": "inner"}], "description": "outer"},
        {"description": "outer", "type": "string"},
    ),
    "allOf of objects": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
            "allOf": [{"properties": {"b": {"type": "integer"}, "a": {}}, "required": ["b", "a"]}, True],
        },
        {
            "properties": {"b": {"type": "integer"}, "a": {"type": "string"}},
            "required": ["a", "b"],
            "type": "object",
        },
    ),
    "a reference to nowhere": ({"$ref": "#/$defs/none", "description": "d"}, {"description": "d"}),
    "a reference out of the document": ({"$ref": "https://example.com/x"}, {}),
    "a reference to an anchor": ({"$ref": "#here"}, {}),
    "a reference that is no text": ({"$ref": {"type": "string"}}, {}),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name: str) -> None:
    given, told = PARAMETERS[name]
    assert schema_for_model(of(given), tool="t") == of(told)


# What a whole schema may look like, and what is told of it.
WHOLE: dict[str, tuple[Any, Any]] = {
    "none": (None, EMPTY),
    "empty": ({}, EMPTY),
    "not of an object": ({"type": "string"}, EMPTY),
    "nothing may be given": ({"type": "object", "additionalProperties": False}, EMPTY),
    "object or null": ({"type": ["object", "null"], "properties": {"a": {}}}, of({}) | {"properties": {"a": {}}}),
    "with a dialect": (
        {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "x", "title": "T", **of({"type": "string"})},
        of({"type": "string"}),
    ),
    "with words": ({**EMPTY, "description": "Do it"}, {"type": "object", "description": "Do it", "properties": {}}),
    "definitions of pydantic": (
        {
            "$defs": {"Colour": {"enum": ["red", "blue"], "type": "string", "title": "Colour"}},
            "type": "object",
            "properties": {"p": {"$ref": "#/$defs/Colour", "description": "Which"}},
            "required": ["p"],
        },
        {
            **of({"description": "Which", "enum": ["red", "blue"], "type": "string", "title": "Colour"}),
            "required": ["p"],
        },
    ),
    "definitions of pydantic 1": (
        {"definitions": {"A": of({"type": "string"})}, **of({"allOf": [{"$ref": "#/definitions/A"}], "default": {}})},
        of({"default": {}, "type": "object", "properties": {"p": {"type": "string"}}}),
    ),
    "a definition that refers on": (
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "integer"}}, **of({"$ref": "#/$defs/a"})},
        of({"type": "integer"}),
    ),
    "a reference to another parameter": (
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}},
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
    ),
    "a reference into a list": (
        {"type": "object", "properties": {"p": {"anyOf": [{"type": "string"}, {"$ref": "#/properties/p/anyOf/0"}]}}},
        of({"type": "string"}),
    ),
    "names that are escaped": (
        {"$defs": {"a/b~c d": {"type": "string"}}, **of({"$ref": "#/$defs/a~1b~0c%20d"})},
        of({"type": "string"}),
    ),
    "a reference at the top": (
        {"$ref": "#/definitions/Args", "definitions": {"Args": of({"type": "string"})}},
        of({"type": "string"}),
    ),
    "a tree": (
        {
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "kids": {"items": {"$ref": "#/$defs/Node"}}},
                }
            },
            **of({"$ref": "#/$defs/Node"}),
        },
        of(
            {
                "properties": {
                    "name": {"type": "string"},
                    "kids": {
                        "items": {"type": "object", "properties": {}, "description": REPEATS},
                        "type": "array",
                    },
                },
                "type": "object",
            }
        ),
    ),
    "a loop of two": (
        {
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            **of({"$ref": "#/$defs/a", "description": "d"}),
        },
        of({"description": f"d {REPEATS}"}),
    ),
    "the whole within itself": (
        of({"$ref": "#", "description": "Inner"}),
        of({"description": f"Inner {REPEATS}", "type": "object", "properties": {}}),
    ),
    "the whole within itself, spelled otherwise": (
        of({"$ref": "#/"}),
        of({"type": "object", "properties": {}, "description": REPEATS}),
    ),
    "lists of themselves": (
        {"$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}}, **of({"$ref": "#/$defs/l"})},
        of({"items": {"type": "array", "items": {}, "description": REPEATS}, "type": "array"}),
    ),
    "one of several commands": (
        {
            "type": "object",
            "oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
                {"properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]},
            ],
        },
        {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["a", "b"]},
                "x": {"type": "string"},
                "y": {"type": "integer"},
            },
            "required": ["kind"],
        },
    ),
    "at least one of": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
    ),
    "all of, at the top": (
        {"allOf": [of({"type": "string"}), {"properties": {"q": {}}, "required": ["q"]}]},
        {"type": "object", "properties": {"q": {}, "p": {"type": "string"}}, "required": ["q"]},
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_schemas(name: str) -> None:
    given, told = WHOLE[name]
    before = copy.deepcopy(given)
    assert schema_for_model(given, tool="t") == told
    assert given == before


ZOO = [of(given) for given, _ in PARAMETERS.values()] + [given for given, _ in WHOLE.values()]


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    if "items" in schema:
        inner.append(schema["items"])
    for each in inner:
        yield from nodes(each)


KNOWN = {
    *("type", "title", "description", "nullable", "enum", "default", "format", "pattern", "properties", "required"),
    *("items", "uniqueItems", "anyOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
}


def check(told: Any) -> None:
    """What every service takes."""
    assert told["type"] == "object"
    assert set(told) <= {"type", "description", "properties", "required"}
    jsonschema_rs.Draft202012Validator(told)
    for node in nodes(told):
        assert set(node) <= KNOWN
        assert set(node.get("required", [])) <= set(node.get("properties", {}))
        assert ("items" in node) == (node.get("type") == "array")
        assert "properties" in node or node.get("type") != "object"
        assert "anyOf" not in node or (len(node["anyOf"]) > 1 and "default" not in node)
        assert isinstance(node.get("type", ""), str)


@pytest.mark.parametrize("given", ZOO, ids=[*PARAMETERS, *WHOLE])
def test_the_zoo(given: Any) -> None:
    told = schema_for_model(given, tool="t")
    check(told)
    assert isinstance(told, dict)
    assert schema_for_model(told, tool="t") == told


names = st.sampled_from(["a", "b", "$ref", "type"])
words = st.sampled_from(["string", "object", "array", "null", "#", "#/$defs/a", "#/properties/a", "x", ""])


def parts(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    schemas = st.dictionaries(names, inner, max_size=3)
    lists = st.lists(inner, max_size=3)
    either = inner | schemas | lists
    return st.fixed_dictionaries(
        {},
        optional={
            "type": words | st.lists(words, max_size=3),
            "properties": schemas | inner,
            "$defs": schemas,
            "items": either,
            "prefixItems": either,
            "anyOf": either,
            "oneOf": either,
            "allOf": either,
            "$ref": words | inner,
            "required": st.lists(names, max_size=3) | inner,
            "enum": lists | inner,
            "const": inner,
            "default": inner,
            "description": words | inner,
            "minimum": inner,
        },
    )


leaves = st.none() | st.booleans() | st.integers(-3, 3) | words
anything = st.recursive(leaves, parts, max_leaves=12)


@given(parts(anything))
def test_whatever_a_server_sends(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    told = schema_for_model(schema, tool="t")
    assert schema == before
    if not isinstance(told, str):
        check(told)


class TestHopeless:
    def left_out(self, schema: Any) -> str:
        told = schema_for_model(schema, tool="srv__t")
        assert isinstance(told, str)
        prefix = "Skipped tool srv__t: its parameters cannot be sent to a model: "
        assert told.startswith(prefix)
        return told.removeprefix(prefix)

    @pytest.mark.parametrize(
        ("name", "shown"),
        [("a\u200b", "a<U+200B>"), ("\x1b[31m", "<U+001B>[31m"), ("\U000e0041", "<U+E0041>"), ("", "")],
    )
    def test_a_name_that_nobody_sees(self, name: str, shown: str) -> None:
        assert self.left_out(of({"type": "object", "properties": {name: {}}})) == f'a parameter is named "{shown}".'

    def test_too_deep(self) -> None:
        schema: Any = {"type": "string"}
        for _ in range(MAX_DEPTH):
            schema = of(schema)
        check(schema_for_model(schema, tool="t"))
        assert self.left_out(of(schema)) == "nested more than 32 levels deep."

    def test_a_cycle_of_objects(self) -> None:
        schema = of({})
        schema["properties"]["p"] = schema
        assert self.left_out(schema) == "nested more than 32 levels deep."

    def test_a_cycle_that_branches(self) -> None:
        schema: Any = {"type": "object", "properties": {}}
        schema["properties"] |= dict.fromkeys("abcdef", schema)
        assert "nested more than" in self.left_out(schema)

    def test_a_default_without_end(self) -> None:
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        assert self.left_out(of({"default": deep})) == "nested more than 32 levels deep."

    def test_too_long(self) -> None:
        assert self.left_out(of({"description": "x" * MAX_CHARACTERS})) == "larger than 64 KiB."

    def test_references_that_double(self) -> None:
        """Thirty lines that would become a thousand million."""
        defs: Any = {"d0": {"type": "string"}}
        for level in range(1, 30):
            before = {"$ref": f"#/$defs/d{level - 1}"}
            defs[f"d{level}"] = {"type": "object", "properties": {"a": before, "b": before}}
        assert self.left_out({"$defs": defs, **of({"$ref": "#/$defs/d29"})}).startswith("nested more than")

    def test_as_long_as_may_be(self) -> None:
        many = {f"p{number}": {"type": "string", "description": "x" * 50} for number in range(500)}
        told = schema_for_model({"type": "object", "properties": many}, tool="t")
        check(told)
        assert not isinstance(told, str)
        assert MAX_CHARACTERS // 2 < len(dump_json(told)) < MAX_CHARACTERS
