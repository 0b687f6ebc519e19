"""Questions that are answered by typing."""

from collections.abc import Callable, Sequence

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest
from tejat.core.i18n import _
from tejat.notebook.reply_form import ReplyAction, ReplyInput, reply_actions


def ask_in_text(question: ApprovalRequest, enter: Callable[[str], str]) -> ApprovalReply:
    """Ask for the key of an action and for its texts, until there is a valid answer. Raises what `enter` raises."""
    actions = [action for action in reply_actions(question) if not action.needs_editor]
    problem = ""
    while True:
        action = _choose(actions, problem, enter)
        texts = [enter(_input_prompt(each)) for each in action.inputs]
        try:
            return action.make_reply(texts)
        except ValueError as error:
            problem = str(error)


def _choose(actions: Sequence[ReplyAction], problem: str, enter: Callable[[str], str]) -> ReplyAction:
    listed = "\n".join(f"  {action.key}  {action.label}" for action in actions)
    while True:
        typed = enter("\n".join(filter(None, (problem, listed, _("Your answer: "))))).strip().lower()
        for action in actions:
            if typed == action.key:
                return action
        problem = _("Enter one of: {keys}.", keys=", ".join(action.key for action in actions))


def _input_prompt(wanted: ReplyInput) -> str:
    options = "".join(f"\n  {number}  {option}" for number, option in enumerate(wanted.options, 1))
    return f"{wanted.label}{options}\n> "
