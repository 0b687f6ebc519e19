"""Typed parameter classes: what they declare and what they take."""

import math
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

import jsonschema_rs
import pytest
from annotated_types import Ge, Lt
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.tools.schema import Param, json_type_of, parameters_schema, parse_arguments


@dataclass(frozen=True, slots=True)
class Everything:
    path: Annotated[str, Param("Where.", aliases=("file_path", "absolute_path"))]
    patterns: Annotated[list[str], Param("Which.", min_length=1, min_item_length=1)]
    limit: Annotated[int | None, Param("How many.", minimum=1, json_type="number")] = None
    depth: Annotated[int, Param("How deep.", minimum=0)] = 3
    recursive: Annotated[bool, Param("Whether to go down.")] = True
    ignore_git: Annotated[bool | None, Param("Of git.", aliases=("options.git", "options.nested.git"))] = None
    label: Annotated[str | None, Param("A name.")] = None
    exclude: Annotated[list[str], Param("Not these.")] = field(default_factory=list)
    secret: Annotated[str | None, Param(declared=False)] = None


def test_the_declared_schema() -> None:
    assert parameters_schema(Everything) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "patterns": {
                "type": "array",
                "description": "Which.",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
            },
            "limit": {"type": "number", "description": "How many.", "minimum": 1},
            "depth": {"type": "integer", "description": "How deep.", "minimum": 0, "default": 3},
            "recursive": {"type": "boolean", "description": "Whether to go down.", "default": True},
            "ignore_git": {"type": "boolean", "description": "Of git."},
            "label": {"type": "string", "description": "A name."},
            "exclude": {"type": "array", "description": "Not these.", "items": {"type": "string"}},
        },
        "required": ["path", "patterns"],
    }


def test_the_declared_schema_is_itself_valid() -> None:
    jsonschema_rs.meta.validate({"$schema": "http://json-schema.org/draft-07/schema#", **parameters_schema(Everything)})


def test_a_required_parameter_that_is_not_declared_is_not_demanded_of_the_model() -> None:
    @dataclass(frozen=True, slots=True)
    class Hidden:
        token: Annotated[str, Param(declared=False)]

    assert parameters_schema(Hidden) == {"type": "object", "properties": {}, "required": []}


def test_a_parameter_that_is_asked_for_may_still_be_left_out() -> None:
    @dataclass(frozen=True, slots=True)
    class Asking:
        paths: Annotated[list[str] | None, Param("Which.", listed_as_required=True)] = None

    assert parameters_schema(Asking) == {
        "type": "object",
        "properties": {"paths": {"type": "array", "description": "Which.", "items": {"type": "string"}}},
        "required": ["paths"],
    }
    assert parse_arguments(Asking, {}) == parse_arguments(Asking, {"paths": None}) == Asking()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "a", "patterns": ["*"]}, Everything("a", ["*"])),
        ({"file_path": "a", "patterns": ["*"]}, Everything("a", ["*"])),
        ({"absolute_path": "a", "patterns": ["*"]}, Everything("a", ["*"])),
        ({"absolute_path": "a", "file_path": "a", "path": "a", "patterns": ["*"]}, Everything("a", ["*"])),
        ({"path": "a", "patterns": ["*"], "unheard_of": [1]}, Everything("a", ["*"])),
        ({"path": "a", "patterns": ["*"], "limit": 5}, Everything("a", ["*"], limit=5)),
        ({"path": "a", "patterns": ["*"], "limit": 5.0}, Everything("a", ["*"], limit=5)),
        ({"path": "a", "patterns": ["*"], "limit": None}, Everything("a", ["*"])),
        ({"path": "a", "patterns": ["*"], "depth": None, "recursive": None}, Everything("a", ["*"])),
        ({"path": "a", "patterns": ["*"], "exclude": None}, Everything("a", ["*"])),
        ({"path": "a", "patterns": ["*"], "options": {"git": False}}, Everything("a", ["*"], ignore_git=False)),
        (
            {"path": "a", "patterns": ["*"], "options": {"nested": {"git": True}}},
            Everything("a", ["*"], ignore_git=True),
        ),
        ({"path": "a", "patterns": ["*"], "options": {}}, Everything("a", ["*"])),
        ({"path": "a", "patterns": ["*"], "options": "none"}, Everything("a", ["*"])),
        ({"path": "a", "patterns": ["*"], "secret": "s"}, Everything("a", ["*"], secret="s")),
        ({"path": "", "patterns": ["*"], "label": ""}, Everything("", ["*"], label="")),
        (MappingProxyType({"path": "a", "patterns": ["*"]}), Everything("a", ["*"])),
        (
            {"path": "a", "patterns": ["*"], "depth": 0, "recursive": False, "exclude": [""]},
            Everything("a", ["*"], depth=0, recursive=False, exclude=[""]),
        ),
    ],
)
def test_arguments_become_parameters(arguments: object, expected: Everything) -> None:
    parsed = parse_arguments(Everything, arguments)
    assert parsed == expected
    assert parsed.limit is None or type(parsed.limit) is int


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            {"path": "a", "patterns": ["*"], "ignore_git": None, "options": {"git": True}},
            Everything("a", ["*"], ignore_git=True),
        ),
        ({"path": None, "file_path": "a", "patterns": ["*"]}, Everything("a", ["*"])),
    ],
)
def test_null_under_one_name_does_not_hide_the_value_under_another(
    arguments: dict[str, object], expected: Everything
) -> None:
    assert parse_arguments(Everything, arguments) == expected


