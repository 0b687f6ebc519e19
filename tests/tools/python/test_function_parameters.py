"""The parameters of functions: defaults, notes and calls."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from annotated_types import Ge, Timezone
from pydantic import BaseModel, Field

from tejat.core.errors import ToolFailure
from tejat.core.tools.base import ToolContext
from tejat.core.tools.schema import Param
from tejat.tools.python.function_parameters import FunctionParameters


class Point(BaseModel):
    x: int


def draw(
    point: Point,
    size: Annotated[int, Ge(1), Field(le=9, description="Pixels.", examples=[3])],
    context: ToolContext,
    tags: Annotated[list[str], Field(default_factory=list, max_length=2)],
    colour: Annotated[str, Field(default="red", pattern="^[a-z]+$"), "A name."],
    file: Path = Path("a.png"),
    scale: Annotated[float, Field(default=2.0)] = 1.5,
) -> tuple[object, ...]:
    return point, size, context, tags, colour, file, scale


PARAMETERS = FunctionParameters(draw, {"point": "Where.", "colour": "Not used."})


def test_everything_known_is_declared() -> None:
    assert PARAMETERS.schema() == {
        "type": "object",
        "properties": {
            "point": {
                "type": "object",
                "title": "Point",
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
                "description": "Where.",
            },
            "size": {"type": "integer", "minimum": 1, "maximum": 9, "examples": [3], "description": "Pixels."},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "colour": {"type": "string", "pattern": "^[a-z]+$", "description": "A name.", "default": "red"},
            "file": {"type": "string", "format": "path", "default": "a.png"},
            "scale": {"type": "number", "default": 1.5},
        },
        "required": ["point", "size"],
    }
    assert PARAMETERS.has_context
    assert PARAMETERS.names == ["point", "size", "tags", "colour", "file", "scale"]


def test_defaults_of_fields_are_passed_too() -> None:
    context = ToolContext()
    arguments = PARAMETERS.parse({"point": {"x": 1}, "size": 2})
    called = PARAMETERS.bind(arguments, context)()
    assert called == (Point(x=1), 2, context, [], "red", Path("a.png"), 1.5)
    first, second = (PARAMETERS.with_defaults(arguments)["tags"] for _ in range(2))
    assert first is not second


def test_everything_declared_is_checked() -> None:
    given = {"point": {"x": "a"}, "size": 10, "tags": ["a", "b", "c"], "colour": "RED", "file": 3}
    with pytest.raises(ToolFailure) as caught:
        PARAMETERS.parse(given)
    assert caught.value.message == (
        "params/point/x must be a valid integer, unable to parse string as an integer, params/size must be <= 9, "
        'params/tags must NOT have more than 2 items, params/colour must match pattern "^[a-z]+$", '
        "params/file must be string"
    )


def field_as_default(size: int = Field(ge=1)) -> None: ...


def unknown_note(when: Annotated[str, Timezone(None)]) -> None: ...


def wrong_limit(text: Annotated[str, Ge(1)]) -> None: ...


def pattern_of_number(number: Annotated[int, Param(pattern="a")]) -> None: ...


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (field_as_default, "parameter 'size': write Field(...) inside"),
        (unknown_note, "parameter 'when': Timezone(tz=None) looks like a constraint, but cannot be declared"),
        (wrong_limit, "parameter 'text': there is nothing to limit in str: bounds are for numbers"),
        (pattern_of_number, "parameter 'number': there is nothing to limit in int: a pattern is for texts"),
    ],
)
def test_nothing_is_dropped_silently(function: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        FunctionParameters(function, {})
    assert str(caught.value).startswith(f"{function.__name__}(), {problem}")


def test_one_alias_and_one_example_are_no_sequences_of_letters() -> None:
    def draw(size: Annotated[str, Param(aliases="size_name", examples="big")]) -> None: ...  # pyright: ignore[reportArgumentType]

    parameters = FunctionParameters(draw, {})
    assert parameters.schema()["properties"] == {"size": {"type": "string", "examples": ["big"]}}


@pytest.mark.parametrize(
    ("param", "message"),
    [
        (Param(minimum="5"), "Param.minimum must be a number or None, not '5'."),  # pyright: ignore[reportArgumentType]
        (Param(maximum=float("nan")), "Param.maximum must be a number or None, not nan."),
        (Param(5), "Param.description must be a string, not 5."),  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_wrong_field_of_a_param_is_refused(param: Param, message: str) -> None:
    def draw(size: int) -> None: ...

    draw.__annotations__["size"] = Annotated[int, param]
    with pytest.raises(TypeError) as raised:
        FunctionParameters(draw, {})
    assert str(raised.value) == f"draw(), parameter 'size': {message}"
