"""The `confirm` option: who is asked what."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tejat.core.approval.confirmation import Confirmation, ExecConfirmation, InfoConfirmation
from tejat.tools.python.call_confirmation import CallConfirmation

ARGUMENTS = {"path": "a", "force": True}


def ask(confirm: Any) -> Confirmation | None:
    confirmation = CallConfirmation(confirm, list(ARGUMENTS), tool="delete()")
    return asyncio.run(confirmation.ask(ARGUMENTS, title="delete", description="path a"))


def question(prompt: str) -> InfoConfirmation:
    return InfoConfirmation("Confirm: delete", prompt)


async def ask_later(path: str) -> str:
    await asyncio.sleep(0)
    return f"Delete {path}?"


class Rule:
    """A callable object."""

    def __call__(self, *, force: bool) -> bool:
        return force


EXEC = ExecConfirmation("Delete", "rm a", "/")


@pytest.mark.parametrize(
    ("confirm", "asked"),
    [
        (False, None),
        (True, question("path a")),
        (lambda: False, None),
        (lambda: None, None),
        (lambda: True, question("path a")),
        (lambda force: force, question("path a")),
        (lambda path, force: f"{path} {force}", question("a True")),
        (lambda **given: str(given), question(str(ARGUMENTS))),
        (lambda force, other="Sure?": other if force else "", question("Sure?")),
        (lambda: "", question("path a")),
        (lambda: EXEC, EXEC),
        (ask_later, question("Delete a?")),
        (lambda path, force: ask_later(path) if force else False, question("Delete a?")),
        (Rule(), question("path a")),
    ],
)
def test_who_is_asked_what(confirm: Any, asked: Confirmation | None) -> None:
    assert ask(confirm) == asked


def test_any_other_answer_is_an_error() -> None:
    with pytest.raises(TypeError, match="confirm returned 3, and not a bool, a str or a confirmation"):
        ask(lambda: 3)


def test_what_it_raises_is_raised() -> None:
    def fail(path: str) -> bool:
        raise OSError(path)

    with pytest.raises(OSError, match="a"):
        ask(fail)


def test_a_plain_function_runs_in_its_own_thread() -> None:
    assert ask(lambda: threading.current_thread() is threading.main_thread()) is None


@pytest.mark.parametrize(
    ("confirm", "problem"),
    [
        (3, "delete(): confirm must be a bool or a function, not 3"),
        (None, "delete(): confirm must be a bool or a function, not None"),
        (lambda name: name, "delete(): confirm takes 'name', which is no argument of the tool (path, force)"),
        (lambda path, /: path, "delete(): confirm takes 'path', which is no argument of the tool"),
    ],
)
def test_what_cannot_be_called_is_refused_at_once(confirm: Callable[..., Any], problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        CallConfirmation(confirm, list(ARGUMENTS), tool="delete()")
    assert str(caught.value).startswith(problem)
