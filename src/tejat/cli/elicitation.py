"""What a server wants to know, asked at the terminal field by field. Nothing goes out without a last yes."""

import sys
from collections.abc import Sequence

from tejat.cli.read_line import read_line
from tejat.cli.show_question import one_line, wrapped
from tejat.cli.style import Style
from tejat.core.confirm import Answer, ElicitationConfirmation, Outcome
from tejat.core.elicitation import Field, FieldKind, fields_of, with_defaults
from tejat.core.json_text import dump_json
from tejat.core.types import JsonValue
from tejat.core.visible import visible

_NO = Answer(Outcome.CANCEL)


async def answer_elicitation(asked: ElicitationConfirmation, style: Style, *, width: int) -> Answer:
    """What the person answers. The end of the input is a no. Raises OSError when the terminal is gone."""
    server = one_line(asked.server_name)
    _say(*map(style.bold, wrapped(f'The server "{server}" asks:', width=width)))
    for line in visible(asked.message).split("\n"):
        _say(*wrapped(line, width=width, first="> "))
    if asked.url is not None:
        return await _visit(asked.url, width=width)
    try:
        fields = fields_of(asked.fields or {})
    except ValueError as error:
        _say(f"This cannot be answered here: {one_line(str(error))}.")
        return _NO
    names = ", ".join(one_line(field.label) for field in fields)
    _say(*wrapped(f"It wants to know: {names or 'only whether you agree'}", width=width))
    if not await _agrees("Answer it? Your answers go to this server. (y/n) "):
        return _NO
    return await _fill_in(fields, style, width=width)


async def _visit(url: str, *, width: int) -> Answer:
    _say("It wants you to visit this address in a browser:", *wrapped(one_line(url), width=width, first="> "))
    if not url.lower().startswith(("http://", "https://")):
        _say("This is no address of a web page, so it is not answered.")
        return _NO
    return Answer(Outcome.PROCEED_ONCE, answers={}) if await _agrees("Tell it that you will? (y/n) ") else _NO


async def _fill_in(fields: Sequence[Field], style: Style, *, width: int) -> Answer:
    answers: dict[str, JsonValue] = {}
    for field in fields:
        _say("", *map(style.bold, wrapped(_headline(field), width=width)))
        if field.description:
            _say(*wrapped(one_line(field.description), width=width, first="> "))
        for place, (_, label) in enumerate(field.choices, 1):
            _say(*wrapped(one_line(label), width=width, first=f"  {place} "))
        while True:
            line = await read_line("= ")
            if not line:
                _say("")
                return _NO
            text = line.strip()
            if not text and (field.default is not None or not field.is_required):
                break
            if not text:
                _say("Please answer this one.")
                continue
            try:
                answers[field.name] = field.read(text)
            except ValueError as error:
                _say(str(error))
            else:
                break
    sent = with_defaults(fields, answers)
    _say("", *wrapped(f"To be sent: {one_line(dump_json(sent))}", width=width))
    return Answer(Outcome.PROCEED_ONCE, answers=sent) if await _agrees("Send it? (y/n) ") else _NO


def _headline(field: Field) -> str:
    kind = "several, with commas" if field.kind is FieldKind.CHOICES else field.kind.value
    without = "" if field.default is None else f", empty for {one_line(dump_json(field.default))}"
    if field.default is None and not field.is_required:
        without = ", may be left empty"
    return f"{one_line(field.label)} ({kind}{without})"


async def _agrees(question: str) -> bool:
    while line := await read_line(question):
        if line.strip().lower() in ("y", "yes"):
            return True
        if line.strip().lower() in ("n", "no"):
            return False
        _say("Please type y or n.")
    _say("")
    return False


def _say(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr)
