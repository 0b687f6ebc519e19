"""One question of the model in its dialog: the offered answers, and the user's own words."""

from rich.text import Text

from tejat.core.approval.user_question import QuestionType, UserQuestion
from tejat.core.frozen import Frozen
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.approval import user_questions as texts
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.text_rows import (
    display_width,
    expand_tabs,
    styled_row,
    styled_rows,
    truncate,
    truncated_row,
    wrap_text,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MAX_INPUT_ROWS = 4
_MIN_INPUT_COLUMNS = 10
_YES_NO_KEYS = ("y", "n")


class PageRows(Frozen):
    """The rows of a question. `cursor` are the first and the last row under the cursor, `caret` is where one types."""

    rows: list[Text]
    cursor: tuple[int, int]
    caret: tuple[int, int] | None


class QuestionPage:
    """State of one question. Below the offered answers come "all" for several, and a line for own words."""

    def __init__(self, question: UserQuestion) -> None:
        self.question = question
        self._labels = question.labels
        self._cursor = 0
        self._chosen: set[int] = set()
        self._input = TextInput()

    @property
    def answer(self) -> str:
        """The answer as it will be sent, empty if there is none."""
        own_words = self._input.text.strip()
        if not self._labels:
            return own_words
        if self.question.is_multiple:
            return self.question.join({self._labels[place] for place in self._chosen}, own_words)
        chosen = next(iter(self._chosen), None)
        return "" if chosen is None else own_words if chosen == self._other else self._labels[chosen]

    @property
    def is_typing(self) -> bool:
        """Whether the cursor is where one types."""
        return self._cursor == self._other

    @property
    def _other(self) -> int:
        """The place of the user's own words."""
        return len(self._labels) + self.question.is_multiple

    @property
    def _all(self) -> int | None:
        return len(self._labels) if self.question.is_multiple else None

    def press(self, key: str, *, is_pasted: bool) -> bool:
        """Handle a key. Returns whether the question is answered, so that the next one can follow."""
        if key in ("up", "down") and self._labels:
            self._cursor = (self._cursor + (1 if key == "down" else -1)) % (self._other + 1)
        elif key == "enter":
            return self._accept()
        elif self.is_typing:
            self._type(key)
        elif key == " " and not is_pasted:
            self._mark(self._cursor)
        elif (place := self._place_of(key)) is not None and not is_pasted:
            self._cursor = place
            self._mark(place)
            return not self.question.is_multiple
        elif len(key) == 1 and key.isprintable():
            self._cursor = self._other
            self._type(key)
        return False

    def _place_of(self, key: str) -> int | None:
        """The answer that a key stands for: by number, or by the first letter of yes and no."""
        if self.question.type is QuestionType.YESNO and key.lower() in _YES_NO_KEYS:
            return _YES_NO_KEYS.index(key.lower())
        return int(key) - 1 if key.isascii() and key.isdigit() and 1 <= int(key) <= self._other else None

    def _type(self, key: str) -> None:
        if self._input.press(key) and self._labels and not self.question.is_multiple:
            self._chosen = {self._other} if self._input.text.strip() else self._chosen - {self._other}

    def _accept(self) -> bool:
        if not self.question.is_multiple and not self.is_typing:
            self._mark(self._cursor)
        return True

    def _mark(self, place: int) -> None:
        """Choose an answer, or change whether it is one of several."""
        if not self.question.is_multiple:
            self._chosen = {place}
        elif place == self._all:
            every = set(range(len(self._labels)))
            self._chosen = set() if self._chosen == every else every
        else:
            self._chosen ^= {place}

    def render(self, theme: Theme, *, width: int) -> PageRows:
        lines = sanitize_text(self.question.question).split("\n")
        rows = [row for line in lines for row in _quoted_rows(line, theme, width)]
        cursor = (0, 0)
        for place, (label, description) in enumerate(self._offered()):
            first = len(rows)
            rows += self._answer_rows(place, label, description, theme, width)
            if place == self._cursor:
                cursor = first, len(rows) - 1
        first, sign = len(rows), "= "
        if self._labels:
            label = f"{self._sign(self._other, theme)}{texts.other_label()} "
            if display_width(label) + _MIN_INPUT_COLUMNS <= width:
                sign = label
            else:
                rows.append(truncated_row(theme, label, StyleRole.TEXT, width))
        at = len(rows)
        typed = self._input.render(theme, width=width, max_rows=_MAX_INPUT_ROWS, first=sign)
        rows += typed.rows
        if not self._input.text and self.question.placeholder:
            hint = truncate(escape_line(self.question.placeholder), width - display_width(sign), theme)
            rows[at] = styled_row(theme, (sign, StyleRole.TEXT), (hint, StyleRole.QUIET))
        if not self.is_typing:
            return PageRows(rows, cursor, None)
        column, line = typed.caret
        return PageRows(rows, (first, len(rows) - 1), (column, at + line))

    def _offered(self) -> list[tuple[str, str]]:
        offered = texts.offered_answers(self.question)
        return [*offered, (texts.all_label(), "")] if self.question.is_multiple else offered

    def _answer_rows(self, place: int, label: str, description: str, theme: Theme, width: int) -> list[Text]:
        role = StyleRole.PROMPT if place == self._cursor else StyleRole.TEXT
        sign = self._sign(place, theme)
        indent = " " * display_width(sign)
        rows = styled_rows(theme, wrap_text(expand_tabs(label), width=width, first=sign, rest=indent), role)
        if description:
            below = wrap_text(expand_tabs(description), width=width, first=indent, rest=indent, at_blanks=True)
            rows += styled_rows(theme, below, StyleRole.QUIET)
        return rows

    def _sign(self, place: int, theme: Theme) -> str:
        """The cursor, the number, and whether the answer is chosen."""
        cursor = theme.glyphs.cursor if place == self._cursor else " "
        is_chosen = place in self._chosen
        if place == self._other and self.question.is_multiple:
            is_chosen = bool(self._input.text.strip())
        elif place == self._all:
            is_chosen = len(self._chosen) == len(self._labels)
        left, right = "[]" if self.question.is_multiple else "()"
        return f"{cursor} {place + 1} {left}{'x' if is_chosen else ' '}{right} "


def _quoted_rows(line: str, theme: Theme, width: int) -> list[Text]:
    rows = wrap_text(expand_tabs(line), width=width, first="> ", rest=theme.continuation, at_blanks=True)
    return styled_rows(theme, rows, StyleRole.TEXT)
