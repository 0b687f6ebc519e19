import pytest

from tejat.policy.evaluation.command_match import command_matches_rule
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import Decision, PolicyRule, Tier


def is_denied(prefix: str, text: str) -> bool:
    rule = PolicyRule(Decision.DENY, Tier.USER, "x", "run_shell_command", command=tuple(prefix.split()))
    line = parse_command_line(text)
    return any(command_matches_rule(command, rule, line) for command in line.commands)


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("touch", "touch x"),
        ("touch", "/usr/bin/touch x"),
        ("touch", "TOUCH x"),
        ("/usr/bin/touch", "touch x"),
        ("touch", "env touch x"),
        ("touch", "sudo -u me env A=1 touch x"),
        ("touch", "bash -c 'touch x'"),
        ("touch", "ls | xargs touch"),
        ("touch", "find . -exec touch {} +"),
        ("touch", "echo $(touch x)"),
        ("touch", "if true; then touch x; fi"),
        ("touch", 't""ouch x'),
        ("touch", "$'to\\x75ch' x"),
        ("git push", "git push"),
        ("git push", "git push origin main"),
        ("git push", "git -C x push"),
        ("git push", "git -c a=b --git-dir=y --no-pager push"),
        ("git push", 'git -C "$D" push'),
        ("git push", "git $X"),
        ("git push", 'git "$X" origin'),
        ("git push", "git pu*"),
        ("git push", "git -C $X status"),
        ("git push", "echo push | xargs git"),
        ("git push", "echo push | xargs git -C x"),
        ("git push --force", "git push origin main --force"),
        ("git push --force", "git push --force=x"),
        ("git push --force", "git push --forc"),
        ("git remote add", "git remote -v add x"),
        ("rm -rf", "rm -rf x"),
        ("rm -rf", "rm -fr x"),
        ("rm -rf", "rm -r -f x"),
        ("rm -rf", "rm x -Rvrf"),
        ("rm -rf", "rm $FLAGS x"),
        ("npm publish", "npm --tag beta publish"),
        ("npm publish", "npm --silent publish"),
        ("find -delete", "find . -name x -delete"),
    ],
)
def test_however_it_is_spelled(prefix: str, text: str) -> None:
    assert is_denied(prefix, text)


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("touch", "touchy x"),
        ("touch", "echo touch"),
        ("touch", "ls touch"),
        ("git push", "git log push"),
        ("git push", "git --no-pager log push"),
        ("git push", "git pushy"),
        ("git push", "git"),
        ("git push", "git -C push log"),
        ("git push", "echo git push"),
        ("git push", 'git commit -m "$MESSAGE"'),
        ("git push", 'git -C "$D" status'),
        ("git push --force", "git push origin main"),
        ("rm -rf", "rm -r x"),
        ("rm -rf", "rm x"),
        ("rm -rf", "rmdir -rf"),
        ("find -delete", "find . -name delete"),
        ("find -delete", "find . -type d -empty -ls -true -newer x"),
    ],
)
def test_other_commands(prefix: str, text: str) -> None:
    assert not is_denied(prefix, text)


def test_a_rule_without_a_command_is_for_all_of_them() -> None:
    line = parse_command_line("ls")
    assert command_matches_rule(line.commands[0], PolicyRule(Decision.DENY, Tier.USER, "x"), line)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("git status", False),
        ("git status -s && ls", False),
        ("git status; rm x", True),
        ("env git status", True),
        ("/usr/bin/git status", True),
        ("git -C x status", True),
        ("git st$X", True),
        ("git status $(rm x)", True),
        ("git status; $X", True),
        ("bash -c 'git status'", True),
    ],
)
def test_whatever_is_not_listed(text: str, denied: bool) -> None:
    rule = AllowlistRule(Decision.DENY, Tier.USER, "x", "run_shell_command", commands=(("git", "status"), ("ls",)))
    line = parse_command_line(text)
    assert any(command_matches_rule(command, rule, line) for command in line.commands) == denied


def test_a_line_of_many_words_is_matched_quickly() -> None:
    assert not is_denied("npm a b c", "npm " + "-x y " * 5000)
