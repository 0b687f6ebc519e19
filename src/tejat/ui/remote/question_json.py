"""A pending question in JSON for programs, and the reply for a word of it."""

from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ElicitationConfirmation,
    Outcome,
)
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.shared.approval.choices import ApprovalChoice, ChoiceAction, approval_choices
from tejat.ui.shared.approval.question_title import question_title


def question_to_json(question: PendingQuestion) -> JsonObject:
    """The question with the words that answer it. One that asks for more than a word has none."""
    request = question.request
    choices = offered_words(request)
    options: list[JsonValue] = [
        {"word": each.keyword, "label": each.label, **({"rule": each.rule} if each.rule else {})} for each in choices
    ]
    return {
        "id": question.question_id,
        "asked_at": question.asked_at,
        "title": question_title(request),
        "options": options,
    }


def offered_words(request: ApprovalRequest) -> list[ApprovalChoice]:
    """The choices that a word decides, or a word and a message. None for forms and questions of the model."""
    if isinstance(request.confirmation, ElicitationConfirmation | AskUserConfirmation):
        return []
    return [each for each in approval_choices(request) if each.outcome is not ChoiceAction.MODIFY]


def reply_for_word(question: PendingQuestion, word: str, message: str) -> ApprovalReply:
    """The reply that a word, or its letter, stands for. `message` goes to the model with a no. Raises UsageError."""
    choices = offered_words(question.request)
    if not choices:
        raise UsageError(_("This question needs more than a word. Answer it at a terminal, or with `tejat attach`."))
    chosen = next((each for each in choices if word in (each.keyword, each.letter)), None)
    if chosen is None:
        words = ", ".join(each.keyword for each in choices)
        raise UsageError(_("{word!r} is no answer to this question. Answers: {words}", word=word, words=words))
    if isinstance(chosen.outcome, ApprovalReply):
        if message:
            raise UsageError(_("Only {word} takes a text.", word="tell"))
        return chosen.outcome
    if not message.strip():
        raise UsageError(_("Say what to do instead: {word} TEXT", word=chosen.keyword))
    return ApprovalReply(Outcome.CANCEL, feedback=message)
