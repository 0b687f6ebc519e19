"""The todo list in words and signs."""

from tejat.core.i18n import _, lazy, translate
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.ui.shared.labels.text_summary import summarize_line

MAX_TODO_CHARS = 500

_SIGNS = {
    TodoStatus.PENDING: "[ ]",
    TodoStatus.IN_PROGRESS: "[>]",
    TodoStatus.COMPLETED: "[x]",
    TodoStatus.CANCELLED: "[-]",
    TodoStatus.BLOCKED: "[!]",
}
_WORDS = {
    TodoStatus.PENDING: "",
    TodoStatus.IN_PROGRESS: lazy("in progress"),
    TodoStatus.COMPLETED: lazy("done"),
    TodoStatus.CANCELLED: lazy("cancelled"),
    TodoStatus.BLOCKED: lazy("blocked"),
}


def todo_text(todo: Todo) -> str:
    """One sanitized line: `[x] Read the code (done)`."""
    words = f"{_SIGNS[todo.status]} {summarize_line(todo.description, limit=MAX_TODO_CHARS)}"
    status = translate(_WORDS[todo.status])
    return f"{words} ({status})" if status else words


def todos_text(todos: TodoList) -> str:
    """The whole list, one line for each."""
    return "\n".join(map(todo_text, todos.todos))


def progress_label(todos: TodoList) -> str:
    """How many are done: `2/5 done`."""
    return _("{progress} done", progress=todos.progress)


def current_text(todos: TodoList) -> str:
    """What is in progress, as a sanitized line; what to call the list if nothing is."""
    current = todos.current
    return _("Todos") if current is None else summarize_line(current.description, limit=MAX_TODO_CHARS)
