"""`allowed-tools`: which entries become rules that the user may add, and why others do not."""

from pathlib import Path

import pytest

from support.skills import write_skill
from tejat.app.skills.tool_wishes import MAX_RULES, ToolWishes, describe_wishes, map_wishes
from tejat.config.skills.content import read_skill_content
from tejat.config.skills.skill import Skill, SkillFields
from tejat.core.provenance import Party, Provenance
from tejat.policy.rules.rule_format import format_rule

FILES = {"scripts/fill.py": "x", "scripts/run.sh": "#!/bin/sh\n", "top.sh": "#!/bin/sh\n", "assets/a.txt": "x"}


def wishes(tmp_path: Path, *entries: str, party: Party = Party.USER) -> ToolWishes:
    listed = "".join(f"  - {entry!r}\n" for entry in entries)
    directory = write_skill(tmp_path / "pdf", more=f"allowed-tools:\n{listed}", files=FILES)
    skill = Skill(SkillFields("pdf", "x"), str(directory), Provenance(party, f"{directory}/SKILL.md"), "pdf")
    return map_wishes(skill, read_skill_content(skill))


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("Bash(git log:*)", "allow run_shell_command: git log"),
        ("Bash(git log *)", "allow run_shell_command: git log"),
        ("Bash(git status)", "allow run_shell_command: git status"),
        ("run_shell_command(npm run build)", "allow run_shell_command: npm run build"),
        ("ShellTool(jq)", "allow run_shell_command: jq"),
        ("Bash(pytest:*)", "allow run_shell_command: pytest"),
        ("Bash(python scripts/fill.py:*)", "allow run_shell_command: scripts of the skill user:pdf"),
        ("Bash(./scripts/run.sh *)", "allow run_shell_command: scripts of the skill user:pdf"),
        ("Bash(bash ${CLAUDE_SKILL_DIR}/scripts/run.sh:*)", "allow run_shell_command: scripts of the skill user:pdf"),
        ("Bash({baseDir}/scripts/*)", "allow run_shell_command: scripts of the skill user:pdf"),
        ("Bash(scripts/*.py:*)", "allow run_shell_command: scripts of the skill user:pdf"),
        ("Edit", "allow replace"),
        ("MultiEdit", "allow replace"),
        ("Write", "allow write_file"),
        ("write_file", "allow write_file"),
        ("Write(docs/**)", 'allow write_file, path "docs/**"'),
        ("WebFetch", "allow web_fetch"),
        ("mcp__github__search", "allow search of server github"),
        ("github__search", "allow search of server github"),
        ("mcp__github__*", "allow every tool of server github"),
    ],
)
def test_rules(tmp_path: Path, entry: str, rule: str) -> None:
    found = wishes(tmp_path, entry)
    assert [format_rule(each) for each in found.rules] == [rule]
    assert (found.needless, found.refused) == ((), ())


@pytest.mark.parametrize(
    "entry", ["Read", "Grep", "Glob", "LS", "read_file", "TodoWrite", "Task", "WebSearch", "Read(x)"]
)
def test_what_needs_no_approval(tmp_path: Path, entry: str) -> None:
    assert wishes(tmp_path, entry) == ToolWishes(needless=(entry,))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("Bash", "a rule for every command would allow too much"),
        ("Bash(*)", "a rule for every command would allow too much"),
        ("Bash(:*)", "a rule for every command would allow too much"),
        ("Bash()", "a rule for every command would allow too much"),
        ("ShellTool", "a rule for every command would allow too much"),
        ("Bash(git:*)", "a rule for all of git would allow too much"),
        ("Bash(python:*)", "python can run any code"),
        ("Bash(bash -c:*)", "bash can run any code"),
        ("Bash(sudo apt:*)", "sudo can run any code"),
        ("Bash(env:*)", "env can run any code"),
        ("Bash(rm:*)", "the command deletes or overwrites data (rm)"),
        ("Bash(git push --force:*)", "the command"),
        ("Bash(docker run:*)", "docker run can run any program"),
        ("Bash(npm exec x:*)", "npm exec can run any program"),
        ("Bash(python other.py:*)", "python can run any code"),
        ("Bash(./build.sh:*)", "it names a path that is no file of the skill"),
        ("Bash(scripts/missing.sh:*)", "it names a path that is no file of the skill"),
        ("Bash(../other/scripts/run.sh)", "it names a path that is no file of the skill"),
        ("Bash(/usr/bin/git log:*)", "it names a path that is no file of the skill"),
        ("Bash(cat ~/.ssh/*)", "can never match because of '*'"),
        ("Bash(ls; rm x)", "can never match because of ';'"),
        ("Bash(A=1 ls)", "can never match"),
        ("WebFetch(domain:example.org)", "no rule can be limited to domain:example.org"),
        ("Write(/etc/**)", "only paths in the project can be allowed"),
        ("Write(~/x)", "only paths in the project can be allowed"),
        ("Write(../x)", "only paths in the project can be allowed"),
        ("mcp__*", "it would allow the tools of every server"),
        ("*", "it would allow the tools of every server"),
        ("read_*", "it would allow the tools of every server"),
        ("mcp__github__search(x)", "no rule can be limited to x"),
        ("NotebookEdit", "there is no tool of this name"),
        ("Skill(other)", "each skill is asked about by itself"),
        ("two words", "it is neither a tool nor of the form Bash(git log:*)"),
    ],
)
def test_refused(tmp_path: Path, entry: str, why: str) -> None:
    found = wishes(tmp_path, entry)
    assert (found.rules, found.needless) == ((), ())
    ((name, reason),) = found.refused
    assert name == entry
    assert why in reason


def test_scripts_of_a_project_are_named_in_full(tmp_path: Path) -> None:
    (rule,) = wishes(tmp_path, "Bash(scripts/run.sh:*)", party=Party.PROJECT).rules
    assert rule.skill == "project:pdf"


def test_each_rule_once_and_not_too_many(tmp_path: Path) -> None:
    assert len(wishes(tmp_path, "Edit", "MultiEdit", "Edit").rules) == 1
    found = wishes(tmp_path, *(f"Bash(tool{number}:*)" for number in range(MAX_RULES + 2)))
    assert len(found.rules) == MAX_RULES
    assert [why for _entry, why in found.refused] == [f"one answer adds at most {MAX_RULES} rules"] * 2


def test_the_lines_of_the_question(tmp_path: Path) -> None:
    entries = ("Bash(git log:*)", "Read", "Bash")
    assert list(describe_wishes(entries, wishes(tmp_path, *entries))) == [
        "It asks for the tools Bash(git log:*), Read, Bash. Activating it allows none of them.",
        "Without approval anyway: Read",
        "Not offered: Bash: a rule for every command would allow too much.",
    ]
