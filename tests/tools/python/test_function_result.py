"""What becomes of the things that functions return."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel

from tejat.core.errors import ErrorType
from tejat.core.messages.types import FileData, InlineData, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.tools.python.function_result import to_tool_result

PLAIN = '{"path":"a/b","cost":"1.10","id":"00000000-0000-0000-0000-000000000001"}'
MODELS = '[{"when":"2025-01-01","inner":{"when":"2025-01-02","inner":null}}]'
IMAGE = InlineData("image/png", b"\x89PNG")


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclass
class Point:
    x: int
    colour: Colour


class Pair(NamedTuple):
    one: int
    two: str


@pytest.mark.parametrize(
    "result", [ToolResult("a", "b"), ToolResult("a", error=ToolError("bad", ErrorType.EXECUTION_FAILED))]
)
def test_a_result_is_itself(result: ToolResult) -> None:
    assert to_tool_result(result) is result


def test_nothing_is_a_success_without_words() -> None:
    assert to_tool_result(None) == ToolResult([])


@pytest.mark.parametrize("part", [Text("a"), IMAGE, FileData("image/png", "https://example.org/a.png")])
def test_parts_stay_parts(part: Text) -> None:
    assert to_tool_result(part) == ToolResult(part)
    assert to_tool_result(["look:", part]) == ToolResult(["look:", part])
    assert to_tool_result((part,)) == ToolResult((part,))


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("text", "text"),
        ("", ""),
        (["a.txt", "b.txt"], '["a.txt","b.txt"]'),
        ([], "[]"),
        (3, "3"),
        (True, "true"),
        (1.5, "1.5"),
        (Colour.RED, '"red"'),
        (Level.HIGH, "3"),
        ({"ü": None, 1: [Colour.RED], Colour.RED: 2}, '{"ü":null,"1":["red"],"red":2}'),
        (MappingProxyType({"a": 1}), '{"a":1}'),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        (Point(1, Colour.RED), '{"x":1,"colour":"red"}'),
        ([Point(1, Colour.RED)], '[{"x":1,"colour":"red"}]'),
        (Pair(1, "a"), '[1,"a"]'),
        ({"half": "\ud800"}, '{"half":"\ufffd"}'),
    ],
)
def test_the_rest_is_written_as_json(returned: object, text: str) -> None:
    assert to_tool_result(returned) == ToolResult(text, text)


def numbers() -> Iterator[int]:
    yield 1


def in_a_circle() -> list[object]:
    circle: list[object] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    ("returned", "name"),
    [
        (object(), "object"),
        (Point, "type"),
        (b"bytes", "bytes"),
        (timedelta(1), "timedelta"),
        (numbers(), "generator"),
        ([IMAGE, 3], "InlineData"),
        ({"a": {1j}}, "complex"),
    ],
)
def test_what_cannot_be_written_is_named(returned: object, name: str) -> None:
    with pytest.raises(TypeError, match=f"^the function returned {name}, which cannot be written as JSON$"):
        to_tool_result(returned)


class Model(BaseModel):
    when: date
    inner: "Model | None" = None


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (datetime(2025, 1, 1, tzinfo=UTC), '"2025-01-01T00:00:00+00:00"'),
        ({"path": Path("a/b"), "cost": Decimal("1.10"), "id": UUID(int=1)}, PLAIN),
        ([Model(when=date(2025, 1, 1), inner=Model(when=date(2025, 1, 2)))], MODELS),
    ],
)
def test_values_that_json_writes_as_text(returned: object, text: str) -> None:
    assert to_tool_result(returned) == ToolResult(text, text)


@pytest.mark.parametrize("returned", [float("nan"), [float("inf")]])
def test_numbers_that_json_has_not(returned: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_tool_result(returned)


def test_a_circle_comes_to_an_end() -> None:
    with pytest.raises(RecursionError):
        to_tool_result(in_a_circle())
