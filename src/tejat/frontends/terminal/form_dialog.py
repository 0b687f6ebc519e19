"""What a server wants to know: whether to answer at all, field by field, and a last look before it is sent."""

import time
from collections.abc import Callable
from enum import Enum

from rich.console import RenderableType
from rich.text import Text

from tejat.core.confirm import Answer, ElicitationConfirmation, Outcome
from tejat.core.elicitation import Field, fields_of, with_defaults
from tejat.core.types import JsonValue
from tejat.core.visible import visible
from tejat.core.words import say, say_count, translated
from tejat.frontends.questions.fields import (
    asked_by,
    choices_in,
    headline_of,
    may_be_empty,
    problem_of,
    to_be_sent,
    wanted,
)
from tejat.frontends.questions.lines import SAME_LINE, one_line
from tejat.frontends.terminal.dialog import Decided
from tejat.frontends.terminal.key_guard import KeyGuard
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import cut, painted, stacked, untabbed, wrapped, wrapped_words
from tejat.frontends.terminal.text_line import TextLine

_NO = Answer(Outcome.CANCEL)
_MOST_LINE_ROWS = 4


class _Step(Enum):
    WHETHER = 1
    FIELDS = 2
    LAST_LOOK = 3


class FormDialog:
    """A Dialog that comes to an answer. Nothing goes out without a last yes; Esc is a no, Ctrl-C stops the turn."""

    def __init__(
        self, asked: ElicitationConfirmation, look: Look, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._asked = asked
        self._look = look
        self._guard = KeyGuard(clock)
        self._problem = problem_of(asked)
        has_fields = self._problem is None and asked.url is None
        self._fields: tuple[Field, ...] = fields_of(asked.fields or {}) if has_fields else ()
        self._step = _Step.WHETHER
        self._at = 0
        self._line = TextLine()
        self._chosen = -1
        self._answers: dict[str, JsonValue] = {}
        self._is_yes = True
        self._told = ""
        self._first = 0
        self._last_first = 0
        self._caret: tuple[int, int] | None = None

    def view(self, *, width: int, height: int) -> RenderableType:
        self._guard.appear()
        top = self._painted(asked_by(self._asked), width, Part.STRONG)
        self._caret = None
        text, bottom = self._parts(width)
        bottom += self._painted(self._told, width, Part.WARNING) if self._told else []
        room = max(1, height - len(top) - len(bottom) - 1)
        self._last_first = max(0, len(text) - room)
        self._first = min(self._first, self._last_first)
        shown = text[self._first : self._first + room]
        below = len(text) - self._first - len(shown)
        if self._last_first:
            more = say_count("{count} more row below.", "{count} more rows below.", below)
            note = more if below else say("This is the end.")
            shown.append(painted(self._look, (cut(f"{self._look.glyphs.more} {note}", width, self._look), Part.QUIET)))
        if self._caret is not None:
            self._caret = (self._caret[0], len(top) + len(shown) + self._caret[1])
        return stacked([*top, *shown, *bottom][: max(1, height)])

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Where it stands in the last view, which was of this size; None where nothing is typed."""
        return self._caret

    def press(self, key: str) -> Decided[Answer] | None:
        if key == "c-c":
            return Decided(Answer(Outcome.STOP))
        if key == "escape":
            return Decided(_NO)
        if not self._guard.hears(key, is_typing=self._step is _Step.FIELDS):
            return None
        self._told = ""
        if self._problem is not None:
            return Decided(_NO) if key == "enter" else self._scroll(key)
        if self._step is _Step.FIELDS:
            return self._press_in_field(self._fields[self._at], key)
        return self._press_in_question(key)

    def _press_in_question(self, key: str) -> Decided[Answer] | None:
        match key.lower():
            case "tab" | "s-tab" | "left" | "right":
                self._is_yes = not self._is_yes
                return None
            case "y" | "n":
                return self._decide(is_yes=key.lower() == "y")
            case "enter":
                return self._decide(is_yes=self._is_yes)
            case _:
                return self._scroll(key)

    def _decide(self, *, is_yes: bool) -> Decided[Answer] | None:
        if not is_yes:
            return Decided(_NO)
        if self._asked.url is not None:
            return Decided(Answer(Outcome.PROCEED_ONCE, answers={}))
        if self._step is _Step.LAST_LOOK:
            return Decided(Answer(Outcome.PROCEED_ONCE, answers=with_defaults(self._fields, self._answers)))
        self._first = 0
        self._step = _Step.FIELDS if self._fields else _Step.LAST_LOOK
        return None

    def _press_in_field(self, field: Field, key: str) -> None:
        choices = choices_in(field)
        if key in ("up", "down") and choices:
            self._chosen = (self._chosen + (1 if key == "down" else -1)) % len(choices)
            self._line = TextLine(field.choices[self._chosen][1])
        elif key == "enter":
            self._read(field, self._line.text.strip())
        else:
            self._line.press(key)

    def _read(self, field: Field, text: str) -> None:
        if text:
            try:
                self._answers[field.name] = field.read(text)
            except ValueError as error:
                self._told = one_line(translated(error))
                return
        elif not may_be_empty(field):
            self._told = say("Please answer this one.")
            return
        self._at += 1
        self._line, self._chosen, self._first = TextLine(), -1, 0
        if self._at == len(self._fields):
            self._step, self._is_yes = _Step.LAST_LOOK, True
            self._guard.forget()  # a key that is held down has looked at nothing

    def _scroll(self, key: str) -> None:
        steps = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "home": -self._first, "end": self._last_first}
        self._first = max(0, min(self._first + steps.get(key, 0), self._last_first))

    def _parts(self, width: int) -> tuple[list[Text], list[Text]]:
        """What can be scrolled, and what always stands below it."""
        match self._step:
            case _Step.FIELDS:
                return self._field_parts(self._fields[self._at], width)
            case _Step.LAST_LOOK:
                sent = to_be_sent(with_defaults(self._fields, self._answers))
                return self._painted(sent, width, Part.TEXT), self._question_rows(say("Send it?"), width)
            case _Step.WHETHER:
                return self._whether_parts(width)

    def _whether_parts(self, width: int) -> tuple[list[Text], list[Text]]:
        text = [row for line in visible(self._asked.message).split("\n") for row in self._quoted(line, width)]
        if self._asked.url is not None:
            text += self._painted(say("It wants you to visit this address in a browser:"), width, Part.TEXT)
            text += self._quoted(one_line(self._asked.url), width)
        if self._problem is not None:
            problem = self._painted(self._problem, width, Part.WARNING)
            return text, [*problem, *self._painted(say("Enter goes on."), width, Part.QUIET)]
        if self._asked.url is not None:
            return text, self._question_rows(say("Tell it that you will?"), width)
        text += self._painted(wanted(self._fields), width, Part.TEXT)
        return text, self._question_rows(say("Answer it? Your answers go to this server."), width)

    def _field_parts(self, field: Field, width: int) -> tuple[list[Text], list[Text]]:
        place = say("{place} of {total}", place=self._at + 1, total=len(self._fields))
        text = self._painted(f"{headline_of(field)} [{place}]", width, Part.STRONG)
        if field.description:
            text += self._quoted(one_line(field.description), width)
        for number, label in enumerate(choices_in(field), 1):
            rows = wrapped(untabbed(label), width=width, first=f"  {number} ", rest=SAME_LINE)
            text += [painted(self._look, (row, Part.TEXT)) for row in rows]
        typed = self._line.drawn(self._look, width=width, most=_MOST_LINE_ROWS, first="= ")
        self._caret = typed.caret
        return text, [*typed.rows, *self._painted(say("Enter goes on, Esc is a no."), width, Part.QUIET)]

    def _question_rows(self, asked: str, width: int) -> list[Text]:
        rows = [painted(self._look, (row, Part.STRONG)) for row in wrapped_words(asked, width=width)]
        for is_yes, letter, label in ((True, "y", say("Yes")), (False, "n", say("No"))):
            is_marked = self._is_yes == is_yes
            sign = f"{self._look.glyphs.mark if is_marked else ' '} {letter} "
            rows.append(painted(self._look, (sign, Part.ACCENT), (label, Part.SELECTED if is_marked else Part.TEXT)))
        return rows

    def _painted(self, text: str, width: int, part: Part) -> list[Text]:
        return [painted(self._look, (row, part)) for row in wrapped(untabbed(text), width=width, rest=SAME_LINE)]

    def _quoted(self, line: str, width: int) -> list[Text]:
        rows = wrapped(untabbed(line), width=width, first="> ", rest=SAME_LINE)
        return [painted(self._look, (row, Part.TEXT)) for row in rows]
