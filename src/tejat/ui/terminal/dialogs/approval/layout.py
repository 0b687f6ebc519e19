"""Layout of the approval dialog: heading and facts, the call, the choices."""

from collections.abc import Sequence

from rich.text import Text

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.ui.shared.approval.choices import ApprovalChoice
from tejat.ui.shared.approval.view import ApprovalView
from tejat.ui.terminal.dialogs.approval.call_viewer import VIEW_KEY, WHOLE_FILE_KEY
from tejat.ui.terminal.dialogs.approval.choice_rows import compact_rows, list_rows, rule_rows, selected_label_row
from tejat.ui.terminal.dialogs.approval.content_rows import ContentRows, VisibleRows
from tejat.ui.terminal.dialogs.approval.view_lines import call_lines, fact_lines, heading_rows, server_note_lines
from tejat.ui.terminal.dialogs.key_hints import joined_hints
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.text_rows import (
    styled_row,
    styled_rows,
    truncate,
    truncated_row,
    wrap_words,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MIN_CALL_ROWS = 4
"""Least rows for the call before prompt and rules go."""
_FAIR_CALL_ROWS = 8
"""Rows of a long call that are worth a compact layout."""
_MANY_CALL_ROWS = 20
"""Rows of a long call that leave room for the list of choices."""
_SPARE_ROWS = 4
"""Rows that blank lines leave to what was said before."""
_MAX_RULE_ROWS = 3
_MAX_PROMPT_ROWS = 2
_MAX_FEEDBACK_ROWS = 3
_CONTEXT_LINES = 1
"""Unchanged lines around a change that are kept before the choices become compact."""


class DialogState(Frozen):
    """What the user has done so far in the dialog.

    `scroll` is the first visible row of the call, None for the initial view: its beginning, or beginning and end of a
    long diff. `message` replaces the key hints.
    """

    selected: int = 0
    scroll: int | None = None
    message: str = ""
    feedback: TextInput | None = None


class LaidOutApproval(Frozen):
    """Rows of one view, `room` of which show the call, with at most `max_scroll` hidden above.

    `call_end` and `rules_end` are the rows of the scrolled content that must have been visible to have viewed the whole
    call and the rules. `changes` are the changed lines that are visible.
    """

    rows: tuple[Text, ...]
    room: int = 0
    max_scroll: int = 0
    call_end: int = 0
    rules_end: int = 0
    changes: frozenset[int] = frozenset()
    is_excerpt: bool = False
    caret: tuple[int, int] | None = None


class _AnswerArea(Frozen):
    """The part below the call: prompt, choices, rules and hint."""

    prompt: tuple[Text, ...]
    answers: tuple[Text, ...]
    rules: tuple[Text, ...]
    hint: tuple[Text, ...]
    caret: tuple[int, int] | None = None
    """Relative to the first row of the choices."""

    @property
    def rows(self) -> tuple[Text, ...]:
        return (*self.prompt, *self.answers, *self.rules, *self.hint)


class ApprovalLayout:
    """Lays out a request. `always_refusal` says why no choice adds a rule."""

    def __init__(
        self,
        view: ApprovalView,
        choices: Sequence[ApprovalChoice],
        theme: Theme,
        *,
        always_refusal: str = "",
        has_whole_file: bool = False,
    ) -> None:
        self._view = view
        self._choices = choices
        self._theme = theme
        self._always_refusal = always_refusal
        self._has_whole_file = has_whole_file
        call = call_lines(view)
        self._call_lines = len(call)
        self._content = ContentRows([*call, *server_note_lines(view)], theme, file_name=view.file_path)

    @property
    def change_count(self) -> int:
        """The number of changed lines in the diff."""
        return self._content.change_count

    def row_of_change(self, number: int, *, width: int) -> int:
        """Return the row of the scrolled content in which a changed line begins."""
        return self._content.row_of_change(number, width=width)

    def lay_out(self, state: DialogState, *, width: int, height: int) -> LaidOutApproval:
        """Lay out at most `height` rows. Content that does not fit can be scrolled to."""
        facts = self._fact_rows(width)
        call_end = self._content.count(width, lines=self._call_lines)
        needed = self._content.count_trimmed(width, context=_CONTEXT_LINES) if self._content.is_diff else call_end
        fact_count = sum(map(len, facts))
        area = self._fit_answer_area(
            state, width, height, whole=fact_count + self._content.count(width), needed=fact_count + needed
        )
        left = max(height - len(area.rows), 1)
        pinned, others = _split_pinned(facts, left, wanted=min(needed, _FAIR_CALL_ROWS))
        is_listed = bool(area.rules) or state.feedback is not None
        rules = [] if is_listed else rule_rows(self._choices, self._theme, width=width)
        room = max(1, left - len(pinned))
        tail = [*others, *rules]
        total = self._content.count(width) + len(tail)
        is_excerpt = self._content.is_diff and state.scroll is None and total > room
        if is_excerpt:
            visible, between = self._content.fit(width, room), list[Text]()
            max_scroll = total - max(1, room - 1)
        else:
            visible, between, room, max_scroll = self._scrolled(width, room, tail, scroll=state.scroll or 0)
        above = [*pinned, *visible.rows, *between]
        caret = area.caret
        if caret is not None:
            caret = (caret[0], len(above) + len(area.prompt) + caret[1])
        return LaidOutApproval(
            tuple([*above, *area.rows][:height]),
            room,
            max_scroll,
            call_end,
            rules_end=total if rules else 0,
            changes=visible.changes,
            is_excerpt=is_excerpt,
            caret=caret,
        )

    def _scrolled(
        self, width: int, room: int, tail: Sequence[Text], *, scroll: int
    ) -> tuple[VisibleRows, list[Text], int, int]:
        """Return a window of the content and what follows it, its position, its height, and how far it scrolls."""
        count = self._content.count(width)
        total = count + len(tail)
        if total <= room:
            whole = self._content.window(width, 0, count)
            return replace(whole, rows=(*whole.rows, *tail)), [], room, 0
        room = max(1, room - 1)
        max_scroll = total - room
        scroll = min(scroll, max_scroll)
        shown = self._content.window(width, scroll, max(0, min(room, count - scroll)))
        after = tail[max(0, scroll - count) : max(0, scroll + room - count)]
        position = self._position_row(scroll, room, total, width)
        return replace(shown, rows=(*shown.rows, *after)), [position], room, max_scroll

    def _fit_answer_area(self, state: DialogState, width: int, height: int, *, whole: int, needed: int) -> _AnswerArea:
        """Return the roomiest variant that leaves the `needed` rows for facts and call, else a compact one."""
        hint = self._hint_rows(state, width, limit=max(1, height // 3))
        prompt, rules = self._prompt_rows(width), self._rule_rows(width)
        if state.feedback is not None:
            return self._feedback_area(state.feedback, prompt[:1], hint, width)
        listed = list_rows(self._choices, state.selected, self._theme, width=width)
        close = compact_rows(self._choices, state.selected, self._theme, width=width)
        label = selected_label_row(self._choices[state.selected], self._theme, width=width)
        roomy = _AnswerArea(tuple(prompt), tuple(listed), tuple(rules), tuple(hint))
        blank = styled_row(self._theme, ("", StyleRole.TEXT))
        spaced = replace(roomy, prompt=(blank, *prompt), answers=(*listed, blank))
        compact = replace(roomy, answers=tuple(close))
        labelled = replace(compact, answers=(*close, label))
        small = replace(compact, prompt=tuple(prompt[:1]), rules=())
        tiny = replace(small, prompt=())
        bare = replace(tiny, hint=tuple(hint) if state.message else ())
        steps = (
            (spaced, whole + _SPARE_ROWS),
            (roomy, needed),
            (labelled, needed),
            (compact, needed),
            (roomy, _MANY_CALL_ROWS),
            (compact, _FAIR_CALL_ROWS),
            (small, _MIN_CALL_ROWS),
            (tiny, _MIN_CALL_ROWS),
        )
        return next((area for area, wanted in steps if height - len(area.rows) >= wanted), bare)

    def _fact_rows(self, width: int) -> list[list[Text]]:
        """Return the rows of the heading and the facts, most important first."""
        lines = fact_lines(self._view, self._theme)
        facts = (styled_rows(self._theme, line.rows(width, self._theme), line.role) for line in lines)
        return [heading_rows(self._view, self._theme, width=width), *facts]

    def _prompt_rows(self, width: int) -> list[Text]:
        rows = wrap_words(self._view.prompt, width=width)
        if len(rows) > _MAX_PROMPT_ROWS:  # the heading has the full text
            rows = [*rows[: _MAX_PROMPT_ROWS - 1], truncate(f"{rows[_MAX_PROMPT_ROWS - 1]} ...", width, self._theme)]
        return styled_rows(self._theme, rows, StyleRole.STRONG)

    def _rule_rows(self, width: int) -> list[Text]:
        """Return the rules that choices would add, or why there are none; nothing if that is too long."""
        rows = rule_rows(self._choices, self._theme, width=width)
        if not rows and self._always_refusal:
            rows = styled_rows(self._theme, wrap_words(self._always_refusal, width=width), StyleRole.QUIET)
        return rows if len(rows) <= _MAX_RULE_ROWS else []

    def _feedback_area(self, feedback: TextInput, prompt: list[Text], hint: list[Text], width: int) -> _AnswerArea:
        heading = wrap_words(_("No. What should the model do instead?"), width=width)
        typed = feedback.render(self._theme, width=width, max_rows=_MAX_FEEDBACK_ROWS, first="> ")
        answers = [*styled_rows(self._theme, heading, StyleRole.STRONG), *typed.rows]
        caret = (typed.caret[0], len(heading) + typed.caret[1])
        return _AnswerArea(tuple(prompt), tuple(answers), (), tuple(hint), caret)

    def _position_row(self, scroll: int, room: int, total: int, width: int) -> Text:
        end = min(scroll + room, total)
        position = _("Rows {start}-{end} of {total}", start=scroll + 1, end=end, total=total)
        rest = _("Space for more") if end < total else _("end")
        text = f"{self._theme.glyphs.more} {position} {self._theme.glyphs.separator} {rest}"
        return truncated_row(self._theme, text, StyleRole.WARNING if end < total else StyleRole.QUIET, width)

    def _hint_rows(self, state: DialogState, width: int, *, limit: int) -> list[Text]:
        if state.message:
            return styled_rows(self._theme, wrap_words(state.message, width=width)[:limit], StyleRole.WARNING)
        if state.feedback is not None:
            return [joined_hints([_("Enter to send"), _("Esc to go back")], self._theme, width=width)]
        hints = [_("Enter to confirm"), _("Esc to stop"), _("{key} view", key=VIEW_KEY)]
        if self._has_whole_file:
            hints.append(_("{key} whole file", key=WHOLE_FILE_KEY))
        return [joined_hints(hints, self._theme, width=width)]


def _split_pinned(facts: Sequence[list[Text]], left: int, *, wanted: int) -> tuple[list[Text], list[Text]]:
    """Split heading and facts into pinned rows and rows that scroll.

    All are pinned if the wanted rows remain for the call. Otherwise one row is kept for the scroll position, and of the
    others at most half is pinned.
    """
    rows = [row for fact in facts for row in fact]
    if left - len(rows) >= max(wanted, 1):
        return rows, []
    left -= 1
    most = max(left - max(wanted, 1), left // 2)
    return rows[:most], rows[most:]
