"""May this call run? All of it can be looked at, and the answers are always in sight."""

import time
from collections.abc import Callable
from enum import StrEnum

from rich.console import RenderableType

from tejat.core.confirm import Answer, Confirmation, Outcome, Question
from tejat.core.words import say
from tejat.frontends.questions.choices import Act, Answering, choices_of
from tejat.frontends.questions.sheet import sheet_of
from tejat.frontends.terminal.dialog import Decided
from tejat.frontends.terminal.key_guard import KeyGuard
from tejat.frontends.terminal.look import Look
from tejat.frontends.terminal.question_rows import QuestionRows, Shown
from tejat.frontends.terminal.rows import stacked
from tejat.frontends.terminal.text_line import TextLine


class Wish(StrEnum):
    """What the person wants to do before they answer."""

    MODIFY = "modify"
    PAGER = "pager"


class QuestionDialog:
    """A Dialog that comes to an answer, or to a wish, after which it can be asked again where it was left.

    Where the whole call has to be seen, a yes does not count until its end has been on the screen.
    """

    def __init__(
        self, question: Question, confirmation: Confirmation, look: Look, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sheet = sheet_of(question, confirmation)
        self._choices = choices_of(question)
        self._rows = QuestionRows(self._sheet, self._choices, look)
        self._guard = KeyGuard(clock)
        self._marked = 0
        self._first = 0
        self._saw_call = not self._sheet.must_be_seen
        self._saw_rules = False
        self._is_whole = False
        self._hint = ""
        self._word: TextLine | None = None
        self._shown = Shown((), 0, 0)

    def reopen(self) -> None:
        """The dialog comes back after something else was on the screen: keys meant for that do not count."""
        self._guard.forget()

    def saw_all(self) -> None:
        """The person was shown the whole call elsewhere."""
        self._saw_call = True

    def view(self, *, width: int, height: int) -> RenderableType:
        self._guard.appear()
        self._shown = self._rows.lay_out(
            width=width,
            height=height,
            first=self._first,
            marked=self._marked,
            is_whole=self._is_whole,
            hint=self._hint,
            word=self._word,
        )
        self._first = min(self._first, self._shown.last_first)
        seen = self._first + self._shown.room
        self._saw_call = self._saw_call or seen >= self._shown.call_end
        self._saw_rules = self._saw_rules or seen >= self._shown.rules_end
        return stacked(self._shown.rows)

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Where it stands in the last view, which was of this size; None while nothing is typed."""
        return self._shown.caret

    def press(self, key: str) -> Decided[Answer | Wish] | None:
        if key == "c-c" or (key == "escape" and self._word is None):
            return Decided(Answer(Outcome.STOP))
        if not self._guard.hears(key, is_typing=self._word is not None):
            return None
        self._hint = ""
        if self._word is not None:
            return self._press_in_word(self._word, key)
        if key in _STEPS:
            self._step(key)
            return None
        if key == "enter":
            return self._take(self._choices[self._marked])
        return self._press_letter(key.lower())

    def _press_in_word(self, word: TextLine, key: str) -> Decided[Answer | Wish] | None:
        if key == "enter":
            return Decided(Answer(Outcome.CANCEL, feedback=word.text.strip() or None))
        if key == "escape":
            self._word = None
        else:
            word.press(key)
        return None

    def _press_letter(self, key: str) -> Decided[Answer | Wish] | None:
        if key == "v":
            return Decided(Wish.PAGER)
        if key == "m" and self._sheet.whole:
            self._is_whole = not self._is_whole
            self._first = 0
            return None
        for number, choice in enumerate(self._choices, 1):
            if key in (choice.letter, str(number)):
                self._marked = number - 1
                return self._take(choice)
        return None

    def _take(self, choice: Answering) -> Decided[Answer | Wish] | None:
        has_seen = self._saw_call and (self._saw_rules or not choice.rule)
        if choice.runs_something and not has_seen:
            self._hint = say("Not all of it has been on the screen yet. Press End to see the rest, then answer.")
            return None
        match choice.outcome:
            case Act.MODIFY:
                return Decided(Wish.MODIFY)
            case Act.TELL:
                self._word = TextLine()
                return None
            case Answer():
                return Decided(choice.outcome)

    def _step(self, key: str) -> None:
        """Up and down go through what is shown where that is long, else from answer to answer."""
        if key in ("tab", "right"):
            self._marked = (self._marked + 1) % len(self._choices)
        elif key in ("s-tab", "left"):
            self._marked = (self._marked - 1) % len(self._choices)
        elif self._shown.last_first:
            page = max(1, self._shown.room - 1)
            steps = {"up": -1, "down": 1, "pageup": -page, "pagedown": page, "home": -self._first, "end": _VERY_FAR}
            self._first = max(0, self._first + steps[key])  # the next view knows where the end is
        elif key in ("up", "down"):
            self._marked = (self._marked + (1 if key == "down" else -1)) % len(self._choices)


_VERY_FAR = 1 << 40
_STEPS = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "tab", "s-tab", "left", "right"})
