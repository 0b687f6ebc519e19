"""Approval requests and other questions to the user as HTML, with the text of the terminal and without buttons."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ChoiceSubject,
    ElicitationConfirmation,
    Outcome,
)
from tejat.core.approval.elicitation import parse_form_fields
from tejat.core.approval.user_question import answers_by_position
from tejat.core.i18n import _, translate
from tejat.ui.html.code import highlight_code
from tejat.ui.html.diff import MAX_DIFF_ROWS, render_diff_rows
from tejat.ui.html.markdown import MAX_MARKDOWN_CHARS, render_markdown
from tejat.ui.html.markup import disclosure, element, escape_text, scroll_box
from tejat.ui.shared.approval.choices import approval_choices, rule_labels
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind, escape_line
from tejat.ui.shared.approval.question_title import question_title
from tejat.ui.shared.approval.user_questions import offered_answers, preview_lines, questions_heading
from tejat.ui.shared.approval.view import ApprovalView, Fact, FactKind, build_approval_view
from tejat.ui.shared.elicitation import answers_preview, elicitation_heading, find_problem, requested_fields_label

_MAX_ACTION_CHARS = 256 * 1024
"""Longest part of an action that is shown."""
# What a renderer of Markdown shows less of than there is: definitions, titles of links, words after the language of
# code, surplus cells of tables, and very deep nesting.
_HIDDEN_BY_MARKDOWN = r"^\s{0,3}\[[^\]]*\]:|\]\([^)]*\s|^\s*(?:```|~~~)\s*\S+\s+\S|\||^(?:\s*(?:>|[-+*]|\d+[.)])){20}"


def render_question(request: ApprovalRequest) -> str:
    """Render everything the user needs to decide, without the choices.

    The attribute `data-must-be-viewed` marks an action that must have been on screen whole before a yes counts.
    """
    match request.confirmation:
        case ElicitationConfirmation():
            return _elicitation(request.confirmation)
        case AskUserConfirmation():
            return _user_questions(request.confirmation)
        case confirmation:
            return _approval(request, confirmation)


def render_answered_question(request: ApprovalRequest, reply: ApprovalReply | None) -> str:
    """Render a question folded below how it was answered."""
    title = f"{escape_text(question_title(request))}: <strong>{escape_text(reply_label(request, reply))}</strong>"
    return disclosure(title, render_question(request), class_="answered")


def reply_label(request: ApprovalRequest, reply: ApprovalReply | None) -> str:
    """Return how a question was answered as sanitized text, in the words of the choice."""
    if reply is None:
        return _("Not answered")
    match request.confirmation:
        case ElicitationConfirmation():
            return _("Declined") if reply.answers is None else answers_preview(reply.answers)
        case AskUserConfirmation(questions=questions):
            if reply.answers is None:
                return _("Dismissed")
            given = answers_by_position(reply.answers, questions)
            answers = [given.get(str(place), "") for place in range(len(questions))]
            return "; ".join(preview_lines(questions, answers, "→"))
        case _:
            label = _chosen_label(request, reply)
            return f"{label}: {escape_line(reply.feedback)}" if reply.feedback else label


def _chosen_label(request: ApprovalRequest, reply: ApprovalReply) -> str:
    if reply.outcome is Outcome.MODIFY_WITH_EDITOR:
        return _("Edit in your editor")
    if reply.feedback:
        return _("No, and say what to do instead")
    offered = [choice for choice in approval_choices(request) if isinstance(choice.outcome, ApprovalReply)]
    for choice in offered:
        if choice.outcome == ApprovalReply(reply.outcome, scope=reply.scope):
            return choice.label
    same = (choice.label for choice in offered if _outcome(choice.outcome) is reply.outcome)
    return next(same, reply.outcome.value)


def _outcome(chosen: object) -> Outcome | None:
    return chosen.outcome if isinstance(chosen, ApprovalReply) else None


def _approval(request: ApprovalRequest, confirmation: ChoiceSubject) -> str:
    view = build_approval_view(request, confirmation)
    content = "".join(
        (
            _heading(view),
            f'<p class="path">{escape_text(_("File: {path}", path=view.file_path))}</p>' if view.file_path else "",
            _facts(view),
            _body(view),
            render_diff_rows(view.diff, file_name=view.file_path),
            *_line_blocks(view.server_notes),
            f'<p class="question-prompt">{escape_text(view.prompt)}</p>',
            _rules(request),
        )
    )
    return element("div", content, class_="ask", data_must_be_viewed="true" if view.must_be_viewed else "")


def _heading(view: ApprovalView) -> str:
    counts = "".join(
        f' <span class="{"added" if count.startswith("+") else "removed"}">{escape_text(count)}</span>'
        for count in view.counts
    )
    position = f' <span class="position">{escape_text(view.position)}</span>' if view.position else ""
    return f"<h3>{escape_text(view.heading)}{counts}{position}</h3>"


def _facts(view: ApprovalView) -> str:
    facts = list(view.facts)
    if sum(len(line.text) for line in view.body) > _MAX_ACTION_CHARS or len(view.diff) > MAX_DIFF_ROWS:
        warning = _("Part of this is not shown. Approve it only if you know all of it.")
        facts.insert(0, Fact(FactKind.WARNING, warning))
    shown = "".join(f'<li class="fact-{fact.kind.value}">{_sign(fact)}{escape_text(fact.text)}</li>' for fact in facts)
    return f'<ul class="question-facts">{shown}</ul>' if shown else ""


def _sign(fact: Fact) -> str:
    return '<span class="sign" aria-hidden="true">▲</span> ' if fact.kind is FactKind.WARNING else ""


def _body(view: ApprovalView) -> str:
    if not view.is_markdown:
        return "".join(_line_blocks(view.body))
    text = "\n".join(line.text for line in view.body)
    if len(text) > MAX_MARKDOWN_CHARS or re.search(_HIDDEN_BY_MARKDOWN, text, re.MULTILINE):
        return "".join(_line_blocks(view.body))
    return f'<div class="md quoted">{render_markdown(text)}</div>'


def _line_blocks(lines: Iterable[DisplayLine]) -> Iterator[str]:
    """Yield labels as text, and everything else with its prefixes in a box, which cannot be mistaken for a label."""
    left = _MAX_ACTION_CHARS
    for kind, run in groupby(lines, lambda line: _line_kind(line.kind)):
        shown = "\n".join(f"{line.prefix}{line.text}" for line in run)[: max(left, 0)]
        left -= len(shown)
        match kind:
            case "label":
                yield f'<p class="label">{escape_text(shown)}</p>'
            case "command":
                content = f"<code>{highlight_code(shown, 'bash')}</code>"
                yield scroll_box("pre", content, class_="command", label=_("Command"))
            case _:
                yield f'<pre class="quoted">{escape_text(shown)}</pre>'


def _line_kind(kind: DisplayLineKind) -> str:
    if kind is DisplayLineKind.LABEL:
        return "label"
    return "quoted" if kind is DisplayLineKind.QUOTED else "command"


def _rules(request: ApprovalRequest) -> str:
    """Return the rules that choices would add, with the letters of these choices, or why there are none."""
    labels = rule_labels(approval_choices(request))
    if not labels and request.always_refusal:
        labels = [escape_line(translate(request.always_refusal))]
    shown = "".join(f"<li>{escape_text(label)}</li>" for label in labels)
    return f'<ul class="rules">{shown}</ul>' if shown else ""


def _elicitation(elicitation: ElicitationConfirmation) -> str:
    content = f"<h3>{escape_text(elicitation_heading(elicitation))}</h3>"
    content += f'<pre class="quoted">{escape_text(elicitation.message)}</pre>'
    if (problem := find_problem(elicitation)) is not None:
        content += f'<p class="fact-warning">{escape_text(problem)}</p>'
    elif elicitation.url is not None:
        content += f'<pre class="quoted">{escape_text(elicitation.url)}</pre>'
    else:
        fields = parse_form_fields(elicitation.fields or {})
        content += f"<p>{escape_text(requested_fields_label(fields))}</p>"
    return f'<div class="ask">{content}</div>'


def _user_questions(asked: AskUserConfirmation) -> str:
    content = f"<h3>{escape_text(questions_heading())}</h3>"
    for question in asked.questions:
        content += f'<p class="label">{escape_text(question.short_header)}</p>'
        content += f'<pre class="quoted">{escape_text(question.question)}</pre>'
        answers = "".join(_answer(label, description) for label, description in offered_answers(question))
        content += f'<ul class="answers">{answers}</ul>' if answers else ""
    return f'<div class="ask">{content}</div>'


def _answer(label: str, description: str) -> str:
    detail = f' <span class="description">{escape_text(description)}</span>' if description else ""
    return f"<li>{escape_text(label)}{detail}</li>"
