"""The notes of hints, of the real libraries: what is read, what is refused, what is ignored."""

import re
from dataclasses import dataclass
from datetime import UTC
from typing import Annotated, Any

import annotated_types as at
import pytest
from pydantic import AfterValidator, Field, PositiveInt, Strict, StringConstraints, conint
from typing_extensions import Doc

from tejat.core.tools.hints.annotations import NO_DEFAULT, Annotation, is_field, read_annotation
from tejat.core.tools.hints.limits import Bounds, Lengths
from tejat.core.tools.schema import Param


@dataclass
class Meta:
    """As msgspec has it."""

    ge: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    description: str | None = None
    examples: list[int] | None = None
    tz: bool | None = None


class Column:
    """Something with methods of the names that constraints have."""

    def min(self) -> int:
        return 0

    def pattern(self) -> str:
        return ""


IS_DIGIT: Any = str.isdigit


class Custom(at.BaseMetadata):
    """A constraint that only its author knows."""


@pytest.mark.parametrize(
    ("hint", "read"),
    [
        (int, Annotation(int)),
        (Annotated[int, "text"], Annotation(int, Param("text"))),
        (Annotated[int, Doc("text")], Annotation(int, Param("text"))),
        (Annotated[int, Param("text", aliases=("n",))], Annotation(int, Param("text", aliases=("n",)))),
        (Annotated[Annotated[int, "inner"], "outer"], Annotation(int, Param("outer"))),
        (Annotated[int, at.Ge(1), at.Lt(9), at.MultipleOf(2)], Annotation(int, bounds=Bounds(1, None, None, 9, 2))),
        (Annotated[int, at.Gt(1), at.Le(9)], Annotation(int, bounds=Bounds(None, 1, 9))),
        (Annotated[int, at.Interval(ge=1, le=9)], Annotation(int, bounds=Bounds(1, None, 9))),
        (Annotated[str, at.MinLen(1), at.MaxLen(2)], Annotation(str, lengths=Lengths(1, 2))),
        (Annotated[str, at.Len(1, 2)], Annotation(str, lengths=Lengths(1, 2))),
        (Annotated[str, at.Len(1)], Annotation(str, lengths=Lengths(1))),
        (Annotated[str, 3:5], Annotation(str)),  # a slice, which annotated_types no longer supports either
        (Annotated[str, at.Predicate(str.isdigit)], Annotation(str, tests=(IS_DIGIT,))),
        (Annotated[float, at.Unit("m")], Annotation(float)),
        (Annotated[int, at.doc("text")], Annotation(int, Param("text"))),
        (Annotated[int, Field(ge=1, le=9, strict=True)], Annotation(int, bounds=Bounds(1, None, 9))),
        (Annotated[str, Field(pattern="^a", max_length=3)], Annotation(str, pattern="^a", lengths=Lengths(None, 3))),
        (Annotated[str, Field(pattern=re.compile("^a"))], Annotation(str, pattern="^a")),
        (Annotated[int, Field(description="text", default=3)], Annotation(int, Param("text"), default=3)),
        (Annotated[int, Field(...)], Annotation(int)),
        (Annotated[list[int], Field(default_factory=list)], Annotation(list[int], default_factory=list)),
        (
            Annotated[int, Field(title="T", examples=[1], deprecated=True, json_schema_extra={"unit": "m"})],
            Annotation(int, keywords={"title": "T", "examples": [1], "deprecated": True, "unit": "m"}),
        ),
        (PositiveInt, Annotation(int, bounds=Bounds(exclusive_minimum=0))),
        (conint(ge=1, multiple_of=2), Annotation(int, bounds=Bounds(1, multiple_of=2))),
        (Annotated[int, Strict()], Annotation(int)),
        (
            Annotated[str, StringConstraints(min_length=1, pattern="a")],
            Annotation(str, lengths=Lengths(1), pattern="a"),
        ),
        (Annotated[str, re.compile("^a")], Annotation(str, pattern="^a")),
        (
            Annotated[int, Meta(ge=1, description="text", examples=[2])],
            Annotation(int, Param("text"), Bounds(1), keywords={"examples": [2]}),
        ),
        (Annotated[str, Meta(max_length=1, pattern="a")], Annotation(str, lengths=Lengths(None, 1), pattern="a")),
        (Annotated[int, Meta(description="not ours to read")], Annotation(int)),
        (Annotated[int, 7, None, object(), Column(), int, print], Annotation(int)),
    ],
)
def test_what_is_read(hint: object, read: Annotation) -> None:
    assert read_annotation(hint) == read


@pytest.mark.parametrize("note", [AfterValidator(abs), Field(max_digits=3), StringConstraints(to_lower=True)])
def test_what_only_pydantic_knows_is_left_to_it_whole(note: Any) -> None:
    hint: Any = Annotated[int, at.Ge(1), note]
    assert read_annotation(hint).needs_pydantic
    assert read_annotation(hint).hint == hint


@pytest.mark.parametrize(
    ("note", "problem"),
    [
        (at.Timezone(UTC), "Timezone(tz=datetime.timezone.utc) looks like a constraint, but cannot be declared: its"),
        (Custom(), "looks like a constraint, but cannot be declared: it is not supported. Use Param(...)"),
        (at.Ge, "looks like a constraint, but cannot be declared: it is a class, and should be an instance"),
        (
            at.Ge("a"),
            "Ge(ge='a') looks like a constraint, but cannot be declared: its 'ge' is neither",
        ),
        (at.MinLen(1.5), "its 'min_length' is not an int"),  # pyright: ignore[reportArgumentType]
        (Meta(ge=1, tz=True), "its 'tz' is not supported"),
        (Field(alias="x"), "Field(alias=...) is not supported: use Param(aliases=(...))"),
        (Field(validation_alias="x"), "Field(validation_alias=...) is not supported"),
        (re.compile(b"a"), "the pattern b'a' is not a str"),
        (re.compile("a", re.IGNORECASE), "cannot be declared: write them into the pattern"),
        (Param(pattern="("), "the pattern '(' is not a regular expression"),
        (Param(json_type="number"), "Param(json_type=...) has no meaning here"),
    ],
)
def test_a_constraint_that_is_not_understood_is_refused(note: Any, problem: str) -> None:
    hint: Any = Annotated[str, note]
    with pytest.raises(TypeError) as caught:
        read_annotation(hint)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (Annotated[str, Param(pattern="a"), re.compile("b")], "one pattern only, not 'a' and 'b'"),
        (Annotated[int, AfterValidator(abs), Param(minimum=1)], "does not know the limits of Param(...): use Field"),
    ],
)
def test_notes_that_do_not_go_together(hint: object, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        read_annotation(hint)
    assert problem in str(caught.value)


def test_fields() -> None:
    assert is_field(Field(ge=1))
    assert not is_field(Param())
    assert read_annotation(int).default is NO_DEFAULT
