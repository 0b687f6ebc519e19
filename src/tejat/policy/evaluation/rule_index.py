"""The rules for the calls of one tool, arranged so that a call is compared only with those that may match it."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Self, TypeVar, cast

from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.pattern_index import PatternIndex
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.types import Decision, PolicyRule, Tier

_T = TypeVar("_T")
RuleEntry = tuple[int, PolicyRule]
"""A rule and its position among all rules of an index."""


class RuleTables:
    """Rules in their order, with tables of them that are made when they are first needed."""

    def __init__(self, rules: Iterable[PolicyRule]) -> None:
        self.rules = tuple(rules)
        self._tables: dict[object, object] = {}

    @property
    def first(self) -> PolicyRule | None:
        return self.rules[0] if self.rules else None

    def table(self, make: Callable[[Self], _T]) -> _T:
        """Return the table that a function makes of the rules. It is made once."""
        if make not in self._tables:
            self._tables[make] = make(self)
        return cast("_T", self._tables[make])


class RuleIndex(RuleTables):
    """Rules for one tool, agent and set of roots."""

    def applicable(self, call: Call) -> list[PolicyRule]:
        """Return the rules that apply to a call without a shell line, in their order."""
        found = {**dict(self.general), **self.conditional_matches(call)}
        return [found[position] for position in sorted(found)]

    def conditional_matches(self, call: Call) -> dict[int, PolicyRule]:
        """Return the rules with conditions on more than tool, project and command that apply to a call."""
        candidates = [*self._with_other_conditions, *self._patterns.candidates(call)]
        return {position: rule for position, rule in candidates if call.matches_rule(rule)}

    def is_conditional(self, position: int) -> bool:
        return position in self._conditional

    @cached_property
    def general(self) -> tuple[RuleEntry, ...]:
        """The rules for all calls of the tool."""
        return tuple(entry for entry in self._unconditional if is_general(entry[1]))

    @cached_property
    def allowlists(self) -> tuple[RuleEntry, ...]:
        """The rules for all commands but those on a list."""
        return tuple(entry for entry in self._unconditional if entry[1].command is None and not is_general(entry[1]))

    @cached_property
    def restricted_denials(self) -> RuleTables:
        """The rules that forbid some calls."""
        return RuleTables(rule for rule in self.rules if rule.decision is Decision.DENY and rule.is_restricted)

    @cached_property
    def restricted_asks(self) -> RuleTables:
        """The configured rules that ask about some commands."""
        return RuleTables(filter(_asks_about_some, self.rules))

    @cached_property
    def with_hints(self) -> tuple[PolicyRule, ...]:
        """The rules for tools with certain annotations."""
        return tuple(rule for rule in self.rules if rule.hints is not None)

    @cached_property
    def _unconditional(self) -> tuple[RuleEntry, ...]:
        return tuple(entry for entry in enumerate(self.rules) if entry[0] not in self._conditional)

    @cached_property
    def _conditional(self) -> frozenset[int]:
        return frozenset(position for position, _ in (*self._with_patterns, *self._with_other_conditions))

    @cached_property
    def _with_other_conditions(self) -> tuple[RuleEntry, ...]:
        return tuple(entry for entry in enumerate(self.rules) if _has_other_conditions(entry[1]))

    @cached_property
    def _with_patterns(self) -> tuple[RuleEntry, ...]:
        found = (entry for entry in enumerate(self.rules) if _has_patterns(entry[1]))
        return tuple(entry for entry in found if not _has_other_conditions(entry[1]))

    @cached_property
    def _patterns(self) -> PatternIndex:
        return PatternIndex(self._with_patterns)


def is_general(rule: PolicyRule) -> bool:
    """Return whether a rule says the same about all commands with the same effects."""
    is_allowlist = isinstance(rule, AllowlistRule) and rule.commands is not None
    return rule.command is None and rule.skill is None and not is_allowlist


def _asks_about_some(rule: PolicyRule) -> bool:
    if rule.decision is not Decision.ASK or rule.tier is Tier.DEFAULT:
        return False
    return any(each is not None for each in (rule.command, rule.command_pattern, rule.arguments, rule.skill))


def _has_patterns(rule: PolicyRule) -> bool:
    return rule.arguments is not None or rule.command_pattern is not None or rule.path is not None


def _has_other_conditions(rule: PolicyRule) -> bool:
    return rule.skill is not None or rule.spares_reading or rule.spares_plans or rule.hints is not None
