"""Approval requests as view models: the action, its risks, and everything out of the ordinary."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from tejat.core.approval.confirmation import (
    ApprovalRequest,
    ChoiceSubject,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    PlanConfirmation,
    Risk,
    TrialConfirmation,
)
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.core.provenance import ToolSource
from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.approval.confusables import bidi_warning, confusable_warnings
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind, command_lines, escape_line, quote_lines
from tejat.ui.shared.approval.edit_title import edit_counts, edit_heading, unchanged_note
from tejat.ui.shared.approval.trial import trial_exit_label, trial_heading, trial_lines, trial_prompt
from tejat.ui.shared.diff.rows import DiffRow, build_diff_rows, strip_blank_context
from tejat.ui.shared.labels.text_summary import summarize_line
from tejat.ui.shared.path_labels import shorten_path

_MAX_TASK_CHARS = 120
_LONG_COMMAND = 100
"""Characters from which the programs of a command are listed apart."""


class FactKind(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    PLAIN = "plain"


class Fact(Frozen):
    """One sanitized line about the call. Facts are ordered by importance."""

    kind: FactKind
    text: str


class ApprovalView(Frozen):
    """Everything the user needs to decide, as sanitized lines of any length.

    The proposed action is `body`, then `diff`. `server_notes` is third-party text about it. With `must_be_viewed` the
    whole action must have been on screen before a yes counts. `counts` belong to the heading: `+2`, `-1`. `position` is
    the place among several questions. `file_path` is the full path of a changed file or a plan. With `is_markdown` the
    body is Markdown, which a front end may render if it hides nothing of it.
    """

    heading: str
    facts: tuple[Fact, ...]
    prompt: str
    body: tuple[DisplayLine, ...] = ()
    diff: tuple[DiffRow, ...] = ()
    server_notes: tuple[DisplayLine, ...] = ()
    must_be_viewed: bool = True
    counts: tuple[str, ...] = ()
    position: str = ""
    file_path: str = ""
    is_markdown: bool = False


def build_approval_view(question: ApprovalRequest, confirmation: ChoiceSubject) -> ApprovalView:
    """Build the view of a request for this confirmation."""
    facts = (
        *_agent_facts(question),
        *_warnings(question, confirmation),
        *_context_facts(question, confirmation),
    )
    view = _build_view(question, confirmation, facts)
    if question.total < 2:
        return view
    return replace(view, position=_("{place} of {total}", place=question.place, total=question.total))


def _build_view(question: ApprovalRequest, confirmation: ChoiceSubject, facts: tuple[Fact, ...]) -> ApprovalView:
    match confirmation:
        case EditConfirmation():
            heading, path = edit_heading(confirmation, folder=question.directory), escape_line(confirmation.file_path)
            prompt = _("Apply this change?")
            if note := unchanged_note(confirmation):
                body = (DisplayLine(DisplayLineKind.LABEL, note),)
                return ApprovalView(heading, facts, prompt, body, file_path=path)
            rows, counts = build_diff_rows(confirmation.file_diff, with_files=False), edit_counts(confirmation)
            diff = strip_blank_context(rows)
            return ApprovalView(heading, facts, prompt, diff=diff, must_be_viewed=False, counts=counts, file_path=path)
        case ExecConfirmation():
            heading, body = _command_heading(confirmation, question.directory), command_lines(confirmation.command)
            return ApprovalView(heading, facts, _("Run this command?"), tuple(body))
        case TrialConfirmation():
            body, diff = tuple(trial_lines(confirmation, folder=question.directory)), build_diff_rows(confirmation.diff)
            return ApprovalView(trial_heading(confirmation), facts, trial_prompt(confirmation), body, diff)
        case McpConfirmation():
            tool, server = escape_line(confirmation.tool_name), escape_line(confirmation.server_name)
            heading = _("Call {tool} on server {server}", tool=tool, server=server)
            body, notes = _argument_lines(confirmation), _server_notes(confirmation)
            return ApprovalView(heading, facts, _("Call this tool?"), tuple(body), server_notes=tuple(notes))
        case InfoConfirmation():
            heading, prompt = _info_texts(confirmation)
            return ApprovalView(heading, facts, prompt, tuple(_info_lines(confirmation)))
        case PlanConfirmation():
            path, prompt = escape_line(confirmation.file_path), _("Carry out this plan?")
            heading = _("Plan: {name}", name=path.rpartition("/")[2])
            body = tuple(quote_lines(confirmation.text.strip("\n")))
            return ApprovalView(heading, facts, prompt, body, is_markdown=True, file_path=path)
        case ModelChangeConfirmation(_, before, after, reason):
            heading = _("{model} is not available", model=escape_line(before))
            prompt = _("Switch to {model} for this session?", model=escape_line(after))
            return ApprovalView(heading, facts, prompt, tuple(quote_lines(reason)))
        case _:
            assert_never(confirmation)


def risk_label(risk: Risk) -> str:
    return translate(_RISK_LABELS[risk])


_RISK_LABELS = {
    Risk.DELETES: lazy("deletes or overwrites files"),
    Risk.RUNS_DOWNLOAD: lazy("runs code that it downloads"),
    Risk.OUTSIDE_ROOTS: lazy("reaches outside this project"),
    Risk.ELEVATED: lazy("runs with elevated privileges"),
    Risk.CONTROL_FILE: lazy("changes files that other programs execute"),
    Risk.HIDES_CODE: lazy("may run code that is not shown here"),
    Risk.REWRITES_HISTORY: lazy("rewrites or discards Git history"),
    Risk.USES_NETWORK: lazy("uses the network"),
    Risk.NO_UNDO: lazy("cannot be undone"),
    Risk.CHANGED_SCRIPT: lazy("runs a script that changed since its skill was activated"),
}


def _info_texts(confirmation: InfoConfirmation) -> tuple[str, str]:
    """Return heading and prompt."""
    if not confirmation.urls:
        return escape_line(confirmation.title), _("Continue?")
    count = len(confirmation.urls)
    heading = ngettext("Fetch {count} web page", "Fetch {count} web pages", count)
    return heading, ngettext("Fetch this page?", "Fetch these pages?", count)


def _command_heading(confirmation: ExecConfirmation, session_folder: str) -> str:
    """Name the folder only if it is not the one of the session."""
    if not confirmation.directory or confirmation.directory == session_folder:
        return _("Run a command")
    folder = shorten_path(confirmation.directory, folder=session_folder)
    return _("Run a command in {path}", path=escape_line(folder))


def _agent_facts(question: ApprovalRequest) -> Iterator[Fact]:
    """Which sub-agent asks, and for what task."""
    if question.agent:
        task = summarize_line(question.agent_task, limit=_MAX_TASK_CHARS)
        agent = escape_line(question.agent)
        text = _("Asked by the agent {agent}: {task}", agent=agent, task=task)
        yield Fact(FactKind.PLAIN, text if task else _("Asked by the agent {agent}", agent=agent))


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
            yield Fact(FactKind.WARNING, _("Cannot be kept: {reason}", reason=escape_line(obstacle)))
        if not confirmation.agent:
            yield Fact(FactKind.NOTE, trial_exit_label(confirmation))
    note = confirmation.note if isinstance(confirmation, PlanConfirmation) else question.note
    if note:
        yield Fact(FactKind.NOTE, escape_line(note))
    if question.reason:
        yield Fact(FactKind.PLAIN, _("Reason: {reason}", reason=escape_line(translate(question.reason))))


def _context_facts(question: ApprovalRequest, confirmation: ChoiceSubject) -> Iterator[Fact]:
    """Yield what is out of the ordinary: a tool that is not built in, another folder, what a command does not show."""
    if not isinstance(confirmation, McpConfirmation) and (origin := _origin_label(question)):
        yield Fact(FactKind.PLAIN, origin)
    if isinstance(confirmation, ExecConfirmation):
        yield from _command_facts(confirmation)
    elif isinstance(confirmation, TrialConfirmation) and confirmation.directory != question.directory:
        folder = shorten_path(confirmation.directory, folder=question.directory)
        yield Fact(FactKind.PLAIN, _("Folder: {path}", path=escape_line(folder)))
    elif isinstance(confirmation, McpConfirmation) and confirmation.tool_display_name != confirmation.tool_name:
        yield Fact(FactKind.PLAIN, _("Display name: {name}", name=escape_line(confirmation.tool_display_name)))


def _command_facts(confirmation: ExecConfirmation) -> Iterator[Fact]:
    for note in confirmation.notes:
        yield Fact(FactKind.NOTE, escape_line(note))
    if confirmation.description:
        yield Fact(FactKind.PLAIN, _("The model says: {words}", words=escape_line(confirmation.description)))
    is_long = "\n" in confirmation.command or len(confirmation.command) > _LONG_COMMAND
    if is_long and len(confirmation.root_commands) > 1:
        yield Fact(FactKind.PLAIN, _("Programs: {names}", names=escape_line(confirmation.root_command)))


def _origin_label(question: ApprovalRequest) -> str:
    """Return the tool and where it comes from, empty for a built-in tool."""
    tool, name = escape_line(question.tool_name), escape_line(question.origin.name)
    match question.origin.kind:
        case ToolSource.BUILT_IN:
            return ""
        case ToolSource.DISCOVERED:
            return _("Tool: {tool}, from the discovery command {name}", tool=tool, name=name)
        case ToolSource.MCP:
            return _("Tool: {tool}, from the MCP server {name}", tool=tool, name=name)
        case ToolSource.PYTHON:
            if not name:
                return _("Tool: {tool}, from the calling program", tool=tool)
            return _("Tool: {tool}, from the plug-in {name}", tool=tool, name=name)
        case _:
            assert_never(question.origin.kind)


def _server_notes(confirmation: McpConfirmation) -> Iterator[DisplayLine]:
    if confirmation.tool_description:
        yield DisplayLine(DisplayLineKind.LABEL, _("Description from the server:"))
        yield from quote_lines(confirmation.tool_description)
    if confirmation.tool_parameter_schema and confirmation.tool_parameter_schema.get("properties"):
        yield DisplayLine(DisplayLineKind.LABEL, _("Parameters:"))
        yield from quote_lines(dump_json(confirmation.tool_parameter_schema, indent=1))


def _argument_lines(confirmation: McpConfirmation) -> Iterator[DisplayLine]:
    yield DisplayLine(DisplayLineKind.LABEL, _("Arguments:") if confirmation.tool_args else _("No arguments"))
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
        case PlanConfirmation():
            return [confirmation.text]
        case ModelChangeConfirmation():
            return [confirmation.after]
        case _:
            assert_never(confirmation)
