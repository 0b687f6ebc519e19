"""Everything a user needs to decide about an approval request, as content of a tool call."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tejat.core.approval.confirmation import (
    ApprovalRequest,
    ChoiceSubject,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    ModelChangeConfirmation,
    PlanConfirmation,
    TrialConfirmation,
)
from tejat.core.i18n import _, translate
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.acp.permissions.dialogs import DialogSubject
from tejat.ui.acp.permissions.options import cut_rules
from tejat.ui.acp.report_markdown import escape_markdown
from tejat.ui.acp.updates.content_blocks import change_content, code_content, keep_head, text_content
from tejat.ui.shared.approval.choices import ApprovalChoice
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind, escape_line
from tejat.ui.shared.approval.view import ApprovalView, FactKind, build_approval_view

MAX_ACTION_CHARS = 256 * 1024
"""Longest part of an action that is shown."""

_COMMANDS = (DisplayLineKind.COMMAND, DisplayLineKind.COMMAND_CONTINUATION)
# Comments, markup, links, images and references: renderers show less of these than there is.
_HIDDEN_BY_RENDERERS = r"[<&]|\]\(|\]\[|^\s{0,3}\[[^\]]*\]:"


def request_subject(
    request: ApprovalRequest, confirmation: ChoiceSubject, choices: Sequence[ApprovalChoice]
) -> DialogSubject:
    """The facts first, then the whole action, then what a server says about it and what an "always" would save."""
    view = build_approval_view(request, confirmation)
    content = (
        text_content(_summary(view, is_cut=_is_cut(view, confirmation))),
        *_body(view),
        *_change(view, confirmation),
        *_line_blocks(view.server_notes),
        *_rule_notes(request, choices),
    )
    return DialogSubject(_title(view, request), _kind(confirmation), content, _locations(confirmation))


def _title(view: ApprovalView, request: ApprovalRequest) -> str:
    title = " ".join((view.heading, *view.counts))
    return f"{escape_line(request.agent)}: {title}" if request.agent else title


def _kind(confirmation: ChoiceSubject) -> str:
    match confirmation:
        case EditConfirmation():
            return "edit"
        case ExecConfirmation() | TrialConfirmation():
            return "execute"
        case PlanConfirmation() | ModelChangeConfirmation():
            return "switch_mode"
        case InfoConfirmation(urls=urls) if urls:
            return "fetch"
        case _:
            return "other"


def _locations(confirmation: ChoiceSubject) -> tuple[JsonValue, ...]:
    is_about_file = isinstance(confirmation, EditConfirmation | PlanConfirmation)
    return ({"path": confirmation.file_path},) if is_about_file else ()


def _summary(view: ApprovalView, *, is_cut: bool) -> str:
    heading = " ".join((view.heading, *view.counts))
    lines = [f"**{escape_markdown(heading)}**"]
    if view.position:
        lines[0] += f" ({escape_markdown(view.position)})"
    if view.file_path:
        lines.append(escape_markdown(_("File: {path}", path=view.file_path)))
    if is_cut:
        warning = _("Part of this is not shown. Approve it only if you know all of it.")
        lines.append(f"**{warning}**")
    for fact in view.facts:
        text = escape_markdown(fact.text)
        lines.append(f"**{text}**" if fact.kind is FactKind.WARNING else text)
    lines.append(escape_markdown(view.prompt))
    return "\n\n".join(lines)


def _body(view: ApprovalView) -> Iterator[JsonObject]:
    if not view.is_markdown:
        yield from _line_blocks(view.body)
        return
    text = "\n".join(line.text for line in view.body)
    if re.search(_HIDDEN_BY_RENDERERS, text, re.MULTILINE) or len(text) > MAX_ACTION_CHARS:
        yield code_content(keep_head(text, MAX_ACTION_CHARS), "markdown")
    else:
        yield text_content(text)


def _change(view: ApprovalView, confirmation: ChoiceSubject) -> Iterator[JsonObject]:
    match confirmation:
        case EditConfirmation(_, _, path, diff, before, after) if view.diff:
            yield change_content(path, diff, before, after, limit=MAX_ACTION_CHARS)
        case TrialConfirmation(diff=diff) if diff:
            yield code_content(keep_head(diff, MAX_ACTION_CHARS), "diff")
        case _:
            pass


def _is_cut(view: ApprovalView, confirmation: ChoiceSubject) -> bool:
    texts = [text for _group, text in _runs(view.body)]
    match confirmation:
        case EditConfirmation(new_content=None, file_diff=diff) | TrialConfirmation(diff=diff):
            texts.append(diff)
        case _:
            pass
    return any(len(text) > MAX_ACTION_CHARS for text in texts)


def _line_blocks(lines: Iterable[DisplayLine]) -> Iterator[JsonObject]:
    """Labels as text, and everything else as code, which cannot be mistaken for a label."""
    for (is_label, is_command), text in _runs(lines):
        if is_label:
            yield text_content(escape_markdown(text))
        else:
            yield code_content(keep_head(text, MAX_ACTION_CHARS), "sh" if is_command else "")


def _runs(lines: Iterable[DisplayLine]) -> Iterator[tuple[tuple[bool, bool], str]]:
    """The texts of neighbouring lines, and whether they are labels or commands."""
    for group, run in groupby(lines, lambda line: (line.kind is DisplayLineKind.LABEL, line.kind in _COMMANDS)):
        yield group, "\n".join(line.text for line in run)


def _rule_notes(request: ApprovalRequest, choices: Sequence[ApprovalChoice]) -> Iterator[JsonObject]:
    """Rules that are too long for an option, and why there is none."""
    for rule in cut_rules(choices):
        yield text_content(_("The whole rule:"))
        yield code_content(keep_head(rule, MAX_ACTION_CHARS))
    if request.always_refusal and not any(choice.rule for choice in choices):
        yield text_content(escape_markdown(escape_line(translate(request.always_refusal))))
