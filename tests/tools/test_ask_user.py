"""`ask_user`."""

import asyncio

import pytest

from support.approver import FakeApprover
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    Outcome,
    PlanConfirmation,
)
from tejat.core.approval.user_question import (
    PresetAnswers,
    QuestionOption,
    QuestionType,
    UserQuestion,
    UserUnavailable,
)
from tejat.core.errors import ErrorType
from tejat.core.messages.types import JsonObject
from tejat.core.tools.base import ToolContext, ToolResult, validate_and_execute
from tejat.tools.ask_user import AskUserTool

NO_USER = "Nobody can be asked in this run. Decide yourself, say what you assumed, and go on."
DATABASES = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": ""}]


def choice(**fields: object) -> dict[str, object]:
    return {"question": "Which?", "header": "Database", "type": "choice", "options": DATABASES, **fields}


TEXT: dict[str, object] = {"question": "Name?", "header": "Name", "type": "text"}
YESNO: dict[str, object] = {"question": "Deploy?", "header": "Deploy", "type": "yesno"}


def answered(**answers: str) -> ApprovalReply:
    given: JsonObject = {name.removeprefix("a"): answer for name, answer in answers.items()}
    return ApprovalReply(Outcome.PROCEED_ONCE, answers=given)


def ask(*questions: object, approver: FakeApprover | None = None, preset: PresetAnswers | None = None) -> ToolResult:
    tool = AskUserTool(lambda: preset or PresetAnswers())

    async def put(subject: AskUserConfirmation | PlanConfirmation) -> ApprovalReply:
        assert approver is not None
        return await approver.ask(ApprovalRequest(subject, tool.name))

    context = ToolContext(ask=None if approver is None else put)
    return asyncio.run(validate_and_execute(tool, {"questions": [*questions]}, context))


class TestAnswers:
    def test_by_position_and_those_left_out_are_missing(self) -> None:
        result = ask(choice(), TEXT, YESNO, approver=FakeApprover(answered(a0="SQLite", a2="Yes")))
        assert result.llm_content == '{"answers":{"0":"SQLite","2":"Yes"}}'
        assert result.return_display == "Database → SQLite\nDeploy → Yes"
        assert result.error is None

    def test_nothing_chosen(self) -> None:
        result = ask(TEXT, approver=FakeApprover(answered()))
        assert result.llm_content == '{"answers":{}}'
        assert str(result.return_display) == "User submitted without answering questions."

    @pytest.mark.parametrize(
        "reply", [ApprovalReply(Outcome.CANCEL), ApprovalReply(Outcome.STOP), ApprovalReply(Outcome.PROCEED_ALWAYS)]
    )
    def test_dismissed(self, reply: ApprovalReply) -> None:
        result = ask(TEXT, approver=FakeApprover(reply))
        assert result.llm_content == "User dismissed ask_user dialog without answering."
        assert str(result.return_display) == "User dismissed dialog"
        assert result.error is None

    def test_the_questions_as_values(self) -> None:
        approver = FakeApprover(answered())
        ask(choice(multiSelect=True, placeholder="or"), {"question": "Why?", "header": "Why"}, approver=approver)
        options = (QuestionOption("SQLite", "one file"), QuestionOption("Postgres"))
        assert approver.confirmations == [
            AskUserConfirmation(
                "The model asks",
                (
                    UserQuestion(
                        "Which?", "Database", QuestionType.CHOICE, options, is_multiple=True, placeholder="or"
                    ),
                    UserQuestion("Why?", "Why", QuestionType.TEXT),
                ),
            )
        ]

    def test_a_missing_type_is_a_choice_where_there_are_options(self) -> None:
        approver = FakeApprover(answered())
        ask(choice(type=None), approver=approver)
        (asked,) = approver.confirmations
        assert isinstance(asked, AskUserConfirmation)
        assert asked.questions[0].type is QuestionType.CHOICE


class TestWithoutAPerson:
    def test_nobody_is_no_error(self) -> None:
        result = ask(TEXT)
        assert result.llm_content == NO_USER
        assert str(result.return_display) == "Nobody to ask"
        assert result.error is None

    def test_an_approver_that_cannot_ask(self) -> None:
        assert ask(TEXT, approver=FakeApprover([UserUnavailable()])).llm_content == NO_USER

    def test_answers_given_before_the_run(self) -> None:
        preset = PresetAnswers((("database", "2"), ("deploy", "y")))
        result = ask(choice(), TEXT, YESNO, preset=preset)
        assert result.llm_content == '{"answers":{"0":"Postgres","2":"Yes"}}'

    def test_answers_to_other_questions(self) -> None:
        assert ask(TEXT, preset=PresetAnswers((("database", "2"),))).llm_content == NO_USER

    def test_a_person_is_asked_only_the_rest(self) -> None:
        approver = FakeApprover(answered(a0="Ada"))
        result = ask(choice(), TEXT, approver=approver, preset=PresetAnswers((("database", "sqlite"),)))
        assert result.llm_content == '{"answers":{"0":"SQLite","1":"Ada"}}'
        (asked,) = approver.confirmations
        assert isinstance(asked, AskUserConfirmation)
        assert [question.header for question in asked.questions] == ["Name"]

    def test_a_required_answer_ends_the_run(self) -> None:
        preset = PresetAnswers((("database", "1"),), is_required=True)
        assert ask(choice(), preset=preset).error is None
        result = ask(choice(), TEXT, preset=preset)
        assert result.error is not None
        assert result.error.type is ErrorType.ANSWER_REQUIRED
        assert str(result.error.message) == (
            'The model asked a question that nobody can answer in this run: Name? Answer it with --answer "Name=VALUE".'
        )


@pytest.mark.parametrize(
    ("questions", "problem"),
    [
        ([], "At least one question is required."),
        ([TEXT] * 5, "At most 4 questions are allowed."),
        (["Why?"], "Question 1: must be an object."),
        ([TEXT, {"header": "x"}], "Question 2: 'question' is required and must be a non-empty string."),
        ([{"question": "x"}], "Question 1: 'header' is required and must be a non-empty string."),
        ([choice(type="date")], "Question 1: 'type' must be one of: choice, text, yesno."),
        ([choice(options=None)], "Question 1: type='choice' requires 'options' array with 2-4 items."),
        ([choice(options=DATABASES[:1])], "Question 1: type='choice' requires 'options' array with 2-4 items."),
        (
            [TEXT, choice(options=[{"label": str(number), "description": ""} for number in range(5)])],
            "Question 2: 'options' array must have at most 4 items.",
        ),
        (
            [choice(options=[*DATABASES, {"label": " ", "description": ""}])],
            "Question 1, option 3: 'label' is required and must be a non-empty string.",
        ),
        (
            [choice(options=["SQLite", "Postgres"])],
            "Question 1, option 1: 'label' is required and must be a non-empty string.",
        ),
        (
            [choice(options=[*DATABASES, DATABASES[0]])],
            "Question 1, option 3: 'label' must be different from the labels before it.",
        ),
    ],
)
def test_what_is_refused(questions: list[object], problem: str) -> None:
    approver = FakeApprover(answered())
    result = ask(*questions, approver=approver)
    assert result.error is not None
    assert (result.error.type, result.error.message) == (ErrorType.INVALID_TOOL_PARAMS, problem)
    assert approver.questions == []


def test_no_list_at_all() -> None:
    for given in ({}, {"questions": "Why?"}):
        result = asyncio.run(validate_and_execute(AskUserTool(), given))
        assert result.error is not None
        assert result.error.message == "At least one question is required."
