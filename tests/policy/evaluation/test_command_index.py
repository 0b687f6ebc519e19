import pytest

from tejat.policy.evaluation.command_index import CommandIndex
from tejat.policy.evaluation.rule_index import RuleTables
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import Decision, PolicyRule, Tier

_COMMANDS = ("git push", "git log", "git -f", "rm", "/bin/rm", "env ls", "ls -l", "LS")
INDEX = CommandIndex(
    RuleTables(PolicyRule(Decision.DENY, Tier.USER, each, command=tuple(each.split())) for each in _COMMANDS)
)


def candidates(line: str) -> set[str]:
    command = parse_command_line(line).commands[-1]
    return {rule.source for rule in INDEX.candidates(command).values()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git push origin", {"git push", "git -f"}),
        ("git -C x log", {"git log", "git -f"}),
        ("git $X", {"git push", "git log", "git -f"}),
        ("git", {"git -f"}),
        ("xargs git", {"git push", "git log", "git -f"}),
        ("/usr/bin/RM x", {"rm", "/bin/rm"}),
        ("ls", {"ls -l", "LS"}),
        ("env ls", {"env ls", "ls -l", "LS"}),
        ("cat rm", set[str]()),
    ],
)
def test_rules_that_may_match(line: str, expected: set[str]) -> None:
    assert candidates(line) == expected


def test_rules_that_may_cover() -> None:
    command = parse_command_line("git push -f").commands[0]
    assert [rule.source for _, rule in INDEX.covering_candidates(command)] == ["git push"]
    wrapped = parse_command_line("env ls").commands[1]
    assert [rule.source for _, rule in INDEX.covering_candidates(wrapped)] == ["env ls"]


def test_a_rule_without_words_is_compared_with_every_command() -> None:
    rule = PolicyRule(Decision.DENY, Tier.USER, "empty", command=())
    assert CommandIndex(RuleTables([rule])).candidates(parse_command_line("ls").commands[0]) == {0: rule}
