"""The rules that count in one mode, by the tools and agents that they are for."""

from functools import cached_property

from tejat.core.approval.modes import ApprovalMode
from tejat.policy.evaluation.rule_index import RuleIndex
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.defaults import default_rules
from tejat.policy.rules.matcher import is_active, matches_caller, matches_project, matches_subagent, matches_tool
from tejat.policy.rules.rule_list import RuleList
from tejat.policy.types import CallFacts, Decision, PolicyRule

_MAX_INDEXES = 1000
"""Names of tools may be made up by a model."""


class ActiveRules:
    """Configured and built-in rules in one mode, with and without a user. Tables are made when they are needed."""

    def __init__(self, configured: RuleList, mode: ApprovalMode, *, is_interactive: bool) -> None:
        self.configured = configured
        self._mode = mode
        self._is_interactive = is_interactive
        self._indexes: dict[tuple[object, ...], RuleIndex] = {}
        self._hidden: dict[tuple[str, str | None, str, bool], bool] = {}

    @cached_property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, also those that do not count, the built-in ones last."""
        return (*self.configured, *default_rules())

    @cached_property
    def representatives(self) -> tuple[PolicyRule, ...]:
        """One rule of each kind, as `RuleList` has them, and the built-in rules."""
        return (*self.configured.representatives, *default_rules())

    def for_call(self, facts: CallFacts) -> RuleIndex:
        """Return the rules for the tool, the agent and the project of a call."""
        key = facts.tool, facts.server, facts.subagent, facts.rule_names, facts.roots
        index = self._indexes.get(key)
        if index is None:
            if len(self._indexes) >= _MAX_INDEXES:
                self._indexes.clear()
            kinds = (rules for rules in self._kinds if _is_for(rules[0][1], facts))
            found = sorted((entry for rules in kinds for entry in rules), key=lambda entry: entry[0])
            index = self._indexes[key] = RuleIndex(rule for _, rule in found)
        return index

    def hides(self, tool: str, server: str | None, subagent: str, *, has_plans: bool) -> bool:
        """Return whether a tool is forbidden with any arguments."""
        key = tool, server, subagent, has_plans
        if key not in self._hidden:
            self._hidden[key] = any(
                matches_tool(rule, tool, server) and matches_subagent(rule, subagent)
                for rule in self._hiding
                if not (has_plans and rule.spares_plans)
            )
        return self._hidden[key]

    @cached_property
    def _hiding(self) -> tuple[PolicyRule, ...]:
        """The rules that forbid tools with any arguments."""
        unrestricted = (rule for rule in self.representatives if not rule.is_restricted and rule.project is None)
        return tuple(rule for rule in unrestricted if rule.decision is Decision.DENY and self._counts(rule))

    @cached_property
    def _kinds(self) -> tuple[list[tuple[int, PolicyRule]], ...]:
        """The rules that count, each with its position. Those in one list are for the same calls."""
        kinds: dict[tuple[object, ...], list[tuple[int, PolicyRule]]] = {}
        for position, rule in enumerate(self.rules):
            if self._counts(rule):
                kinds.setdefault(_caller_conditions(rule), []).append((position, rule))
        return tuple(kinds.values())

    def _counts(self, rule: PolicyRule) -> bool:
        return is_active(rule, self._mode, is_interactive=self._is_interactive)


def _caller_conditions(rule: PolicyRule) -> tuple[object, ...]:
    """Return everything in a rule that decides for which tools, agents and projects it is."""
    servers = rule.servers if isinstance(rule, AllowlistRule) else None
    is_allowing = rule.decision is Decision.ALLOW
    return rule.tool, rule.server, servers, rule.hints is None, rule.subagent, is_allowing, rule.project


def _is_for(rule: PolicyRule, facts: CallFacts) -> bool:
    return matches_caller(rule, facts) and matches_project(rule, facts.roots)
