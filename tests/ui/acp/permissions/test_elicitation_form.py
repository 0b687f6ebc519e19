"""Forms of MCP servers for clients: only what the protocol has, and no credentials."""

import pytest

from support.acp_schema import check_request
from tejat.core.approval.elicitation import parse_form_fields
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.core.messages.types import JsonValue
from tejat.ui.acp.permissions.elicitation_form import credential_field, form_schema, is_about_credential

FIELDS = parse_form_fields(
    {
        "properties": {
            "name": {"type": "string", "title": "Na\x1bme", "minLength": 1, "maxLength": 9, "pattern": "(a+)+"},
            "age": {"type": "integer", "minimum": 0, "maximum": 150.5, "default": 3, "$ref": "x"},
            "share": {"type": "number", "minimum": 0.5, "default": "many"},
            "fine": {"type": "boolean", "default": True},
            "one": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "description": "Which\n?"},
            "some": {"type": "array", "items": {"enum": ["x"]}, "minItems": 1},
        },
        "required": ["name"],
    }
)


def test_the_form_has_only_what_the_protocol_has() -> None:
    schema = form_schema(FIELDS)
    assert schema == {
        "type": "object",
        "properties": {
            "name": {"title": "Na<U+001B>me", "type": "string", "minLength": 1, "maxLength": 9},
            "age": {"title": "age", "type": "integer", "minimum": 0, "default": 3},
            "share": {"title": "share", "type": "number", "minimum": 0.5},
            "fine": {"title": "fine", "type": "boolean", "default": True},
            "one": {
                "title": "one",
                "description": "Which<U+000A>?",
                "type": "string",
                "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}],
            },
            "some": {
                "title": "some",
                "type": "array",
                "items": {"anyOf": [{"const": "x", "title": "x"}]},
                "minItems": 1,
            },
        },
        "required": ["name"],
    }
    check_request("elicitation/create", {"sessionId": "s", "mode": "form", "message": "m", "requestedSchema": schema})


@pytest.mark.parametrize(
    ("name", "definition", "expected"),
    [
        ("password", {"type": "string"}, True),
        ("x", {"type": "string", "title": "API key"}, True),
        ("apiKey", {"type": "string"}, True),
        ("API_KEY", {"type": "string"}, True),
        ("github-token", {"type": "string"}, True),
        ("pin", {"type": "integer"}, True),
        ("x", {"type": "string", "description": "Paste your access token here."}, True),
        ("x", {"type": "string", "description": "The number of tokens to keep."}, False),
        ("keyboard", {"type": "string"}, False),
        ("tokenizer", {"type": "string"}, False),
        ("email", {"type": "string"}, False),
        ("token", {"type": "string", "enum": ["a", "b"]}, False),
        ("secret", {"type": "boolean"}, False),
    ],
)
def test_credentials_are_recognized(name: str, definition: dict[str, JsonValue], expected: bool) -> None:
    fields = parse_form_fields({"properties": {"first": {"type": "string"}, name: definition}})
    assert (credential_field(fields) is not None) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (UserQuestion("What is your API key?", "Key"), True),
        (UserQuestion("Enter it", "Password"), True),
        (UserQuestion("Which token limit?", "Limit"), False),
        (UserQuestion("Where is the secret stored?", "Place"), False),
        (
            UserQuestion(
                "Store the password?", "Store", QuestionType.CHOICE, (QuestionOption("Yes"), QuestionOption("No"))
            ),
            False,
        ),
    ],
)
def test_questions_of_the_model_for_credentials_are_recognized(question: UserQuestion, expected: bool) -> None:
    assert is_about_credential(question) is expected
