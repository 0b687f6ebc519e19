"""How a question is laid out in the rows there are: what it is about above, all of it between, the answers below."""

from collections.abc import Sequence

from rich.text import Text

from tejat.core.value import replace, value
from tejat.core.words import say, say_count
from tejat.frontends.questions.choices import Answering
from tejat.frontends.questions.lines import SAME_LINE, Line, LineKind
from tejat.frontends.questions.sheet import FactKind, QuestionSheet
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import columns_of, cut, painted, untabbed, wrapped, wrapped_words
from tejat.frontends.terminal.text_line import TextLine

_LEAST_ROOM = 4
"""Rows in which the call itself can be seen, or what stands below it is put closer together."""
_ROOMY = 8
"""Rows that are enough for a call, however long it is."""
_MOST_RULE_ROWS = 3
_MOST_ASKED_ROWS = 2
_MOST_WORD_ROWS = 3


@value
class Shown:
    """The rows of one view. `room` of them belong to what can be scrolled, which may begin as late as `last_first`.

    `call_end` and `rules_end` say how many rows from the top of that have to have been seen for all of the call, and
    for the rules that answers would add.
    """

    rows: tuple[Text, ...]
    room: int
    last_first: int
    call_end: int = 0
    rules_end: int = 0
    caret: tuple[int, int] | None = None


