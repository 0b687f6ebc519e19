"""Layout of the approval dialog: facts above, the call between, the choices below."""

from collections.abc import Sequence

from rich.text import Text

from tejat.core.frozen import frozen, replace
from tejat.core.i18n import _, ngettext
from tejat.ui.shared.approval.choices import ApprovalChoice
from tejat.ui.shared.approval.display_lines import CONTINUATION_PREFIX, DisplayLine, DisplayLineKind
from tejat.ui.shared.approval.view import ApprovalView, FactKind
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.text_rows import (
    display_width,
    expand_tabs,
    styled_row,
    styled_rows,
    truncate,
    truncated_row,
    wrap_text,
    wrap_words,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MIN_CALL_ROWS = 4
"""Least rows for the call before the part below it is condensed."""
_ROOMY_ROWS = 8
"""Rows that are enough for any call."""
_MAX_RULE_ROWS = 3
_MAX_PROMPT_ROWS = 2
_MAX_FEEDBACK_ROWS = 3


@frozen
class LaidOutApproval:
    """Rows of one view, `room` of which scroll, from at most `max_scroll`.

    `call_end` and `rules_end` are the rows of the scrolled content that must have been visible to have viewed the whole
    call and the rules.
    """

    rows: tuple[Text, ...]
    room: int
    max_scroll: int
    call_end: int = 0
    rules_end: int = 0
    caret: tuple[int, int] | None = None


@frozen
class _AnswerArea:
    """The part below the call: prompt, rules and choices."""

    prompt: tuple[Text, ...]
    rules: tuple[Text, ...]
    answers: tuple[Text, ...]
    hint: tuple[Text, ...]
    caret: tuple[int, int] | None = None
    """Relative to the first row of the choices."""

    @property
    def rows(self) -> tuple[Text, ...]:
        return (*self.prompt, *self.rules, *self.answers, *self.hint)


class ApprovalLayout:
    def __init__(self, view: ApprovalView, choices: Sequence[ApprovalChoice], theme: Theme) -> None:
        self._view = view
        self._choices = choices
        self._theme = theme
        self._cached_rows: dict[tuple[int, bool], list[Text]] = {}

    def lay_out(
        self,
        *,
        width: int,
        height: int,
        scroll: int,
        selected: int,
        shows_full_body: bool,
        hint: str,
        feedback: TextInput | None,
    ) -> LaidOutApproval:
        """Lay out at most `height` rows. Content that does not fit can be scrolled to."""
        body = self._body_rows(width, shows_full_body=shows_full_body)
        facts = self._fact_rows(width)
        total_rows = len(body) + sum(map(len, facts))
        hints = self._hint_rows(
            hint, width, limit=max(1, height // 3), shows_full_body=shows_full_body, feedback=feedback
        )
        # The room must not depend on the hint.
        answer_area = self._fit_answer_area(
            width, height, selected, feedback, hints[:1], wanted_rows=min(total_rows, _ROOMY_ROWS)
        )
        answer_area = replace(answer_area, hint=tuple(hints)) if answer_area.hint else answer_area
        left = max(height - len(answer_area.rows), 1)
        if total_rows > left:
            left = max(left - 1, 1)  # one row for the scroll position
        pinned, others = _split_pinned(facts, left, wanted=min(len(body), _ROOMY_ROWS))
        rules = [] if answer_area.rules else self._rule_rows(width)
        scrolled = [*body, *others, *rules]
        room = max(1, left - len(pinned))
        max_scroll = max(0, len(scrolled) - room)
        scroll = min(scroll, max_scroll)
        between = [self._scroll_row(len(scrolled), scroll, room, width)] if max_scroll else []
        above = [*pinned, *scrolled[scroll : scroll + room], *between]
        rows = tuple([*above, *answer_area.rows][:height])
        call_end = len(body) - sum(len(self._line_rows(line, width)) for line in self._view.server_notes)
        caret = answer_area.caret
        if caret is not None:
            caret = (caret[0], len(above) + len(answer_area.prompt) + caret[1])
        return LaidOutApproval(rows, room, max_scroll, call_end, len(scrolled) if rules else 0, caret)

    def _fit_answer_area(
        self, width: int, height: int, selected: int, feedback: TextInput | None, hint: list[Text], *, wanted_rows: int
    ) -> _AnswerArea:
        """Return the roomiest variant that leaves the wanted rows for the call, else the minimum."""
        prompt, rules = self._prompt_rows(width), self._rule_rows(width)
        if feedback is not None:
            return self._feedback_area(feedback, prompt[:1], hint, width)
        if len(rules) > _MAX_RULE_ROWS:
            rules = []
        spelled, close = self._choice_rows(selected, width), self._compact_choice_rows(selected, width)
        roomy = _AnswerArea(tuple(prompt), tuple(rules), tuple(spelled), tuple(hint))
        steps = (
            roomy,
            replace(roomy, answers=tuple(close)),
            replace(roomy, answers=tuple(close), prompt=tuple(prompt[:1]), rules=()),
            replace(roomy, answers=tuple(close[:-1]), prompt=(), rules=(), hint=tuple(hint[:1])),
            replace(roomy, answers=tuple(close[:-1]), prompt=(), rules=(), hint=()),
        )
        for wanted in (wanted_rows, _MIN_CALL_ROWS):
            for below in steps:
                if height - len(below.rows) - 1 >= wanted:
                    return below
        return steps[-1]

    def _fact_rows(self, width: int) -> list[list[Text]]:
        """Return the rows of the heading and the facts, most important first."""
        heading = wrap_text(expand_tabs(self._view.heading), width=width, rest=CONTINUATION_PREFIX, at_blanks=True)
        facts = [styled_rows(self._theme, heading, StyleRole.STRONG)]
        for fact in self._view.facts:
            sign = f"{self._theme.glyphs.warning} " if fact.kind is FactKind.WARNING else ""
            rows = wrap_text(expand_tabs(fact.text), width=width, first=sign, rest=CONTINUATION_PREFIX, at_blanks=True)
            facts.append(styled_rows(self._theme, rows, _FACT_ROLES[fact.kind]))
        return facts

    def _body_rows(self, width: int, *, shows_full_body: bool) -> list[Text]:
        """Return the rows of the body, cached because it may be long and is drawn for every key."""
        rows = self._cached_rows.get((width, shows_full_body))
        if rows is None:
            lines = (*(self._view.full_body if shows_full_body else self._view.body), *self._view.server_notes)
            rows = [row for line in lines for row in self._line_rows(line, width)]
            self._cached_rows = {(width, shows_full_body): rows}
        return rows

    def _line_rows(self, line: DisplayLine, width: int) -> list[Text]:
        rows = wrap_text(expand_tabs(line.text), width=width, first=line.prefix, rest=CONTINUATION_PREFIX)
        return styled_rows(self._theme, rows, _LINE_ROLES[line.kind])

    def _prompt_rows(self, width: int) -> list[Text]:
        rows = wrap_words(self._view.prompt, width=width)
        if len(rows) > _MAX_PROMPT_ROWS:  # the facts have the full text
            rows = [*rows[: _MAX_PROMPT_ROWS - 1], truncate(f"{rows[_MAX_PROMPT_ROWS - 1]} ...", width, self._theme)]
        return styled_rows(self._theme, rows, StyleRole.STRONG)

    def _rule_rows(self, width: int) -> list[Text]:
        """Return the rules that choices would add, each once."""
        letters: dict[str, list[str]] = {}
        for choice in self._choices:
            if choice.rule:
                letters.setdefault(choice.rule, []).append(choice.letter)
        rows: list[str] = []
        for rule, shared in letters.items():
            text = _("{letters} would add the rule: {rule}", letters=", ".join(shared), rule=expand_tabs(rule))
            rows += wrap_text(text, width=width, rest=CONTINUATION_PREFIX)
        return styled_rows(self._theme, rows, StyleRole.QUIET)

    def _choice_rows(self, selected: int, width: int) -> list[Text]:
        rows: list[Text] = []
        for at, choice in enumerate(self._choices):
            sign = self._theme.glyphs.cursor if at == selected else " "
            first = f"{sign} {at + 1} {choice.letter} "
            part = StyleRole.SELECTED if at == selected else StyleRole.TEXT
            for number, row in enumerate(wrap_words(choice.label, width=width - display_width(first))):
                lead = first if number == 0 else " " * display_width(first)
                rows.append(styled_row(self._theme, (lead, StyleRole.ACCENT), (row, part)))
        return rows

    def _compact_choice_rows(self, selected: int, width: int) -> list[Text]:
        """Return short labels side by side, and the full label of the selected choice."""
        rows: list[list[tuple[str, StyleRole]]] = [[]]
        room = width
        for at, choice in enumerate(self._choices):
            sign = self._theme.glyphs.cursor if at == selected else " "
            text = truncate(f"{choice.letter} {choice.short_label}", width - 2, self._theme)
            if display_width(text) + 2 > room:
                rows.append([])
                room = width
            part = StyleRole.SELECTED if at == selected else StyleRole.TEXT
            rows[-1] += [(sign, StyleRole.ACCENT), (text, part), (" ", StyleRole.TEXT)]
            room -= display_width(text) + 2
        label = f"{self._theme.glyphs.cursor} {self._choices[selected].label}"
        last = truncated_row(self._theme, label, StyleRole.ACCENT, width)
        return [*(styled_row(self._theme, *row[:-1]) for row in rows), last]

    def _feedback_area(self, feedback: TextInput, prompt: list[Text], hint: list[Text], width: int) -> _AnswerArea:
        heading = wrap_words(_("No. What should the model know?"), width=width)
        typed = feedback.render(self._theme, width=width, max_rows=_MAX_FEEDBACK_ROWS, first="> ")
        answers = [*styled_rows(self._theme, heading, StyleRole.STRONG), *typed.rows]
        caret = (typed.caret[0], len(heading) + typed.caret[1])
        return _AnswerArea(tuple(prompt), (), tuple(answers), tuple(hint), caret)

    def _scroll_row(self, total: int, scroll: int, room: int, width: int) -> Text:
        below = max(0, total - scroll - room)
        position = _("Rows {start} to {end} of {total}.", start=scroll + 1, end=min(scroll + room, total), total=total)
        more = ngettext("{count} more row below.", "{count} more rows below.", below)
        rest = more if below else _("This is the end.")
        text = f"{self._theme.glyphs.more} {rest} {position}"
        return truncated_row(self._theme, text, StyleRole.WARNING if below else StyleRole.QUIET, width)

    def _hint_rows(
        self, hint: str, width: int, *, limit: int, shows_full_body: bool, feedback: TextInput | None
    ) -> list[Text]:
        if hint:
            return styled_rows(self._theme, wrap_words(hint, width=width)[:limit], StyleRole.WARNING)
        if feedback is not None:
            return [truncated_row(self._theme, _("Enter sends it, Esc goes back."), StyleRole.QUIET, width)]
        hints = [_("Arrows, Tab, Enter or a key"), _("Esc stops")]
        if self._view.full_body:
            hints.append(_("m the changes alone") if shows_full_body else _("m the whole file"))
        text = f" {self._theme.glyphs.separator} ".join([*hints, _("v pager")])
        return [truncated_row(self._theme, text, StyleRole.QUIET, width)]


def _split_pinned(facts: Sequence[list[Text]], left: int, *, wanted: int) -> tuple[list[Text], list[Text]]:
    """Split the facts into pinned rows and rows that scroll.

    The heading is pinned. Facts follow while the wanted rows remain for the call; the first ones, the warnings, while
    half of the room remains.
    """
    pinned, others = list[Text](), list[Text]()
    for rows in facts:
        least = wanted if pinned and len(pinned) + len(rows) > left // 2 else min(wanted, left // 2)
        has_room = left - len(pinned) - len(rows) >= max(least, 1)
        if has_room and not others:
            pinned += rows
        elif not pinned:
            kept = max(0, left - max(1, left // 2))
            pinned, others = rows[:kept], rows[kept:]
        else:
            others += rows
    return pinned, others


_FACT_ROLES = {FactKind.WARNING: StyleRole.RISK, FactKind.NOTE: StyleRole.WARNING, FactKind.PLAIN: StyleRole.TEXT}
_LINE_ROLES = {
    DisplayLineKind.COMMAND: StyleRole.STRONG,
    DisplayLineKind.COMMAND_CONTINUATION: StyleRole.STRONG,
    DisplayLineKind.QUOTED: StyleRole.TEXT,
    DisplayLineKind.ADDED: StyleRole.ADDED,
    DisplayLineKind.REMOVED: StyleRole.REMOVED,
    DisplayLineKind.CONTEXT: StyleRole.TEXT,
    DisplayLineKind.HUNK: StyleRole.HUNK,
    DisplayLineKind.LABEL: StyleRole.STRONG,
}
