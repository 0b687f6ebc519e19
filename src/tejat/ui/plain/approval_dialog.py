"""The approval dialog in plain lines."""

import os
import sys
from collections.abc import Iterator, Sequence

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ChoiceSubject,
    EditConfirmation,
    ElicitationConfirmation,
    Outcome,
    PlanConfirmation,
    TrialConfirmation,
)
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext, translate
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.ask_user import ask_user
from tejat.ui.plain.elicitation import ask_elicitation
from tejat.ui.plain.line_input import read_line
from tejat.ui.plain.question_view import DEFAULT_WIDTH, MIN_WIDTH, question_lines, wrap_line
from tejat.ui.plain.style import Style
from tejat.ui.shared.approval.choices import ApprovalChoice, ChoiceAction, approval_choices, rule_labels
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.shared.approval.edit_title import unchanged_note
from tejat.ui.shared.approval.trial import change_list
from tejat.ui.shared.approval.view import ApprovalView, build_approval_view
from tejat.ui.shared.external.editor import ExternalEditor

PAGE_LINES = 100
"""Lines shown at once, except for content that must be viewed whole."""

_MORE = "m"


class PlainApprovalDialog:
    """Asks on standard error in plain lines. Raises OSError when the terminal is gone."""

    def __init__(self, style: Style, editor: ExternalEditor) -> None:
        self._style = style
        self._editor = editor

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Ask until there is a reply. The end of the input stops the turn."""
        confirmation = question.confirmation
        if isinstance(confirmation, ElicitationConfirmation):
            return await ask_elicitation(confirmation, self._style, width=_columns())
        if isinstance(confirmation, AskUserConfirmation):
            return await ask_user(confirmation, self._style, width=_columns())
        while True:
            answer = await self._ask_once(question, confirmation)
            if answer is not None:
                return answer

    async def _ask_once(self, question: ApprovalRequest, confirmation: ChoiceSubject) -> ApprovalReply | None:
        """Return the reply, None after an edit that changed nothing."""
        width = _columns()
        view = build_approval_view(question, confirmation)
        lines = question_lines(view, self._style, width=width)
        shown = len(lines) if view.must_be_viewed else PAGE_LINES
        _print(*lines[:shown])
        choices = approval_choices(question)
        notes = rule_labels(choices) or [escape_line(translate(question.always_refusal))]
        while True:
            left = max(0, len(lines) - shown)
            prompt = map(self._style.bold, wrap_line(view.prompt, width=width))
            note_lines = (line for note in filter(None, notes) for line in wrap_line(note, width=width))
            _print("", *prompt, *note_lines, *_choice_lines(choices, left, width))
            choice = await self._read_choice(choices, has_more=bool(left))
            match choice:
                case None:
                    return ApprovalReply(Outcome.STOP)
                case ApprovalChoice(outcome=ChoiceAction.MODIFY):
                    return await self._edit(confirmation)
                case ApprovalChoice(outcome=ChoiceAction.GIVE_FEEDBACK):
                    feedback = await read_line(_("What should the model do instead? "))
                    if not feedback:
                        return ApprovalReply(Outcome.STOP)
                    return ApprovalReply(Outcome.CANCEL, feedback=feedback.strip() or None)
                case ApprovalChoice(outcome=ApprovalReply() as answer):
                    unread = _unread_message(confirmation, view, left) if choice.approves else ""
                    if not unread or await _confirm_unread(choice, unread):
                        return answer
                case _:
                    _print(*lines[shown : shown + PAGE_LINES])
                    shown += PAGE_LINES

    async def _read_choice(self, choices: Sequence[ApprovalChoice], *, has_more: bool) -> ApprovalChoice | str | None:
        """Return the choice, `_MORE` for more lines, None at the end of the input."""
        letters = "/".join([*(choice.letter for choice in choices), *([_MORE] if has_more else [])])
        most = len(choices) + has_more
        while True:
            line = await read_line(_("Your answer ({letters}): ", letters=letters))
            if not line:
                _print("")
                return None
            typed = line.strip().lower()
            for number, choice in enumerate(choices, 1):
                if typed in (choice.letter, choice.keyword, str(number)):
                    return choice
            if has_more and typed in (_MORE, "more", str(most)):
                return _MORE
            _print(_("Type one of the letters {letters}, or a number from 1 to {most}.", letters=letters, most=most))

    async def _edit(self, confirmation: ChoiceSubject) -> ApprovalReply | None:
        if isinstance(confirmation, PlanConfirmation):
            text, edited = confirmation.text, self._editor.edit_text(confirmation.text, suffix=".md")
        elif isinstance(confirmation, TrialConfirmation):
            text = change_list(confirmation)
            edited = self._editor.edit_text(text, suffix=".txt")
        elif isinstance(confirmation, EditConfirmation) and confirmation.new_content is not None:
            old, text = confirmation.original_content or "", confirmation.new_content
            edited = self._editor.edit_diff(confirmation.file_name, old=old, new=text)
        else:
            _print(_("This change is too large to edit."), "")
            return None
        _print(_("Opening the editor. Save and close it to continue."))
        try:
            content = await edited
        except UsageError as error:
            _print(sanitize_text(translate(error)), "")
            return None
        if content == text:
            _print(_("No changes made."), "")
            return None
        return ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content=content)


def _unread_message(confirmation: ChoiceSubject, view: ApprovalView, left: int) -> str:
    """Return how much of a change was not shown, empty if all of it was."""
    if left:
        return ngettext("{count} line was not shown.", "{count} lines were not shown.", left)
    if not isinstance(confirmation, EditConfirmation) or any(row.is_change for row in view.diff):
        return ""
    return "" if unchanged_note(confirmation) else _("The changed lines were not shown.")


async def _confirm_unread(choice: ApprovalChoice, unread: str) -> bool:
    """Ask again before a change is approved that was not shown in full."""
    _print(unread)
    question = _("Type {key} again to approve anyway, anything else to go back: ", key=choice.letter)
    return (await read_line(question)).strip().lower() in (choice.letter, choice.keyword)


def _choice_lines(choices: Sequence[ApprovalChoice], left: int, width: int) -> Iterator[str]:
    for number, choice in enumerate(choices, 1):
        yield from wrap_line(f"{choice.label} ({choice.letter})", width=width, first=f"  {number}. ")
    if left:
        more = ngettext("Show more, {count} line left", "Show more, {count} lines left", left)
        yield from wrap_line(f"{more} ({_MORE})", width=width, first=f"  {len(choices) + 1}. ")


def _columns() -> int:
    """Return the width of the terminal, or the default one."""
    try:
        return max(os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_WIDTH, MIN_WIDTH)
    except OSError:
        return DEFAULT_WIDTH


def _print(*lines: str) -> None:
    if lines:
        print(*lines, sep="\n", file=sys.stderr)
