"""Questions of the model to the user, and how typed answers are read."""

from collections.abc import Sequence

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Value
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_summary
from tejat.core.text.str_enum import StrEnum

MAX_HEADER_CHARS = 16
"""Characters of a header that are shown."""
YES, NO = "Yes", "No"
_YES_WORDS = frozenset({"y", "yes", "true", "1"})
_NO_WORDS = frozenset({"n", "no", "false", "2"})


class QuestionType(StrEnum):
    """The kind of a question: a choice of options, free text, or yes or no."""

    CHOICE = "choice"
    TEXT = "text"
    YESNO = "yesno"


class QuestionOption(Value):
    """One of the offered answers."""

    label: str
    description: str = ""


class UserQuestion(Value):
    """A question of the model. Any text is an answer to it, whatever it offers.

    `options` are offered by a choice, several of them if `is_multiple`. `placeholder` is a hint for typed answers.
    """

    question: str
    header: str
    type: QuestionType = QuestionType.TEXT
    options: tuple[QuestionOption, ...] = ()
    is_multiple: bool = False
    placeholder: str = ""

    def to_json(self) -> JsonObject:
        """The question as the model asked it."""
        options: list[JsonValue] = [{"label": each.label, "description": each.description} for each in self.options]
        fields: dict[str, JsonValue] = {"question": self.question, "header": self.header, "type": self.type.value}
        return {**fields, "options": options, "multiSelect": self.is_multiple} if options else fields

    @property
    def short_header(self) -> str:
        """The header as it is shown: one line without hidden characters."""
        header = sanitize_summary(self.header)
        return header if len(header) <= MAX_HEADER_CHARS else f"{header[: MAX_HEADER_CHARS - 1]}…"

    @property
    def labels(self) -> tuple[str, ...]:
        """The answers that are offered."""
        if self.type is QuestionType.YESNO:
            return YES, NO
        return tuple(option.label for option in self.options) if self.type is QuestionType.CHOICE else ()

    def parse(self, text: str) -> str:
        """Read a typed answer: labels or their numbers, or the user's own words. Empty for no answer."""
        text = text.strip()
        if self.type is QuestionType.YESNO:
            word = text.lower()
            return YES if word in _YES_WORDS else NO if word in _NO_WORDS else text
        if not self.labels or not text:
            return text
        whole = self._find_label(text)
        if whole is not None or not self.is_multiple:
            return text if whole is None else whole
        words = [word.strip() for word in text.split(",") if word.strip()]
        found = [self._find_label(word) for word in words]
        own_words = [word for word, label in zip(words, found, strict=True) if label is None]
        return self.join({label for label in found if label is not None}, ", ".join(own_words))

    def join(self, chosen: "set[str]", own_words: str = "") -> str:
        """Join chosen labels in the order of the options, the user's own words last."""
        return ", ".join([*(label for label in self.labels if label in chosen), *([own_words] if own_words else [])])

    def _find_label(self, text: str) -> str | None:
        """Find a label by itself or its number, without regard to case."""
        labels = self.labels
        by_text = next((label for label in labels if label.strip().lower() == text.lower()), None)
        if by_text is None and text.isdecimal() and 1 <= int(text) <= len(labels):
            return labels[int(text) - 1]
        return by_text


class PresetAnswers(Value):
    """Answers that were given before the run, by header without regard to case.

    With `is_required`, a question that nobody can answer ends the run.
    """

    answers: tuple[tuple[str, str], ...] = ()
    is_required: bool = False

    def find(self, question: UserQuestion) -> str | None:
        """The answer to a question, the last one if there are several."""
        wanted = question.header.strip().lower()
        given = [value for header, value in self.answers if header.strip().lower() == wanted]
        return (question.parse(given[-1]) or None) if given else None


def answers_by_position(answers: JsonObject, questions: Sequence[UserQuestion]) -> dict[str, str]:
    """The answers of a reply, by positions in order; anything that is not an answer to a question is left out."""
    return {
        key: answer
        for key in map(str, range(len(questions)))
        if isinstance(answer := answers.get(key), str) and answer.strip()
    }


class UserUnavailable(ToolFailure):
    """Raised by an approver that cannot ask a person."""

    def __init__(self) -> None:
        super().__init__(lazy("Nobody can be asked."), ErrorType.EXECUTION_FAILED)
