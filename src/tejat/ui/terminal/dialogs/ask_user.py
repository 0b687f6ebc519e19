"""The dialog for questions of the model: one page for each, and all answers before they are sent."""

import time
from collections.abc import Callable

from rich.console import RenderableType
from rich.text import Text

from tejat.core.approval.confirmation import ApprovalReply, AskUserConfirmation, Outcome
from tejat.core.i18n import _, ngettext
from tejat.ui.shared.approval import user_questions as texts
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.key_guard import KeyGuard
from tejat.ui.terminal.dialogs.key_hints import joined_hints
from tejat.ui.terminal.dialogs.question_page import PageRows, QuestionPage
from tejat.ui.terminal.render.scroll import first_visible
from tejat.ui.terminal.render.text_rows import (
    display_width,
    expand_tabs,
    stack_rows,
    styled_row,
    styled_rows,
    truncated_row,
    wrap_text,
    wrap_words,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme

_PAGE_ROWS = 10
_SCROLL_KEYS = {"pageup": -_PAGE_ROWS, "pagedown": _PAGE_ROWS}


class AskUserDialog:
    """Dialog that returns a reply with the answers by position. Esc dismisses all questions, Ctrl-C stops the turn."""

    def __init__(
        self, asked: AskUserConfirmation, theme: Theme, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pages = [QuestionPage(question) for question in asked.questions]
        self._theme = theme
        self._guard = KeyGuard(clock)
        self._index = 0
        self._top = 0
        self._follows_cursor = False
        self._is_pasting = False
        self._caret: tuple[int, int] | None = None

    def view(self, *, width: int, height: int) -> RenderableType:
        self._guard.mark_shown()
        top = styled_rows(self._theme, wrap_words(texts.questions_heading(), width=width), StyleRole.STRONG)
        top.append(self._tab_row(width))
        page, hints = self._page
        content = self._review(width) if page is None else page.render(self._theme, width=width)
        bottom = [joined_hints(hints, self._theme, width=width)]
        room = max(1, height - len(top) - len(bottom))
        shown = self._visible_rows(content, room, width)
        self._caret = None
        if content.caret is not None and 0 <= content.caret[1] - self._top < len(shown):
            self._caret = (content.caret[0], len(top) + content.caret[1] - self._top)
        return stack_rows([*top, *shown, *bottom][: max(1, height)])

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Return the caret of the last view, None while nothing is typed."""
        return self._caret

    def press(self, key: str) -> DialogResult[ApprovalReply] | None:
        if key in ("paste", "paste-end"):
            self._is_pasting = key == "paste"
        if key == "c-c":
            return DialogResult(ApprovalReply(Outcome.STOP))
        if key == "escape":
            return DialogResult(ApprovalReply(Outcome.CANCEL))
        page, _hints = self._page
        if not self._guard.accepts(key, is_typing=page is not None):
            return None
        if key in _SCROLL_KEYS:
            self._top, self._follows_cursor = self._top + _SCROLL_KEYS[key], False
            return None
        self._follows_cursor = True
        if key in ("tab", "s-tab"):
            self._turn(1 if key == "tab" else -1)
        elif page is None:
            return self._press_in_review(key)
        elif key in ("left", "right") and not page.is_typing:
            self._turn(1 if key == "right" else -1)
        elif page.press(key, is_pasted=self._is_pasting):
            self._turn(1)
        return None

    @property
    def _page(self) -> tuple[QuestionPage | None, list[str]]:
        """The page that is shown, None for the last one with all answers, and its key hints."""
        dismiss = _("Esc to dismiss")
        if self._index == len(self._pages):
            return None, [_("Enter to send"), dismiss, _("Tab to change an answer")]
        page = self._pages[self._index]
        choose = [_("Space to mark")] if page.question.is_multiple and not page.is_typing else []
        return page, [*choose, _("Enter to continue"), dismiss, _("Tab for the next")]

    def _press_in_review(self, key: str) -> DialogResult[ApprovalReply] | None:
        if key == "enter":
            answers = {str(place): page.answer for place, page in enumerate(self._pages) if page.answer}
            return DialogResult(ApprovalReply(Outcome.PROCEED_ONCE, answers=answers))
        if key in ("up", "down"):
            self._top, self._follows_cursor = self._top + (1 if key == "down" else -1), False
        elif key in ("left", "right"):
            self._turn(1 if key == "right" else -1)
        return None

    def _turn(self, step: int) -> None:
        """Show the next page or the one before, in a circle."""
        self._index = (self._index + step) % (len(self._pages) + 1)
        self._top, self._follows_cursor = 0, False
        if self._index == len(self._pages):
            self._guard.reset()  # a key that is held down must not send

    def _visible_rows(self, content: PageRows, room: int, width: int) -> list[Text]:
        """The rows that fit, with the number of those below."""
        total = len(content.rows)
        if total <= room:
            self._top = 0
            return content.rows
        visible = max(1, room - 1)
        self._top = max(0, min(self._top, total - visible))
        if self._follows_cursor:
            first, last = content.cursor
            self._top = first_visible(self._top, selected=last, visible=visible, total=total)
            self._top = first_visible(self._top, selected=first, visible=visible, total=total)
        below = total - self._top - visible
        more = ngettext("{count} more row", "{count} more rows", below) if below else _("end")
        hints = [f"{self._theme.glyphs.more} {more}", _("PgUp and PgDn to scroll")]
        return [*content.rows[self._top : self._top + visible], joined_hints(hints, self._theme, width=width)][:room]

    def _tab_row(self, width: int) -> Text:
        """The headers with those answered marked, or only the present one if they do not fit."""
        names = [*(page.question.short_header for page in self._pages), _("Send")]
        answered = [bool(page.answer) for page in self._pages] + [False]
        glyphs = self._theme.glyphs
        labels = [f"{name} {glyphs.ok}" if is_done else name for name, is_done in zip(names, answered, strict=True)]
        separator = f" {glyphs.separator} "
        if display_width(separator.join(labels)) + 2 > width:
            position = _("{place} of {total}", place=self._index + 1, total=len(labels))
            return truncated_row(self._theme, f"{labels[self._index]} [{position}]", StyleRole.ACCENT, width)
        pieces: list[tuple[str, StyleRole]] = []
        for place, label in enumerate(labels):
            is_current = place == self._index
            pieces.append((separator if place else "", StyleRole.QUIET))
            pieces.append((f"[{label}]" if is_current else label, StyleRole.ACCENT if is_current else StyleRole.QUIET))
        return styled_row(self._theme, *pieces)

    def _review(self, width: int) -> PageRows:
        answers = [page.answer for page in self._pages]
        lines = texts.preview_lines([page.question for page in self._pages], answers, self._theme.glyphs.arrow)
        rows = styled_rows(
            self._theme, wrap_words(_("Send these answers to the model?"), width=width), StyleRole.STRONG
        )
        for line in lines:
            wrapped = wrap_text(expand_tabs(line), width=width, first="> ", rest=self._theme.continuation)
            rows += styled_rows(self._theme, wrapped, StyleRole.TEXT)
        return PageRows(rows, (0, 0), None)
