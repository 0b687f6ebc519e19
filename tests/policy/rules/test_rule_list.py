from tejat.policy.rules.rule_list import RuleList
from tejat.policy.types import Decision, PolicyRule, Tier

FIRST = PolicyRule(Decision.DENY, Tier.USER, "1")
SECOND = PolicyRule(Decision.ASK, Tier.USER, "2")


def test_rules_keep_their_order() -> None:
    rules = RuleList(((FIRST,), RuleList(((SECOND,), (FIRST,)))))
    assert list(rules) == [FIRST, SECOND, FIRST]
    assert (len(rules), rules[1], rules[1:]) == (3, SECOND, (SECOND, FIRST))


def test_without_large_files_each_rule_stands_for_itself() -> None:
    rules = RuleList(((FIRST, SECOND), ()))
    assert rules.representatives == (FIRST, SECOND)
    assert rules.table_count == 2
