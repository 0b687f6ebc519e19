"""The todo list of a session."""

import pytest

from tejat.core.tools.todos import Todo, TodoList, TodoStatus, render_todos, todo_lines, todos_from_state

LIST = TodoList(
    (
        Todo("Read", TodoStatus.COMPLETED),
        Todo("Write", TodoStatus.IN_PROGRESS),
        Todo("Test"),
        Todo("Publish", TodoStatus.CANCELLED),
        Todo("Ask", TodoStatus.BLOCKED),
    )
)


def test_progress() -> None:
    assert LIST.current == Todo("Write", TodoStatus.IN_PROGRESS)
    assert LIST.progress == "1/4"
    assert not LIST.is_done


@pytest.mark.parametrize(
    ("statuses", "is_done"),
    [((), True), (("completed", "cancelled"), True), (("completed", "blocked"), False), (("pending",), False)],
)
def test_done(statuses: tuple[str, ...], is_done: bool) -> None:
    assert TodoList(tuple(Todo("x", TodoStatus(status)) for status in statuses)).is_done == is_done


def test_through_the_state_and_back() -> None:
    assert todos_from_state(LIST.to_state()) == LIST
    assert LIST.to_json() == {"todos": LIST.to_state()}
    assert todos_from_state(None) == TodoList()


def test_broken_entries_of_a_journal() -> None:
    state = ["x", {"description": "a", "status": "odd"}, {"status": "completed"}, {"description": "b", "status": []}]
    assert todos_from_state([*state]) == TodoList((Todo("a"), Todo("", TodoStatus.COMPLETED), Todo("b")))


def test_for_the_model() -> None:
    lines = "1. [completed] Read\n2. [in_progress] Write\n3. [pending] Test\n4. [cancelled] Publish\n5. [blocked] Ask"
    assert todo_lines(LIST) == lines
    assert render_todos(LIST.to_state()) == f"The current todo list, kept with write_todos:\n{lines}"
    assert render_todos(None) == ""


def test_a_list_is_a_collection() -> None:
    assert len(LIST) == 5
    assert [todo.description for todo in LIST] == ["Read", "Write", "Test", "Publish", "Ask"]
    assert "Write" in LIST
    assert Todo("Write", TodoStatus.IN_PROGRESS) in LIST
    assert Todo("Write") not in LIST
    assert not TodoList()
