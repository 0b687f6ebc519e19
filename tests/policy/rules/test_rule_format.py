from typing import Any

import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import UsageError
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.rule_format import format_rule, rule_to_toml
from tejat.policy.types import Decision, PolicyRule, Tier


def rule(decision: Decision = Decision.ALLOW, **fields: Any) -> PolicyRule:
    return PolicyRule(decision, Tier.USER, "x", **fields)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (rule(), "allow every tool"),
        (rule(Decision.DENY, tool="write_file"), "deny write_file"),
        (rule(tool="run_shell_command", command=("git", "log")), "allow run_shell_command: git log"),
        (rule(tool="run_shell_command", command=("echo", "a b", "")), "allow run_shell_command: echo 'a b' ''"),
        (rule(tool="search", server="github"), "allow search of server github"),
        (rule(server="*"), "allow every tool of every server"),
        (
            rule(
                Decision.ASK,
                tool="t",
                arguments='"a',
                path="b/**",
                project="/p",
                modes=frozenset({ApprovalMode.YOLO, ApprovalMode.DEFAULT}),
                allows_redirection=True,
                allows_network=True,
            ),
            (
                'ask t, arguments like "\\"a", path "b/**", in project "/p", in mode default or yolo, '
                "with redirection to workspace files (>), with network access"
            ),
        ),
        (rule(tool="a\u202eb\nc\td\x1b"), "allow a<U+202E>b<U+000A>c<U+0009>d<U+001B>"),
        (
            AllowlistRule(Decision.DENY, Tier.USER, "x", "run_shell_command", commands=(("git", "log"), ("ls",))),
            "deny run_shell_command except git log, ls",
        ),
        (
            AllowlistRule(Decision.DENY, Tier.USER, "x", server="*", servers=frozenset({"b", "a"})),
            "deny every tool of every server except a, b",
        ),
    ],
)
def test_rule_text(given: PolicyRule, text: str) -> None:
    assert format_rule(given) == text


def test_rule_toml() -> None:
    given = rule(
        tool="run_shell_command", command=("git", "log"), project="/p", allows_network=True, message='a "b"', priority=3
    )
    assert rule_to_toml(given) == (
        "[[rule]]\n"
        'tool = "run_shell_command"\n'
        'command = "git log"\n'
        'project = "/p"\n'
        'decision = "allow"\n'
        "network = true\n"
        'message = "a \\"b\\""\n'
        "priority = 3\n"
    )
    assert 'command = [["a b", ""]]' in rule_to_toml(rule(command=("a b", "")))


def test_a_list_of_the_settings_is_not_one_rule() -> None:
    with pytest.raises(UsageError):
        rule_to_toml(AllowlistRule(Decision.DENY, Tier.USER, "x", commands=()))
