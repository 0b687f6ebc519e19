"""Choices offered for an approval request, in display order."""

from collections.abc import Iterator, Sequence

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    EditConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    Outcome,
    PlanConfirmation,
    Scope,
    TrialConfirmation,
    tool_scope,
)
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.approval.display_lines import escape_line

_MAX_RULE_LENGTH = 100
_REFUSALS = (Outcome.CANCEL, Outcome.STOP, Outcome.STOP_AGENT)


class ChoiceAction(StrEnum):
    """Action of a choice that does not decide by itself."""

    MODIFY = "modify"
    GIVE_FEEDBACK = "tell"


class ApprovalChoice(Frozen):
    """One choice: its letter and keyword, its label, and the rule it would add. `short_label` is for narrow layouts."""

    letter: str
    keyword: str
    label: str
    short_label: str
    outcome: ApprovalReply | ChoiceAction
    rule: str = ""

    @property
    def approves(self) -> bool:
        """Whether the call would run, for real or in a copy."""
        return isinstance(self.outcome, ApprovalReply) and self.outcome.outcome not in _REFUSALS


def approval_choices(question: ApprovalRequest) -> list[ApprovalChoice]:
    """Return the choices for a request. Risky calls offer "no" first."""
    if isinstance(question.confirmation, ModelChangeConfirmation):
        return list(_model_choices(question.confirmation))
    if isinstance(question.confirmation, PlanConfirmation):
        return list(_plan_choices(question.confirmation))
    trial = question.confirmation if isinstance(question.confirmation, TrialConfirmation) else None
    label = _("No, discard it") if trial is not None else _("No, continue")
    no = ApprovalChoice("n", "no", label, _("no"), ApprovalReply(Outcome.CANCEL))
    yes = list(_yes_choices(question))
    label = _("No, and say what to do instead")
    if trial is not None and trial.agent:
        label = _("Send {agent} back to work, with a message", agent=escape_line(trial.agent))
    tell = ApprovalChoice("t", "tell", label, _("instead"), ChoiceAction.GIVE_FEEDBACK)
    stops = list(_stop_choices(question))
    return [no, *yes, tell, *stops] if question.risks else [*yes, no, tell, *stops]


def always_note(question: ApprovalRequest, reply: ApprovalReply) -> str:
    """Return the rule that an "always" added, how long it lasts and where to revoke it; empty for other replies."""
    if reply.outcome is Outcome.PROCEED_ALWAYS_SANDBOXED:
        return _("Sandboxed commands that only read, test or build now run without asking. /permissions to revoke.")
    match reply.outcome:
        case Outcome.PROCEED_ALWAYS_SERVER:
            added = question.always_server
        case Outcome.PROCEED_WITH_TOOLS:
            added = question.tool_rules
        case _:
            added = question.always
    rule = escape_line(added or "")
    if len(rule) > _MAX_RULE_LENGTH:
        rule = f"{rule[:_MAX_RULE_LENGTH]}..."
    match reply.scope:
        case Scope.RUN:
            return _("Rule added for this run of the agent: {rule}.", rule=rule)
        case Scope.SESSION:
            return _("Rule added for this session: {rule}. /permissions to revoke.", rule=rule)
        case Scope.PROJECT:
            return _("Rule added for this project: {rule}. /permissions to revoke.", rule=rule)
        case Scope.USER:
            return _("Rule added for all projects: {rule}. /permissions to revoke.", rule=rule)
        case None:
            return ""


def rule_labels(choices: Sequence[ApprovalChoice]) -> list[str]:
    """Return the rules that choices would add, each once, with the letters of these choices."""
    letters: dict[str, list[str]] = {}
    for choice in choices:
        if choice.rule:
            letters.setdefault(choice.rule, []).append(choice.letter)
    return [
        ngettext(
            "{letters} adds the rule: {rule}",
            "{letters} add the rule: {rule}",
            len(shared),
            letters=", ".join(shared),
            rule=rule,
        )
        for rule, shared in letters.items()
    ]


def _stop_choices(question: ApprovalRequest) -> Iterator[ApprovalChoice]:
    if question.agent:
        label = _("No, and stop {agent}", agent=escape_line(question.agent))
        yield ApprovalChoice("x", "agent", label, _("stop agent"), ApprovalReply(Outcome.STOP_AGENT))
    label = _("No, and stop everything") if question.agent else _("No, and stop")
    yield ApprovalChoice("q", "stop", label, _("stop"), ApprovalReply(Outcome.STOP))


def _model_choices(change: ModelChangeConfirmation) -> Iterator[ApprovalChoice]:
    label = _("Switch to {model} for this session", model=escape_line(change.after))
    yield ApprovalChoice("y", "yes", label, _("switch"), ApprovalReply(Outcome.PROCEED_ONCE))
    label = _("Retry {model}", model=escape_line(change.before))
    yield ApprovalChoice("r", "retry", label, _("retry"), ApprovalReply(Outcome.TRY_AGAIN))
    yield ApprovalChoice("q", "stop", _("Stop"), _("stop"), ApprovalReply(Outcome.STOP))


