"""Scrollable view of a whole call inside its approval dialog."""

from rich.text import Text

from tejat.core.i18n import _
from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.approval.view import ApprovalView
from tejat.ui.shared.diff.rows import DiffRow
from tejat.ui.terminal.dialogs.approval.content_rows import ContentRows, TextLine
from tejat.ui.terminal.dialogs.approval.view_lines import call_lines, fact_lines, heading_line, server_note_lines
from tejat.ui.terminal.dialogs.key_hints import joined_hints
from tejat.ui.terminal.render.scroll import ScrollPosition
from tejat.ui.terminal.render.theme import StyleRole, Theme

VIEW_KEY = "v"
"""Opens the view, and from there the pager."""
WHOLE_FILE_KEY = "m"
_CLOSE_KEY = "q"


class ViewerAction(StrEnum):
    CLOSE = "close"
    PAGER = "pager"


class CallViewer:
    """Shows heading, facts, call and server notes, or the whole file around a change.

    `changes` and `has_reached_end` tell what was visible at last: changed lines by their order, the end of the call.
    """

    def __init__(
        self,
        view: ApprovalView,
        theme: Theme,
        *,
        rules: tuple[str, ...] = (),
        whole_file: tuple[DiffRow, ...] = (),
        shows_whole_file: bool = False,
    ) -> None:
        self._theme = theme
        head = [heading_line(view)]
        if view.file_path:
            head.append(TextLine(_("File: {path}", path=view.file_path)))
        head += fact_lines(view, theme)
        call = [*head, *call_lines(view)]
        rule_lines = [TextLine(rule, StyleRole.QUIET) for rule in rules]
        lines = [*call, *server_note_lines(view), *rule_lines]
        self._changes_only = ContentRows(lines, theme, file_name=view.file_path)
        self._whole_file = ContentRows([*head, *whole_file], theme, file_name=view.file_path) if whole_file else None
        self._call_lines = len(call)
        self._shows_whole_file = shows_whole_file and self._whole_file is not None
        self._scroll = ScrollPosition()
        self._page = 1
        self.changes: frozenset[int] = frozenset()
        self.has_reached_end = False

    def view(self, *, width: int, height: int) -> list[Text]:
        """Render at most `height` rows, the last one with the position and the keys."""
        content = self._content
        total, room = content.count(width), max(1, height - 1)
        self._scroll.fit(visible=room, total=total)
        self._page = max(1, room - 1)
        first, end = self._scroll.first, min(self._scroll.first + room, total)
        shown = content.window(width, first, end - first)
        self.changes = shown.changes
        call_end = content.count(width, lines=self._call_lines) if content is self._changes_only else total
        self.has_reached_end = end >= call_end
        hints = [
            _("Rows {start}-{end} of {total}", start=first + 1, end=end, total=total),
            _("{key} to close", key=_CLOSE_KEY),
        ]
        if self._scroll.can_scroll:
            hints.append(_("Space to scroll"))
        if self._whole_file is not None:
            shows_changes = _("{key} changes only", key=WHOLE_FILE_KEY)
            hints.append(shows_changes if self._shows_whole_file else _("{key} whole file", key=WHOLE_FILE_KEY))
        hints.append(_("{key} pager", key=VIEW_KEY))
        return [*shown.rows, joined_hints(hints, self._theme, width=width)][-height:]

    def press(self, key: str) -> ViewerAction | None:
        if key.lower() in (_CLOSE_KEY, "escape"):
            return ViewerAction.CLOSE
        if key == VIEW_KEY:
            return ViewerAction.PAGER
        if key == WHOLE_FILE_KEY and self._whole_file is not None:
            self._shows_whole_file = not self._shows_whole_file
            self._scroll = ScrollPosition()
        else:
            self._scroll.press("pagedown" if key == " " else key, page=self._page)
        return None

    @property
    def _content(self) -> ContentRows:
        return self._whole_file if self._shows_whole_file and self._whole_file is not None else self._changes_only
