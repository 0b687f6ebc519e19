from tejat.policy.evaluation.general_rules import GeneralRules, rank
from tejat.policy.types import Decision, PolicyRule, Tier

BUILT_IN = PolicyRule(Decision.ASK, Tier.DEFAULT, "0")
ALLOW = PolicyRule(Decision.ALLOW, Tier.USER, "1")
ALLOW_LATER = PolicyRule(Decision.ALLOW, Tier.USER, "2")
NETWORK = PolicyRule(Decision.ALLOW, Tier.USER, "3", allows_network=True)
ASK = PolicyRule(Decision.ASK, Tier.USER, "4", priority=3)
DENY = PolicyRule(Decision.DENY, Tier.WORKSPACE, "5")


def test_configured_rules_come_before_built_in_ones() -> None:
    assert rank(5, ALLOW) > rank(0, BUILT_IN)
    assert rank(0, DENY) > rank(0, ASK) > rank(0, ALLOW) > rank(1, ALLOW_LATER)


def test_the_strictest_rule_is_kept() -> None:
    assert GeneralRules(enumerate([BUILT_IN, ASK, DENY])).strictest == (2, DENY)
    assert GeneralRules(enumerate([ASK, ASK])).strictest == (0, ASK)
    assert GeneralRules(()).strictest is None


def test_one_rule_of_each_kind_that_allows_is_kept() -> None:
    rules = GeneralRules(enumerate([ALLOW, ALLOW_LATER, NETWORK]))
    assert list(rules.allowing) == [((0, ALLOW), 1), ((2, NETWORK), 2)]


def test_more_rules() -> None:
    rules = GeneralRules(enumerate([ALLOW, ASK]))
    more = rules.with_rules([(2, ALLOW_LATER), (3, DENY)])
    assert more.strictest == (3, DENY)
    assert list(more.allowing) == [((0, ALLOW), 2)]
    assert rules.strictest == (1, ASK)
