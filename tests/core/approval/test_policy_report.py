"""What a person is told about the policy, with the names that programs rely on."""

from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.policy_report import PolicyExplanation, RuleListing
from tejat.core.json_text import dump_json


def test_an_explanation() -> None:
    explanation = PolicyExplanation("ask", None, "no rule", "Nobody said so.", ("git log",), ("a substitution",))
    assert dump_json(explanation.to_json()) == (
        '{"decision":"ask","rule":null,"source":"no rule","reason":"Nobody said so.",'
        '"commands":["git log"],"doubts":["a substitution"],"mode":"","mode_source":"","scripts":[]}'
    )


def test_a_listed_rule() -> None:
    assert RuleListing("user", "allow glob", "a.toml:3").to_json() == {
        "tier": "user",
        "rule": "allow glob",
        "source": "a.toml:3",
        "id": None,
        "remark": None,
        "description": None,
    }


def test_flags_that_were_not_given() -> None:
    assert PolicyOptions() == PolicyOptions(roots=(".",), allowed_tools=(), mode=None)
