"""The approval dialog."""

import time
from collections.abc import Callable
from enum import StrEnum

from rich.console import RenderableType

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ChoiceSubject, Outcome
from tejat.core.i18n import _
from tejat.ui.shared.approval.choices import ApprovalChoice, ChoiceAction, approval_choices
from tejat.ui.shared.approval.view import build_approval_view
from tejat.ui.terminal.dialogs.approval_layout import ApprovalLayout, LaidOutApproval
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


class ApprovalDialog:
    """Dialog that returns a reply, or an action after which it can be shown again.

    If the whole call must be viewed, a yes does not count until its end has been on screen.
    """

    def __init__(
        self,
        question: ApprovalRequest,
        confirmation: ChoiceSubject,
        theme: Theme,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._view = build_approval_view(question, confirmation)
        self._choices = approval_choices(question)
        self._layout = ApprovalLayout(self._view, self._choices, theme)
        self._guard = KeyGuard(clock)
        self._selected = 0
        self._scroll = ScrollPosition()
        self._call_viewed = not self._view.must_be_viewed
        self._rules_viewed = False
        self._shows_full_body = False
        self._hint = ""
        self._feedback: TextInput | None = None
        self._laid_out = LaidOutApproval((), 0, 0)

    def reopen(self) -> None:
        """Show it again after something else; keys typed for that do not count."""
        self._guard.reset()

    def mark_fully_viewed(self) -> None:
        """Count the whole call as viewed, because it was shown elsewhere."""
        self._call_viewed = True

    def view(self, *, width: int, height: int) -> RenderableType:
        self._guard.mark_shown()
        self._laid_out = self._layout.lay_out(
            width=width,
            height=height,
            scroll=self._scroll.first,
            selected=self._selected,
            shows_full_body=self._shows_full_body,
            hint=self._hint,
            feedback=self._feedback,
        )
        room = self._laid_out.room
        self._scroll.fit(visible=room, total=room + self._laid_out.max_scroll)
        seen = self._scroll.first + room
        self._call_viewed = self._call_viewed or seen >= self._laid_out.call_end
        self._rules_viewed = self._rules_viewed or seen >= self._laid_out.rules_end
        return stack_rows(self._laid_out.rows)

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Return the caret of the last view, None while nothing is typed."""
        return self._laid_out.caret

    def press(self, key: str) -> DialogResult[ApprovalReply | DialogAction] | None:
        if key == "c-c" or (key == "escape" and self._feedback is None):
            return DialogResult(ApprovalReply(Outcome.STOP))
        if not self._guard.accepts(key, is_typing=self._feedback is not None):
            return None
        self._hint = ""
        if self._feedback is not None:
            return self._press_in_feedback(self._feedback, key)
        if key in _NAVIGATION_KEYS:
            self._step(key)
            return None
        if key == "enter":
            return self._choose(self._choices[self._selected])
        return self._press_letter(key.lower())

    def _press_in_feedback(self, feedback: TextInput, key: str) -> DialogResult[ApprovalReply | DialogAction] | None:
        if key == "enter":
            return DialogResult(ApprovalReply(Outcome.CANCEL, feedback=feedback.text.strip() or None))
        if key == "escape":
            self._feedback = None
        else:
            feedback.press(key)
        return None

    def _press_letter(self, key: str) -> DialogResult[ApprovalReply | DialogAction] | None:
        if key == "v":
            return DialogResult(DialogAction.PAGER)
        if key == "m" and self._view.full_body:
            self._shows_full_body = not self._shows_full_body
            self._scroll = ScrollPosition()
            return None
        for number, choice in enumerate(self._choices, 1):
            if key in (choice.letter, str(number)):
                self._selected = number - 1
                return self._choose(choice)
        return None

    def _choose(self, choice: ApprovalChoice) -> DialogResult[ApprovalReply | DialogAction] | None:
        has_viewed_all = self._call_viewed and (self._rules_viewed or not choice.rule)
        if choice.approves and not has_viewed_all:
            self._hint = _("Not all of it has been on the screen yet. Press End to see the rest, then answer.")
            return None
        match choice.outcome:
            case ChoiceAction.MODIFY:
                return DialogResult(DialogAction.MODIFY)
            case ChoiceAction.GIVE_FEEDBACK:
                self._feedback = TextInput()
                return None
            case ApprovalReply():
                return DialogResult(choice.outcome)

    def _step(self, key: str) -> None:
        """Scroll long content, else move between the choices."""
        if key in ("tab", "right"):
            self._selected = (self._selected + 1) % len(self._choices)
        elif key in ("s-tab", "left"):
            self._selected = (self._selected - 1) % len(self._choices)
        elif self._scroll.can_scroll:
            self._scroll.press(key, page=max(1, self._laid_out.room - 1))
        elif key in ("up", "down"):
            self._selected = (self._selected + (1 if key == "down" else -1)) % len(self._choices)


_NAVIGATION_KEYS = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "tab", "s-tab", "left", "right"})
