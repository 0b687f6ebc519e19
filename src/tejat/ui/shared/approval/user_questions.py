"""Texts for questions of the model: who asks, the offered answers, and the answers before they are sent."""

from collections.abc import Iterator, Sequence

from tejat.core.approval.user_question import QuestionType, UserQuestion
from tejat.core.i18n import _
from tejat.ui.shared.approval.display_lines import escape_line


def questions_heading() -> str:
    """Say who asks, so that no question of the model passes for one of ours."""
    return _("The model asks. Your answers go to the model and permit nothing.")


def offered_answers(question: UserQuestion) -> list[tuple[str, str]]:
    """The labels with their descriptions, as sanitized lines."""
    if question.type is QuestionType.YESNO:
        return [(_("Yes"), ""), (_("No"), "")]
    return [(escape_line(option.label), escape_line(option.description)) for option in question.options]


def all_label() -> str:
    return _("All of the above")


def other_label() -> str:
    return _("Other:")


def preview_lines(questions: Sequence[UserQuestion], answers: Sequence[str], arrow: str) -> Iterator[str]:
    """Yield one line for each question with its answer, as they will be sent."""
    for question, answer in zip(questions, answers, strict=True):
        shown = escape_line(answer) or _("(no answer)")
        yield f"{question.short_header} {arrow} {shown}"
