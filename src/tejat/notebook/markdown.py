"""Markdown for notebooks: what text of any origin contains is harmless in it."""

from tejat.core.i18n import _, translate
from tejat.core.text.code_fence import fence_code
from tejat.core.tools.base import ToolResult
from tejat.core.tools.display import FileDiff
from tejat.core.tools.todos import TodoList, TodoStatus
from tejat.ui.html.markdown import code_lines
from tejat.ui.shared.labels.todos import todo_text
from tejat.ui.shared.text.sanitizer import make_terminal_safe

_MAX_CHARS = 100_000
_CHECKED = {TodoStatus.COMPLETED: "x", TodoStatus.CANCELLED: "x"}


def escape_html(text: str) -> str:
    """Return Markdown whose raw HTML is text, except in blocks of code, where it is text anyway."""
    lines = make_terminal_safe(text).split("\n")
    code = code_lines("\n".join(lines))
    return "\n".join(line if at in code else line.replace("<", "&lt;") for at, line in enumerate(lines))


def code_block(text: str, language: str = "") -> str:
    """Return a text as a block of code, cut if it is very long."""
    shown = make_terminal_safe(text)
    if len(shown) > _MAX_CHARS:
        shown = f"{shown[:_MAX_CHARS]}\n..."
    return fence_code(shown.rstrip("\n"), language)


def result_markdown(result: ToolResult) -> str:
    """Return a result of a tool as Markdown."""
    if result.error is not None:
        return f"**{_('Error')}** (`{result.error.type}`)\n\n{code_block(translate(result.error.message))}"
    match result.return_display:
        case FileDiff():
            return diff_markdown(result.return_display)
        case TodoList():
            return todos_markdown(result.return_display)
        case display:
            return code_block(translate(display) or result.text)


def diff_markdown(diff: FileDiff) -> str:
    """Return a change of a file as Markdown."""
    return f"**{escape_text(diff.file_name)}**\n\n{code_block(diff.file_diff, 'diff')}"


def todos_markdown(todos: TodoList) -> str:
    """Return a todo list as a task list."""
    return "\n".join(f"- [{_CHECKED.get(todo.status, ' ')}] {escape_text(todo_text(todo)[4:])}" for todo in todos.todos)


def escape_text(text: str) -> str:
    """Return a text of one line without markup."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in " ".join(text.split()))


_SPECIAL = frozenset("\\`*_{}[]<>#|~&!()")
