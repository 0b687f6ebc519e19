"""The approval dialog: keys and decisions."""

import time
from collections.abc import Callable

from rich.console import RenderableType

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    ChoiceSubject,
    EditConfirmation,
    Outcome,
)
from tejat.core.i18n import _, ngettext, translate
from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.approval.choices import ApprovalChoice, ChoiceAction, approval_choices, rule_labels
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.shared.approval.edit_title import unchanged_note
from tejat.ui.shared.approval.view import ApprovalView, build_approval_view
from tejat.ui.shared.diff.rows import DiffRowKind, build_file_rows
from tejat.ui.terminal.dialogs.approval.call_viewer import VIEW_KEY, WHOLE_FILE_KEY, CallViewer, ViewerAction
from tejat.ui.terminal.dialogs.approval.layout import ApprovalLayout, DialogState, LaidOutApproval
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.key_guard import KeyGuard
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.scroll import ScrollPosition
from tejat.ui.terminal.render.text_rows import stack_rows
from tejat.ui.terminal.render.theme import Theme


class DialogAction(StrEnum):
    """Action of the user before deciding."""

    MODIFY = "modify"
    PAGER = "pager"


_Decision = DialogResult[ApprovalReply | DialogAction]


class ApprovalDialog:
    """Dialog that returns a reply, or an action after which it can be shown again.

    If the whole call must be viewed, a yes does not count until its end has been on screen. A yes to a change of which
    some lines were not on screen has to be given twice.
    """

    def __init__(
        self,
        question: ApprovalRequest,
        confirmation: ChoiceSubject,
        theme: Theme,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._confirmation = confirmation
        self._theme = theme
        self._view = build_approval_view(question, confirmation)
        self._choices = approval_choices(question)
        self._has_whole_file = _has_hidden_lines(confirmation, self._view)
        self._layout = ApprovalLayout(
            self._view,
            self._choices,
            theme,
            always_refusal=escape_line(translate(question.always_refusal)),
            has_whole_file=self._has_whole_file,
        )
        self._guard = KeyGuard(clock)
        self._selected = 0
        self._scroll = ScrollPosition()
        self._is_scrolled = False
        self._call_viewed = not self._view.must_be_viewed
        self._viewed_changes: frozenset[int] = frozenset()
        self._rules_viewed = False
        self._unread_approval: ApprovalChoice | None = None
        self._message = ""
        self._feedback: TextInput | None = None
        self._viewer: CallViewer | None = None
        self._laid_out = LaidOutApproval(())
        self._width = 0

    def reopen(self) -> None:
        """Show it again after something else; keys typed for that do not count."""
        self._guard.reset()

    def mark_fully_viewed(self) -> None:
        """Count the whole call as viewed, because it was shown elsewhere."""
        self._call_viewed = True
        self._viewed_changes = frozenset(range(self._layout.change_count))

    def view(self, *, width: int, height: int) -> RenderableType:
        self._guard.mark_shown()
        self._width = width
        if self._viewer is not None:
            rows = self._viewer.view(width=width, height=height)
            self._call_viewed = self._call_viewed or self._viewer.has_reached_end
            self._rules_viewed = self._rules_viewed or self._viewer.has_reached_end
            self._viewed_changes |= self._viewer.changes
            return stack_rows(rows)
        scroll = self._scroll.first if self._is_scrolled else None
        state = DialogState(self._selected, scroll, self._message, self._feedback)
        self._laid_out = self._layout.lay_out(state, width=width, height=height)
        room = self._laid_out.room
        self._scroll.fit(visible=room, total=room + self._laid_out.max_scroll)
        if not self._laid_out.is_excerpt:
            seen = self._scroll.first + room
            self._call_viewed = self._call_viewed or seen >= self._laid_out.call_end
            self._rules_viewed = self._rules_viewed or seen >= self._laid_out.rules_end
        elif not self._laid_out.rules_end:
            self._rules_viewed = True
        self._viewed_changes |= self._laid_out.changes
        return stack_rows(self._laid_out.rows)

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Return the caret of the last view, None while nothing is typed."""
        return self._laid_out.caret if self._viewer is None else None

    def press(self, key: str) -> _Decision | None:
        is_typing = self._feedback is not None
        if key == "c-c" or (key == "escape" and not is_typing and self._viewer is None):
            return DialogResult(ApprovalReply(Outcome.STOP))
        if not self._guard.accepts(key, is_typing=is_typing):
            return None
        self._message = ""
        if self._viewer is not None:
            return self._press_in_viewer(self._viewer, key)
        if self._feedback is not None:
            return self._press_in_feedback(self._feedback, key)
        if key == "enter":
            return self._choose(self._choices[self._selected], key=_("Enter"))
        return self._press_letter(key.lower()) if len(key) == 1 and key != " " else self._navigate(key)

    def _press_in_viewer(self, viewer: CallViewer, key: str) -> _Decision | None:
        action = viewer.press(key)
        if action is None:
            return None
        self._viewer = None
        self._guard.reset()  # a second `q` must not stop the turn
        return DialogResult(DialogAction.PAGER) if action is ViewerAction.PAGER else None

    def _press_in_feedback(self, feedback: TextInput, key: str) -> _Decision | None:
        if key == "enter":
            return DialogResult(ApprovalReply(Outcome.CANCEL, feedback=feedback.text.strip() or None))
        if key == "escape":
            self._feedback = None
        else:
            feedback.press(key)
        return None

    def _press_letter(self, key: str) -> _Decision | None:
        if key == VIEW_KEY or (key == WHOLE_FILE_KEY and self._has_whole_file):
            self._open_viewer(shows_whole_file=key == WHOLE_FILE_KEY)
            return None
        for number, choice in enumerate(self._choices, 1):
            if key in (choice.letter, str(number)):
                self._selected = number - 1
                return self._choose(choice, key=key)
        return None

    def _open_viewer(self, *, shows_whole_file: bool) -> None:
        self._unread_approval = None
        original = self._confirmation.original_content if isinstance(self._confirmation, EditConfirmation) else None
        diff = self._confirmation.file_diff if isinstance(self._confirmation, EditConfirmation) else ""
        self._viewer = CallViewer(
            self._view,
            self._theme,
            rules=tuple(rule_labels(self._choices)),
            whole_file=build_file_rows(original, diff) if original is not None and self._has_whole_file else (),
            shows_whole_file=shows_whole_file,
        )

    def _choose(self, choice: ApprovalChoice, *, key: str) -> _Decision | None:
        if choice.approves and not self._may_approve(choice, key=key):
            return None
        match choice.outcome:
            case ChoiceAction.MODIFY:
                return DialogResult(DialogAction.MODIFY)
            case ChoiceAction.GIVE_FEEDBACK:
                self._feedback = TextInput()
                return None
            case ApprovalReply():
                return DialogResult(choice.outcome)

    def _may_approve(self, choice: ApprovalChoice, *, key: str) -> bool:
        """Whether everything was on screen, or the user accepts a change that was not; else leave a message."""
        if not self._call_viewed:
            self._message = _(
                "Not everything has been shown yet. Space to scroll, {key} to view, then answer.", key=VIEW_KEY
            )
            return False
        if choice.rule and not self._rules_viewed:
            self._message = _("The rule has not been shown yet. {key} to view it, then answer.", key=VIEW_KEY)
            return False
        message = self._unread_message(key)
        if not message or self._unread_approval == choice:
            return True
        self._unread_approval = choice
        self._guard.reset()  # a key that is held down must not approve
        self._message = message
        return False

    def _unread_message(self, key: str) -> str:
        """Return how much of a change was not on screen, empty if all of it was."""
        total = self._layout.change_count
        hidden = total - len(self._viewed_changes)
        if hidden:
            return ngettext(
                "{count} of {total} changed lines not shown. {key} again to approve anyway, {view} to view.",
                "{count} of {total} changed lines not shown. {key} again to approve anyway, {view} to view.",
                hidden,
                total=total,
                key=key,
                view=VIEW_KEY,
            )
        if not total and isinstance(self._confirmation, EditConfirmation) and not unchanged_note(self._confirmation):
            return _("The changed lines are not shown. {key} again to approve anyway.", key=key)
        return ""

    def _navigate(self, key: str) -> None:
        """Move between the choices, or scroll long content."""
        self._unread_approval = None
        steps = {"down": 1, "tab": 1, "right": 1, "up": -1, "s-tab": -1, "left": -1}
        if key in steps:
            self._selected = (self._selected + steps[key]) % len(self._choices)
        elif self._scroll.can_scroll:
            self._scroll_content("pagedown" if key == " " else key)

    def _scroll_content(self, key: str) -> None:
        """Scroll by a page or to an end. An excerpt scrolls to the first line it hides, and comes back at the top."""
        if key == "pagedown" and self._laid_out.is_excerpt:
            self._is_scrolled = True
            hidden = set(range(self._layout.change_count)) - self._viewed_changes
            self._scroll.first = self._layout.row_of_change(min(hidden, default=0), width=self._width)
        elif key in ("pageup", "home") and not self._scroll.first:
            self._is_scrolled = False
        elif key in ("pageup", "pagedown", "home", "end"):
            self._is_scrolled = True
            self._scroll.press(key, page=max(1, self._laid_out.room - 1))


def _has_hidden_lines(confirmation: ChoiceSubject, view: ApprovalView) -> bool:
    """Whether a changed file has lines that the diff does not show."""
    if not isinstance(confirmation, EditConfirmation) or confirmation.original_content is None:
        return False
    in_diff = sum(row.kind in (DiffRowKind.CONTEXT, DiffRowKind.REMOVED) for row in view.diff)
    return 0 < in_diff < len(confirmation.original_content.splitlines())
