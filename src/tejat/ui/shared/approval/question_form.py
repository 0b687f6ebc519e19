"""Questions of the model as forms for a client. Lines of the model begin with a mark and cannot pass for ours."""

from collections.abc import Iterator, Mapping

from tejat.core.approval.confirmation import ApprovalReply, AskUserConfirmation, Outcome
from tejat.core.approval.user_question import UserQuestion
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_line, sanitize_text

_MAX_ANSWER_CHARS = 4_000


class QuestionForm(Frozen):
    """A text that is shown, and a JSON Schema of the answers."""

    message: str
    schema: JsonObject


def build_question_form(asked: AskUserConfirmation, *, has_lists: bool = False) -> QuestionForm:
    """Build the form of the questions: a field for each, and one for own words if it offers answers.

    With `has_lists` the client can show fields with several choices; otherwise these are typed.
    """
    notice = _("The model asks you. Your answers go to the model and permit nothing. Leave out what you cannot answer.")
    lines = [notice, *(line for number, each in enumerate(asked.questions, 1) for line in _lines(number, each))]
    properties: dict[str, JsonValue] = {}
    for number, question in enumerate(asked.questions, 1):
        properties |= _fields(number, question, has_lists=has_lists)
    return QuestionForm("\n".join(lines), {"type": "object", "properties": properties})


def parse_question_reply(result: JsonObject, asked: AskUserConfirmation) -> ApprovalReply:
    """Parse the client's reply. A refusal dismisses all questions."""
    content = result.get("content")
    if result.get("action") != "accept" or not isinstance(content, Mapping):
        return ApprovalReply(Outcome.CANCEL)
    answers = parse_question_answers(content, asked)
    return ApprovalReply(Outcome.PROCEED_ONCE, answers={str(place): answer for place, answer in answers.items()})


def parse_question_answers(content: JsonObject, asked: AskUserConfirmation) -> dict[int, str]:
    """The answers in the fields of a form, by the positions of their questions."""
    numbered = enumerate(asked.questions, 1)
    return {number - 1: answer for number, question in numbered if (answer := _answer(number, question, content))}


def _lines(number: int, question: UserQuestion) -> Iterator[str]:
    yield f"{number}. {question.short_header}"
    yield from (f"> {line}" for line in sanitize_text(question.question).split("\n"))
    for place, option in enumerate(question.options, 1):
        description = f": {sanitize_line(option.description)}" if option.description else ""
        yield f"> {place} {sanitize_line(option.label)}{description}"


def _fields(number: int, question: UserQuestion, *, has_lists: bool) -> dict[str, JsonValue]:
    title = f"{number}. {question.short_header}"
    typed: JsonObject = {"type": "string", "maxLength": _MAX_ANSWER_CHARS}
    if not question.labels:
        hint = {"description": sanitize_line(question.placeholder)} if question.placeholder else {}
        return {_field(number): {"title": title, **typed, **hint}}
    if question.is_multiple and not has_lists:
        hint = {"description": _("Numbers or labels, separated by commas, or your own words.")}
        return {_field(number): {"title": title, **typed, **hint}}
    labels: list[JsonValue] = list(map(sanitize_line, question.labels))
    chosen: JsonObject = {"type": "string", "enum": labels}
    if question.is_multiple:
        chosen = {"type": "array", "items": chosen}
    own_words = {"title": _("{title} (other)", title=title), "description": _("Your own words instead.")}
    return {_field(number): {"title": title, **chosen}, _other_field(number): {**own_words, **typed}}


def _answer(number: int, question: UserQuestion, content: Mapping[str, JsonValue]) -> str:
    """The answer to a question, empty if there is none. Own words count before a label, and after several."""
    other, chosen = content.get(_other_field(number)), content.get(_field(number))
    own_words = other.strip()[:_MAX_ANSWER_CHARS] if question.labels and isinstance(other, str) else ""
    shown = {sanitize_line(label): label for label in question.labels}
    if question.is_multiple and isinstance(chosen, list):
        return question.join({shown[each] for each in chosen if isinstance(each, str) and each in shown}, own_words)
    if own_words:
        return own_words
    if not isinstance(chosen, str):
        return ""
    return shown.get(chosen) or question.parse(chosen[:_MAX_ANSWER_CHARS])


def _field(number: int) -> str:
    return f"answer_{number}"


def _other_field(number: int) -> str:
    return f"other_{number}"
