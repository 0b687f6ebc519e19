"""Approvals and questions that the client puts to its user."""

from collections.abc import Mapping

from tejat.core.agent.events import Noticed, Severity
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ChoiceSubject,
    ElicitationConfirmation,
    Outcome,
)
from tejat.core.approval.elicitation import FormField, check_answers, parse_form_fields
from tejat.core.approval.user_question import UserQuestion, UserUnavailable
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_line, sanitize_summary, sanitize_text
from tejat.ui.acp.client import AcpClient
from tejat.ui.acp.permissions.dialogs import ClientDialogs, DialogSubject, random_token
from tejat.ui.acp.permissions.elicitation_form import credential_field, form_schema, is_about_credential
from tejat.ui.acp.permissions.options import offered_choices, options_to_json, permission_options
from tejat.ui.acp.permissions.request_content import request_subject
from tejat.ui.acp.report_markdown import escape_markdown
from tejat.ui.acp.updates.content_blocks import code_content, text_content
from tejat.ui.acp.updates.session_updates import SessionUpdates
from tejat.ui.jsonrpc.peer import PeerError
from tejat.ui.shared.approval.choices import ApprovalChoice
from tejat.ui.shared.approval.question_form import build_question_form, parse_question_answers
from tejat.ui.shared.approval.user_questions import questions_heading
from tejat.ui.shared.elicitation import elicitation_heading, find_problem

_NO = ApprovalReply(Outcome.CANCEL)
_STOP = ApprovalReply(Outcome.STOP)
_FEEDBACK_FIELD = "message"
_MAX_FEEDBACK_CHARS = 4_000
_MAX_ATTEMPTS = 3
"""How often a form with wrong answers is shown."""


