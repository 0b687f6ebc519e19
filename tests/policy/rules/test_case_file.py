from collections.abc import Mapping

import pytest

from tejat.core.errors import UsageError
from tejat.policy.rules.case_file import CaseResult, run_cases
from tejat.policy.types import Decision, PolicyRule, PolicyVerdict, Tier

DENY = PolicyRule(Decision.DENY, Tier.USER, "user.toml:7", "write_file")
FORBIDDEN = PolicyVerdict(Decision.DENY, DENY, "no writing")
ASKED = PolicyVerdict(Decision.ASK, None, "who knows")


def decide(tool: str, arguments: Mapping[str, object]) -> PolicyVerdict:
    return FORBIDDEN if tool == "write_file" or arguments.get("command") == "rm x" else ASKED


def checked(text: str) -> list[CaseResult]:
    return run_cases(text, decide, source="c.toml")


def test_cases() -> None:
    text = """
[[case]]
tool = "write_file"
arguments = {path = "a"}
expect = "deny"
rule = "user.toml"

[[case]]
command = "rm x"
expect = "allow"

[[case]]
tool = "glob"
arguments = '{"pattern": "*"}'
expect = "ask"
rule = "user.toml"

[[case]]
tool = "glob"
expect = "ask"
"""
    results = checked(text)
    assert results == [
        CaseResult("c.toml:2", "write_file", {"path": "a"}, Decision.DENY, FORBIDDEN, None),
        CaseResult(
            "c.toml:8",
            "run_shell_command",
            {"command": "rm x"},
            Decision.ALLOW,
            FORBIDDEN,
            "expected allow, got deny: no writing",
        ),
        CaseResult(
            "c.toml:12",
            "glob",
            {"pattern": "*"},
            Decision.ASK,
            ASKED,
            "expected rule user.toml, got no rule",
        ),
        CaseResult("c.toml:18", "glob", {}, Decision.ASK, ASKED, None),
    ]
    assert [result.passed for result in results] == [True, False, False, True]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('expect = "ask"', "c.toml:1: tool is missing"),
        ('tool = "x"', "c.toml:1: expect must be allow, ask or deny"),
        ('tool = "x"\nexpect = "yes"', "c.toml:3: expect must be allow, ask or deny"),
        ('tool = "x"\nexpect = "ask"\ncommand = "a"\narguments = {}', "c.toml:4: use either command or arguments"),
        ('tool = "x"\nexpect = "ask"\narguments = "{"', "c.toml:4: arguments: this is not JSON: "),
        ('tool = "x"\nexpect = "ask"\narguments = "[]"', "c.toml:4: arguments must be a table or a JSON object"),
        ('tool = "x"\nexpect = "ask"\nwhy = 1', "c.toml:4: unknown key 'why'"),
    ],
)
def test_a_case_that_cannot_be_read(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked(f"[[case]]\n{text}")
    assert str(caught.value).startswith(told)
