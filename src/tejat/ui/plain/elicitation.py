"""Elicitation in plain lines, field by field, with a final confirmation."""

import sys
from collections.abc import Sequence

from tejat.core.approval.confirmation import ApprovalReply, ElicitationConfirmation, Outcome
from tejat.core.approval.elicitation import FormField, apply_defaults, parse_form_fields
from tejat.core.i18n import _
from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.line_input import read_line
from tejat.ui.plain.question_view import wrap_line
from tejat.ui.plain.style import Style
from tejat.ui.shared import elicitation as texts
from tejat.ui.shared.approval.display_lines import escape_line

_DECLINED = ApprovalReply(Outcome.CANCEL)


async def ask_elicitation(asked: ElicitationConfirmation, style: Style, *, width: int) -> ApprovalReply:
    """Ask the user and return the reply. The end of the input is a no. Raises OSError when the terminal is gone."""
    _print(*map(style.bold, wrap_line(texts.elicitation_heading(asked), width=width)))
    for line in sanitize_text(asked.message).split("\n"):
        _print(*wrap_line(line, width=width, first="> "))
    if asked.url is not None:
        _print(_("Open this page in a browser:"))
        _print(*wrap_line(escape_line(asked.url), width=width, first="> "))
    problem = texts.find_problem(asked)
    if problem is not None:
        _print(*wrap_line(problem, width=width))
        return _DECLINED
    if asked.url is not None:
        is_agreed = await _confirm(_("Tell the server that you will open it?"))
        return ApprovalReply(Outcome.PROCEED_ONCE, answers={}) if is_agreed else _DECLINED
    fields = parse_form_fields(asked.fields or {})
    _print(*wrap_line(texts.requested_fields_label(fields), width=width))
    if not await _confirm(_("Answer? The server receives your answers.")):
        return _DECLINED
    return await _fill_in(fields, style, width=width)


async def _fill_in(fields: Sequence[FormField], style: Style, *, width: int) -> ApprovalReply:
    answers: dict[str, JsonValue] = {}
    for field in fields:
        _print("", *map(style.bold, wrap_line(texts.field_heading(field), width=width)))
        if field.description:
            _print(*wrap_line(escape_line(field.description), width=width, first="> "))
        for place, label in enumerate(texts.field_choices(field), 1):
            _print(*wrap_line(label, width=width, first=f"  {place} "))
        while True:
            line = await read_line("= ")
            if not line:
                _print("")
                return _DECLINED
            text = line.strip()
            if not text and texts.accepts_empty(field):
                break
            if not text:
                _print(_("An answer is required."))
                continue
            try:
                answers[field.name] = field.parse(text)
            except ValueError as error:
                _print(str(error))
            else:
                break
    sent = apply_defaults(fields, answers)
    _print("", *wrap_line(texts.answers_preview(sent), width=width))
    return ApprovalReply(Outcome.PROCEED_ONCE, answers=sent) if await _confirm(_("Send these answers?")) else _DECLINED


async def _confirm(question: str) -> bool:
    while line := await read_line(f"{question} (y/n) "):
        if line.strip().lower() in ("y", "yes"):
            return True
        if line.strip().lower() in ("n", "no"):
            return False
        _print(_("Type y or n."))
    _print("")
    return False


def _print(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr)