@value
class _Below:
    """What stands below the call: the question, the rules that answers would add, and the answers."""

    asked: tuple[Text, ...]
    rules: tuple[Text, ...]
    answers: tuple[Text, ...]
    hint: tuple[Text, ...]
    caret: tuple[int, int] | None = None
    """Counted from the first row of the answers."""

    @property
    def rows(self) -> tuple[Text, ...]:
        return (*self.asked, *self.rules, *self.answers, *self.hint)


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
        body = self._body_rows(width, is_whole=is_whole)
        facts = self._fact_rows(width)
        all_of_it = len(body) + sum(map(len, facts))
        hints = self._hint_rows(hint, width, most=max(1, height // 3), is_whole=is_whole, word=word)
        # How much room there is must not depend on what is hinted at.
        below = self._below(width, height, marked, word, hints[:1], wanted=min(all_of_it, _ROOMY))
        below = replace(below, hint=tuple(hints)) if below.hint else below
        left = max(height - len(below.rows), 1)
        if all_of_it > left:
            left = max(left - 1, 1)  # one row says how much there is beyond the room
        pinned, others = _pinned(facts, left, wanted=min(len(body), _ROOMY))
        rules = [] if below.rules else self._rule_rows(width)
        scrolled = [*body, *others, *rules]
        room = max(1, left - len(pinned))
        last_first = max(0, len(scrolled) - room)
        first = min(first, last_first)
        between = [self._place_row(len(scrolled), first, room, width)] if last_first else []
        above = [*pinned, *scrolled[first : first + room], *between]
        rows = [*above, *below.rows]
        return Shown(
            tuple(rows[:height]),
            room,
            last_first,
            call_end=len(body) - self._told_rows(width),
            rules_end=len(scrolled) if rules else 0,
            caret=below.caret and (below.caret[0], len(above) + len(below.asked) + below.caret[1]),
        )

    def _below(
        self, width: int, height: int, marked: int, word: TextLine | None, hint: list[Text], *, wanted: int
    ) -> _Below:
        """As much of it as leaves so many rows for the call, in a few steps from roomy to tight."""
        asked, rules = self._asked_rows(width), self._rule_rows(width)
        if word is not None:
            return self._below_with_word(word, asked[:1], hint, width)
        if len(rules) > _MOST_RULE_ROWS:
            rules = []
        spelled, close = self._list_rows(marked, width), self._flow_rows(marked, width)
        roomy = _Below(tuple(asked), tuple(rules), tuple(spelled), tuple(hint))
        steps = (
            roomy,
            replace(roomy, answers=tuple(close)),
            replace(roomy, answers=tuple(close), asked=tuple(asked[:1]), rules=()),
            replace(roomy, answers=tuple(close[:-1]), asked=(), rules=(), hint=tuple(hint[:1])),
            replace(roomy, answers=tuple(close[:-1]), asked=(), rules=(), hint=()),
        )
        return next((below for below in steps if height - len(below.rows) - 1 >= wanted), self._tightest(steps, height))

    @staticmethod
    def _tightest(steps: Sequence[_Below], height: int) -> _Below:
        """The roomiest that leaves the least room there can be."""
        return next((below for below in steps if height - len(below.rows) - 1 >= _LEAST_ROOM), steps[-1])

    def _fact_rows(self, width: int) -> list[list[Text]]:
        """The heading, and what there is to know beside it, what matters most first."""
        heading = wrapped(untabbed(self._sheet.heading), width=width, rest=SAME_LINE, at_blanks=True)
        facts = [[painted(self._look, (row, Part.STRONG)) for row in heading]]
        for fact in self._sheet.facts:
            sign = f"{self._look.glyphs.warning} " if fact.kind is FactKind.WARNING else ""
            rows = wrapped(untabbed(fact.text), width=width, first=sign, rest=SAME_LINE, at_blanks=True)
            facts.append([painted(self._look, (row, _FACT_PARTS[fact.kind])) for row in rows])
        return facts

    def _body_rows(self, width: int, *, is_whole: bool) -> list[Text]:
        """Kept for each width: a diff may be long, and a row is asked for with every key."""
        known = self._kept.get((width, is_whole))
        if known is None:
            lines = (*(self._sheet.whole if is_whole else self._sheet.body), *self._sheet.told)
            known = [row for line in lines for row in self._line_rows(line, width)]
            self._kept = {(width, is_whole): known}
        return known

    def _told_rows(self, width: int) -> int:
        return sum(len(self._line_rows(line, width)) for line in self._sheet.told)

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

    def _below_with_word(self, word: TextLine, asked: list[Text], hint: list[Text], width: int) -> _Below:
        told = wrapped_words(say("No. What should the model know?"), width=width)
        typed = word.drawn(self._look, width=width, most=_MOST_WORD_ROWS, first="> ")
        answers = [*(painted(self._look, (row, Part.STRONG)) for row in told), *typed.rows]
        caret = (typed.caret[0], len(told) + typed.caret[1])
        return _Below(tuple(asked), (), tuple(answers), tuple(hint), caret)

    def _place_row(self, total: int, first: int, room: int, width: int) -> Text:
        below = max(0, total - first - room)
        told = say("Rows {start} to {end} of {total}.", start=first + 1, end=min(first + room, total), total=total)
        more = (
            say_count("{count} more row below.", "{count} more rows below.", below)
            if below
            else say("This is the end.")
        )
        text = f"{self._look.glyphs.more} {more} {told}"
        return painted(self._look, (cut(text, width, self._look), Part.WARNING if below else Part.QUIET))

    def _hint_rows(self, hint: str, width: int, *, most: int, is_whole: bool, word: TextLine | None) -> list[Text]:
        if hint:
            return [painted(self._look, (row, Part.WARNING)) for row in wrapped_words(hint, width=width)[:most]]
        if word is not None:
            return [painted(self._look, (cut(say("Enter sends it, Esc goes back."), width, self._look), Part.QUIET))]
        hints = [say("Arrows, Tab, Enter or a key"), say("Esc stops")]
        if self._sheet.whole:
            hints.append(say("m the changes alone") if is_whole else say("m the whole file"))
        text = f" {self._look.glyphs.separator} ".join([*hints, say("v pager")])
        return [painted(self._look, (cut(text, width, self._look), Part.QUIET))]


def _pinned(facts: Sequence[list[Text]], left: int, *, wanted: int) -> tuple[list[Text], list[Text]]:
    """The rows that stay in sight, and those that have to be scrolled to.

    The heading is always among the first. Facts follow as long as so many rows are left for the call as it wants, the
    first of them, which are the warnings, as long as there is half of the room.
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
