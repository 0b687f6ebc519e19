"""What a server wants to know, asked at the terminal field by field. Nothing goes out without a last yes."""

import sys
from collections.abc import Sequence

from tejat.cli.read_line import read_line
from tejat.cli.show_question import wrapped
from tejat.cli.style import Style
from tejat.core.confirm import Answer, ElicitationConfirmation, Outcome
from tejat.core.elicitation import Field, fields_of, with_defaults
from tejat.core.types import JsonValue
from tejat.core.visible import visible
from tejat.core.words import say
from tejat.frontends.questions.fields import (
    asked_by,
    choices_in,
    headline_of,
    may_be_empty,
    problem_of,
    to_be_sent,
    wanted,
)
from tejat.frontends.questions.lines import one_line

_NO = Answer(Outcome.CANCEL)


async def answer_elicitation(asked: ElicitationConfirmation, style: Style, *, width: int) -> Answer:
    """What the person answers. The end of the input is a no. Raises OSError when the terminal is gone."""
    _say(*map(style.bold, wrapped(asked_by(asked), width=width)))
    for line in visible(asked.message).split("\n"):
        _say(*wrapped(line, width=width, first="> "))
    if asked.url is not None:
        _say(say("It wants you to visit this address in a browser:"))
        _say(*wrapped(one_line(asked.url), width=width, first="> "))
    problem = problem_of(asked)
    if problem is not None:
        _say(*wrapped(problem, width=width))
        return _NO
    if asked.url is not None:
        return Answer(Outcome.PROCEED_ONCE, answers={}) if await _agrees(say("Tell it that you will?")) else _NO
    fields = fields_of(asked.fields or {})
    _say(*wrapped(wanted(fields), width=width))
    if not await _agrees(say("Answer it? Your answers go to this server.")):
        return _NO
    return await _fill_in(fields, style, width=width)


async def _fill_in(fields: Sequence[Field], style: Style, *, width: int) -> Answer:
    answers: dict[str, JsonValue] = {}
    for field in fields:
        _say("", *map(style.bold, wrapped(headline_of(field), width=width)))
        if field.description:
            _say(*wrapped(one_line(field.description), width=width, first="> "))
        for place, label in enumerate(choices_in(field), 1):
            _say(*wrapped(label, width=width, first=f"  {place} "))
        while True:
            line = await read_line("= ")
            if not line:
                _say("")
                return _NO
            text = line.strip()
            if not text and may_be_empty(field):
                break
            if not text:
                _say(say("Please answer this one."))
                continue
            try:
                answers[field.name] = field.read(text)
            except ValueError as error:
                _say(str(error))
            else:
                break
    sent = with_defaults(fields, answers)
    _say("", *wrapped(to_be_sent(sent), width=width))
    return Answer(Outcome.PROCEED_ONCE, answers=sent) if await _agrees(say("Send it?")) else _NO


async def _agrees(question: str) -> bool:
    while line := await read_line(f"{question} (y/n) "):
        if line.strip().lower() in ("y", "yes"):
            return True
        if line.strip().lower() in ("n", "no"):
            return False
        _say(say("Please type y or n."))
    _say("")
    return False


def _say(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr)
