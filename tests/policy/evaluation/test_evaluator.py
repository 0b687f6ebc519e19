from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.evaluator import RuleEvaluator, network_gap
from tejat.policy.evaluation.rule_index import RuleIndex
from tejat.policy.evaluation.rule_match import RuleMatch
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

ALLOW = PolicyRule(Decision.ALLOW, Tier.USER, "u:1", "search", "github")
WITH_NETWORK = PolicyRule(Decision.ALLOW, Tier.USER, "u:2", "search", "github", allows_network=True)
OTHER = PolicyRule(Decision.DENY, Tier.USER, "u:3", path="/elsewhere/**")


def evaluator(*, wants_network: bool = False) -> RuleEvaluator:
    facts = CallFacts("search", Kind.OTHER, {}, ("/r",), "/h", server="github", wants_network=wants_network)
    return RuleEvaluator(Call(facts))


def test_only_rules_for_the_call_count() -> None:
    assert evaluator().evaluate(RuleIndex([OTHER])) == [RuleMatch(None)]
    assert evaluator().evaluate(RuleIndex([OTHER, ALLOW])) == [RuleMatch(ALLOW)]
    assert evaluator().evaluate(RuleIndex([OTHER]), [ALLOW]) == [RuleMatch(ALLOW)]


def test_the_network_has_to_be_allowed_by_name() -> None:
    assert evaluator(wants_network=True).evaluate(RuleIndex([ALLOW])) == [RuleMatch(None, network_gap())]
    assert evaluator(wants_network=True).evaluate(RuleIndex([WITH_NETWORK])) == [RuleMatch(WITH_NETWORK)]


def test_the_offer_is_the_tool_as_it_was_called() -> None:
    rule = PolicyRule(Decision.ALLOW, Tier.USER, "your answer", "search", "github")
    assert evaluator().suggest_rules([]) == (rule,)
    assert evaluator(wants_network=True).suggest_rules([]) == (replace(rule, allows_network=True),)


def test_nothing_is_offered_for_a_name_that_stands_for_all() -> None:
    for tool, server in (("*", None), ("*", "x"), ("a*", "x"), ("t", "*")):
        call = Call(CallFacts(tool, Kind.OTHER, {}, ("/r",), "/h", server=server))
        assert RuleEvaluator(call).suggest_rules([]) == "a rule for this name would cover other tools"


def test_plan_mode_objects() -> None:
    assert evaluator().plan_mode_objection() is not None
