"""Questions of the model in plain lines."""

import sys
from collections.abc import Iterator

from tejat.core.approval.confirmation import ApprovalReply, AskUserConfirmation, Outcome
from tejat.core.approval.user_question import UserQuestion
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.line_input import read_line
from tejat.ui.plain.question_view import wrap_line
from tejat.ui.plain.style import Style
from tejat.ui.shared.approval import user_questions as texts
from tejat.ui.shared.approval.display_lines import escape_line

_DISMISSED = ApprovalReply(Outcome.CANCEL)


async def ask_user(asked: AskUserConfirmation, style: Style, *, width: int) -> ApprovalReply:
    """Ask the questions one after the other, and whether to send the answers.

    An empty line leaves a question out; the end of the input dismisses all. Raises OSError when the terminal is gone.
    """
    _print(*map(style.bold, wrap_line(texts.questions_heading(), width=width)))
    while True:
        answers: list[str] = []
        for place, question in enumerate(asked.questions, 1):
            _print("", *_question_lines(question, place, len(asked.questions), style, width))
            line = await read_line("= ")
            if not line:
                _print("")
                return _DISMISSED
            answers.append(question.parse(line))
        _print("", _("Your answers:"))
        for shown in texts.preview_lines(asked.questions, answers, "->"):
            _print(*wrap_line(shown, width=width, first="> "))
        decision = await _read_decision()
        if decision == "y":
            sent = {str(place): answer for place, answer in enumerate(answers) if answer}
            return ApprovalReply(Outcome.PROCEED_ONCE, answers=sent)
        if decision == "d":
            return _DISMISSED


async def _read_decision() -> str:
    """Return `y` to send, `n` to answer again, `d` to dismiss."""
    while line := await read_line(_("Send these answers to the model? (y = yes, n = answer again, d = dismiss) ")):
        typed = line.strip().lower()
        if typed in ("y", "yes"):
            return "y"
        if typed in ("n", "no"):
            return "n"
        if typed in ("d", "dismiss"):
            return "d"
        _print(_("Type y, n or d."))
    _print("")
    return "d"


def _question_lines(question: UserQuestion, place: int, total: int, style: Style, width: int) -> Iterator[str]:
    position = _("{place} of {total}", place=place, total=total)
    yield from map(style.bold, wrap_line(f"{question.short_header} [{position}]", width=width))
    for line in sanitize_text(question.question).split("\n"):
        yield from wrap_line(line, width=width, first="> ")
    for number, (label, description) in enumerate(texts.offered_answers(question), 1):
        yield from wrap_line(f"{label}: {description}" if description else label, width=width, first=f"  {number} ")
    if question.placeholder:
        yield from wrap_line(_("For example: {text}", text=escape_line(question.placeholder)), width=width)
    yield from wrap_line(_hint(question), width=width)


def _hint(question: UserQuestion) -> str:
    if question.is_multiple:
        return _("Type numbers separated by commas, or your own words. Empty: no answer.")
    if question.labels:
        return _("Type a number or your own words. Empty: no answer.")
    return _("Type your answer. Empty: no answer.")


def _print(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr)
