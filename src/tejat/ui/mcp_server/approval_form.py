"""Approval requests as MCP elicitation forms. Third-party lines begin with a mark and cannot pass for ours."""

from collections.abc import Iterator, Mapping
from itertools import accumulate, takewhile
from typing import assert_never

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ChoiceSubject,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    Outcome,
    PlanConfirmation,
    Scope,
    TrialConfirmation,
)
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_line, sanitize_text

APPROVE_PLAN = "approve"
APPROVE_PLAN_AUTO_EDIT = "approve, and apply edits without asking"
ALLOW_ONCE = "allow once"
ALLOW_FOR_SESSION = "allow for this session"
DENY = "no"

_MAX_MESSAGE_CHARS = 65_536
_MAX_DIFF_CHARS = 32_768
_MAX_REASON_CHARS = 1_000


class ApprovalForm(Frozen):
    """An approval request in the form mode of elicitation."""

    message: str
    schema: JsonObject
    choices: tuple[str, ...]

    def params(self, *, with_mode: bool) -> JsonObject:
        """Return the request parameters; `with_mode` for the revisions that have several modes."""
        asked: dict[str, JsonValue] = {"message": self.message, "requestedSchema": self.schema}
        return {"mode": "form", **asked} if with_mode else asked


def build_approval_form(question: ApprovalRequest) -> ApprovalForm:
    """Build the form of a request. Raises ToolFailure if the action is too long to be shown."""
    message = "\n".join(_message_lines(question))
    if len(message) > _MAX_MESSAGE_CHARS:
        raise ToolFailure(
            f'The call of "{question.tool_name}" is too long to show in full, so it cannot be approved. '
            "Split it into smaller steps.",
            ErrorType.POLICY_VIOLATION,
        )
    title, choices = _choices(question)
    properties: dict[str, JsonValue] = {
        "decision": {"type": "string", "title": title, "enum": list(choices)},
        "reason": {
            "type": "string",
            "title": "Message to the agent",
            "description": "Optional. Sent to the agent with a no.",
            "maxLength": _MAX_REASON_CHARS,
        },
    }
    return ApprovalForm(message, {"type": "object", "properties": properties, "required": ["decision"]}, choices)


def parse_approval_reply(result: JsonObject, form: ApprovalForm) -> ApprovalReply:
    """Parse the client's reply. Anything that is not clearly a yes to this form is a no."""
    content = result.get("content")
    given: Mapping[str, JsonValue] = content if isinstance(content, Mapping) else {}
    reason = given.get("reason")
    feedback = sanitize_text(reason[:_MAX_REASON_CHARS]) if isinstance(reason, str) and reason.strip() else None
    decision = given.get("decision")
    if result.get("action") == "accept" and decision in form.choices:
        if decision in (ALLOW_ONCE, APPROVE_PLAN):
            return ApprovalReply(Outcome.PROCEED_ONCE)
        if decision == APPROVE_PLAN_AUTO_EDIT:
            return ApprovalReply(Outcome.PROCEED_AUTO_EDIT)
        if decision == ALLOW_FOR_SESSION:
            return ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)
    return ApprovalReply(Outcome.CANCEL, feedback=feedback)


def _choices(question: ApprovalRequest) -> tuple[str, tuple[str, ...]]:
    """The question of the form, and its possible answers."""
    confirmation = question.confirmation
    if isinstance(confirmation, PlanConfirmation):
        approvals = (APPROVE_PLAN, APPROVE_PLAN_AUTO_EDIT) if confirmation.can_auto_edit else (APPROVE_PLAN,)
        return "Approve this plan?", (*approvals, DENY)
    choices = (ALLOW_ONCE, ALLOW_FOR_SESSION, DENY) if question.always is not None else (ALLOW_ONCE, DENY)
    return "Allow this call?", choices


def _message_lines(question: ApprovalRequest) -> Iterator[str]:
    confirmation = question.confirmation
    yield sanitize_line(confirmation.title)
    if question.note:
        yield sanitize_line(question.note)
    if question.reason:
        yield f"Reason: {sanitize_line(question.reason)}"
    if isinstance(confirmation, ElicitationConfirmation | AskUserConfirmation):
        raise ToolFailure("Questions from other MCP servers cannot be forwarded.", ErrorType.POLICY_VIOLATION)
    yield from _action_lines(confirmation)
    if question.always is not None:
        yield f'"{ALLOW_FOR_SESSION}" adds the rule: {sanitize_line(question.always)}'


def _action_lines(confirmation: ChoiceSubject) -> Iterator[str]:
    match confirmation:
        case EditConfirmation():
            yield from _edit_lines(confirmation)
        case ExecConfirmation():
            yield f"Directory: {sanitize_line(confirmation.directory)}"
            yield from _quote_lines(confirmation.command, first="$ ")
            if confirmation.root_commands:
                yield f"Programs: {sanitize_line(confirmation.root_command)}"
            if confirmation.description:
                yield f"The model says: {sanitize_line(confirmation.description)}"
            yield from (f"Note: {sanitize_line(note)}" for note in confirmation.notes)
        case TrialConfirmation():
            yield from _quote_lines(confirmation.command, first="$ ")
            yield from _quote_lines(confirmation.diff)
        case McpConfirmation():
            yield f"Server: {sanitize_line(confirmation.server_name)}"
            yield f"Tool: {sanitize_line(confirmation.tool_name)}"
            yield from _quote_lines(dump_json(confirmation.tool_args or {}, indent=2))
        case InfoConfirmation():
            yield from _quote_lines(confirmation.prompt)
            yield from (f"URL: {sanitize_line(url)}" for url in confirmation.urls)
        case PlanConfirmation():
            yield f"Plan: {sanitize_line(confirmation.file_path)}"
            yield from _quote_lines(confirmation.text)
        case ModelChangeConfirmation():
            yield from _quote_lines(confirmation.reason)
            yield f"New model: {sanitize_line(confirmation.after)}"
        case _:
            assert_never(confirmation)


def _edit_lines(confirmation: EditConfirmation) -> Iterator[str]:
    stat = confirmation.diff_stat
    counts = "" if stat is None else f" (+{stat.model_added_lines} -{stat.model_removed_lines})"
    yield f"File: {sanitize_line(confirmation.file_path)}{counts}"
    lines = [f"| {line}" for line in sanitize_text(confirmation.file_diff.removesuffix("\n")).split("\n")]
    ends = accumulate(len(line) + 1 for line in lines)
    shown = sum(1 for _ in takewhile(lambda end: end <= _MAX_DIFF_CHARS, ends))
    yield from lines[:shown]
    if shown < len(lines):
        yield f"{len(lines) - shown} more lines are not shown. Approve only if you know them."


def _quote_lines(text: str, *, first: str = "> ") -> Iterator[str]:
    for number, line in enumerate(sanitize_text(text).split("\n")):
        yield f"{'> ' if number else first}{line}"