def problem(arguments: object) -> str:
    with pytest.raises(ToolFailure) as caught:
        parse_arguments(Everything, arguments)
    assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
    return caught.value.message


GOOD: dict[str, object] = {"path": "a", "patterns": ["*"]}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"patterns": ["*"]}, "params must have required property 'path'"),
        ({}, "params must have required property 'path', params must have required property 'patterns'"),
        (GOOD | {"path": 5}, "params/path must be string"),
        (GOOD | {"path": None}, "params/path must be string"),
        ({"file_path": 5, "patterns": ["*"]}, "params/file_path must be string"),
        (GOOD | {"file_path": "b"}, "params/path and params/file_path are one parameter and must not differ"),
        (GOOD | {"options": {"git": "no"}}, "params/options/git must be boolean"),
        (
            GOOD | {"ignore_git": True, "options": {"git": False}},
            "params/ignore_git and params/options/git are one parameter and must not differ",
        ),
        (GOOD | {"limit": "5"}, "params/limit must be number"),
        (GOOD | {"limit": True}, "params/limit must be number"),
        (GOOD | {"limit": 0}, "params/limit must be >= 1"),
        (GOOD | {"limit": -1.0}, "params/limit must be >= 1"),
        (GOOD | {"depth": -1}, "params/depth must be >= 0"),
        (GOOD | {"depth": 1.5}, "params/depth must be integer"),
        (GOOD | {"depth": math.inf}, "params/depth must be integer"),
        (GOOD | {"depth": math.nan}, "params/depth must be integer"),
        (GOOD | {"recursive": 1}, "params/recursive must be boolean"),
        (GOOD | {"recursive": "true"}, "params/recursive must be boolean"),
        (GOOD | {"patterns": "*"}, "params/patterns must be array"),
        (GOOD | {"patterns": []}, "params/patterns must NOT have fewer than 1 items"),
        (GOOD | {"patterns": ["a", 5]}, "params/patterns/1 must be string"),
        (GOOD | {"patterns": ["a", ""]}, "params/patterns/1 must NOT have fewer than 1 characters"),
        (GOOD | {"exclude": [None]}, "params/exclude/0 must be string"),
        (
            {"path": 5, "patterns": 6, "depth": -2},
            "params/path must be string, params/patterns must be array, params/depth must be >= 0",
        ),
    ],
)
def test_what_is_wrong_is_said_by_field(arguments: object, told: str) -> None:
    assert problem(arguments) == told


