"""Holds the rules against one call that runs no shell line."""

from collections.abc import Iterable, Sequence

from tejat.core.words import phrase
from tejat.policy.call import Call
from tejat.policy.findings import Finding, finding_of
from tejat.policy.rules import Decision, Rule, Tier

OFFERED = phrase("your answer")
"""The source of a rule that is offered."""


class Judge:
    def __init__(self, call: Call) -> None:
        self.call = call

    def findings(self, rules: Iterable[Rule]) -> list[Finding]:
        """What the rules say of the call; never empty."""
        meant = [rule for rule in rules if self.call.is_meant_by(rule)]
        covering = [rule for rule in meant if not self._lacks_network(rule)]
        return [finding_of(covering, gap=no_network() if len(covering) < len(meant) else None)]

    def offer(self, findings: Sequence[Finding]) -> Rule | None:
        """A rule that might cover what was found uncovered, None where it would allow more than can be overseen."""
        facts = self.call.facts
        if "*" in facts.tool or facts.server == "*":
            return None  # what somebody else named so would stand for every tool, or every server
        return Rule(Decision.ALLOW, Tier.USER, OFFERED, facts.tool, facts.server, network=facts.wants_network)

    def objection_in_plan_mode(self) -> str | None:
        """Why a call that is not of a reading kind cannot be known to only read, None where it can."""
        return phrase("this does more")

    def _lacks_network(self, rule: Rule) -> bool:
        return rule.decision is Decision.ALLOW and self.call.facts.wants_network and not rule.network


def no_network() -> str:
    """Why a rule does not cover a call that wants the network."""
    return phrase("it wants the network, and the rule does not say so")
