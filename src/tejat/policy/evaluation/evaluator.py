"""Holds the rules against one call that runs no shell line."""

from collections.abc import Iterable, Sequence

from tejat.core.i18n import gettext_lazy
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.rule_match import RuleMatch, select_rule
from tejat.policy.types import Decision, PolicyRule, Tier

SUGGESTION_SOURCE = gettext_lazy("your answer")
"""The source of a rule that is offered."""


class RuleEvaluator:
    def __init__(self, call: Call) -> None:
        self.call = call

    def evaluate(self, rules: Iterable[PolicyRule]) -> list[RuleMatch]:
        """What the rules say of the call; never empty."""
        meant = [rule for rule in rules if self.call.matches_rule(rule)]
        covering = [rule for rule in meant if not self._lacks_network(rule)]
        return [select_rule(covering, gap=network_gap() if len(covering) < len(meant) else None)]

    def suggest_rule(self, rule_matches: Sequence[RuleMatch]) -> PolicyRule | None:
        """A rule that might cover what was found uncovered, None where it would allow more than can be overseen."""
        facts = self.call.facts
        if "*" in facts.tool or facts.server == "*":
            return None  # what somebody else named so would stand for every tool, or every server
        return PolicyRule(
            Decision.ALLOW, Tier.USER, SUGGESTION_SOURCE, facts.tool, facts.server, allows_network=facts.wants_network
        )

    def plan_mode_objection(self) -> str | None:
        """Why a call that is not of a reading kind cannot be known to only read, None where it can."""
        return gettext_lazy("this does more")

    def _lacks_network(self, rule: PolicyRule) -> bool:
        return rule.decision is Decision.ALLOW and self.call.facts.wants_network and not rule.allows_network


def network_gap() -> str:
    """Why a rule does not cover a call that wants the network."""
    return gettext_lazy("it wants the network, and the rule does not say so")
