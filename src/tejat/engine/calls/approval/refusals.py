"""Errors of calls that may not run: rejected by the user, denied by a rule, or without a user to ask."""

import shlex
from collections.abc import Iterator, Sequence

from tejat.core.approval.confirmation import Confirmation, EditConfirmation
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.i18n import join_lazy, lazy
from tejat.core.tools.base import BaseTool
from tejat.core.tools.call_events import FEEDBACK_MARK
from tejat.core.tools.display import FileDiff
from tejat.policy.engine import SANDBOXED_SETTING, PolicyEngine
from tejat.policy.rules.rule_format import format_quoted_rule
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict, Tier


class RejectedByUser(ToolFailure):
    """The user rejected the call. `rejected_change` is the change that was shown, if any.

    `ends_turn`: the user wants the whole turn to end. `detail` is added for the model.
    """

    def __init__(
        self,
        confirmation: Confirmation,
        *,
        feedback: str | None = None,
        detail: str = "",
        ends_turn: bool = False,
    ) -> None:
        said = f"{FEEDBACK_MARK}{feedback}" if feedback else ""
        super().__init__(
            f"[Operation Cancelled] Reason: User did not allow tool call.{detail}{said}",
            ErrorType.CANCELLED,
            display=lazy("You rejected this call."),
        )
        self.rejected_change = _rejected_change(confirmation)
        self.ends_turn = ends_turn


def _rejected_change(confirmation: Confirmation) -> FileDiff | None:
    if not isinstance(confirmation, EditConfirmation):
        return None
    return FileDiff(
        file_name=confirmation.file_name,
        file_path=confirmation.file_path,
        file_diff=confirmation.file_diff,
        is_new_file=confirmation.is_new_file,
        original_content=confirmation.original_content,
        new_content=confirmation.new_content,
        diff_stat=confirmation.diff_stat,
    )


def denied_error(verdict: PolicyVerdict) -> ToolFailure:
    """Return the error of a call that a rule denies. The user sees the rule's source as well."""
    reason = verdict.rule.message if verdict.rule and verdict.rule.message else verdict.reason
    message = join_lazy(" ", filter(None, (lazy("Tool execution denied by policy."), reason)))
    display = lazy("{message} ({source})", message=message, source=verdict.source)
    return ToolFailure(message, ErrorType.POLICY_VIOLATION, display=display)


def non_interactive_error(
    tool: BaseTool,
    facts: CallFacts,
    verdict: PolicyVerdict,
    policy: PolicyEngine,
    objection: str,
    *,
    names_arguments: bool = False,
) -> ToolFailure:
    """Return the error of a call that needs approval where there is no user to ask.

    The user is told which flag would allow it, or which argument of a program. With an `objection` none would.
    """
    message = lazy(
        'Tool execution for "{tool}" requires user confirmation, which is not supported in non-interactive mode.',
        tool=tool.display_name,
    )
    if objection:
        return ToolFailure(join_lazy(" ", (message, objection)), ErrorType.POLICY_VIOLATION)
    reason = verdict.reason
    if verdict.rule is not None and verdict.rule.tier is not Tier.DEFAULT:
        reason = lazy("{reason} ({source})", reason=reason, source=verdict.rule.source)
    ways = list(_ways_to_allow(facts, verdict.suggested_rules, policy, names_arguments=names_arguments))
    display = join_lazy(" ", filter(None, (message, reason, _advice(ways))))
    return ToolFailure(message, ErrorType.POLICY_VIOLATION, display=display)


def _advice(ways: Sequence[str]) -> str:
    if ways:
        return lazy("Use {ways}.", ways=join_lazy(lazy(" or "), ways))
    return lazy("Only a user at a terminal can allow this call.")


def _ways_to_allow(
    facts: CallFacts, suggested: Sequence[PolicyRule], policy: PolicyEngine, *, names_arguments: bool
) -> Iterator[str]:
    """Yield flags or arguments that were tried on this very call, and a rule where none can express it.

    A program can always use an approver.
    """
    if names_arguments:
        yield lazy("an approver")
    entries = _allowed_tools(suggested)
    if entries and _allows(policy.with_rules(*_parse_entries(entries)), facts):
        yield f"allowed_tools={entries!r}" if names_arguments else f"--allowed-tools {shlex.quote(entries)}"
    elif suggested:
        yield lazy("the rule {rule}", rule=join_lazy("; ", map(format_quoted_rule, suggested)))
    for mode in (ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO):
        if _allows(policy.with_mode(mode, source=""), facts):
            yield f"mode={mode.value!r}" if names_arguments else f"--approval-mode {mode.value}"
            break
    if policy.can_offer_sandboxed(facts):
        yield lazy("the setting {name}", name=f"{SANDBOXED_SETTING}: true")


def _allows(policy: PolicyEngine, facts: CallFacts) -> bool:
    return policy.decide(facts).decision is Decision.ALLOW


def _allowed_tools(rules: Sequence[PolicyRule]) -> str:
    """Return the value of `--allowed-tools` for these rules, as far as it can express them."""
    entries: list[str] = []
    for rule in rules:
        name = rule.tool if rule.server is None else f"{rule.server}__{rule.tool}"
        entries.append(name if rule.command is None else f"{name}({' '.join(rule.command)})")
    return ",".join(entries)


def _parse_entries(entries: str) -> Sequence[PolicyRule]:
    from tejat.policy.rules.tool_lists import rules_from_allowed_tools

    try:
        return rules_from_allowed_tools([entries])
    except UsageError:  # a name that the flag cannot express
        return ()
