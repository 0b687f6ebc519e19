"""Questions of the model and typed answers to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.approval.user_question import (
    PresetAnswers,
    QuestionOption,
    QuestionType,
    UserQuestion,
    answers_by_position,
)

OPTIONS = (QuestionOption("SQLite", "one file"), QuestionOption("Postgres, managed"), QuestionOption("3"))
CHOICE = UserQuestion("Which database?", "Database", QuestionType.CHOICE, OPTIONS)
SEVERAL = UserQuestion("Which?", "Database", QuestionType.CHOICE, OPTIONS, is_multiple=True)
TEXT = UserQuestion("Name?", "Name")
YESNO = UserQuestion("Deploy?", "Deploy", QuestionType.YESNO)


@pytest.mark.parametrize(
    ("question", "typed", "answer"),
    [
        (CHOICE, "SQLite", "SQLite"),
        (CHOICE, " sqlite\n", "SQLite"),
        (CHOICE, "1", "SQLite"),
        (CHOICE, "2", "Postgres, managed"),
        (CHOICE, "3", "3"),
        (CHOICE, "4", "4"),
        (CHOICE, "postgres, managed", "Postgres, managed"),
        (CHOICE, "something else", "something else"),
        (CHOICE, "  ", ""),
        (SEVERAL, "3, 1", "SQLite, 3"),
        (SEVERAL, "1,1", "SQLite"),
        (SEVERAL, "MySQL, 1, Oracle", "SQLite, MySQL, Oracle"),
        (SEVERAL, "Postgres, managed", "Postgres, managed"),
        (TEXT, " Ada ", "Ada"),
        (TEXT, "1", "1"),
        (YESNO, "y", "Yes"),
        (YESNO, "NO", "No"),
        (YESNO, "2", "No"),
        (YESNO, "later", "later"),
    ],
)
def test_typed_answers(question: UserQuestion, typed: str, answer: str) -> None:
    assert question.parse(typed) == answer


@given(st.text())
def test_any_text_is_an_answer(text: str) -> None:
    for question in (CHOICE, SEVERAL, TEXT, YESNO):
        assert bool(question.parse(text)) == bool(text.strip()) or question.is_multiple


def test_labels_are_joined_in_the_order_of_the_options() -> None:
    assert SEVERAL.join({"3", "SQLite"}, "my own") == "SQLite, 3, my own"
    assert SEVERAL.join(set()) == ""


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("Database", "Database"),
        ("exactly 16 chars", "exactly 16 chars"),
        ("seventeen letters", "seventeen lette…"),
        ("two\nlines\x1b[2J", "two lines<U+001…"),
    ],
)
def test_sixteen_characters_of_a_header_are_shown(header: str, shown: str) -> None:
    assert UserQuestion("?", header).short_header == shown


class TestPresetAnswers:
    def test_by_header_without_case(self) -> None:
        preset = PresetAnswers((("DATABASE ", "2"), ("name", "Ada")))
        assert preset.find(CHOICE) == "Postgres, managed"
        assert preset.find(TEXT) == "Ada"
        assert preset.find(YESNO) is None

    def test_the_last_one_counts(self) -> None:
        assert PresetAnswers((("deploy", "y"), ("Deploy", "n"))).find(YESNO) == "No"

    def test_an_empty_one_is_none(self) -> None:
        assert PresetAnswers((("name", " "),)).find(TEXT) is None


def test_only_answers_to_the_questions_count() -> None:
    given = {"1": "b", "0": "a", "2": "c", "x": "y", "3": 5, "4": " "}
    assert list(answers_by_position(given, (TEXT, TEXT)).items()) == [("0", "a"), ("1", "b")]
    assert answers_by_position({"0": 5, "1": "  "}, (TEXT, TEXT)) == {}


def test_as_json() -> None:
    assert TEXT.to_json() == {"question": "Name?", "header": "Name", "type": "text"}
    assert CHOICE.to_json() == {
        "question": "Which database?",
        "header": "Database",
        "type": "choice",
        "options": [
            {"label": "SQLite", "description": "one file"},
            {"label": "Postgres, managed", "description": ""},
            {"label": "3", "description": ""},
        ],
        "multiSelect": False,
    }
