"""What a server asks for, and what the words of a person mean there."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.approval.elicitation import (
    MAX_FIELDS,
    FieldKind,
    FormField,
    apply_defaults,
    check_answers,
    parse_form_fields,
)
from tejat.core.messages.types import JsonValue

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As in your passport", "minLength": 2},
        "age": {"type": "integer", "minimum": 0, "maximum": 150, "default": 30},
        "score": {"type": "number"},
        "fine": {"type": "boolean", "default": True},
        "old": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
        "new": {"oneOf": [{"const": "x", "title": "Ex"}, {"const": "y"}]},
        "many": {"type": "array", "items": {"type": "string", "enum": ["p", "q", "r"]}, "maxItems": 2},
    },
    "required": ["name", "old"],
}


def test_every_kind_of_field() -> None:
    assert parse_form_fields(SCHEMA) == (
        FormField("name", "Your name", FieldKind.TEXT, is_required=True, description="As in your passport", minimum=2),
        FormField("age", "age", FieldKind.INTEGER, default=30, minimum=0, maximum=150),
        FormField("score", "score", FieldKind.NUMBER),
        FormField("fine", "fine", FieldKind.BOOLEAN, default=True),
        FormField("old", "old", FieldKind.CHOICE, is_required=True, choices=(("a", "First"), ("b", "Second"))),
        FormField("new", "new", FieldKind.CHOICE, choices=(("x", "Ex"), ("y", "y"))),
        FormField("many", "many", FieldKind.CHOICES, choices=(("p", "p"), ("q", "q"), ("r", "r")), maximum=2),
    )


FIELDS = {field.name: field for field in parse_form_fields(SCHEMA)}


@pytest.mark.parametrize(
    ("name", "text", "meant"),
    [
        ("name", "Ada", "Ada"),
        ("age", "7", 7),
        ("score", "1.5", 1.5),
        ("fine", "Yes", True),
        ("fine", "off", False),
        ("old", "a", "a"),
        ("old", "second", "b"),
        ("old", "2", "b"),
        ("new", "EX", "x"),
        ("many", "p, 3, p", ["p", "r"]),
        ("many", "", []),
    ],
)
def test_what_words_mean(name: str, text: str, meant: JsonValue) -> None:
    assert FIELDS[name].parse(text) == meant


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("name", "A", "Enter at least 2 characters."),
        ("age", "old", "Enter an integer."),
        ("age", "1.5", "Enter an integer."),
        ("age", "151", "Enter a value of at most 150."),
        ("score", "nan", "Enter a number."),
        ("score", "inf", "Enter a number."),
        ("fine", "perhaps", "Answer yes or no."),
        ("old", "3", "Choose a number from 1 to 2."),
        ("many", "p,q,r", "Choose at most 2 options."),
    ],
)
def test_what_they_cannot_mean(name: str, text: str, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        FIELDS[name].parse(text)


@given(st.sampled_from(list(FIELDS.values())), st.text())
def test_any_words_are_a_value_of_the_kind_or_refused(field: FormField, text: str) -> None:
    try:
        meant = field.parse(text)
    except ValueError:
        return
    match field.kind:
        case FieldKind.TEXT:
            assert meant == text
        case FieldKind.INTEGER:
            assert isinstance(meant, int)
            assert 0 <= meant <= 150
        case FieldKind.NUMBER:
            assert isinstance(meant, float)
            assert math.isfinite(meant)
        case FieldKind.BOOLEAN:
            assert isinstance(meant, bool)
        case FieldKind.CHOICE:
            assert meant in {value for value, _ in field.choices}
        case FieldKind.CHOICES:
            assert isinstance(meant, list)
            assert set(meant) <= {value for value, _ in field.choices}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({}, "does not say what it wants"),
        ({"properties": {"a": True}}, "does not say what kind of value 'a' is"),
        ({"properties": {"a": {"type": "object"}}}, "for 'a' that nobody could type in"),
        ({"properties": {"a": {"type": ["string"]}}}, "nobody could type in"),
        ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, "nobody could type in"),
        ({"properties": {f"f{n}": {"type": "string"} for n in range(MAX_FIELDS + 1)}}, "more than 50 things"),
    ],
)
def test_what_nobody_could_answer(schema: dict[str, JsonValue], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_form_fields(schema)


def test_defaults_stand_in_for_what_is_left_out() -> None:
    assert apply_defaults(tuple(FIELDS.values()), {"name": "Ada", "age": 3}) == {"name": "Ada", "age": 3, "fine": True}


CHECKED = parse_form_fields(
    {
        "properties": {
            "text": {"type": "string", "maxLength": 5},
            "whole": {"type": "integer", "minimum": 1},
            "number": {"type": "number"},
            "fine": {"type": "boolean"},
            "one": {"type": "string", "oneOf": [{"const": "a", "title": "1"}, {"const": "b", "title": "a"}]},
            "some": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1},
        },
        "required": ["text"],
    }
)


def test_answers_of_a_client_are_checked_and_others_are_left_out() -> None:
    answers: dict[str, JsonValue] = {
        "text": "hello",
        "whole": 3.0,
        "number": 1.5,
        "fine": False,
        "one": "a",
        "some": ["y", "x", "y"],
        "other": "dropped",
    }
    expected = {**answers, "whole": 3, "some": ["y", "x"]}
    del expected["other"]
    assert check_answers(CHECKED, answers) == expected


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({}, "text: an answer is required."),
        ({"text": None}, "text: an answer is required."),
        ({"text": "longer"}, "text: Enter at most 5 characters."),
        ({"whole": "3"}, "whole: Enter an integer."),
        ({"whole": 1.5}, "whole: Enter an integer."),
        ({"whole": True}, "whole: Enter an integer."),
        ({"whole": 0}, "whole: Enter a value of at least 1."),
        ({"number": "x"}, "number: Enter a number."),
        ({"fine": "yes"}, "fine: Answer yes or no."),
        ({"one": "c"}, "one: Choose a number from 1 to 2."),
        ({"one": "1"}, "one: Choose a number from 1 to 2."),
        ({"one": ["a"]}, "one: Choose a number from 1 to 2."),
        ({"some": []}, "some: Choose at least 1 options."),
        ({"some": "x"}, "some: Choose at least 1 options."),
        ({"some": ["x", "z"]}, "some: Choose a number from 1 to 2."),
    ],
)
def test_wrong_answers_of_a_client_name_the_field(answers: dict[str, JsonValue], problem: str) -> None:
    given = {"text": "a", **answers} if answers else answers
    with pytest.raises(ValueError, match=re.escape(problem)):
        check_answers(CHECKED, given)
