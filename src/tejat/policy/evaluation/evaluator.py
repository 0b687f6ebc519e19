"""Evaluation of rules against a call without a shell line."""

from collections.abc import Sequence

from tejat.core.i18n import lazy
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.rule_index import RuleIndex, RuleTables
from tejat.policy.evaluation.rule_match import RuleMatch, select_rule
from tejat.policy.rules.patterns import escape_path
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

SUGGESTION_SOURCE = lazy("your answer")
"""The source of a suggested rule."""


class RuleEvaluator:
    """Evaluator for one call."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def evaluate(self, index: RuleIndex, added: Sequence[PolicyRule] = ()) -> list[RuleMatch]:
        """Return what the rules, and others that are `added` to them, say about the call; never empty."""
        applicable = [*index.applicable(self.call), *filter(self.call.matches_rule, added)]
        covering = [rule for rule in applicable if not self._lacks_network(rule)]
        return [select_rule(covering, gap=network_gap() if len(covering) < len(applicable) else None)]

    def find_uncovered(self, index: RuleIndex, added: Sequence[PolicyRule]) -> RuleMatch | None:
        """Return the first part of the call that neither the rules nor the `added` ones allow, None without one."""
        return next((rule_match for rule_match in self.evaluate(index, added) if not rule_match.is_allowed), None)

    def suggest_rules(self, rule_matches: Sequence[RuleMatch]) -> tuple[PolicyRule, ...] | str:
        """Return rules that might cover the uncovered parts, or why they would allow too much."""
        rule = self._tool_rule()
        return lazy("a rule for this name would cover other tools") if rule is None else (rule,)

    def _tool_rule(self) -> PolicyRule | None:
        facts = self.call.facts
        if "*" in facts.tool or facts.server == "*":
            return None  # a third-party name with * would match every tool or server
        return PolicyRule(
            Decision.ALLOW, Tier.USER, SUGGESTION_SOURCE, facts.tool, facts.server, allows_network=facts.wants_network
        )

    def is_safe_in_sandbox(self, rule_matches: Sequence[RuleMatch]) -> bool:
        """Return whether the sandbox encloses the call, and it only reads or runs commands of the project."""
        return False

    def plan_mode_objection(self) -> str | None:
        """Return why a call of a non-reading kind is not known to only read, as a sentence; None if it is."""
        return lazy("This call may change something.")

    def find_unchecked(self, rules: RuleTables) -> tuple[PolicyRule, str] | None:
        """Return one of these rules and why it cannot be checked, None if all can be."""
        return None

    def _lacks_network(self, rule: PolicyRule) -> bool:
        return rule.decision is Decision.ALLOW and self.call.facts.wants_network and not rule.allows_network


def suggest_path_rule(facts: CallFacts) -> PolicyRule | None:
    """Return the rule for calls of the tool with this one file, None if the call has more than one."""
    if len(facts.paths) != 1:
        return None
    path = escape_path(facts.paths[0])
    return PolicyRule(Decision.ALLOW, Tier.USER, SUGGESTION_SOURCE, facts.tool, facts.server, path=path)


def network_gap() -> str:
    """Return why a rule does not cover a call that wants the network."""
    return lazy("it uses the network, which the rule does not allow")
