"""Approval requests as view models: who wants what, why the user is asked, risks, and the full action."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import assert_never

from tejat.core.approval.confirmation import (
    ApprovalRequest,
    ChoiceSubject,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    Risk,
    ToolOriginKind,
    TrialConfirmation,
)
from tejat.core.frozen import frozen
from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.ui.shared.approval.confusables import bidi_warning, confusable_warnings
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind, command_lines, escape_line, quote_lines
from tejat.ui.shared.approval.edit_diff import count_changed_lines, diff_lines, full_file_lines, is_new_file
from tejat.ui.shared.approval.trial import trial_exit_label, trial_heading, trial_lines, trial_prompt

_MAX_PROMPT_CHARS = 40
"""Longest list of program names that is part of the prompt itself."""


class FactKind(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    PLAIN = "plain"


@frozen
class Fact:
    """One sanitized line about the call. Facts are ordered by importance."""

    kind: FactKind
    text: str


@frozen
class ApprovalView:
    """Everything the user needs to decide, as sanitized lines of any length.

    `body` is the proposed action, `full_body` the same with all of its context, where there is more. `server_notes` is
    third-party text about it. With `must_be_viewed` the whole body must have been on screen before a yes counts.
    """

    heading: str
    facts: tuple[Fact, ...]
    body: tuple[DisplayLine, ...]
    prompt: str
    full_body: tuple[DisplayLine, ...] = ()
    server_notes: tuple[DisplayLine, ...] = ()
    must_be_viewed: bool = True


def build_approval_view(question: ApprovalRequest, confirmation: ChoiceSubject) -> ApprovalView:
    """Build the view of a request for this confirmation."""
    facts = (*_warnings(question, confirmation), *_context_facts(question, confirmation))
    match confirmation:
        case EditConfirmation():
            heading, body, prompt = _edit_heading(confirmation), diff_lines(confirmation), _("Apply this change?")
            full_body = tuple(full_file_lines(confirmation))
            return ApprovalView(heading, facts, tuple(body), prompt, full_body=full_body, must_be_viewed=False)
        case ExecConfirmation():
            heading, prompt = _command_heading(confirmation), _command_prompt(confirmation)
            return ApprovalView(heading, facts, tuple(command_lines(confirmation.command)), prompt)
        case TrialConfirmation():
            heading, prompt = trial_heading(confirmation), trial_prompt(confirmation)
            return ApprovalView(heading, facts, tuple(trial_lines(confirmation)), prompt)
        case McpConfirmation():
            tool, server = escape_line(confirmation.tool_name), escape_line(confirmation.server_name)
            heading = _('Call the tool "{tool}" of the server "{server}"', tool=tool, server=server)
            prompt = _('Allow execution of MCP tool "{tool}" from server "{server}"?', tool=tool, server=server)
            body, notes = _argument_lines(confirmation), _server_notes(confirmation)
            return ApprovalView(heading, facts, tuple(body), prompt, server_notes=tuple(notes))
        case InfoConfirmation():
            heading, prompt = _info_heading(confirmation), _("Do you want to proceed?")
            return ApprovalView(heading, facts, tuple(_info_lines(confirmation)), prompt)
        case ModelChangeConfirmation(_, before, after, reason):
            heading = _("{model} is not available", model=escape_line(before))
            prompt = _("Switch to {model} for this session?", model=escape_line(after))
            return ApprovalView(heading, facts, tuple(quote_lines(reason)), prompt)
        case _:
            assert_never(confirmation)


def risk_label(risk: Risk) -> str:
    return translate(_RISK_LABELS[risk])


_RISK_LABELS = {
    Risk.DELETES: lazy("it deletes or overwrites"),
    Risk.RUNS_DOWNLOAD: lazy("it runs what it downloads, unseen"),
    Risk.OUTSIDE_ROOTS: lazy("it goes outside this project"),
    Risk.ELEVATED: lazy("it takes more rights than you have"),
    Risk.CONTROL_FILE: lazy("it changes what other programs run"),
    Risk.HIDES_CODE: lazy("it may run code that cannot be seen here"),
    Risk.REWRITES_HISTORY: lazy("it rewrites or discards history"),
    Risk.USES_NETWORK: lazy("it uses the network"),
    Risk.NO_UNDO: lazy("it can't be undone"),
}


def _edit_heading(change: EditConfirmation) -> str:
    path, counts = escape_line(change.file_path), count_changed_lines(change)
    if counts is None:
        return _("Create {path}", path=path) if is_new_file(change) else _("Edit {path}", path=path)
    added, removed = counts
    if is_new_file(change):
        return _("Create {path} (+{added})", path=path, added=added)
    return _("Edit {path} (+{added} -{removed})", path=path, added=added, removed=removed)


def _info_heading(confirmation: InfoConfirmation) -> str:
    if not confirmation.urls:
        return escape_line(confirmation.title)
    count = len(confirmation.urls)
    return ngettext("Fetch {count} address from the web", "Fetch {count} addresses from the web", count)


def _command_heading(confirmation: ExecConfirmation) -> str:
    if not confirmation.directory:
        return _("Run a shell command")
    return _("Run a shell command in {path}", path=escape_line(confirmation.directory))


def _command_prompt(confirmation: ExecConfirmation) -> str:
    if not confirmation.root_commands:
        return _("Allow execution?")
    return _("Allow execution of: '{programs}'?", programs=escape_line(confirmation.root_command))


def _warnings(question: ApprovalRequest, confirmation: ChoiceSubject) -> Iterator[Fact]:
    if question.risks:
        risks = "; ".join(risk_label(risk) for risk in question.risks)
        yield Fact(FactKind.WARNING, _("Risk: {risks}", risks=risks))
    for warning in confusable_warnings(_texts_to_check(confirmation)):  # before facts that may fill pages
        yield Fact(FactKind.WARNING, warning)
    if isinstance(confirmation, ExecConfirmation) and (warning := bidi_warning(confirmation.command)):
        yield Fact(FactKind.WARNING, warning)
    if isinstance(confirmation, TrialConfirmation):
        for obstacle in confirmation.obstacles:
            yield Fact(FactKind.WARNING, _("It cannot be kept: {why}", why=escape_line(obstacle)))
        yield Fact(FactKind.NOTE, trial_exit_label(confirmation))
    if question.note:
        yield Fact(FactKind.NOTE, escape_line(question.note))
    if question.reason:
        yield Fact(FactKind.PLAIN, _("Reason: {reason}", reason=escape_line(translate(question.reason))))


def _context_facts(question: ApprovalRequest, confirmation: ChoiceSubject) -> Iterator[Fact]:
    yield Fact(FactKind.PLAIN, _("Asked by: {who}", who=_requester_label(question)))
    if isinstance(confirmation, ExecConfirmation):
        yield from _command_facts(confirmation)
    elif isinstance(confirmation, TrialConfirmation):
        yield Fact(FactKind.PLAIN, _("Folder: {path}", path=escape_line(confirmation.directory)))
    elif question.directory:
        yield Fact(FactKind.PLAIN, _("Folder: {path}", path=escape_line(question.directory)))
    if isinstance(confirmation, McpConfirmation) and confirmation.tool_display_name != confirmation.tool_name:
        yield Fact(FactKind.PLAIN, _("Shown as: {name}", name=escape_line(confirmation.tool_display_name)))


def _command_facts(confirmation: ExecConfirmation) -> Iterator[Fact]:
    for note in confirmation.notes:
        yield Fact(FactKind.NOTE, _("Note: {note}", note=escape_line(note)))
    if confirmation.description:
        yield Fact(FactKind.PLAIN, _("The model says: {words}", words=escape_line(confirmation.description)))
    if len(confirmation.root_command) > _MAX_PROMPT_CHARS:
        yield Fact(FactKind.PLAIN, _("Programs: {names}", names=escape_line(confirmation.root_command)))


def _requester_label(question: ApprovalRequest) -> str:
    tool, name = escape_line(question.tool_name), escape_line(question.origin.name)
    match question.origin.kind:
        case ToolOriginKind.BUILT_IN:
            return _("{tool}, a built-in tool", tool=tool)
        case ToolOriginKind.DISCOVERED:
            return _("{tool}, a tool that a command told of ({name})", tool=tool, name=name)
        case ToolOriginKind.SERVER:
            return _('{tool}, a tool of the server "{name}"', tool=tool, name=name)
        case ToolOriginKind.PLUGIN:
            return _("{tool}, a tool of added code ({name})", tool=tool, name=name or _("given by the caller"))
        case _:
            assert_never(question.origin.kind)


def _server_notes(confirmation: McpConfirmation) -> Iterator[DisplayLine]:
    if confirmation.tool_description:
        yield DisplayLine(DisplayLineKind.LABEL, _("The server says about it:"))
        yield from quote_lines(confirmation.tool_description)
    if confirmation.tool_parameter_schema and confirmation.tool_parameter_schema.get("properties"):
        yield DisplayLine(DisplayLineKind.LABEL, _("Its parameters:"))
        yield from quote_lines(dump_json(confirmation.tool_parameter_schema, indent=1))


def _argument_lines(confirmation: McpConfirmation) -> Iterator[DisplayLine]:
    yield DisplayLine(DisplayLineKind.LABEL, _("Arguments:") if confirmation.tool_args else _("Arguments: none"))
    if confirmation.tool_args:
        yield from quote_lines(dump_json(confirmation.tool_args, indent=2))


def _info_lines(confirmation: InfoConfirmation) -> Iterator[DisplayLine]:
    yield from quote_lines(confirmation.prompt)
    if confirmation.urls and confirmation.urls != (confirmation.prompt,):
        yield DisplayLine(DisplayLineKind.LABEL, _("URLs to fetch:"))
        yield from (DisplayLine(DisplayLineKind.QUOTED, escape_line(url)) for url in confirmation.urls)


def _texts_to_check(confirmation: ChoiceSubject) -> Iterable[str]:
    """Return the texts in which confusable letters matter."""
    match confirmation:
        case EditConfirmation():
            return [confirmation.file_path, *(line for line in confirmation.file_diff.split("\n") if line[:1] == "+")]
        case ExecConfirmation():
            return [confirmation.command, confirmation.directory, *confirmation.notes]
        case TrialConfirmation():
            paths = (change.path for change in confirmation.changes)
            added = (line for line in confirmation.diff.split("\n") if line[:1] == "+")
            return [confirmation.command, *paths, *added]
        case McpConfirmation():
            return [confirmation.server_name, confirmation.tool_name, dump_json(confirmation.tool_args)]
        case InfoConfirmation():
            return [confirmation.prompt, *confirmation.urls]
        case ModelChangeConfirmation():
            return [confirmation.after]
        case _:
            assert_never(confirmation)
