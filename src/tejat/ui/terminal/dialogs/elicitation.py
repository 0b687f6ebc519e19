"""The elicitation dialog: consent, fields, and a review before sending."""

import time
from collections.abc import Callable
from enum import Enum

from rich.console import RenderableType
from rich.text import Text

from tejat.core.approval.confirmation import ApprovalReply, ElicitationConfirmation, Outcome
from tejat.core.approval.elicitation import FormField, apply_defaults, parse_form_fields
from tejat.core.i18n import _, ngettext, translate
from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared import elicitation as texts
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.key_guard import KeyGuard
from tejat.ui.terminal.dialogs.key_hints import joined_hints
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.scroll import ScrollPosition
from tejat.ui.terminal.render.text_rows import (
    expand_tabs,
    stack_rows,
    styled_row,
    styled_rows,
    wrap_text,
    wrap_words,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme

_NO = ApprovalReply(Outcome.CANCEL)
_MAX_INPUT_ROWS = 4
_PAGE_ROWS = 10


class _Step(Enum):
    CONSENT = 1
    FIELDS = 2
    REVIEW = 3


class ElicitationDialog:
    """Dialog that returns a reply. Nothing is sent without a final yes; Esc declines, Ctrl-C stops the turn."""

    def __init__(
        self, elicitation: ElicitationConfirmation, theme: Theme, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._elicitation = elicitation
        self._theme = theme
        self._guard = KeyGuard(clock)
        self._problem = texts.find_problem(elicitation)
        has_fields = self._problem is None and elicitation.url is None
        self._fields: tuple[FormField, ...] = parse_form_fields(elicitation.fields or {}) if has_fields else ()
        self._step = _Step.CONSENT
        self._index = 0
        self._input = TextInput()
        self._chosen = -1
        self._answers: dict[str, JsonValue] = {}
        self._is_yes = True
        self._error = ""
        self._scroll = ScrollPosition()
        self._caret: tuple[int, int] | None = None

    def view(self, *, width: int, height: int) -> RenderableType:
        self._guard.mark_shown()
        top = self._styled_rows(texts.elicitation_heading(self._elicitation), width, StyleRole.STRONG)
        self._caret = None
        text, bottom = self._parts(width)
        bottom += self._styled_rows(self._error, width, StyleRole.WARNING) if self._error else []
        room = max(1, height - len(top) - len(bottom) - 1)
        self._scroll.fit(visible=room, total=len(text))
        shown = text[self._scroll.first : self._scroll.first + room]
        below = len(text) - self._scroll.first - len(shown)
        if self._scroll.can_scroll:
            more = ngettext("{count} more row", "{count} more rows", below) if below else _("end")
            hints = [f"{self._theme.glyphs.more} {more}", _("arrows to scroll")]
            shown.append(joined_hints(hints, self._theme, width=width))
        if self._caret is not None:
            self._caret = (self._caret[0], len(top) + len(shown) + self._caret[1])
        return stack_rows([*top, *shown, *bottom][: max(1, height)])

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Return the caret of the last view, None while nothing is typed."""
        return self._caret

    def press(self, key: str) -> DialogResult[ApprovalReply] | None:
        if key == "c-c":
            return DialogResult(ApprovalReply(Outcome.STOP))
        if key == "escape":
            return DialogResult(_NO)
        if not self._guard.accepts(key, is_typing=self._step is _Step.FIELDS):
            return None
        self._error = ""
        if self._problem is not None:
            return DialogResult(_NO) if key == "enter" else self._scroll.press(key, page=_PAGE_ROWS)
        if self._step is _Step.FIELDS:
            return self._press_in_field(self._fields[self._index], key)
        return self._press_in_consent(key)

    def _press_in_consent(self, key: str) -> DialogResult[ApprovalReply] | None:
        match key.lower():
            case "tab" | "s-tab" | "left" | "right":
                self._is_yes = not self._is_yes
                return None
            case "y" | "n":
                return self._decide(is_yes=key.lower() == "y")
            case "enter":
                return self._decide(is_yes=self._is_yes)
            case _:
                return self._scroll.press(key, page=_PAGE_ROWS)

    def _decide(self, *, is_yes: bool) -> DialogResult[ApprovalReply] | None:
        if not is_yes:
            return DialogResult(_NO)
        if self._elicitation.url is not None:
            return DialogResult(ApprovalReply(Outcome.PROCEED_ONCE, answers={}))
        if self._step is _Step.REVIEW:
            answers = apply_defaults(self._fields, self._answers)
            return DialogResult(ApprovalReply(Outcome.PROCEED_ONCE, answers=answers))
        self._scroll = ScrollPosition()
        self._step = _Step.FIELDS if self._fields else _Step.REVIEW
        return None

    def _press_in_field(self, field: FormField, key: str) -> None:
        choices = texts.field_choices(field)
        if key in ("up", "down") and choices:
            self._chosen = (self._chosen + (1 if key == "down" else -1)) % len(choices)
            self._input = TextInput(field.choices[self._chosen][1])
        elif key == "enter":
            self._accept_field(field, self._input.text.strip())
        else:
            self._input.press(key)

    def _accept_field(self, field: FormField, text: str) -> None:
        if text:
            try:
                self._answers[field.name] = field.parse(text)
            except ValueError as error:
                self._error = escape_line(translate(error))
                return
        elif not texts.accepts_empty(field):
            self._error = _("An answer is required.")
            return
        self._index += 1
        self._input, self._chosen, self._scroll = TextInput(), -1, ScrollPosition()
        if self._index == len(self._fields):
            self._step, self._is_yes = _Step.REVIEW, True
            self._guard.reset()  # a key that is held down must not confirm

    def _parts(self, width: int) -> tuple[list[Text], list[Text]]:
        """Return the scrollable rows and the fixed rows below."""
        match self._step:
            case _Step.FIELDS:
                return self._field_parts(self._fields[self._index], width)
            case _Step.REVIEW:
                sent = texts.answers_preview(apply_defaults(self._fields, self._answers))
                return self._styled_rows(sent, width, StyleRole.TEXT), self._yes_no_rows(
                    _("Send these answers?"), width
                )
            case _Step.CONSENT:
                return self._consent_parts(width)

    def _consent_parts(self, width: int) -> tuple[list[Text], list[Text]]:
        lines = sanitize_text(self._elicitation.message).split("\n")
        text = [row for line in lines for row in self._quoted_rows(line, width)]
        if self._elicitation.url is not None:
            text += self._styled_rows(_("Open this page in a browser:"), width, StyleRole.TEXT)
            text += self._quoted_rows(escape_line(self._elicitation.url), width)
        if self._problem is not None:
            problem = self._styled_rows(self._problem, width, StyleRole.WARNING)
            return text, [*problem, joined_hints([_("Enter to continue")], self._theme, width=width)]
        if self._elicitation.url is not None:
            return text, self._yes_no_rows(_("Tell the server that you will open it?"), width)
        text += self._styled_rows(texts.requested_fields_label(self._fields), width, StyleRole.TEXT)
        return text, self._yes_no_rows(_("Answer? The server receives your answers."), width)

    def _field_parts(self, field: FormField, width: int) -> tuple[list[Text], list[Text]]:
        position = _("{place} of {total}", place=self._index + 1, total=len(self._fields))
        text = self._styled_rows(f"{texts.field_heading(field)} [{position}]", width, StyleRole.STRONG)
        if field.description:
            text += self._quoted_rows(escape_line(field.description), width)
        for number, label in enumerate(texts.field_choices(field), 1):
            rows = wrap_text(expand_tabs(label), width=width, first=f"  {number} ", rest=self._theme.continuation)
            text += styled_rows(self._theme, rows, StyleRole.TEXT)
        typed = self._input.render(self._theme, width=width, max_rows=_MAX_INPUT_ROWS, first="= ")
        self._caret = typed.caret
        hint = joined_hints([_("Enter to continue"), _("Esc to decline")], self._theme, width=width)
        return text, [*typed.rows, hint]

    def _yes_no_rows(self, prompt: str, width: int) -> list[Text]:
        rows = styled_rows(self._theme, wrap_words(prompt, width=width), StyleRole.STRONG)
        for is_yes, letter, label in ((True, "y", _("Yes")), (False, "n", _("No"))):
            is_marked = self._is_yes == is_yes
            sign = f"{self._theme.glyphs.cursor if is_marked else ' '} "
            role = StyleRole.PROMPT if is_marked else StyleRole.TEXT
            key = (f" ({letter})", StyleRole.QUIET)
            rows.append(styled_row(self._theme, (sign, StyleRole.ACCENT), (label, role), key))
        hint = joined_hints([_("Enter to confirm"), _("Esc to decline")], self._theme, width=width)
        return [*rows, hint]

    def _styled_rows(self, text: str, width: int, role: StyleRole) -> list[Text]:
        rows = wrap_text(expand_tabs(text), width=width, rest=self._theme.continuation)
        return styled_rows(self._theme, rows, role)

    def _quoted_rows(self, line: str, width: int) -> list[Text]:
        rows = wrap_text(expand_tabs(line), width=width, first="> ", rest=self._theme.continuation)
        return styled_rows(self._theme, rows, StyleRole.TEXT)
