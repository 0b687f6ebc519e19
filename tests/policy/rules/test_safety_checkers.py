import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.errors import PolicyError
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier


def read(checker: str, tier: Tier = Tier.USER) -> list[PolicyRule]:
    return parse_rules(f"[[safety_checker]]\n{checker}", source="p.toml", tier=tier)


def test_a_check_of_paths_needs_nothing() -> None:
    text = 'toolName = ["write_file", "replace"]\n[safety_checker.checker]\ntype = "in-process"\nname = "allowed-path"'
    assert read(text) == read(text, Tier.ADMIN) == []


@pytest.mark.parametrize("checker", ['{ type = "in-process", name = "conseca" }', '{ type = "external", name = "x" }'])
@pytest.mark.parametrize("tier", [Tier.USER, Tier.WORKSPACE])
def test_what_another_checker_would_check_asks(checker: str, tier: Tier) -> None:
    (rule,) = read(f'toolName = "read_file"\nmodes = ["yolo"]\npriority = 100\nchecker = {checker}', tier)
    assert (rule.decision, rule.tool, rule.modes) == (Decision.ASK, "read_file", frozenset({ApprovalMode.YOLO}))
    assert "is not supported" in (rule.note or "")


def test_the_question_names_the_checker() -> None:
    rules = read('toolName = "read_file"\nchecker = { type = "external", name = "house-rules" }')
    facts = CallFacts("read_file", Kind.READ, {}, ("/w",), "/home/me")
    verdict = PolicyEngine(rules, ApprovalMode.YOLO).decide(facts)
    assert verdict.decision is Decision.ASK
    assert verdict.reason == "The rule `ask read_file (safety checker 'house-rules')` asks about it."


def test_conditions_are_those_of_rules() -> None:
    checker = 'checker = { type = "external", name = "x" }'
    rules = read(f'toolName = "run_shell_command"\ncommandPrefix = ["git push", "rm"]\n{checker}')
    assert [rule.command for rule in rules] == [("git", "push"), ("rm",)]
    assert read(f'toolName = "*"\nmcpName = "db"\n{checker}')[0].server == "db"


def test_an_administrator_gets_an_error() -> None:
    with pytest.raises(PolicyError) as raised:
        read('toolName = "*"\nchecker = { type = "in-process", name = "conseca" }', Tier.ADMIN)
    message = "p.toml:3: the safety checker 'conseca' is not supported, and an administrator requires it"
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "text",
    [
        'toolName = "*"',
        'toolName = "*"\nchecker = "conseca"',
        'toolName = "*"\nchecker = { type = "magic", name = "x" }',
        'toolName = "*"\nchecker = { type = "external" }',
        'toolName = "*"\ndecision = "allow"\nchecker = { type = "external", name = "x" }',
    ],
)
def test_what_cannot_be(text: str) -> None:
    with pytest.raises(PolicyError, match=r"^p.toml:"):
        read(text)


def test_rules_beside_it_count() -> None:
    text = (
        '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 1\n'
        '[[safety_checker]]\ntoolName = "*"\npriority = 5\n'
        '[safety_checker.checker]\ntype = "in-process"\nname = "conseca"\n'
    )
    rules = parse_rules(text, source="p.toml", tier=Tier.USER)
    assert [(rule.decision, rule.source) for rule in rules] == [
        (Decision.DENY, "p.toml:1"),
        (Decision.ASK, "p.toml:5"),
    ]
