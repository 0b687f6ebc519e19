from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.policy.active_rules import ActiveRules
from tejat.policy.rules.rule_list import RuleList
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

FACTS = CallFacts("write_file", Kind.EDIT, {}, ("/r",), "/h")
FIRST = PolicyRule(Decision.ASK, Tier.USER, "1", "write_file", path="a")
OTHER_TOOL = PolicyRule(Decision.DENY, Tier.USER, "2", "read_file")
ANY = PolicyRule(Decision.DENY, Tier.USER, "3", path="b")
OTHER_PROJECT = PolicyRule(Decision.DENY, Tier.USER, "4", project="/other")
LAST = replace(FIRST, source="5", path="c")


def active(*rules: PolicyRule, mode: ApprovalMode = ApprovalMode.DEFAULT) -> ActiveRules:
    return ActiveRules(RuleList((rules,)), mode, is_interactive=True)


def sources(rules: ActiveRules, facts: CallFacts) -> list[str]:
    return [rule.source for rule in rules.for_call(facts).rules if rule.tier is not Tier.DEFAULT]


def test_the_rules_for_a_call_keep_their_order() -> None:
    rules = active(FIRST, OTHER_TOOL, ANY, OTHER_PROJECT, LAST)
    assert sources(rules, FACTS) == ["1", "3", "5"]
    assert sources(rules, replace(FACTS, roots=("/other",))) == ["1", "3", "4", "5"]
    assert rules.for_call(FACTS) is rules.for_call(replace(FACTS, arguments={"x": 1}))


def test_rules_of_another_mode_do_not_count() -> None:
    only_plan = replace(ANY, modes=frozenset({ApprovalMode.PLAN}))
    assert sources(active(only_plan), FACTS) == []
    assert sources(active(only_plan, mode=ApprovalMode.PLAN), FACTS) == ["3"]


def test_names_that_a_model_made_up_do_not_fill_the_memory() -> None:
    rules = active(FIRST)
    for number in range(2100):
        rules.for_call(replace(FACTS, tool=f"tool{number}"))
    assert sources(rules, FACTS) == ["1"]


def test_hidden_tools() -> None:
    rules = active(OTHER_TOOL, ANY)
    assert rules.hides("read_file", None, "", has_plans=False)
    assert not rules.hides("write_file", None, "", has_plans=False)
    assert not active(replace(OTHER_TOOL, project="/r")).hides("read_file", None, "", has_plans=False)