class ClientApprover:
    """An `Approver` that asks through the client, in its own dialogs.

    Only an answer to exactly this request counts: the ids of its options are random. A client that fails, or answers
    anything else, has not approved. A cancelled request stops the turn, as the protocol says.
    """

    def __init__(self, client: AcpClient, session_id: str, updates: SessionUpdates) -> None:
        self._dialogs = ClientDialogs(client, session_id, updates)
        self._updates = updates

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Ask the user. Raises UserUnavailable for questions of the model that the client cannot show."""
        confirmation = question.confirmation
        try:
            match confirmation:
                case AskUserConfirmation():
                    return await self._ask_questions(question, confirmation)
                case ElicitationConfirmation():
                    return await self._elicit(question, confirmation)
                case _:
                    return await self._ask_permission(question, confirmation)
        except PeerError as error:
            reason = sanitize_summary(str(error))
            return self._decline(_("Your editor could not ask you, so the answer is no: {reason}", reason=reason))

    async def _ask_permission(self, request: ApprovalRequest, confirmation: ChoiceSubject) -> ApprovalReply:
        choices = offered_choices(request, has_forms=self._dialogs.capabilities.shows_forms)
        options = permission_options(choices, random_token())
        with self._dialogs.call_of(request, request_subject(request, confirmation, choices)) as call:
            answer = await self._dialogs.request_permission(call, options_to_json(options))
            if answer is None:
                return _STOP
            choice = options.get(answer)
            if choice is None:
                return self._decline(_("Your editor sent an answer that was not offered, so it counts as no."))
            call.is_approved = choice.approves
            return await self._reply_of(choice, call.call_id)

    async def _reply_of(self, choice: ApprovalChoice, call_id: str) -> ApprovalReply:
        if isinstance(choice.outcome, ApprovalReply):
            return choice.outcome
        return ApprovalReply(Outcome.CANCEL, feedback=await self._ask_feedback(call_id))

    async def _ask_feedback(self, call_id: str) -> str | None:
        """Ask what the model should do instead, None if the user says nothing."""
        label = _("What should the model do instead?")
        field: JsonObject = {"type": "string", "title": label, "maxLength": _MAX_FEEDBACK_CHARS}
        schema: JsonObject = {"type": "object", "properties": {_FEEDBACK_FIELD: field}, "required": [_FEEDBACK_FIELD]}
        try:
            content = await self._dialogs.show_form(label, schema, call_id)
        except PeerError:
            return None  # the no itself counts
        feedback = None if content is None else content.get(_FEEDBACK_FIELD)
        return feedback.strip()[:_MAX_FEEDBACK_CHARS] or None if isinstance(feedback, str) else None

    async def _ask_questions(self, request: ApprovalRequest, asked: AskUserConfirmation) -> ApprovalReply:
        """Raises UserUnavailable if the client can show none of the questions, and PeerError."""
        has_forms = self._dialogs.capabilities.shows_forms
        askable = {
            number: question
            for number, question in enumerate(asked.questions)
            if (has_forms and not is_about_credential(question)) or (question.labels and not question.is_multiple)
        }
        if not askable:
            raise UserUnavailable
        if not has_forms:
            return await self._choose_answers(request, askable)
        part = replace(asked, questions=tuple(askable.values()))
        form = build_question_form(part, has_lists=True)
        call_id = self._updates.call_id_for(request.agent, request.call_index)
        content = await self._dialogs.show_form(form.message, form.schema, call_id)
        if content is None:
            return _NO
        numbers, answers = list(askable), parse_question_answers(content, part)
        by_number: JsonObject = {str(numbers[place]): answer for place, answer in answers.items()}
        return ApprovalReply(Outcome.PROCEED_ONCE, answers=by_number)

    async def _choose_answers(self, request: ApprovalRequest, questions: Mapping[int, UserQuestion]) -> ApprovalReply:
        """Ask questions that offer answers one after the other, by permission requests. Raises PeerError."""
        answers: dict[str, JsonValue] = {}
        for number, question in questions.items():
            token = random_token()
            labels = {f"{token}:{place}": label for place, label in enumerate(question.labels)}
            options: list[JsonValue] = [
                {"optionId": option_id, "name": name, "kind": "allow_once"}
                for option_id, name in zip(labels, _answer_names(question), strict=True)
            ]
            options.append({"optionId": f"{token}:skip", "name": _("No answer"), "kind": "reject_once"})
            text = f"{escape_markdown(questions_heading())}\n\n**{escape_markdown(question.short_header)}**"
            content = (text_content(text), code_content(question.question))
            title = f"{question.short_header}: {sanitize_summary(question.question)}"
            with self._dialogs.call_of(request, DialogSubject(title, "other", content)) as call:
                answer = await self._dialogs.request_permission(call, options)
                call.is_approved = answer in labels
            if answer is None:
                return _STOP
            if answer in labels:
                answers[str(number)] = labels[answer]
        return ApprovalReply(Outcome.PROCEED_ONCE, answers=answers)

    async def _elicit(self, request: ApprovalRequest, asked: ElicitationConfirmation) -> ApprovalReply:
        """Put the question of an MCP server to the user. Raises PeerError."""
        heading = elicitation_heading(asked)
        if (problem := find_problem(asked)) is not None:
            return self._decline(f"{heading} {problem}")
        message = f"{heading}\n\n{sanitize_text(asked.message)}"
        if asked.url is not None:
            return await self._visit(request, asked.url, message)
        fields = parse_form_fields(asked.fields or {})
        if (credential := credential_field(fields)) is not None:
            name = sanitize_line(credential.label)
            reason = _("Not answered: {name} looks like a credential, which must not be typed into a form.", name=name)
            return self._decline(f"{heading} {reason}")
        if not self._dialogs.capabilities.shows_forms:
            reason = _("Not answered: your editor cannot show forms.")
            return self._decline(f"{heading} {reason}")
        return await self._fill_in(fields, message)

    async def _fill_in(self, fields: tuple[FormField, ...], message: str) -> ApprovalReply:
        """Show a form until its answers are right. Raises PeerError."""
        problem = ""
        for _attempt in range(_MAX_ATTEMPTS):
            shown = f"{message}\n\n{problem}" if problem else message
            content = await self._dialogs.show_form(shown, form_schema(fields))
            if content is None:
                return _NO
            try:
                return ApprovalReply(Outcome.PROCEED_ONCE, answers=check_answers(fields, content))
            except ValueError as error:
                problem = sanitize_text(str(error))
        return self._decline(problem)

    async def _visit(self, request: ApprovalRequest, url: str, message: str) -> ApprovalReply:
        """Ask the user to open a page, in words if the client cannot open it. Raises PeerError."""
        if self._dialogs.capabilities.opens_urls:
            return _AGREED if await self._dialogs.open_page(url, message) else _NO
        token = random_token()
        options: list[JsonValue] = [
            {"optionId": f"{token}:yes", "name": _("Open this page yourself, then continue"), "kind": "allow_once"},
            {"optionId": f"{token}:no", "name": _("No"), "kind": "reject_once"},
        ]
        content = (text_content(escape_markdown(message)), code_content(url))
        with self._dialogs.call_of(request, DialogSubject(_("Open a web page"), "fetch", content)) as call:
            answer = await self._dialogs.request_permission(call, options)
            call.is_approved = answer == f"{token}:yes"
        return _STOP if answer is None else _AGREED if call.is_approved else _NO

    def _decline(self, reason: str) -> ApprovalReply:
        """Answer no, and tell the user why."""
        self._updates.handle_event(Noticed(reason, Severity.WARNING))
        return _NO


_AGREED = ApprovalReply(Outcome.PROCEED_ONCE, answers={})


def _answer_names(question: UserQuestion) -> list[str]:
    descriptions = [option.description for option in question.options] or [""] * len(question.labels)
    pairs = zip(question.labels, descriptions, strict=True)
    return [": ".join(filter(None, map(sanitize_summary, pair))) for pair in pairs]
