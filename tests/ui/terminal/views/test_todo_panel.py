"""The todo list above the prompt."""

import pytest

from support.terminal.dialogs import UNICODE
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.ui.terminal.editor.prompt_editor import PromptEditor
from tejat.ui.terminal.views.todo_panel import EditorWithTodos, TodoPanel

LIST = TodoList((Todo("Read", TodoStatus.COMPLETED), Todo("Write", TodoStatus.IN_PROGRESS), Todo("Test")))


class Panel:
    def __init__(self, todos: TodoList) -> None:
        self.todos = todos
        self.panel = TodoPanel(lambda: self.todos)
        self.editor = PromptEditor(UNICODE)

    def rows(self, *, width: int = 60, height: int = 20) -> list[str]:
        frame = EditorWithTodos(self.editor, self.panel).view(width=width, height=height)
        assert len(frame.rows) <= height
        assert frame.caret is not None
        assert frame.caret[1] == len(frame.rows) - 1
        return ["".join(cell.text for cell in row).rstrip() for row in frame.rows][:-1]


def test_one_row_and_the_whole_list() -> None:
    shown = Panel(LIST)
    assert shown.rows() == ["● Write (1/3 done, Ctrl-T to show all)"]
    assert shown.panel.toggle() == ""
    assert shown.rows() == [
        "● Todos (1/3 done, Ctrl-T to hide)",
        "  [x] Read (done)",
        "  [>] Write (in progress)",
        "  [ ] Test",
    ]
    assert shown.panel.toggle() == ""
    assert len(shown.rows()) == 1


def test_nothing_in_progress() -> None:
    assert Panel(TodoList((Todo("Test"),))).rows() == ["○ Todos (0/1 done, Ctrl-T to show all)"]


@pytest.mark.parametrize("todos", [TodoList(), TodoList((Todo("Read", TodoStatus.COMPLETED),))])
def test_gone_when_all_are_done(todos: TodoList) -> None:
    shown = Panel(LIST)
    assert shown.panel.is_visible
    shown.panel.toggle()
    shown.todos = todos
    assert shown.rows() == []
    assert not shown.panel.is_visible


def test_a_list_too_long_for_the_panel_is_returned_as_text() -> None:
    shown = Panel(TodoList(tuple(Todo(f"step {n}") for n in range(9))))
    assert shown.panel.toggle().split("\n") == [f"[ ] step {n}" for n in range(9)]
    assert shown.rows() == ["○ Todos (0/9 done, Ctrl-T to show all)"]


def test_little_room() -> None:
    shown = Panel(LIST)
    shown.panel.toggle()
    assert shown.rows(height=5) == []
    assert len(shown.rows(height=6)) == 2
    assert shown.rows(width=20)[1] == "  [x] Read (done)"


def test_a_long_description_is_shortened() -> None:
    shown = Panel(TodoList((Todo("x" * 200, TodoStatus.IN_PROGRESS),)))
    assert shown.rows(width=40) == [f"● {'x' * 26}… (0/1 done)"]
    assert shown.rows(width=60) == [f"● {'x' * 26}… (0/1 done, Ctrl-T to show all)"]
