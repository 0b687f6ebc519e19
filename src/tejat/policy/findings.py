"""What the rules say of a call, or of one command in it, and why."""

import shlex
from collections.abc import Iterable

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.policy.command_line import Command
from tejat.policy.rule_text import quoted_rule
from tejat.policy.rules import Decision, Rule, Tier, Verdict

_LONGEST_SHOWN = 120


@value
class Finding:
    """The rule that decides, None where there is none. `gap` is why a rule that allows does not cover it."""

    rule: Rule | None
    gap: str | None = None
    command: Command | None = None

    @property
    def decision(self) -> Decision:
        return Decision.ASK if self.rule is None else self.rule.decision

    @property
    def is_allowed(self) -> bool:
        return self.decision is Decision.ALLOW

    @property
    def weight(self) -> tuple[int, int, int]:
        return (Decision.ASK.strictness, 0, 0) if self.rule is None else _weight(self.rule)

    def verdict(self) -> Verdict:
        return Verdict(self.decision, self.rule, self._reason())

    def _reason(self) -> str:
        of_command = "" if self.command is None else f" ({_shown(self.command)})"
        if self.rule is None or (self.decision is Decision.ASK and self.rule.tier is Tier.DEFAULT):
            if self.gap:
                return phrase("No rule allows this{command}: {why}.", command=of_command, why=self.gap)
            return phrase("No rule allows this{command}.", command=of_command)
        text = quoted_rule(self.rule)
        match self.decision:
            case Decision.DENY:
                return phrase("The rule {rule} forbids it{command}.", rule=text, command=of_command)
            case Decision.ASK:
                return phrase("The rule {rule} asks for it{command}.", rule=text, command=of_command)
            case Decision.ALLOW:
                return phrase("The rule {rule} allows it.", rule=text)


def finding_of(matching: Iterable[Rule], *, gap: str | None, command: Command | None = None) -> Finding:
    """What rules that match say together: the strictest that people wrote decides, else the strictest built-in one.

    What the built-in rules forbid stays forbidden. Of equally strict rules the one of the highest tier is named.
    """
    found = list(matching)
    written = [rule for rule in found if rule.tier is not Tier.DEFAULT or rule.decision is Decision.DENY]
    return Finding(max(written or found, key=_weight, default=None), gap, command)


def _weight(rule: Rule) -> tuple[int, int, int]:
    return rule.decision.strictness, rule.tier, rule.priority


def _shown(command: Command) -> str:
    text = visible(shlex.join(command.words).replace("\n", "\\n"))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
