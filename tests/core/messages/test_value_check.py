"""Values of a program are checked where it hands them in."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.public_values import instances, value_classes
from tejat.core.agent.events import LoopDetected, RunEnded
from tejat.core.agent.hooks import HookReply
from tejat.core.agent.prices import Price
from tejat.core.errors import ErrorType
from tejat.core.frozen import Value, fields_of
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall, InlineData, Text
from tejat.core.messages.value_check import check_value
from tejat.core.model import ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.schema import Param
from tejat.core.tools.todos import Todo, TodoList

CLASSES = value_classes()
NOTHING_ELSE: Any = object()


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_correct_values_are_accepted(cls: type[Value], data: st.DataObject) -> None:
    check_value(data.draw(instances(cls)))


@settings(max_examples=1, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@pytest.mark.parametrize(
    "cls", [cls for cls in CLASSES if cls is not HookReply and fields_of(cls)], ids=lambda cls: cls.__name__
)
@given(data=st.data())
def test_every_field_of_every_class_is_checked(cls: type[Value], data: st.DataObject) -> None:
    value = data.draw(instances(cls))
    given_fields = [each.name for each in fields_of(cls) if each.init and not each.is_local]
    for name in given_fields:
        members = {each: getattr(value, each) for each in given_fields} | {name: NOTHING_ELSE}
        with pytest.raises(
            TypeError, match=rf"^{cls.__name__}\.{name} must be .+, not an object of the type object\.$"
        ):
            check_value(cls(**members))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (ToolResult("a", error="it failed"), "ToolResult.error must be a ToolError or None, not 'it failed'."),  # type: ignore[arg-type]
        (
            ToolResult("a", error=ToolError("no", "timeout")),  # type: ignore[arg-type]
            "ToolError.type must be an ErrorType member, not 'timeout'.",
        ),
        (ToolResult("a", exit_code=True), "ToolResult.exit_code must be a whole number or None, not True."),
        (ToolResult([Text(5)]), "Text.text must be a string, not 5."),  # type: ignore[arg-type]
        (InlineData("image/png", "text"), "InlineData.data must be bytes, not 'text'."),  # type: ignore[arg-type]
        (FunctionCall("a", {"path": Path("b")}), "FunctionCall.args must be a JSON object, not an object of"),
        (FunctionCall("a", {1: "b"}), "FunctionCall.args must be a JSON object, not an object of the type dict."),  # type: ignore[dict-item]
        (
            ModelResponse(Message(Role.MODEL, (FunctionCall("a", {"b": [b"c"]}),))),
            "FunctionCall.args must be a JSON object",
        ),
        (ModelResponse(Message(Role.MODEL, ()), usage=Usage("5")), "Usage.prompt must be a whole number, not '5'."),  # type: ignore[arg-type]
        (RunEnded("finished"), "RunEnded.reason must be an EndReason member, not 'finished'."),  # type: ignore[arg-type]
        (LoopDetected("a", ends_run=1), "LoopDetected.ends_run must be True or False, not 1."),  # type: ignore[arg-type]
        (
            TodoList(("Read", Todo("Write"))),  # type: ignore[arg-type]
            "TodoList.todos must be a sequence in which each item is a Todo",
        ),
        (Price(1.0, float("nan"), 1.0), "Price.cached must be a number, not nan."),
        (Price(1.0, 1.0, 1.0, steps=((1,),)), "Price.steps must be a sequence in which each item is a tuple of 2"),  # type: ignore[arg-type]
        (Param(aliases=("a", 5)), "Param.aliases must be a sequence in which each item is a string"),  # type: ignore[arg-type]
        (Param(minimum="5"), "Param.minimum must be a number or None, not '5'."),  # type: ignore[arg-type]
    ],
)
def test_the_field_is_named(value: object, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        check_value(value)
    assert str(raised.value).startswith(message)


def test_numbers_and_sequences_in_their_other_forms() -> None:
    check_value(Price(1, 0, 2, steps=((1000, Price(2, 0, 4)),)))
    check_value(ToolResult(["a", Text("b")], error=ToolError("c", ErrorType.TIMEOUT)))
    check_value(ToolResult(("a",)))