@pytest.mark.parametrize("fraction", [2.5, math.inf, math.nan])
def test_a_number_that_must_be_whole_is_not_told_to_be_a_number(fraction: float) -> None:
    assert problem(GOOD | {"limit": fraction}) == "params/limit must be integer"


@pytest.mark.parametrize("arguments", [None, [], ["path"], "path", 5, True])
def test_arguments_must_be_an_object(arguments: object) -> None:
    assert problem(arguments) == "Value of params must be an object"


@pytest.mark.parametrize(
    ("name", "json_type"),
    [
        ("path", "string"),
        ("absolute_path", "string"),
        ("patterns", "array"),
        ("limit", "integer"),
        ("recursive", "boolean"),
        ("options.git", "boolean"),
        ("secret", "string"),
        ("unheard_of", None),
        ("", None),
    ],
)
def test_the_type_of_a_parameter_is_known_by_every_name(name: str, json_type: str | None) -> None:
    assert json_type_of(Everything, name) == json_type


@dataclass(frozen=True)
class Rich:
    """Parameters with hints that only functions had.

    Attributes:
        folder: Where.
    """

    folder: Path
    unit: "Literal['c', 'f']"
    rate: Annotated[float, Ge(0), Lt(1)] = 0.5
    names: Annotated[list[str], Param("Who.", max_length=2, aliases=("people",))] = field(default_factory=list)


@dataclass(frozen=True)
class Richer(Rich):
    since: date | None = None


class Model(BaseModel):
    folder: Path
    rate: float = Field(ge=0, default=0.5)


class TestOtherHints:
    """Those of functions, and pydantic models."""

    def test_they_are_declared(self) -> None:
        assert parameters_schema(Rich) == {
            "type": "object",
            "properties": {
                "folder": {"type": "string", "format": "path", "description": "Where."},
                "unit": {"type": "string", "enum": ["c", "f"]},
                "rate": {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "default": 0.5},
                "names": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "description": "Who."},
            },
            "required": ["folder", "unit"],
        }
        assert [json_type_of(Rich, name) for name in ("folder", "people", "none")] == ["string", "array", None]

    def test_they_are_parsed(self) -> None:
        assert parse_arguments(Rich, {"folder": "a", "unit": "c", "people": ["x"]}) == Rich(Path("a"), "c", 0.5, ["x"])

    def test_inherited_fields(self) -> None:
        parsed = parse_arguments(Richer, {"folder": "a", "unit": "c", "since": "2026-01-02"})
        assert parsed == Richer(Path("a"), "c", since=date(2026, 1, 2))

    def test_what_is_wrong_is_said_by_field(self) -> None:
        with pytest.raises(ToolFailure) as caught:
            parse_arguments(Rich, {"folder": 3, "unit": "k", "rate": 1, "names": ["a", "b", "c"]})
        assert caught.value.message == (
            'params/folder must be string, params/unit must be one of "c", "f", params/rate must be < 1, '
            "params/names must NOT have more than 2 items"
        )

    def test_models(self) -> None:
        assert parameters_schema(Model) == {
            "type": "object",
            "title": "Model",
            "properties": {
                "folder": {"type": "string", "format": "path"},
                "rate": {"type": "number", "minimum": 0, "default": 0.5},
            },
            "required": ["folder"],
        }
        assert json_type_of(Model, "rate") == "number"
        assert parse_arguments(Model, {"folder": "a"}) == Model(folder=Path("a"))
        with pytest.raises(ToolFailure, match=r"^params/folder is required, params/rate must be greater than"):
            parse_arguments(Model, {"rate": -1})

    def test_what_cannot_be_declared_is_refused(self) -> None:
        @dataclass(frozen=True)
        class Bad:
            took: timedelta

        with pytest.raises(TypeError, match=r"^Bad.took: timedelta is not supported"):
            parameters_schema(Bad)
        with pytest.raises(TypeError, match="parameters must be a dataclass or a pydantic model, not <class 'dict'>"):
            parameters_schema(dict)


