"""The talk with the person at the terminal: what would happen, what they may answer, what they answered."""

import os
import sys
from collections.abc import Iterator

from tejat.frontends.external_editor import Editor
from tejat.cli.elicitation import answer_elicitation
from tejat.cli.read_line import read_line
from tejat.cli.show_question import LEAST_WIDTH, USUAL_WIDTH, one_line, question_lines, short_question, wrapped
from tejat.cli.style import Style
from tejat.core.confirm import (
    Answer,
    Confirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    McpConfirmation,
    Outcome,
    Question,
    Scope,
)
from tejat.core.errors import UsageError
from tejat.core.value import value
from tejat.core.visible import visible

PAGE = 100
"""Lines that are shown at once. A command is always shown whole."""


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
        lines = question_lines(question, confirmation, self._style, width=width)
        shown = len(lines) if isinstance(confirmation, ExecConfirmation) else PAGE
        _say(*lines[:shown])
        while True:
            choices = list(_choices(question, left=len(lines) - shown))
            asked = map(self._style.bold, wrapped(short_question(confirmation), width=width))
            _say("", *asked, *_listed(choices, width))
            choice = await self._choice(choices)
            if choice is None:
                return Answer(Outcome.CANCEL)
            if choice.answer is not None:
                return choice.answer
            match choice.letter:
                case "m":
                    _say(*lines[shown : shown + PAGE])
                    shown += PAGE
                case "e":
                    return await self._rewritten(question)
                case _:
                    feedback = await read_line("What should the model know? ")
                    return Answer(Outcome.CANCEL, feedback=feedback.strip() or None)

    async def _choice(self, choices: "list[_Choice]") -> "_Choice | None":
        """What was chosen, None at the end of the input. Asks until it is clear."""
        letters = "/".join(choice.letter for choice in choices)
        while True:
            line = await read_line(f"Your answer ({letters}): ")
            if not line:
                _say("")
                return None
            typed = line.strip().lower()
            for number, choice in enumerate(choices, 1):
                if typed in (choice.letter, choice.word, str(number)):
                    return choice
            _say(f"Please type one of the letters {letters}, or a number from 1 to {len(choices)}.")

    async def _rewritten(self, question: Question) -> Answer | None:
        confirmation = question.confirmation
        if not isinstance(confirmation, EditConfirmation) or confirmation.new_content is None:
            _say("This is too large to be rewritten by hand.", "")
            return None
        old, new = confirmation.original_content or "", confirmation.new_content
        _say("Opening the editor. Save and close it to go on.")
        try:
            content = await self._editor.edit(confirmation.file_name, old=old, new=new)
        except UsageError as error:
            _say(visible(str(error)), "")
            return None
        if content == new:
            _say("Nothing was changed.", "")
            return None
        return Answer(Outcome.MODIFY_WITH_EDITOR, new_content=content)


@value
class _Choice:
    """One line to choose. `answer` is None where more is to be done before there is one."""

    letter: str
    word: str
    label: str
    answer: Answer | None = None


def _choices(question: Question, *, left: int) -> "Iterator[_Choice]":
    yield _Choice("y", "yes", "Allow once", Answer(Outcome.PROCEED_ONCE))
    yield from _lasting(question)
    if question.can_modify:
        yield _Choice("e", "edit", "Modify with external editor")
    yield _Choice("n", "no", "No", Answer(Outcome.CANCEL))
    yield _Choice("t", "tell", "No, and tell the model what to do instead")
    if left > 0:
        yield _Choice("m", "more", f"Show more: {left} lines are not shown yet")


def _lasting(question: Question) -> "Iterator[_Choice]":
    """The kinds of "always" that can be had, each with the very rule that it would remember."""
    if question.always is None:
        return
    rule = one_line(question.always)
    if Scope.SESSION in question.scopes:
        if isinstance(question.confirmation, McpConfirmation):
            label = f"Allow this tool for this session: {rule}"
            yield _Choice("s", "session", label, Answer(Outcome.PROCEED_ALWAYS_TOOL, scope=Scope.SESSION))
            label = f'Allow all tools of server "{one_line(question.confirmation.server_name)}" for this session'
            yield _Choice("a", "all", label, Answer(Outcome.PROCEED_ALWAYS_SERVER, scope=Scope.SESSION))
        else:
            label = f"Allow for this session: {rule}"
            yield _Choice("s", "session", label, Answer(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION))
    for scope, where in ((Scope.PROJECT, "in this project"), (Scope.USER, "for me, in all projects")):
        if scope in question.scopes:
            label = f"Allow always {where} (saved): {rule}"
            answer = Answer(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=scope)
            yield _Choice(scope.value[0], scope.value, label, answer)


def _listed(choices: "list[_Choice]", width: int) -> "Iterator[str]":
    for number, choice in enumerate(choices, 1):
        yield from wrapped(choice.label, width=width, first=f"  {number} [{choice.letter}] ")


def _columns() -> int:
    """How wide the terminal is; the usual width when it does not say."""
    try:
        return max(os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_WIDTH, LEAST_WIDTH)
    except OSError:
        return USUAL_WIDTH


def _say(*lines: str) -> None:
    if lines:
        print(*lines, sep="\n", file=sys.stderr)