def _plan_choices(plan: PlanConfirmation) -> Iterator[ApprovalChoice]:
    if plan.can_auto_edit:
        answer = ApprovalReply(Outcome.PROCEED_AUTO_EDIT)
        label = _("Yes, and apply edits without asking")
        yield ApprovalChoice("a", "auto", label, _("auto-edit"), answer)
    label = _("Yes, and ask before each change")
    yield ApprovalChoice("y", "yes", label, _("yes"), ApprovalReply(Outcome.PROCEED_ONCE))
    yield ApprovalChoice("e", "edit", _("Edit the plan in your editor"), _("edit"), ChoiceAction.MODIFY)
    yield ApprovalChoice("n", "no", _("No, and say what to change"), _("no"), ChoiceAction.GIVE_FEEDBACK)
    yield ApprovalChoice("q", "stop", _("No, and stop"), _("stop"), ApprovalReply(Outcome.STOP))


def _yes_choices(question: ApprovalRequest) -> Iterator[ApprovalChoice]:
    if isinstance(question.confirmation, TrialConfirmation):
        yield from _trial_choices(question.confirmation)
    else:
        yield ApprovalChoice("y", "yes", _("Allow once"), _("once"), ApprovalReply(Outcome.PROCEED_ONCE))
        yield from _tool_choices(question)
        yield from _always_choices(question)
    if question.can_allow_sandboxed:
        answer = ApprovalReply(Outcome.PROCEED_ALWAYS_SANDBOXED)
        label = _("Run sandboxed commands without asking")
        yield ApprovalChoice("b", "sandboxed", label, _("sandboxed"), answer)
    if question.can_try:
        answer = ApprovalReply(Outcome.TRY_IN_COPY)
        yield ApprovalChoice("c", "copy", _("Try it in a copy first"), _("copy"), answer)
    if (
        question.can_modify
        and isinstance(question.confirmation, TrialConfirmation)
        and not question.confirmation.obstacles
    ):
        label = _("Keep a part: choose the files in your editor")
        yield ApprovalChoice("e", "part", label, _("part"), ChoiceAction.MODIFY)
    if question.can_modify and isinstance(question.confirmation, EditConfirmation):
        yield ApprovalChoice("e", "edit", _("Edit in your editor"), _("edit"), ChoiceAction.MODIFY)


def _trial_choices(trial: TrialConfirmation) -> Iterator[ApprovalChoice]:
    if not trial.obstacles:
        label = _("Keep these changes") if trial.changes else _("Continue with this result")
        yield ApprovalChoice("y", "yes", label, _("keep"), ApprovalReply(Outcome.PROCEED_ONCE))
    if not trial.agent:
        yield ApprovalChoice("r", "real", _("Run it for real instead"), _("real"), ApprovalReply(Outcome.RUN_FOR_REAL))


def _tool_choices(question: ApprovalRequest) -> Iterator[ApprovalChoice]:
    if question.tool_rules is None:
        return
    answer = ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=tool_scope(question))
    label = _("Allow once, with its tools for this session")
    if question.agent:
        label = _("Allow once, with its tools for this run of {agent}", agent=escape_line(question.agent))
    yield ApprovalChoice("w", "with", label, _("with tools"), answer, escape_line(question.tool_rules))


def _always_choices(question: ApprovalRequest) -> Iterator[ApprovalChoice]:
    """Yield the kinds of "always" that are available, each with the exact rule it would add."""
    if question.always is None:
        return
    rule = escape_line(question.always)
    if question.agent and Scope.RUN in question.scopes:
        answer = ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.RUN)
        label = _("Allow for this run of {agent}", agent=escape_line(question.agent))
        yield ApprovalChoice("g", "run", label, _("this run"), answer, rule)
    if Scope.SESSION in question.scopes:
        if isinstance(question.confirmation, McpConfirmation):
            answer = ApprovalReply(Outcome.PROCEED_ALWAYS_TOOL, scope=Scope.SESSION)
            yield ApprovalChoice("s", "session", _("Allow this tool for this session"), _("session"), answer, rule)
            if question.always_server is not None:
                answer = ApprovalReply(Outcome.PROCEED_ALWAYS_SERVER, scope=Scope.SESSION)
                label = _("Allow all tools of this server for this session")
                yield ApprovalChoice("a", "all", label, _("server"), answer, escape_line(question.always_server))
        else:
            answer = ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)
            yield ApprovalChoice("s", "session", _("Allow for this session"), _("session"), answer, rule)
    if Scope.PROJECT in question.scopes:
        answer = ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT)
        yield ApprovalChoice("p", "project", _("Always allow in this project"), _("project"), answer, rule)
    if Scope.USER in question.scopes:
        answer = ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.USER)
        yield ApprovalChoice("u", "user", _("Always allow everywhere"), _("everywhere"), answer, rule)
