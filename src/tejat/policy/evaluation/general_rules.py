"""Rules that say the same about every command, reduced to the few that can decide."""

from collections.abc import Collection, Iterable

from tejat.policy.evaluation.rule_index import RuleEntry
from tejat.policy.evaluation.rule_match import precedence
from tejat.policy.types import Decision, PolicyRule, Tier

Rank = tuple[bool, int, int, int, int]
_Abilities = tuple[bool, bool, bool]


def rank(position: int, rule: PolicyRule) -> Rank:
    """Return how a rule that applies compares with others: the highest rank decides.

    Configured rules and denials come before other built-in rules, then the strictest rule, then the first.
    """
    is_written = rule.tier is not Tier.DEFAULT or rule.decision is Decision.DENY
    return (is_written, *precedence(rule), -position)


class GeneralRules:
    """General rules that apply to a line.

    `strictest` is the one that decides among those that deny or ask. `allowing` has one of each kind that allows: rules
    of the same kind cover the same commands. The first of a kind is the one that decides, the position the last one's.
    """

    def __init__(self, rules: Iterable[RuleEntry]) -> None:
        self.strictest: RuleEntry | None = None
        self._allowing: dict[_Abilities, tuple[RuleEntry, int]] = {}
        for entry in rules:
            self._add(entry)

    def with_rules(self, rules: Iterable[RuleEntry]) -> "GeneralRules":
        more = GeneralRules(rules)
        more._merge(self)
        return more

    @property
    def allowing(self) -> Collection[tuple[RuleEntry, int]]:
        return self._allowing.values()

    def _add(self, entry: RuleEntry, last: int = -1) -> None:
        position, rule = entry
        if rule.decision is not Decision.ALLOW:
            self.strictest = _higher(self.strictest, entry)
            return
        kind = rule.allows_redirection, rule.allows_network, rule.arguments is None
        known = self._allowing.get(kind)
        if known is None:
            self._allowing[kind] = entry, max(position, last)
        else:
            self._allowing[kind] = _higher(known[0], entry), max(position, last, known[1])

    def _merge(self, other: "GeneralRules") -> None:
        if other.strictest is not None:
            self._add(other.strictest)
        for entry, last in other.allowing:
            self._add(entry, last)


def _higher(one: RuleEntry | None, other: RuleEntry) -> RuleEntry:
    return other if one is None or rank(*other) > rank(*one) else one
