"""`write_todos`: replaces the todo list of the session."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tejat.core.agent.session_state import TODOS_KEY, SessionState
from tejat.core.frozen import Frozen
from tejat.core.messages.declaration import Kind
from tejat.core.messages.tool_names import WRITE_TODOS
from tejat.core.messages.types import JsonObject, Params
from tejat.core.sanitize import is_blank
from tejat.core.tools.base import ParsingTool, ToolContext, ToolResult
from tejat.core.tools.schema import NOT_AN_OBJECT
from tejat.core.tools.todos import Todo, TodoList, TodoStatus, todo_lines
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params

MAX_TODOS = 100
MAX_DESCRIPTION_LENGTH = 500

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "todos": {
            "type": "array",
            "description": "The whole list. It replaces the one before.",
            "items": {
                "type": "object",
                "properties": {
                    "description": {"type": "string"},
                    "status": {"type": "string", "enum": list(TodoStatus)},
                },
                "required": ["description", "status"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["todos"],
}


class WriteTodosParams(Frozen):
    todos: TodoList


class WriteTodosTool(ParsingTool):
    """`state` returns the session state that the list is kept in; a sub-agent has its own."""

    def __init__(self, state: Callable[[], SessionState]) -> None:
        super().__init__(**tool_labels(WRITE_TODOS, "WriteTodos"), parameter_schema=_SCHEMA, kind=Kind.OTHER)
        self.may_change_files = False
        self._state = state

    def parse(self, params: object) -> WriteTodosParams:
        if not isinstance(params, Mapping):
            raise invalid_params(NOT_AN_OBJECT)
        given = cast("Params", params).get("todos")
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise invalid_params("`todos` parameter must be an array")
        entries = cast("Sequence[object]", given)
        if len(entries) > MAX_TODOS:
            raise invalid_params(f"`todos` parameter must have at most {MAX_TODOS} items")
        todos = TodoList(tuple(map(_parse_todo, entries)))
        if sum(todo.status is TodoStatus.IN_PROGRESS for todo in todos.todos) > 1:
            raise invalid_params('Invalid parameters: Only one task can be "in_progress" at a time.')
        return WriteTodosParams(todos)

    def get_description(self, params: Params) -> str:
        return "Updating the todo list"

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        todos = self.parse(params).todos
        self._state().set(TODOS_KEY, todos.to_state() or None)
        if not todos.todos:
            return ToolResult("Successfully cleared the todo list.", todos)
        return ToolResult(f"Successfully updated the todo list. The current list is now:\n{todo_lines(todos)}", todos)


def _parse_todo(given: object) -> Todo:
    """Raises ToolFailure."""
    fields = cast("Mapping[str, object]", given) if isinstance(given, Mapping) else dict[str, object]()
    description, status = fields.get("description"), fields.get("status")
    if not isinstance(description, str) or is_blank(description):
        raise invalid_params("Each todo must have a non-empty description string")
    if len(description) > MAX_DESCRIPTION_LENGTH:
        raise invalid_params(f"Each todo must have a description of at most {MAX_DESCRIPTION_LENGTH} characters")
    if status not in list(TodoStatus):
        raise invalid_params(f"Each todo must have a valid status ({', '.join(TodoStatus)})")
    unknown = sorted(fields.keys() - {"description", "status"})
    if unknown:
        raise invalid_params(f"Each todo must have only description and status, not {unknown[0]}")
    return Todo(description, TodoStatus(cast("str", status)))
