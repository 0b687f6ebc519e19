"""Questions of the model as MCP elicitation forms. Lines of the model begin with a mark and cannot pass for ours."""

from collections.abc import Iterator, Mapping

from tejat.core.approval.confirmation import ApprovalReply, AskUserConfirmation, Outcome
from tejat.core.approval.user_question import UserQuestion
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_line, sanitize_text
from tejat.ui.mcp_server.approval_form import ApprovalForm

_MAX_ANSWER_CHARS = 4_000
_NOTICE = "The model asks you. Your answers go to the model and permit nothing. Leave out what you cannot answer."


def build_question_form(asked: AskUserConfirmation) -> ApprovalForm:
    """Build the form of the questions: a field for each, and one for own words if it offers answers."""
    lines = [_NOTICE, *(line for number, each in enumerate(asked.questions, 1) for line in _lines(number, each))]
    properties: dict[str, JsonValue] = {}
    for number, question in enumerate(asked.questions, 1):
        properties |= _fields(number, question)
    return ApprovalForm("\n".join(lines), {"type": "object", "properties": properties}, ())


def parse_question_reply(result: JsonObject, asked: AskUserConfirmation) -> ApprovalReply:
    """Parse the client's reply. A refusal dismisses all questions."""
    content = result.get("content")
    if result.get("action") != "accept" or not isinstance(content, Mapping):
        return ApprovalReply(Outcome.CANCEL)
    answers = {
        str(number - 1): answer
        for number, question in enumerate(asked.questions, 1)
        if (answer := _answer(number, question, content))
    }
    return ApprovalReply(Outcome.PROCEED_ONCE, answers=answers)


def _lines(number: int, question: UserQuestion) -> Iterator[str]:
    yield f"{number}. {question.short_header}"
    yield from (f"> {line}" for line in sanitize_text(question.question).split("\n"))
    for place, option in enumerate(question.options, 1):
        description = f": {sanitize_line(option.description)}" if option.description else ""
        yield f"> {place} {sanitize_line(option.label)}{description}"


def _fields(number: int, question: UserQuestion) -> dict[str, JsonValue]:
    """The fields of a question. Several labels are typed: not every revision of the protocol has lists."""
    title = f"{number}. {question.short_header}"
    typed: JsonObject = {"type": "string", "maxLength": _MAX_ANSWER_CHARS}
    if not question.labels:
        hint = {"description": sanitize_line(question.placeholder)} if question.placeholder else {}
        return {_field(number): {"title": title, **typed, **hint}}
    if question.is_multiple:
        hint = {"description": "Numbers or labels, separated by commas, or your own words."}
        return {_field(number): {"title": title, **typed, **hint}}
    labels: list[JsonValue] = list(map(sanitize_line, question.labels))
    return {
        _field(number): {"title": title, "type": "string", "enum": labels},
        _other_field(number): {"title": f"{title} (other)", "description": "Your own words instead.", **typed},
    }


def _answer(number: int, question: UserQuestion, content: Mapping[str, JsonValue]) -> str:
    """The answer to a question, empty if there is none. Own words count before a label."""
    other, chosen = content.get(_other_field(number)), content.get(_field(number))
    if question.labels and isinstance(other, str) and other.strip():
        return other.strip()[:_MAX_ANSWER_CHARS]
    if not isinstance(chosen, str):
        return ""
    shown = {sanitize_line(label): label for label in question.labels}
    return shown.get(chosen) or question.parse(chosen[:_MAX_ANSWER_CHARS])


def _field(number: int) -> str:
    return f"answer_{number}"


def _other_field(number: int) -> str:
    return f"other_{number}"
