from tejat.policy.evaluation.rule_match import RuleMatch, select_rule
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.types import Decision, PolicyRule, PolicyVerdict, Tier

DEFAULT_ASK = PolicyRule(Decision.ASK, Tier.DEFAULT, "built-in", "t")
DEFAULT_DENY = PolicyRule(Decision.DENY, Tier.DEFAULT, "built-in", "t")
ALLOW = PolicyRule(Decision.ALLOW, Tier.USER, "u:1", "t")
ASK = PolicyRule(Decision.ASK, Tier.USER, "u:2", "t")
DENY = PolicyRule(Decision.DENY, Tier.USER, "u:3", "t")
ADMIN_DENY = PolicyRule(Decision.DENY, Tier.ADMIN, "a:1", "t")
FIRST_DENY = PolicyRule(Decision.DENY, Tier.USER, "u:4", "t", priority=5)


def deciding(*rules: PolicyRule) -> PolicyRule | None:
    return select_rule(rules, gap=None).rule


def test_the_strictest_decides() -> None:
    assert deciding() is None
    assert deciding(ALLOW, ASK) is ASK
    assert deciding(DENY, ALLOW, ASK) is DENY


def test_what_people_wrote_comes_before_what_is_built_in_unless_that_forbids() -> None:
    assert deciding(DEFAULT_ASK) is DEFAULT_ASK
    assert deciding(DEFAULT_ASK, ALLOW) is ALLOW
    assert deciding(DEFAULT_DENY, ALLOW) is DEFAULT_DENY


def test_of_equally_strict_rules_the_highest_tier_is_named_then_the_highest_priority() -> None:
    assert deciding(DENY, ADMIN_DENY, FIRST_DENY) is ADMIN_DENY
    assert deciding(DENY, FIRST_DENY) is FIRST_DENY


def test_the_words() -> None:
    command = ShellCommand(("echo", "a b\n\u202e"), is_plain=True)
    assert RuleMatch(None).verdict() == PolicyVerdict(Decision.ASK, None, "No rule allows this.")
    assert RuleMatch(None, "it is odd", command).verdict().reason == (
        "No rule allows this (echo 'a b\\n<U+202E>'): it is odd."
    )
    assert RuleMatch(DEFAULT_ASK, "it is odd").verdict().reason == "No rule allows this: it is odd."
    assert RuleMatch(ASK, "it is odd").verdict() == PolicyVerdict(Decision.ASK, ASK, "The rule `ask t` asks about it.")
    assert (
        RuleMatch(DENY, None, ShellCommand(("ls",), is_plain=True)).verdict().reason
        == "The rule `deny t` denies it (ls)."
    )
    assert RuleMatch(ALLOW).verdict() == PolicyVerdict(Decision.ALLOW, ALLOW, "The rule `allow t` allows it.")


def test_a_long_command_is_cut_in_the_reason() -> None:
    reason = RuleMatch(None, command=ShellCommand(("x" * 10_000,), is_plain=True)).verdict().reason
    assert reason == f"No rule allows this ({'x' * 120}...)."


def test_nothing_found_weighs_as_much_as_asking() -> None:
    rule_matches = [RuleMatch(ALLOW), RuleMatch(None), RuleMatch(DENY), RuleMatch(DEFAULT_ASK)]
    assert [rule_match.rule for rule_match in sorted(rule_matches, key=lambda rule_match: rule_match.precedence)] == [
        ALLOW,
        None,
        DEFAULT_ASK,
        DENY,
    ]
