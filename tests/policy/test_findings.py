from tejat.policy.command_line import Command
from tejat.policy.findings import Finding, finding_of
from tejat.policy.rules import Decision, Rule, Tier, Verdict

DEFAULT_ASK = Rule(Decision.ASK, Tier.DEFAULT, "built-in", "t")
DEFAULT_DENY = Rule(Decision.DENY, Tier.DEFAULT, "built-in", "t")
ALLOW = Rule(Decision.ALLOW, Tier.USER, "u:1", "t")
ASK = Rule(Decision.ASK, Tier.USER, "u:2", "t")
DENY = Rule(Decision.DENY, Tier.USER, "u:3", "t")
ADMIN_DENY = Rule(Decision.DENY, Tier.ADMIN, "a:1", "t")
FIRST_DENY = Rule(Decision.DENY, Tier.USER, "u:4", "t", priority=5)


def deciding(*rules: Rule) -> Rule | None:
    return finding_of(rules, gap=None).rule


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
    command = Command(("echo", "a b\n\u202e"), is_plain=True)
    assert Finding(None).verdict() == Verdict(Decision.ASK, None, "No rule allows this.")
    assert Finding(None, "it is odd", command).verdict().reason == (
        "No rule allows this (echo 'a b\\n<U+202E>'): it is odd."
    )
    assert Finding(DEFAULT_ASK, "it is odd").verdict().reason == "No rule allows this: it is odd."
    assert Finding(ASK, "it is odd").verdict() == Verdict(Decision.ASK, ASK, "The rule `ask t` asks for it.")
    assert Finding(DENY, None, Command(("ls",), is_plain=True)).verdict().reason == "The rule `deny t` forbids it (ls)."
    assert Finding(ALLOW).verdict() == Verdict(Decision.ALLOW, ALLOW, "The rule `allow t` allows it.")


def test_a_long_command_is_cut_in_the_reason() -> None:
    reason = Finding(None, command=Command(("x" * 10_000,), is_plain=True)).verdict().reason
    assert reason == f"No rule allows this ({'x' * 120}...)."


def test_nothing_found_weighs_as_much_as_asking() -> None:
    findings = [Finding(ALLOW), Finding(None), Finding(DENY), Finding(DEFAULT_ASK)]
    assert [finding.rule for finding in sorted(findings, key=lambda finding: finding.weight)] == [
        ALLOW,
        None,
        DEFAULT_ASK,
        DENY,
    ]
