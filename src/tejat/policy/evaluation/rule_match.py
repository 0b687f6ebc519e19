"""Result of evaluating rules against a call or one of its commands."""

import shlex
from collections.abc import Iterable

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.sanitize import sanitize_text
from tejat.policy.rules.rule_format import format_quoted_rule
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.types import Decision, PolicyRule, PolicyVerdict, Tier

_MAX_COMMAND_LENGTH = 120


class RuleMatch(Frozen):
    """The deciding rule, None if there is none. `coverage_gap` is why a rule that allows does not apply."""

    rule: PolicyRule | None
    coverage_gap: str | None = None
    command: ShellCommand | None = None

    @property
    def decision(self) -> Decision:
        return Decision.ASK if self.rule is None else self.rule.decision

    @property
    def is_allowed(self) -> bool:
        return self.decision is Decision.ALLOW

    @property
    def precedence(self) -> tuple[int, int, int]:
        return (Decision.ASK.strictness, 0, 0) if self.rule is None else precedence(self.rule)

    def verdict(self) -> PolicyVerdict:
        is_routine = self.is_built_in_question and not self.coverage_gap
        return PolicyVerdict(self.decision, self.rule, self._reason(), is_routine=is_routine)

    @property
    def is_built_in_question(self) -> bool:
        """Whether no rule of the user, a project or an administrator decided to ask."""
        return self.rule is None or (self.decision is Decision.ASK and self.rule.tier is Tier.DEFAULT)

    def _reason(self) -> str:
        of_command = "" if self.command is None else f" ({_format_command(self.command)})"
        if self.rule is None or self.is_built_in_question:
            if self.coverage_gap:
                return lazy("No rule allows this{command}: {why}.", command=of_command, why=self.coverage_gap)
            return lazy("No rule allows this{command}.", command=of_command)
        text = format_quoted_rule(self.rule)
        match self.decision:
            case Decision.DENY:
                return lazy("The rule {rule} denies it{command}.", rule=text, command=of_command)
            case Decision.ASK:
                return lazy("The rule {rule} asks about it{command}.", rule=text, command=of_command)
            case Decision.ALLOW:
                return lazy("The rule {rule} allows it.", rule=text)


def select_rule(candidates: Iterable[PolicyRule], *, gap: str | None, command: ShellCommand | None = None) -> RuleMatch:
    """Select the deciding rule: the strictest configured one, else the strictest built-in one.

    Built-in denials always count. Among equally strict rules, the highest tier is named.
    """
    found = list(candidates)
    written = [rule for rule in found if rule.tier is not Tier.DEFAULT or rule.decision is Decision.DENY]
    return RuleMatch(max(written or found, key=precedence, default=None), gap, command)


def precedence(rule: PolicyRule) -> tuple[int, int, int]:
    """Return how strict a rule is, then how much its origin counts."""
    return rule.decision.strictness, rule.tier, rule.priority


def _format_command(command: ShellCommand) -> str:
    text = sanitize_text(shlex.join(command.words).replace("\n", "\\n"))
    return text if len(text) <= _MAX_COMMAND_LENGTH else f"{text[:_MAX_COMMAND_LENGTH]}..."
