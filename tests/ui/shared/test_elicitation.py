"""What servers want to know, in words."""

import pytest

from tejat.core.approval.confirmation import ElicitationConfirmation
from tejat.core.approval.elicitation import FieldKind, FormField
from tejat.core.messages.types import JsonObject
from tejat.ui.shared.elicitation import (
    accepts_empty,
    answers_preview,
    elicitation_heading,
    field_choices,
    field_heading,
    find_problem,
    requested_fields_label,
)

LABEL = "Your\x1b[2J name\n"


def asked(fields: JsonObject | None = None, url: str | None = None) -> ElicitationConfirmation:
    return ElicitationConfirmation("T", "srv\u202e\n", "Who?", fields, url)


def test_who_asks_and_what_for() -> None:
    assert elicitation_heading(asked()) == "Question from the MCP server srv<U+202E><U+000A>:"
    fields = [FormField("n", LABEL, FieldKind.TEXT), FormField("a", "age", FieldKind.NUMBER)]
    assert requested_fields_label(fields) == "Requested: Your<U+001B>[2J name<U+000A>, age"
    assert requested_fields_label([]) == "Requested: only your consent"


@pytest.mark.parametrize(
    ("field", "headline", "is_optional"),
    [
        (FormField("n", LABEL, FieldKind.TEXT, is_required=True), "Your<U+001B>[2J name<U+000A> (text)", False),
        (FormField("n", "n", FieldKind.INTEGER, default=30), "n (a whole number, default 30)", True),
        (FormField("n", "n", FieldKind.NUMBER), "n (a number, optional)", True),
        (
            FormField("n", "n", FieldKind.BOOLEAN, is_required=True, default=False),
            "n (yes or no, default false)",
            True,
        ),
        (FormField("n", "n", FieldKind.CHOICE, is_required=True), "n (one of these)", False),
        (FormField("n", "n", FieldKind.CHOICES), "n (several, separated by commas, optional)", True),
    ],
)
def test_each_field(field: FormField, headline: str, is_optional: bool) -> None:
    assert (field_heading(field), accepts_empty(field)) == (headline, is_optional)


def test_choices_are_shown_safely() -> None:
    assert field_choices(FormField("n", "n", FieldKind.CHOICE, choices=(("a", "A\x07"), ("b", "B")))) == [
        "A<U+0007>",
        "B",
    ]


@pytest.mark.parametrize(
    ("confirmation", "problem"),
    [
        (asked({"properties": {}}), None),
        (asked(url="https://example.org"), None),
        (asked(url="HTTP://example.org"), None),
        (asked(url="file:///etc/passwd"), "Not answered: the URL is not a web page."),
        (asked({}), "Not answered: it does not say what it wants to know."),
    ],
)
def test_what_cannot_be_answered(confirmation: ElicitationConfirmation, problem: str | None) -> None:
    assert find_problem(confirmation) == problem


def test_what_would_be_sent() -> None:
    assert answers_preview({"a": "x\u202e"}) == 'Answers: {"a":"x<U+202E>"}'
