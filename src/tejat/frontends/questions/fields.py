"""What a server wants to know, in words: who asks, and each field with what can be answered to it."""

from collections.abc import Sequence
from typing import assert_never

from tejat.core.confirm import ElicitationConfirmation
from tejat.core.elicitation import Field, FieldKind, fields_of
from tejat.core.json_text import dump_json
from tejat.core.types import JsonObject
from tejat.core.words import say, translated
from tejat.frontends.questions.lines import one_line


def asked_by(asked: ElicitationConfirmation) -> str:
    return say('The server "{server}" asks:', server=one_line(asked.server_name))


def problem_of(asked: ElicitationConfirmation) -> str | None:
    """Why this cannot be answered, None where it can be."""
    if asked.url is not None:
        if asked.url.lower().startswith(("http://", "https://")):
            return None
        return say("This is no address of a web page, so it is not answered.")
    try:
        fields_of(asked.fields or {})
    except ValueError as error:
        return say("This cannot be answered here: {reason}.", reason=one_line(translated(error)))
    return None


def wanted(fields: Sequence[Field]) -> str:
    names = ", ".join(one_line(field.label) for field in fields)
    return say("It wants to know: {names}", names=names or say("only whether you agree"))


def headline_of(field: Field) -> str:
    """What it is called, what kind of answer it takes, and what becomes of none."""
    label, kind = one_line(field.label), _kind_in_words(field.kind)
    if field.default is not None:
        return say(
            "{label} ({kind}, empty for {default})", label=label, kind=kind, default=one_line(dump_json(field.default))
        )
    if field.is_required:
        return say("{label} ({kind})", label=label, kind=kind)
    return say("{label} ({kind}, may be left empty)", label=label, kind=kind)


def choices_in(field: Field) -> list[str]:
    return [one_line(label) for _, label in field.choices]


def may_be_empty(field: Field) -> bool:
    return field.default is not None or not field.is_required


def to_be_sent(answers: JsonObject) -> str:
    return say("To be sent: {answers}", answers=one_line(dump_json(answers)))


def _kind_in_words(kind: FieldKind) -> str:
    match kind:
        case FieldKind.TEXT:
            return say("text")
        case FieldKind.WHOLE_NUMBER:
            return say("a whole number")
        case FieldKind.NUMBER:
            return say("a number")
        case FieldKind.SWITCH:
            return say("yes or no")
        case FieldKind.CHOICE:
            return say("one of these")
        case FieldKind.CHOICES:
            return say("several, with commas")
        case _:
            assert_never(kind)
