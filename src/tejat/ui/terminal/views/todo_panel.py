"""The todo list above the prompt: one row, or the whole list."""

from collections.abc import Callable

from rich.console import Group, RenderableType

from tejat.core.i18n import _
from tejat.core.tools.todos import TodoList, TodoStatus
from tejat.ui.shared.labels.todos import current_text, progress_label, todo_text, todos_text
from tejat.ui.terminal.editor.prompt_editor import PromptEditor
from tejat.ui.terminal.render.cells import Frame
from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.row_segments import RowSegment, SingleRow
from tejat.ui.terminal.render.text_rows import display_width
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.screen.live_area import EditorComponent

MAX_PANEL_TODOS = 8
"""The longest list that the panel shows as a whole."""

_MIN_HEIGHT = 6
"""Rows from which there is room for more than the editor."""
_MIN_EDITOR_ROWS = 4
_MIN_TEXT_COLUMNS = 20

_ROLES = {TodoStatus.IN_PROGRESS: StyleRole.STRONG, TodoStatus.PENDING: StyleRole.TEXT}


class TodoPanel:
    """Rows for the current list, none when there is nothing left to do."""

    def __init__(self, todos: Callable[[], TodoList]) -> None:
        self._todos = todos
        self._is_expanded = False

    @property
    def is_visible(self) -> bool:
        return not self._todos().is_done

    def toggle(self) -> str:
        """Show the whole list or one row again. Returns the text of a list that is too long for the panel."""
        todos = self._todos()
        if len(todos.todos) > MAX_PANEL_TODOS:
            self._is_expanded = False
            return todos_text(todos)
        self._is_expanded = not self._is_expanded
        return ""

    def render(self, theme: Theme, *, width: int) -> RenderableType | None:
        todos = self._todos()
        if todos.is_done:
            return None
        if not self._is_expanded or len(todos.todos) > MAX_PANEL_TODOS:
            return _row(todos, theme, current_text(todos), _("Ctrl-T to show all"), width)
        rows = [
            SingleRow(theme, RowSegment("  "), RowSegment(todo_text(todo), _ROLES.get(todo.status, StyleRole.QUIET)))
            for todo in todos.todos
        ]
        return Group(_row(todos, theme, _("Todos"), _("Ctrl-T to hide"), width), *rows)

    def frame(self, body: EditorComponent, theme: Theme, *, width: int, height: int) -> Frame:
        """The rows above those of the editor, as far as there is room for both."""
        panel = self.render(theme, width=width) if height >= _MIN_HEIGHT else None
        rows = () if panel is None else tuple(render_rows(panel, theme, width=width)[: height - _MIN_EDITOR_ROWS])
        below = body.view(width=width, height=height - len(rows))
        caret = None if below.caret is None else (below.caret[0], below.caret[1] + len(rows))
        return Frame((*rows, *below.rows), caret)


def _row(todos: TodoList, theme: Theme, text: str, hint: str, width: int) -> SingleRow:
    """The first row. The hint is left out where it leaves little room for the text."""
    glyph = theme.glyphs.waiting if todos.current is None else theme.glyphs.running
    figures = f" ({progress_label(todos)}, {hint})"
    if width - display_width(figures) < min(display_width(text), _MIN_TEXT_COLUMNS) + 2:
        figures = f" ({progress_label(todos)})"
    return SingleRow(
        theme,
        RowSegment(f"{glyph} ", StyleRole.ACCENT),
        RowSegment(text, StyleRole.STRONG, is_shrinkable=True),
        RowSegment(figures, StyleRole.QUIET),
    )


class EditorWithTodos:
    """The prompt editor with the panel above it. A dialog hides both."""

    def __init__(self, editor: PromptEditor, panel: TodoPanel) -> None:
        self.buffer = editor.buffer
        self.bindings = editor.bindings
        self._editor = editor
        self._panel = panel

    def view(self, *, width: int, height: int) -> Frame:
        return self._panel.frame(self._editor, self._editor.theme, width=width, height=height)
