"""The indexed rules decide exactly as a comparison of every rule with every command does."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.linear_policy import LinearEngine
from support.policy_strategies import SHELL, calls, rules, rules_with_errors
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.rule_index import RuleIndex, RuleTables
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict, SandboxedCommands, Tier

_SETTINGS = (SandboxedCommands(), SandboxedCommands("settings.json:1"))


def described(verdict: PolicyVerdict) -> tuple[object, ...]:
    return verdict, str(verdict.reason), str(verdict.always_refusal), verdict.is_routine


@settings(max_examples=400, deadline=None)
@given(rules, st.lists(calls, min_size=1, max_size=3), st.sampled_from(ApprovalMode), st.sampled_from(_SETTINGS))
def test_the_index_decides_as_all_rules_do(
    given_rules: list[PolicyRule], facts: list[CallFacts], mode: ApprovalMode, sandboxed: SandboxedCommands
) -> None:
    numbered = [replace(rule, source=str(number)) for number, rule in enumerate(given_rules)]
    engine = PolicyEngine(numbered, mode, sandboxed=sandboxed)
    reference = LinearEngine(numbered, mode, sandboxed=sandboxed)
    for each in facts:
        assert described(engine.decide(each)) == described(reference.decide(each))
        assert engine.declares_read_only(each) == reference.declares_read_only(each)


@settings(max_examples=100, deadline=None)
@given(rules_with_errors, calls, st.sampled_from(ApprovalMode))
def test_an_invalid_rule_has_the_same_effect(
    given_rules: list[PolicyRule], facts: CallFacts, mode: ApprovalMode
) -> None:
    engine, reference = PolicyEngine(given_rules, mode), LinearEngine(given_rules, mode)
    assert described(engine.decide(facts)) == described(reference.decide(facts))


def test_rules_apply_in_their_order() -> None:
    by_path = PolicyRule(Decision.DENY, Tier.USER, "1", path="src/**")
    by_tool = PolicyRule(Decision.ASK, Tier.USER, "2")
    by_arguments = PolicyRule(Decision.ALLOW, Tier.USER, "3", arguments="content")
    elsewhere = PolicyRule(Decision.DENY, Tier.USER, "4", path="other/**")
    index = RuleIndex([by_path, by_tool, by_arguments, elsewhere])
    call = Call(CallFacts("write_file", Kind.EDIT, {"content": ""}, ("/r",), "/h", paths=("/r/src/a",)))
    assert index.applicable(call) == [by_path, by_tool, by_arguments]
    assert [index.is_conditional(position) for position in range(4)] == [True, False, True, True]


def test_rules_that_concern_some_calls_only() -> None:
    denial = PolicyRule(Decision.DENY, Tier.USER, "1", SHELL, command=("rm",))
    question = PolicyRule(Decision.ASK, Tier.USER, "2", SHELL, command=("mv",))
    index = RuleIndex([PolicyRule(Decision.DENY, Tier.USER, "0", SHELL), denial, question])
    assert index.restricted_denials.rules == (denial,)
    assert index.restricted_asks.first == question
    assert RuleTables(()).first is None


def test_a_table_is_made_once() -> None:
    made: list[RuleTables] = []
    tables = RuleTables([PolicyRule(Decision.DENY, Tier.USER, "1")])

    def count(rules: RuleTables) -> int:
        made.append(rules)
        return len(rules.rules)

    assert (tables.table(count), tables.table(count), len(made)) == (1, 1, 1)
