"""The todo list of a session."""

from collections.abc import Iterator, Mapping

from tejat.core.frozen import Value
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.rich_value import RichValue


class TodoStatus(StrEnum):
    """The state of a todo."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"


class Todo(Value):
    """An entry of the todo list."""

    description: str
    status: TodoStatus = TodoStatus.PENDING

    def to_json(self) -> JsonObject:
        return {"description": self.description, "status": self.status.value}


class TodoList(RichValue):
    """The todo list of the model, as in its last `write_todos` call."""

    todos: tuple[Todo, ...] = ()

    @property
    def current(self) -> Todo | None:
        """The one in progress."""
        return next((todo for todo in self.todos if todo.status is TodoStatus.IN_PROGRESS), None)

    @property
    def progress(self) -> str:
        """How many are done, of those that were not cancelled: `2/5`."""
        counted = [todo for todo in self.todos if todo.status is not TodoStatus.CANCELLED]
        done = sum(todo.status is TodoStatus.COMPLETED for todo in counted)
        return f"{done}/{len(counted)}"

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return all(todo.status in (TodoStatus.COMPLETED, TodoStatus.CANCELLED) for todo in self.todos)

    def __len__(self) -> int:
        return len(self.todos)

    def __iter__(self) -> Iterator[Todo]:
        return iter(self.todos)

    def __contains__(self, item: object) -> bool:
        """Whether a todo, or one with this description, is in the list."""
        return any(item in (todo, todo.description) for todo in self.todos)

    def to_json(self) -> JsonObject:
        return {"todos": self.to_state()}

    def to_state(self) -> list[JsonValue]:
        """The value in the session state."""
        return [todo.to_json() for todo in self.todos]


def todos_from_state(value: JsonValue) -> TodoList:
    """The list in a value of the session state; entries that are none are left out."""
    entries = value if isinstance(value, list) else []
    return TodoList(tuple(_todo(entry) for entry in entries if isinstance(entry, Mapping)))


def _todo(entry: JsonObject) -> Todo:
    status = entry.get("status")
    is_known = isinstance(status, str) and status in list(TodoStatus)
    return Todo(str(entry.get("description", "")), TodoStatus(status) if is_known else TodoStatus.PENDING)


def todo_lines(todos: TodoList) -> str:
    """The list as the model reads it."""
    return "\n".join(f"{number}. [{todo.status}] {todo.description}" for number, todo in enumerate(todos.todos, 1))


def render_todos(value: JsonValue) -> str:
    """The text for the model that follows a summary of the conversation; empty without todos."""
    lines = todo_lines(todos_from_state(value))
    return f"The current todo list, kept with write_todos:\n{lines}" if lines else ""
