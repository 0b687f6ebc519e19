"""Policy files that were written for Gemini CLI 0.61."""

from pathlib import Path

import pytest

from support.program import ProgramEnv

POLICY = """
[[rule]]
name = "no web for reviewers"
description = "Reviewers work offline."
toolName = "web_fetch"
subagent = "reviewer"
decision = "deny"
deny_message = "Review what is here."
priority = 10

[[rule]]
mcpName = "db"
toolName = "*"
toolAnnotations = { destructiveHint = true }
decision = "deny"
priority = 10

[[safety_checker]]
toolName = "write_file"
priority = 10
[safety_checker.checker]
type = "external"
name = "house-rules"
"""


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    policies = machine.home / ".gemini" / "policies"
    policies.mkdir(parents=True)
    (policies / "mine.toml").write_text(POLICY)
    return machine


def test_all_keys_are_read_and_shown(machine: ProgramEnv) -> None:
    listed = machine.run("policy", "list", "--json")
    assert (listed.code, listed.stderr) == (0, "")
    rules = [rule for rule in listed.json["rules"] if "mine.toml" in rule["source"]]
    assert [(rule["rule"], rule["description"]) for rule in rules] == [
        ("deny web_fetch, by the agent reviewer (no web for reviewers)", "Reviewers work offline."),
        ('deny every tool of server db, annotated {"destructiveHint" = true}', None),
        ("ask write_file (safety checker 'house-rules')", None),
    ]
    assert "└─ Reviewers work offline.\n" in machine.run("policy", "list").stdout


def test_the_checked_tool_asks_in_the_name_of_the_checker(machine: ProgramEnv) -> None:
    explained = machine.run("policy", "explain", "write_file", "file_path=a", "content=b", "--approval-mode", "yolo")
    assert explained.code == 0
    assert explained.stdout.startswith("ask: The rule `ask write_file (safety checker 'house-rules')` asks about it.\n")
    assert machine.run("policy", "explain", "web_fetch", "--json").json["decision"] == "ask"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[rules]]\ntoolName = "glob"\ndecision = "deny"\n', "mine.toml:1: unknown table 'rules': only [[rule]] is"),
        ('[[rule]]\ntoolName = "glob"\naction = "deny"\n', "mine.toml:3: unknown key 'action'; did you mean decision?"),
    ],
)
def test_mistakes_of_a_document_name_the_right_words(machine: ProgramEnv, text: str, message: str) -> None:
    (machine.home / ".gemini" / "policies" / "mine.toml").write_text(text)
    listed = machine.run("policy", "list")
    assert listed.code == 52
    assert message in listed.stderr
