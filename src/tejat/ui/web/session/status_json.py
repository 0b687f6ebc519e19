"""The status of a session as the page shows it."""

from tejat.core.messages.types import JsonObject
from tejat.core.tools.todos import TodoList
from tejat.core.ui.status import Status
from tejat.ui.shared.approval_mode import mode_description, mode_label
from tejat.ui.shared.labels.run_summary import format_cost
from tejat.ui.shared.labels.todos import progress_label, todo_text
from tejat.ui.shared.sandbox_label import sandbox_label


def status_to_json(status: Status) -> JsonObject:
    """The figures as values and the rest as texts. Memory is left out: it changes all the time."""
    return {
        "model": status.model,
        "mode": status.mode,
        "modeLabel": mode_label(status.mode),
        "modeDescription": mode_description(status.mode, runs_sandboxed=status.runs_sandboxed),
        "folder": status.folder,
        "branch": status.branch,
        "context": None if status.context_used is None else round(status.context_used, 3),
        "tokens": status.tokens,
        "cost": "" if status.cost is None else format_cost(status.cost),
        "sandbox": sandbox_label(status.sandbox),
        "sessionId": status.session_id,
        "added": status.line_changes[0],
        "removed": status.line_changes[1],
        "servers": {
            "total": status.servers.total,
            "ready": status.servers.ready,
            "failed": status.servers.failed,
        },
        "todos": _todos_to_json(status.todos),
    }


def _todos_to_json(todos: TodoList) -> JsonObject:
    return {
        "progress": progress_label(todos) if todos.todos else "",
        "items": [{"text": todo_text(todo), "status": todo.status.value} for todo in todos.todos],
    }
