"""The talk with the person at the terminal, in plain lines: what would happen, what they may answer, what they did."""

import os
import sys
from collections.abc import Iterator, Sequence

from tejat.cli.elicitation import answer_elicitation
from tejat.cli.read_line import read_line
from tejat.cli.show_question import LEAST_WIDTH, USUAL_WIDTH, question_lines, wrapped
from tejat.cli.style import Style
from tejat.core.confirm import (
    Answer,
    Confirmation,
    EditConfirmation,
    ElicitationConfirmation,
    Outcome,
    Question,
)
from tejat.core.errors import UsageError
from tejat.core.visible import visible
from tejat.core.words import say, say_count, translated
from tejat.frontends.external_editor import Editor
from tejat.frontends.questions.choices import Act, Answering, choices_of
from tejat.frontends.questions.sheet import sheet_of

PAGE = 100
"""Lines that are shown at once. What has to be seen is always shown whole."""

_MORE = "m"


class Dialog:
    """Shows everything on standard error in plain lines. Raises OSError when the terminal is gone."""

    def __init__(self, style: Style, editor: Editor) -> None:
        self._style = style
        self._editor = editor

    async def answer(self, question: Question) -> Answer:
        """Ask until there is an answer. The end of the input is a no."""
        confirmation = question.confirmation
        if isinstance(confirmation, ElicitationConfirmation):
            return await answer_elicitation(confirmation, self._style, width=_columns())
        while True:
            answer = await self._ask_once(question, confirmation)
            if answer is not None:
                return answer

    async def _ask_once(self, question: Question, confirmation: Confirmation) -> Answer | None:
        """The answer, None when a rewriting came to nothing and there is still none."""
        width = _columns()
        sheet = sheet_of(question, confirmation)
        lines = question_lines(sheet, self._style, width=width)
        shown = len(lines) if sheet.must_be_seen else PAGE
        _say(*lines[:shown])
        choices = choices_of(question)
        while True:
            left = max(0, len(lines) - shown)
            _say("", *map(self._style.bold, wrapped(sheet.asked, width=width)), *_listed(choices, left, width))
            choice = await self._choice(choices, has_more=bool(left))
            match choice:
                case None:
                    return Answer(Outcome.CANCEL)
                case Answering(outcome=Act.MODIFY):
                    return await self._rewritten(confirmation)
                case Answering(outcome=Act.TELL):
                    feedback = await read_line(say("What should the model know? "))
                    return Answer(Outcome.CANCEL, feedback=feedback.strip() or None)
                case Answering(outcome=Answer() as answer):
                    return answer
                case _:
                    _say(*lines[shown : shown + PAGE])
                    shown += PAGE

    async def _choice(self, choices: Sequence[Answering], *, has_more: bool) -> Answering | str | None:
        """What was chosen, `_MORE` for more lines, None at the end of the input. Asks until it is clear."""
        letters = "/".join([*(choice.letter for choice in choices), *([_MORE] if has_more else [])])
        most = len(choices) + has_more
        while True:
            line = await read_line(say("Your answer ({letters}): ", letters=letters))
            if not line:
                _say("")
                return None
            typed = line.strip().lower()
            for number, choice in enumerate(choices, 1):
                if typed in (choice.letter, choice.word, str(number)):
                    return choice
            if has_more and typed in (_MORE, "more", str(most)):
                return _MORE
            _say(
                say(
                    "Please type one of the letters {letters}, or a number from 1 to {most}.",
                    letters=letters,
                    most=most,
                )
            )

    async def _rewritten(self, confirmation: Confirmation) -> Answer | None:
        if not isinstance(confirmation, EditConfirmation) or confirmation.new_content is None:
            _say(say("This is too large to be rewritten by hand."), "")
            return None
        old, new = confirmation.original_content or "", confirmation.new_content
        _say(say("Opening the editor. Save and close it to go on."))
        try:
            content = await self._editor.edit(confirmation.file_name, old=old, new=new)
        except UsageError as error:
            _say(visible(translated(error)), "")
            return None
        if content == new:
            _say(say("Nothing was changed."), "")
            return None
        return Answer(Outcome.MODIFY_WITH_EDITOR, new_content=content)


def _listed(choices: Sequence[Answering], left: int, width: int) -> Iterator[str]:
    for number, choice in enumerate(choices, 1):
        yield from wrapped(choice.told, width=width, first=f"  {number} [{choice.letter}] ")
    if left:
        more = say_count("Show more: {count} line is not shown yet", "Show more: {count} lines are not shown yet", left)
        yield from wrapped(more, width=width, first=f"  {len(choices) + 1} [{_MORE}] ")


def _columns() -> int:
    """How wide the terminal is; the usual width when it does not say."""
    try:
        return max(os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_WIDTH, LEAST_WIDTH)
    except OSError:
        return USUAL_WIDTH


def _say(*lines: str) -> None:
    if lines:
        print(*lines, sep="\n", file=sys.stderr)
