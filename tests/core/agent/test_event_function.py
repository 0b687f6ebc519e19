"""Functions that get events are checked before anything happens."""

from typing import Any

import pytest

from tejat.core.agent.event_function import check_event_function


def plain(_: object) -> None: ...


async def later(_: object) -> None: ...


class Later:
    async def __call__(self, _: object) -> None: ...


def test_plain_functions_and_none(capsys: pytest.CaptureFixture[str]) -> None:
    got: list[object] = []
    for function in (got.append, plain, print, got.insert.__self__.append):
        deliver = check_event_function(function)
        assert deliver is not None
        deliver("event")
    assert got == ["event", "event"]
    assert capsys.readouterr().out == "event\n"
    assert check_event_function(None) is None


def test_what_nobody_would_await_is_an_error_and_no_warning() -> None:
    function: Any = lambda event: later(event)  # noqa: E731, PLW0108 -- looks like a plain function
    deliver = check_event_function(function)
    assert deliver is not None
    with pytest.raises(TypeError, match="not an `async` one"):
        deliver("event")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (5, "on_event must be a function that takes an event, not 5"),
        (dict, "on_event must be a function that takes an event, not <class 'dict'>"),
        (lambda: None, "on_event must be a function that takes an event, not <function <lambda>"),
        (later, "on_event must be a plain function, not an `async` one"),
        (Later(), "on_event must be a plain function, not an `async` one"),
    ],
)
def test_anything_else(wrong: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check_event_function(wrong)
