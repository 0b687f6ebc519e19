"""Pending questions as the page shows them, and the replies it sends."""

from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ElicitationConfirmation,
    Outcome,
)
from tejat.core.approval.elicitation import FieldKind, FormField, apply_defaults, check_answers, parse_form_fields
from tejat.core.approval.user_question import QuestionType, UserQuestion
from tejat.core.i18n import _, translate
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.ui.html.question import render_question
from tejat.ui.shared import elicitation as elicitation_texts
from tejat.ui.shared.approval import user_questions as user_texts
from tejat.ui.shared.approval.choices import ChoiceAction, approval_choices, rule_labels
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.shared.approval.edited_proposal import editable_text, edited_reply
from tejat.ui.shared.approval.question_form import parse_question_answers
from tejat.ui.shared.approval.view import build_approval_view


class InvalidReply(ValueError):
    """A reply that the question does not have. The message is for the user."""


def question_to_json(question: PendingQuestion) -> JsonObject:
    """A question as the page shows it: its markup, and what can be answered."""
    request = question.request
    shown: dict[str, JsonValue] = {
        "id": question.question_id,
        "askedAt": question.asked_at,
        "html": render_question(request),
    }
    match request.confirmation:
        case ElicitationConfirmation() as asked:
            return {**shown, "kind": "elicitation", **_elicitation_to_json(asked)}
        case AskUserConfirmation(questions=questions):
            return {**shown, "kind": "ask_user", "questions": list(map(_user_question_to_json, questions))}
        case confirmation:
            view = build_approval_view(request, confirmation)
            choices = approval_choices(request)
            notes = rule_labels(choices) or [escape_line(translate(request.always_refusal))]
            options: list[JsonValue] = [
                {
                    "letter": choice.letter,
                    "label": choice.label,
                    "approves": choice.approves,
                    "action": choice.outcome.value if isinstance(choice.outcome, ChoiceAction) else "",
                }
                for choice in choices
            ]
            return {
                **shown,
                "kind": "choice",
                "prompt": view.prompt,
                "notes": list(filter(None, notes)),
                "choices": options,
                "mustBeViewed": view.must_be_viewed,
                "editable": editable_text(request),
            }


def reply_from_json(request: ApprovalRequest, fields: JsonFields) -> ApprovalReply:
    """The reply that a page sends for a question. Raises InvalidReply, and ValueError for fields that are missing."""
    match request.confirmation:
        case ElicitationConfirmation() as asked:
            return _elicitation_reply(asked, fields)
        case AskUserConfirmation() as asked:
            if not fields.boolean("accept"):
                return ApprovalReply(Outcome.CANCEL)
            answers = parse_question_answers(fields.object("answers"), asked)
            return ApprovalReply(Outcome.PROCEED_ONCE, answers={str(place): text for place, text in answers.items()})
        case _:
            return _choice_reply(request, fields)


def _choice_reply(request: ApprovalRequest, fields: JsonFields) -> ApprovalReply:
    letter = fields.string("choice")
    choice = next((each for each in approval_choices(request) if each.letter == letter), None)
    match None if choice is None else choice.outcome:
        case ApprovalReply() as reply:
            return reply
        case ChoiceAction.GIVE_FEEDBACK:
            return ApprovalReply(Outcome.CANCEL, feedback=(fields.string_or_none("feedback") or "").strip() or None)
        case ChoiceAction.MODIFY:
            content = fields.string("content")
            try:
                return edited_reply(editable_text(request), content)
            except ValueError as error:
                raise InvalidReply(str(error)) from None
        case None:
            raise InvalidReply(_("That answer is not offered."))


def _user_question_to_json(question: UserQuestion) -> JsonObject:
    return {
        "header": question.short_header,
        "question": sanitize_text(question.question),
        "options": [{"label": label, "detail": detail} for label, detail in user_texts.offered_answers(question)],
        "multiple": question.is_multiple,
        "own": question.type is not QuestionType.YESNO,
        "placeholder": escape_line(question.placeholder or ""),
    }


def _elicitation_to_json(asked: ElicitationConfirmation) -> JsonObject:
    problem = elicitation_texts.find_problem(asked)
    if problem is not None:
        return {"problem": problem, "fields": [], "url": ""}
    if asked.url is not None:
        return {"problem": "", "fields": [], "url": asked.url}
    fields = parse_form_fields(asked.fields or {})
    return {"problem": "", "fields": list(map(_field_to_json, fields)), "url": ""}


_INPUTS = {
    FieldKind.TEXT: "text",
    FieldKind.INTEGER: "integer",
    FieldKind.NUMBER: "number",
    FieldKind.BOOLEAN: "boolean",
    FieldKind.CHOICE: "choice",
    FieldKind.CHOICES: "choices",
}


def _field_to_json(field: FormField) -> JsonObject:
    return {
        "name": field.name,
        "heading": elicitation_texts.field_heading(field),
        "description": escape_line(field.description),
        "input": _INPUTS[field.kind],
        "choices": [{"value": value, "label": escape_line(label)} for value, label in field.choices],
        "default": field.default,
        "required": field.is_required,
    }


def _elicitation_reply(asked: ElicitationConfirmation, fields: JsonFields) -> ApprovalReply:
    if not fields.boolean("accept") or elicitation_texts.find_problem(asked) is not None:
        return ApprovalReply(Outcome.CANCEL)
    if asked.url is not None:
        return ApprovalReply(Outcome.PROCEED_ONCE, answers={})
    wanted = parse_form_fields(asked.fields or {})
    try:
        answers = check_answers(wanted, fields.object("answers"))
    except ValueError as error:
        raise InvalidReply(str(error)) from None
    return ApprovalReply(Outcome.PROCEED_ONCE, answers=apply_defaults(wanted, answers))
