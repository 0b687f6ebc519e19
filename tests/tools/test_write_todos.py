"""`write_todos`."""

import asyncio

import pytest

from tejat.core.agent.session_state import SessionState
from tejat.core.errors import ErrorType
from tejat.core.messages.types import JsonValue
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.tools.write_todos import WriteTodosTool


def write(todos: object, state: SessionState | None = None) -> ToolResult:
    kept = state or SessionState()
    return asyncio.run(validate_and_execute(WriteTodosTool(lambda: kept), {"todos": todos}))


def todo(description: object = "Test it", status: object = "pending", **more: object) -> dict[str, object]:
    return {"description": description, "status": status, **more}


def test_the_whole_list_is_kept_and_returned() -> None:
    state = SessionState()
    result = write([todo("Read", "completed"), todo("Write", "in_progress"), todo()], state)
    assert result.error is None
    assert result.llm_content == (
        "Successfully updated the todo list. The current list is now:\n"
        "1. [completed] Read\n2. [in_progress] Write\n3. [pending] Test it"
    )
    assert result.return_display == TodoList(
        (Todo("Read", TodoStatus.COMPLETED), Todo("Write", TodoStatus.IN_PROGRESS), Todo("Test it"))
    )
    kept: JsonValue = [
        {"description": "Read", "status": "completed"},
        {"description": "Write", "status": "in_progress"},
        {"description": "Test it", "status": "pending"},
    ]
    assert state.get("todos") == kept
    assert result.to_json()["returnDisplay"] == {"todos": kept}


def test_an_empty_list_clears_it() -> None:
    state = SessionState({"todos": [{"description": "old", "status": "pending"}]})
    assert write([], state).llm_content == "Successfully cleared the todo list."
    assert state.get("todos") is None


@pytest.mark.parametrize(
    ("todos", "problem"),
    [
        ("buy milk", "`todos` parameter must be an array"),
        (None, "`todos` parameter must be an array"),
        (["buy milk"], "Each todo must have a non-empty description string"),
        ([todo("")], "Each todo must have a non-empty description string"),
        ([todo(" \u200b")], "Each todo must have a non-empty description string"),
        ([todo(5)], "Each todo must have a non-empty description string"),
        (
            [todo(status="done")],
            "Each todo must have a valid status (pending, in_progress, completed, cancelled, blocked)",
        ),
        (
            [{"description": "x"}],
            "Each todo must have a valid status (pending, in_progress, completed, cancelled, blocked)",
        ),
        (
            [todo("a", "in_progress"), todo("b", "in_progress")],
            'Invalid parameters: Only one task can be "in_progress" at a time.',
        ),
        ([todo(priority="high")], "Each todo must have only description and status, not priority"),
        ([todo("x" * 501)], "Each todo must have a description of at most 500 characters"),
        ([todo()] * 101, "`todos` parameter must have at most 100 items"),
    ],
)
def test_what_is_refused(todos: object, problem: str) -> None:
    state = SessionState({"todos": [{"description": "old", "status": "pending"}]})
    result = write(todos, state)
    assert result.error is not None
    assert (result.error.type, result.error.message) == (ErrorType.INVALID_TOOL_PARAMS, problem)
    assert state.get("todos") == [{"description": "old", "status": "pending"}]


def test_the_longest_list() -> None:
    assert write([todo("x" * 500)] * 100).error is None
