"""What servers want to know, in words."""

import pytest

from tejat.core.confirm import ElicitationConfirmation
from tejat.core.elicitation import Field, FieldKind
from tejat.core.types import JsonObject
from tejat.frontends.questions.fields import (
    asked_by,
    choices_in,
    headline_of,
    may_be_empty,
    problem_of,
    to_be_sent,
    wanted,
)

LABEL = "Your\x1b[2J name\n"


def asked(fields: JsonObject | None = None, url: str | None = None) -> ElicitationConfirmation:
    return ElicitationConfirmation("T", "srv\u202e\n", "Who?", fields, url)


def test_who_asks_and_what_for() -> None:
    assert asked_by(asked()) == 'The server "srv<U+202E><U+000A>" asks:'
    fields = [Field("n", LABEL, FieldKind.TEXT), Field("a", "age", FieldKind.NUMBER)]
    assert wanted(fields) == "It wants to know: Your<U+001B>[2J name<U+000A>, age"
    assert wanted([]) == "It wants to know: only whether you agree"


@pytest.mark.parametrize(
    ("field", "headline", "is_optional"),
    [
        (Field("n", LABEL, FieldKind.TEXT, is_required=True), "Your<U+001B>[2J name<U+000A> (text)", False),
        (Field("n", "n", FieldKind.WHOLE_NUMBER, default=30), "n (a whole number, empty for 30)", True),
        (Field("n", "n", FieldKind.NUMBER), "n (a number, may be left empty)", True),
        (Field("n", "n", FieldKind.SWITCH, is_required=True, default=False), "n (yes or no, empty for false)", True),
        (Field("n", "n", FieldKind.CHOICE, is_required=True), "n (one of these)", False),
        (Field("n", "n", FieldKind.CHOICES), "n (several, with commas, may be left empty)", True),
    ],
)
def test_each_field(field: Field, headline: str, is_optional: bool) -> None:
    assert (headline_of(field), may_be_empty(field)) == (headline, is_optional)


def test_choices_are_shown_safely() -> None:
    assert choices_in(Field("n", "n", FieldKind.CHOICE, choices=(("a", "A\x07"), ("b", "B")))) == ["A<U+0007>", "B"]


@pytest.mark.parametrize(
    ("confirmation", "problem"),
    [
        (asked({"properties": {}}), None),
        (asked(url="https://example.org"), None),
        (asked(url="HTTP://example.org"), None),
        (asked(url="file:///etc/passwd"), "This is no address of a web page, so it is not answered."),
        (asked({}), "This cannot be answered here: it does not say what it wants to know."),
    ],
)
def test_what_cannot_be_answered(confirmation: ElicitationConfirmation, problem: str | None) -> None:
    assert problem_of(confirmation) == problem


def test_what_would_be_sent() -> None:
    assert to_be_sent({"a": "x\u202e"}) == 'To be sent: {"a":"x<U+202E>"}'
