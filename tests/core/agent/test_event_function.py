"""Functions that get events are checked before anything happens."""

from typing import Any

import pytest

from tejat.core.agent.event_function import check_event_function


def plain(_: object) -> None: ...


async def later(_: object) -> None: ...


def test_plain_functions_and_none() -> None:
    assert check_event_function(plain) is plain
    assert check_event_function(print) is print
    assert check_event_function(None) is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (5, "on_event must be a function that takes an event, not 5"),
        (dict, "on_event must be a function that takes an event, not <class 'dict'>"),
        (lambda: None, "on_event must be a function that takes an event, not <function <lambda>"),
        (later, "on_event must be a plain function, not an `async` one"),
    ],
)
def test_anything_else(wrong: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check_event_function(wrong)
