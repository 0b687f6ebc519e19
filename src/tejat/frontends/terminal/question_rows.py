"""How a question is laid out in the rows there are: what it is about above, all of it between, the answers below."""

from collections.abc import Sequence

from rich.text import Text

from tejat.core.value import value
from tejat.core.words import say, say_count
from tejat.frontends.questions.choices import Answering
from tejat.frontends.questions.lines import SAME_LINE, Line, LineKind
from tejat.frontends.questions.sheet import FactKind, QuestionSheet
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import columns_of, cut, painted, untabbed, wrapped, wrapped_words
from tejat.frontends.terminal.text_line import TextLine

_LEAST_ROOM = 4
"""Rows in which the call itself can be seen, or the answers are put closer together."""
_MOST_RULE_ROWS = 3
_MOST_ASKED_ROWS = 2
_MOST_WORD_ROWS = 3


@value
class Shown:
    """The rows of one view. `room` of them belong to what can be scrolled, which may begin as late as `last_first`."""

    rows: tuple[Text, ...]
    room: int
    last_first: int


class QuestionRows:
    def __init__(self, sheet: QuestionSheet, choices: Sequence[Answering], look: Look) -> None:
        self._sheet = sheet
        self._choices = choices
        self._look = look
        self._kept: dict[tuple[int, bool], list[Text]] = {}

    def lay_out(
        self, *, width: int, height: int, first: int, marked: int, is_whole: bool, hint: str, word: TextLine | None
    ) -> Shown:
        """At most `height` rows, each within `width`. What is too much for the room can be scrolled to."""
        rules = self._rule_rows(width)
        rules_below = rules if len(rules) <= _MOST_RULE_ROWS else []
        asked = [*self._asked_rows(width), *rules_below]
        answers = self._word_rows(word, width) if word is not None else self._list_rows(marked, width)
        top = self._top_rows(width)
        if word is None and height - len(asked) - len(answers) - 2 < _LEAST_ROOM + min(len(top), _LEAST_ROOM):
            answers = self._flow_rows(marked, width)
        # The last row is for the hint, the one above the question says how much there is beyond the room.
        left = max(height - len(asked) - len(answers) - 2, 1)
        pinned = top[: max(1, left // 2)] if left > 2 else top[: max(0, left - 1)]
        scrolled = [*top[len(pinned) :], *self._body_rows(width, is_whole=is_whole)]
        scrolled += [] if rules_below else rules
        room = max(1, left - len(pinned))
        last_first = max(0, len(scrolled) - room)
        first = min(first, last_first)
        between = self._place_row(len(scrolled), first, room, width) if last_first else None
        shown = scrolled[first : first + room]
        rows = [*pinned, *shown, *([between] if between else []), *asked, *answers]
        rows.append(self._hint_row(hint, width, scrolls=bool(last_first), word=word))
        return Shown(tuple(rows[:height]), room, last_first)

    def _top_rows(self, width: int) -> list[Text]:
        """The heading and what there is to know beside it, what matters most first."""
        rows = [painted(self._look, (row, Part.STRONG)) for row in wrapped(untabbed(self._sheet.heading), width=width)]
        for fact in self._sheet.facts:
            sign = f"{self._look.glyphs.warning} " if fact.kind is FactKind.WARNING else ""
            part = _FACT_PARTS[fact.kind]
            pieces = wrapped(untabbed(fact.text), width=width, first=sign, rest=SAME_LINE)
            rows += [painted(self._look, (row, part)) for row in pieces]
        return rows

    def _body_rows(self, width: int, *, is_whole: bool) -> list[Text]:
        """Kept for each width: a diff may be long, and a row is asked for with every key."""
        known = self._kept.get((width, is_whole))
        if known is None:
            lines = (*(self._sheet.whole if is_whole else self._sheet.body), *self._sheet.told)
            known = [row for line in lines for row in self._line_rows(line, width)]
            self._kept = {(width, is_whole): known}
        return known

    def _line_rows(self, line: Line, width: int) -> list[Text]:
        part = _LINE_PARTS[line.kind]
        rows = wrapped(untabbed(line.text), width=width, first=line.mark, rest=SAME_LINE)
        return [painted(self._look, (row, part)) for row in rows]

    def _asked_rows(self, width: int) -> list[Text]:
        rows = wrapped_words(self._sheet.asked, width=width)
        if len(rows) > _MOST_ASKED_ROWS:  # all of it is among the facts
            rows = [*rows[: _MOST_ASKED_ROWS - 1], cut(f"{rows[_MOST_ASKED_ROWS - 1]} ...", width, self._look)]
        return [painted(self._look, (row, Part.STRONG)) for row in rows]

    def _rule_rows(self, width: int) -> list[Text]:
        """The rule of each answer that would add one; those that would add the same share a row."""
        letters: dict[str, list[str]] = {}
        for choice in self._choices:
            if choice.rule:
                letters.setdefault(choice.rule, []).append(choice.letter)
        return [
            painted(self._look, (row, Part.QUIET))
            for rule, shared in letters.items()
            for row in wrapped(
                say("{letters} would add the rule: {rule}", letters=", ".join(shared), rule=untabbed(rule)),
                width=width,
                rest=SAME_LINE,
            )
        ]

    def _list_rows(self, marked: int, width: int) -> list[Text]:
        rows: list[Text] = []
        for at, choice in enumerate(self._choices):
            sign = self._look.glyphs.mark if at == marked else " "
            first = f"{sign} {at + 1} {choice.letter} "
            part = Part.SELECTED if at == marked else Part.TEXT
            for number, row in enumerate(wrapped_words(choice.label, width=width - columns_of(first))):
                lead = first if number == 0 else " " * columns_of(first)
                rows.append(painted(self._look, (lead, Part.ACCENT), (row, part)))
        return rows

    def _flow_rows(self, marked: int, width: int) -> list[Text]:
        """The answers in few words side by side, and what the marked one says in full."""
        rows: list[list[tuple[str, Part]]] = [[]]
        room = width
        for at, choice in enumerate(self._choices):
            sign = self._look.glyphs.mark if at == marked else " "
            text = cut(f"{choice.letter} {choice.short}", width - 2, self._look)
            if columns_of(text) + 2 > room:
                rows.append([])
                room = width
            rows[-1] += [(sign, Part.ACCENT), (text, Part.SELECTED if at == marked else Part.TEXT), (" ", Part.TEXT)]
            room -= columns_of(text) + 2
        label = cut(f"{self._look.glyphs.mark} {self._choices[marked].label}", width, self._look)
        return [*(painted(self._look, *row[:-1]) for row in rows), painted(self._look, (label, Part.ACCENT))]

    def _word_rows(self, word: TextLine, width: int) -> list[Text]:
        asked = wrapped_words(say("No. What should the model know?"), width=width)
        line = word.rows(self._look, width=width, most=_MOST_WORD_ROWS, first="> ")
        return [*(painted(self._look, (row, Part.STRONG)) for row in asked), *line]

    def _place_row(self, total: int, first: int, room: int, width: int) -> Text:
        above, below = first, max(0, total - first - room)
        told = say("Rows {start} to {end} of {total}.", start=first + 1, end=min(first + room, total), total=total)
        more = (
            say_count("{count} more row below.", "{count} more rows below.", below)
            if below
            else say("This is the end.")
        )
        text = f"{self._look.glyphs.more} {more if not above or below else told} {told if not above or below else more}"
        return painted(self._look, (cut(text, width, self._look), Part.WARNING if below else Part.QUIET))

    def _hint_row(self, hint: str, width: int, *, scrolls: bool, word: TextLine | None) -> Text:
        if hint:
            return painted(self._look, (cut(hint, width, self._look), Part.WARNING))
        if word is not None:
            return painted(self._look, (cut(say("Enter sends it, Esc goes back."), width, self._look), Part.QUIET))
        hints = [
            say("Up and Down scroll, Tab goes to the next answer") if scrolls else say("Arrows and Enter, or a key")
        ]
        if self._sheet.whole:
            hints.append(say("m all of the file"))
        hints += [say("v pager"), say("Esc stops")]
        text = f" {self._look.glyphs.separator} ".join(hints)
        return painted(self._look, (cut(text, width, self._look), Part.QUIET))


_FACT_PARTS = {FactKind.WARNING: Part.RISK, FactKind.NOTE: Part.WARNING, FactKind.PLAIN: Part.TEXT}
_LINE_PARTS = {
    LineKind.COMMAND: Part.STRONG,
    LineKind.COMMAND_GOES_ON: Part.STRONG,
    LineKind.SAID: Part.TEXT,
    LineKind.ADDED: Part.ADDED,
    LineKind.REMOVED: Part.REMOVED,
    LineKind.CONTEXT: Part.TEXT,
    LineKind.HUNK: Part.HUNK,
    LineKind.LABEL: Part.STRONG,
}
