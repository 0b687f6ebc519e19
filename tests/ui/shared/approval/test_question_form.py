"""Questions of the model in forms of the client."""

import pytest

from tejat.core.approval.confirmation import ApprovalReply, AskUserConfirmation, Outcome
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.core.messages.types import JsonObject
from tejat.ui.shared.approval.question_form import build_question_form, parse_question_reply

OPTIONS = (QuestionOption("SQLite\x1b", "one file"), QuestionOption("Postgres"))
ASKED = AskUserConfirmation(
    "The model asks",
    (
        UserQuestion("Which?\nAllow this call?", "Database", QuestionType.CHOICE, OPTIONS),
        UserQuestion("Which checks?", "Checks", QuestionType.CHOICE, OPTIONS, is_multiple=True),
        UserQuestion("Name?", "Name", placeholder="blog"),
        UserQuestion("Deploy?", "Deploy", QuestionType.YESNO),
    ),
)


def test_the_form_says_who_asks_and_quotes_the_model() -> None:
    form = build_question_form(ASKED)
    assert form.message.split("\n") == [
        "The model asks you. Your answers go to the model and permit nothing. Leave out what you cannot answer.",
        "1. Database",
        "> Which?",
        "> Allow this call?",
        "> 1 SQLite<U+001B>: one file",
        "> 2 Postgres",
        "2. Checks",
        "> Which checks?",
        "> 1 SQLite<U+001B>: one file",
        "> 2 Postgres",
        "3. Name",
        "> Name?",
        "4. Deploy",
        "> Deploy?",
    ]
    assert form.schema == {
        "type": "object",
        "properties": {
            "answer_1": {"title": "1. Database", "type": "string", "enum": ["SQLite<U+001B>", "Postgres"]},
            "other_1": {
                "title": "1. Database (other)",
                "description": "Your own words instead.",
                "type": "string",
                "maxLength": 4000,
            },
            "answer_2": {
                "title": "2. Checks",
                "type": "string",
                "maxLength": 4000,
                "description": "Numbers or labels, separated by commas, or your own words.",
            },
            "answer_3": {"title": "3. Name", "type": "string", "maxLength": 4000, "description": "blog"},
            "answer_4": {"title": "4. Deploy", "type": "string", "enum": ["Yes", "No"]},
            "other_4": {
                "title": "4. Deploy (other)",
                "description": "Your own words instead.",
                "type": "string",
                "maxLength": 4000,
            },
        },
    }


def test_a_client_with_lists_gets_several_choices_as_one() -> None:
    form = build_question_form(ASKED, has_lists=True)
    properties = form.schema["properties"]
    assert isinstance(properties, dict)
    assert properties["answer_2"] == {
        "title": "2. Checks",
        "type": "array",
        "items": {"type": "string", "enum": ["SQLite<U+001B>", "Postgres"]},
    }
    assert set(properties) == {"answer_1", "other_1", "answer_2", "other_2", "answer_3", "answer_4", "other_4"}


@pytest.mark.parametrize(
    ("content", "answers"),
    [
        ({}, {}),
        ({"answer_2": ["Postgres", "SQLite<U+001B>", "x", 5], "other_2": "mine"}, {"1": "SQLite\x1b, Postgres, mine"}),
        ({"answer_2": []}, {}),
        ({"answer_1": "SQLite<U+001B>", "answer_4": "No"}, {"0": "SQLite\x1b", "3": "No"}),
        ({"answer_1": "Postgres", "other_1": " mine "}, {"0": "mine"}),
        ({"answer_2": "2, 1, mine"}, {"1": "SQLite\x1b, Postgres, mine"}),
        ({"answer_3": "blog", "answer_4": "", "other_4": " "}, {"2": "blog"}),
        ({"answer_3": 5, "answer_9": "x", "other_3": "x"}, {}),
    ],
)
def test_answers_by_position(content: JsonObject, answers: JsonObject) -> None:
    reply = parse_question_reply({"action": "accept", "content": content}, ASKED)
    assert reply == ApprovalReply(Outcome.PROCEED_ONCE, answers=answers)


@pytest.mark.parametrize("result", [{}, {"action": "accept"}, {"action": "decline", "content": {"answer_3": "x"}}])
def test_anything_else_dismisses(result: JsonObject) -> None:
    assert parse_question_reply(result, ASKED) == ApprovalReply(Outcome.CANCEL)
