"""Functions become hooks by a decorator, and mistakes are found where they are made."""

from typing import Any

import pytest

from tejat.core.agent.hook_decorator import hook, list_hooks
from tejat.core.agent.hooks import Hook, HookEvent, HookReply


@hook("BeforeTool", matcher="write_file", name="guard", timeout=5)
def no_writes(event: Any) -> HookReply:
    """Denies."""
    return HookReply("deny", event["tool_name"])


def test_the_decorator_keeps_the_function() -> None:
    assert no_writes({"tool_name": "write_file"}) == HookReply("deny", "write_file")
    assert no_writes == Hook(no_writes.function, "write_file", "guard", 5, "BeforeTool")
    assert list_hooks([no_writes]) == ((HookEvent.BEFORE_TOOL, no_writes),)


def test_methods_of_objects_and_callable_objects() -> None:
    class Guard:
        def check(self, _: Any) -> None: ...

        async def __call__(self, _: Any) -> None: ...

    guard = Guard()
    assert len(list_hooks({"BeforeTool": [guard.check, guard], "AfterTool": hook("AfterTool")(guard.check)})) == 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: hook(print), TypeError, r'@hook needs the name of an event: @hook\("BeforeTool"\)'),  # pyright: ignore[reportArgumentType]
        (lambda: hook("nothing"), ValueError, "Unknown hook event 'nothing'. Use one of BeforeTool"),
        (lambda: hook("BeforeTool", timeout=-1)(lambda _: None), ValueError, "more than 0 seconds"),
        (lambda: hook("BeforeTool")(lambda: None), TypeError, "must take one argument, the event"),  # pyright: ignore[reportArgumentType]
        (lambda: hook("BeforeTool")("deny"), TypeError, "must be a function that takes the event, not 'deny'"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_mistakes(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
