"""`ask_user`: asks the user up to four questions at once. The answers permit nothing.

It is declared where a person or `--answer` can answer, and never to sub-agents.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tejat.core.approval.confirmation import AskUserConfirmation, Outcome
from tejat.core.approval.user_question import (
    PresetAnswers,
    QuestionOption,
    QuestionType,
    UserQuestion,
    UserUnavailable,
    answers_by_position,
)
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import JsonObject, Params
from tejat.core.sanitize import is_blank, sanitize_summary
from tejat.core.tools.base import ParsingTool, ToolContext, ToolResult
from tejat.core.tools.schema import NOT_AN_OBJECT
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params

MAX_QUESTIONS = 4
MIN_OPTIONS, MAX_OPTIONS = 2, 4
NO_USER = "Nobody can be asked in this run. Decide yourself, say what you assumed, and go on."
DISMISSED = "User dismissed ask_user dialog without answering."

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "description": "The questions, shown together.",
            "minItems": 1,
            "maxItems": MAX_QUESTIONS,
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "string", "description": "The whole question."},
                    "header": {"type": "string", "description": "Label of at most 16 characters."},
                    "type": {"type": "string", "enum": list(QuestionType), "default": "choice"},
                    "options": {
                        "type": "array",
                        "description": "For `choice`. The user can always write something else.",
                        "minItems": MIN_OPTIONS,
                        "maxItems": MAX_OPTIONS,
                        "items": {
                            "type": "object",
                            "properties": {"label": {"type": "string"}, "description": {"type": "string"}},
                            "required": ["label", "description"],
                        },
                    },
                    "multiSelect": {"type": "boolean", "description": "For `choice`: allow several."},
                    "placeholder": {"type": "string", "description": "Hint in the input field."},
                },
                "required": ["question", "header", "type"],
            },
        }
    },
    "required": ["questions"],
}


class AskUserParams(Frozen):
    questions: tuple[UserQuestion, ...]


class AskUserTool(ParsingTool):
    """`preset` returns the answers given before the run."""

    def __init__(self, preset: Callable[[], PresetAnswers] = PresetAnswers) -> None:
        super().__init__(**tool_labels("ask_user", "Ask User"), parameter_schema=_SCHEMA, kind=Kind.COMMUNICATE)
        self.may_change_files = False
        self._preset = preset

    def parse(self, params: object) -> AskUserParams:
        if not isinstance(params, Mapping):
            raise invalid_params(NOT_AN_OBJECT)
        questions = _as_list(cast("Params", params).get("questions"))
        if not questions:
            raise invalid_params("At least one question is required.")
        if len(questions) > MAX_QUESTIONS:
            raise invalid_params(f"At most {MAX_QUESTIONS} questions are allowed.")
        return AskUserParams(tuple(_parse_question(number, each) for number, each in enumerate(questions, 1)))

    def get_description(self, params: Params) -> str:
        try:
            return ", ".join(question.short_header for question in self.parse(params).questions)
        except ToolFailure:
            return "Model did not provide valid parameters for ask user tool"

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        """Take the answers given before the run, and ask the user the other questions in one dialog."""
        questions, preset = self.parse(params).questions, self._preset()
        given = {number: answer for number, each in enumerate(questions) if (answer := preset.find(each)) is not None}
        unanswered = [number for number in range(len(questions)) if number not in given]
        try:
            asked = await _ask(context, tuple(questions[number] for number in unanswered)) if unanswered else {}
        except UserUnavailable:
            if preset.is_required:
                raise _unanswered_error([questions[number] for number in unanswered]) from None
            if not given:
                return ToolResult(NO_USER, lazy("Nobody to ask"))
            asked = {}
        if asked is None:
            return ToolResult(DISMISSED, lazy("User dismissed dialog"))
        answers = given | {unanswered[int(position)]: answer for position, answer in asked.items()}
        return _answered(questions, {number: answers[number] for number in sorted(answers)})


async def _ask(context: ToolContext, questions: tuple[UserQuestion, ...]) -> dict[str, str] | None:
    """Return the answers by position, None if the user dismissed the dialog. Raises UserUnavailable."""
    if context.ask is None:
        raise UserUnavailable
    reply = await context.ask(AskUserConfirmation(_("The model asks"), questions))
    if reply.outcome in (Outcome.CANCEL, Outcome.STOP) or reply.answers is None:
        return None
    return answers_by_position(reply.answers, questions)


def _answered(questions: Sequence[UserQuestion], answers: Mapping[int, str]) -> ToolResult:
    content = dump_json({"answers": {str(number): answer for number, answer in answers.items()}})
    lines = [f"{questions[number].short_header} → {sanitize_summary(answer)}" for number, answer in answers.items()]
    return ToolResult(content, "\n".join(lines) or lazy("User submitted without answering questions."))


def _unanswered_error(questions: Sequence[UserQuestion]) -> ToolFailure:
    header = questions[0].short_header
    message = lazy(
        "The model asked a question that nobody can answer in this run: {question} Answer it with {flag}.",
        question=sanitize_summary(questions[0].question),
        flag=f'--answer "{header}=VALUE"',
    )
    return ToolFailure(message, ErrorType.ANSWER_REQUIRED)


def _parse_question(number: int, given: object) -> UserQuestion:
    """Raises ToolFailure."""
    where = f"Question {number}"
    if not isinstance(given, Mapping):
        raise invalid_params(f"{where}: must be an object.")
    fields = cast("Mapping[str, object]", given)
    options = _parse_options(where, fields.get("options"))
    question_type = _parse_type(where, fields.get("type"), has_options=bool(options))
    is_choice = question_type is QuestionType.CHOICE
    if is_choice and len(options) < MIN_OPTIONS:
        raise invalid_params(f"{where}: type='choice' requires 'options' array with 2-4 items.")
    placeholder = fields.get("placeholder")
    return UserQuestion(
        _required_text(where, "question", fields.get("question")),
        _required_text(where, "header", fields.get("header")),
        question_type,
        options if is_choice else (),
        is_multiple=is_choice and fields.get("multiSelect") is True,
        placeholder=placeholder if isinstance(placeholder, str) else "",
    )


def _parse_type(where: str, given: object, *, has_options: bool) -> QuestionType:
    """A missing type is a choice if there are options. Raises ToolFailure."""
    if given is None:
        return QuestionType.CHOICE if has_options else QuestionType.TEXT
    if given not in list(QuestionType):
        raise invalid_params(f"{where}: 'type' must be one of: {', '.join(QuestionType)}.")
    return QuestionType(cast("str", given))


def _parse_options(where: str, given: object) -> tuple[QuestionOption, ...]:
    """Raises ToolFailure."""
    options = _as_list(given)
    if len(options) > MAX_OPTIONS:
        raise invalid_params(f"{where}: 'options' array must have at most {MAX_OPTIONS} items.")
    found: dict[str, QuestionOption] = {}
    for number, option in enumerate(options, 1):
        fields = cast("Mapping[str, object]", option) if isinstance(option, Mapping) else dict[str, object]()
        label, description = fields.get("label"), fields.get("description")
        if not isinstance(label, str) or is_blank(label):
            raise invalid_params(f"{where}, option {number}: 'label' is required and must be a non-empty string.")
        if label in found:
            raise invalid_params(f"{where}, option {number}: 'label' must be different from the labels before it.")
        found[label] = QuestionOption(label, description if isinstance(description, str) else "")
    return tuple(found.values())


def _as_list(given: object) -> Sequence[object]:
    is_list = isinstance(given, Sequence) and not isinstance(given, str)
    return cast("Sequence[object]", given) if is_list else ()


def _required_text(where: str, name: str, given: object) -> str:
    if not isinstance(given, str) or is_blank(given):
        raise invalid_params(f"{where}: '{name}' is required and must be a non-empty string.")
    return given
