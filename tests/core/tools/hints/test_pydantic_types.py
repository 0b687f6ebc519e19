"""Types that pydantic declares and validates, with the real package."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from tejat.core.tools.hints.json_types import TypeMismatch
from tejat.core.tools.hints.pydantic_types import is_pydantic_type, pydantic_type


class Address(BaseModel):
    """Where somebody lives."""

    city: str = Field(min_length=1)


class Person(BaseModel):
    model_config = ConfigDict(strict=True)

    first_name: str
    home: Address = Field(description="At night.")
    others: list[Address] = []
    born: date | None = None


@pydantic_dataclass
class Point:
    x: Annotated[int, Field(ge=0)]


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    title: Annotated[str, Field(title="A title.")] = ""


class Tree(BaseModel):
    children: "list[Tree]"


class Lost(BaseModel):
    where: "Nowhere"  # pyright: ignore[reportUndefinedVariable] # noqa: F821


def test_which_they_are() -> None:
    assert all(map(is_pydantic_type, (Person, Point, AfterValidator(abs))))
    assert not any(map(is_pydantic_type, (int, dict, 3, "x")))


def test_references_are_written_out_and_titles_of_fields_left_out() -> None:
    address = {
        "type": "object",
        "title": "Address",
        "description": "Where somebody lives.",
        "properties": {"city": {"type": "string", "minLength": 1}},
        "required": ["city"],
    }
    assert pydantic_type(Person).schema() == {
        "type": "object",
        "title": "Person",
        "properties": {
            "first_name": {"type": "string"},
            "home": {**address, "description": "At night."},
            "others": {"type": "array", "items": address, "default": []},
            "born": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        },
        "required": ["first_name", "home"],
    }
    properties: Any = pydantic_type(Dog).schema()["properties"]
    assert properties["title"] == {"type": "string", "title": "A title.", "default": ""}


def test_values_are_validated_as_json_even_by_strict_models() -> None:
    parsed = pydantic_type(Person).parse({"first_name": "A", "home": {"city": "Rome"}, "born": "2000-01-02"}, "it")
    assert parsed == Person(first_name="A", home=Address(city="Rome"), born=date(2000, 1, 2))
    assert pydantic_type(Point).parse({"x": 1}, "it") == Point(1)


def test_unions_with_a_discriminator() -> None:
    pets = pydantic_type(Annotated[Cat | Dog, Field(discriminator="kind")])
    assert pets.parse({"kind": "dog"}, "it") == Dog(kind="dog")
    assert pets.expected == "value"


@pytest.mark.parametrize(
    ("given", "problem", "is_wrong_type"),
    [
        ({"first_name": "A"}, "it/home is required", False),
        (
            {"first_name": 1, "home": {"city": ""}},
            "it/first_name must be a valid string, it/home/city is refused: String should have at least 1 character",
            False,
        ),
        ([], "it must be an object", True),
        (float("nan"), "it is refused: Out of range float values are not JSON compliant", False),
    ],
)
def test_what_is_wrong_is_said_where_it_is(given: object, problem: str, is_wrong_type: bool) -> None:
    with pytest.raises(TypeMismatch) as caught:
        pydantic_type(Person).parse(given, "it")
    assert str(caught.value).startswith(problem)
    assert caught.value.is_wrong_type is is_wrong_type


def refuse(value: int) -> int:
    raise ValueError(f"{value} is taken")


def test_the_words_of_a_validator_are_kept() -> None:
    with pytest.raises(TypeMismatch, match=r"^it is refused: 3 is taken$"):
        pydantic_type(Annotated[int, AfterValidator(refuse)]).parse(3, "it")


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (Tree, "Tree contains itself"),
        (Lost, "pydantic cannot declare it: `TypeAdapter"),
        (Annotated[Callable[[], int], AfterValidator(abs)], "pydantic cannot declare it: Cannot generate"),
    ],
)
def test_what_cannot_be_declared_is_refused(hint: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        pydantic_type(hint)
    assert str(caught.value).startswith(problem)
