"""The possible answers to a question, for any way of asking: actions, each with the texts that it needs."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ElicitationConfirmation,
    Outcome,
    PlanConfirmation,
    TrialConfirmation,
)
from tejat.core.approval.elicitation import FormField, apply_defaults, parse_form_fields
from tejat.core.approval.user_question import UserQuestion
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.types import JsonValue
from tejat.ui.shared.approval.choices import ApprovalChoice, ChoiceAction, approval_choices
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.shared.approval.edited_proposal import editable_text, edited_reply
from tejat.ui.shared.approval.user_questions import offered_answers
from tejat.ui.shared.elicitation import accepts_empty, field_choices, field_heading, find_problem

MakeReply: TypeAlias = Callable[[Sequence[str]], ApprovalReply]
"""Makes a reply of the entered texts. Raises ValueError with what is wrong with them."""


class ReplyInput(Frozen):
    """A text to enter: its label, and values to choose from. `initial` is a text of several lines to edit."""

    label: str
    options: tuple[str, ...] = ()
    placeholder: str = ""
    initial: str | None = None


class ReplyAction(Frozen):
    """One way to answer, with a key for typing it. `approves`: it lets something happen."""

    key: str
    label: str
    make_reply: MakeReply
    inputs: tuple[ReplyInput, ...] = ()
    approves: bool = False

    @property
    def needs_editor(self) -> bool:
        """Whether a text of several lines is edited, which cannot be done by typing one line."""
        return any(each.initial is not None for each in self.inputs)


def reply_actions(question: ApprovalRequest) -> list[ReplyAction]:
    """The ways to answer a question, in the order in which they are offered."""
    match question.confirmation:
        case AskUserConfirmation(questions=questions):
            return _user_actions(questions)
        case ElicitationConfirmation() as asked:
            return _elicitation_actions(asked)
        case _:
            return list(_choice_actions(question, approval_choices(question)))


def _choice_actions(question: ApprovalRequest, choices: Sequence[ApprovalChoice]) -> Iterator[ReplyAction]:
    for choice in choices:
        match choice.outcome:
            case ApprovalReply() as reply:
                yield ReplyAction(choice.letter, choice.label, _constant(reply), approves=choice.approves)
            case ChoiceAction.GIVE_FEEDBACK:
                message = ReplyInput(_("Message"), placeholder=_("What to do instead"))
                yield ReplyAction(choice.letter, choice.label, _feedback, (message,))
            case ChoiceAction.MODIFY:
                yield from _edit_actions(question, choice.letter)


def _edit_actions(question: ApprovalRequest, key: str) -> Iterator[ReplyAction]:
    """Yield the action for an edited proposal, unless the proposal is too large, or a text area would change it.

    Browsers replace every line ending in a text area, so the endings are put back, which only works if all are alike.
    """
    proposed = editable_text(question)
    if proposed is None:
        return
    ending = "\r\n" if "\r\n" in proposed else "\n"
    shown = proposed.replace(ending, "\n")
    if "\r" in shown or shown.replace("\n", ending) != proposed:
        return

    def edit(texts: Sequence[str]) -> ApprovalReply:
        return edited_reply(proposed, texts[0].replace("\r\n", "\n").replace("\n", ending))

    match question.confirmation:
        case TrialConfirmation():
            label, heading = _("Keep the listed files"), _("Choose files to keep, one per line")
        case PlanConfirmation():
            label, heading = _("Use the edited plan"), _("Edit the plan")
        case _:
            label, heading = _("Use the edited text"), _("Edit before approving")
    yield ReplyAction(key, label, edit, (ReplyInput(heading, initial=shown),))


def _feedback(texts: Sequence[str]) -> ApprovalReply:
    message = texts[0].strip()
    if not message:
        raise ValueError(_("Enter a message."))
    return ApprovalReply(Outcome.CANCEL, feedback=message)


def _user_actions(questions: Sequence[UserQuestion]) -> list[ReplyAction]:
    def send(texts: Sequence[str]) -> ApprovalReply:
        parsed = (question.parse(text) for question, text in zip(questions, texts, strict=True))
        answers = {str(place): answer for place, answer in enumerate(parsed) if answer}
        return ApprovalReply(Outcome.PROCEED_ONCE, answers=answers)

    return [
        ReplyAction("s", _("Send"), send, tuple(map(_user_input, questions)), approves=True),
        ReplyAction("d", _("Dismiss"), _constant(ApprovalReply(Outcome.CANCEL))),
    ]


def _user_input(question: UserQuestion) -> ReplyInput:
    options = tuple(label for label, _description in offered_answers(question))
    return ReplyInput(question.short_header, options, escape_line(question.placeholder))


def _elicitation_actions(asked: ElicitationConfirmation) -> list[ReplyAction]:
    decline = ReplyAction("d", _("Decline"), _constant(ApprovalReply(Outcome.CANCEL)))
    if find_problem(asked) is not None:
        return [decline]
    if asked.url is not None:
        accept = _constant(ApprovalReply(Outcome.PROCEED_ONCE, answers={}))
        return [ReplyAction("a", _("Accept"), accept, approves=True), decline]
    fields = parse_form_fields(asked.fields or {})
    inputs = tuple(ReplyInput(field_heading(field), tuple(field_choices(field))) for field in fields)
    return [ReplyAction("a", _("Accept"), lambda texts: _fill_in(fields, texts), inputs, approves=True), decline]


def _fill_in(fields: Sequence[FormField], texts: Sequence[str]) -> ApprovalReply:
    answers: dict[str, JsonValue] = {}
    for field, text in zip(fields, texts, strict=True):
        if text.strip() or not accepts_empty(field):
            try:
                answers[field.name] = field.parse(text.strip())
            except ValueError as error:
                raise ValueError(f"{escape_line(field.label)}: {error}") from None
    return ApprovalReply(Outcome.PROCEED_ONCE, answers=apply_defaults(fields, answers))


def _constant(reply: ApprovalReply) -> MakeReply:
    return lambda _texts: reply