NAMES = ["path", "file_path", "patterns", "limit", "depth", "recursive", "ignore_git", "label", "exclude", "options"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.floats()
    | st.sampled_from([0.0, 1.0, 2.0, -1.0])
    | st.text(max_size=3)
    | st.binary(max_size=2)
)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from(["git", "nested"]), SCALARS)
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), VALUES) | VALUES


def parsed_or_refused(arguments: object) -> Everything | ToolFailure:
    try:
        return parse_arguments(Everything, arguments)
    except ToolFailure as failure:
        return failure


@given(ARGUMENTS)
@settings(max_examples=400, deadline=None)
def test_any_arguments_parse_or_are_refused_by_field(arguments: object) -> None:
    parsed = parsed_or_refused(arguments)
    if isinstance(parsed, ToolFailure):
        assert parsed.error_type is ErrorType.INVALID_TOOL_PARAMS
        named = [name for name in NAMES if f"params/{name}" in parsed.message or f"'{name}'" in parsed.message]
        assert named or parsed.message == "Value of params must be an object"
        return
    assert isinstance(arguments, dict)
    assert isinstance(parsed.path, str)
    assert parsed.patterns
    assert all(isinstance(item, str) and item for item in parsed.patterns)
    assert all(isinstance(item, str) for item in parsed.exclude)
    assert parsed.limit is None or (type(parsed.limit) is int and parsed.limit >= 1)
    assert type(parsed.depth) is int
    assert parsed.depth >= 0
    assert type(parsed.recursive) is bool
    assert parsed.ignore_git in (None, True, False)
    assert parsed.label is None or isinstance(parsed.label, str)


WELL_TYPED = st.fixed_dictionaries(
    {"path": st.text(max_size=5), "patterns": st.lists(st.text(max_size=3), max_size=3)},
    optional={
        "limit": st.integers(-2, 5) | st.integers(-2, 5).map(float),
        "depth": st.integers(-2, 5) | st.integers(-2, 5).map(float),
        "recursive": st.booleans(),
        "ignore_git": st.booleans(),
        "label": st.text(max_size=3) | st.integers(),
        "exclude": st.lists(st.text(max_size=2) | st.booleans(), max_size=2),
        "something_else": SCALARS.filter(lambda value: not isinstance(value, bytes)),
    },
)


@given(WELL_TYPED)
@settings(max_examples=400, deadline=None)
def test_the_declared_schema_and_the_check_agree(arguments: dict[str, object]) -> None:
    allowed = jsonschema_rs.Draft7Validator(dict(parameters_schema(Everything))).is_valid(arguments)
    assert isinstance(parsed_or_refused(arguments), Everything) == allowed


@dataclass(frozen=True, slots=True)
class _NestedParams:
    options: Annotated[str | None, Param("A text, or where the others are.")] = None
    git: Annotated[bool | None, Param("Of git.", aliases=("options.git",))] = None


def test_a_parameter_that_may_hold_another_one_is_looked_into() -> None:
    assert parse_arguments(_NestedParams, {"options": "a"}) == _NestedParams("a")
    with pytest.raises(ToolFailure, match="params/options must be string"):
        parse_arguments(_NestedParams, {"options": {"git": True}})


def test_the_same_problems_are_named_with_and_without_unknown_keys() -> None:
    for invalid in ({"options": 1, "git": 2}, {"git": "x"}):
        messages: list[str] = []
        for more in ({}, {"unknown": 1}):
            with pytest.raises(ToolFailure) as caught:
                parse_arguments(_NestedParams, invalid | more)
            messages.append(caught.value.message)
        assert messages[0] == messages[1]
