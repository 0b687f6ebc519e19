import pytest

from tejat.policy.errors import PolicyError
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.types import Tier


def check(table: str) -> None:
    parse_rules(f"[[rule]]\n{table}", source="p", tier=Tier.USER)


HOLDING = """
command = "git push"
decision = "deny"
match = ["git -C x push", "ls; git push"]
not_match = ["git log", "echo"]

command = ["ls", "cat"]
decision = "allow"
match = ["ls -l", "cat a"]
not_match = ["cat /etc/x", "ls; rm a", "ls $X"]

command = "echo"
decision = "allow"
allowRedirection = true
match = ["echo a > b"]
not_match = ["echo a > /b"]

command = "curl"
decision = "allow"
network = true
match = ["curl x"]

tool = "write_file"
path = "src/**"
decision = "allow"
match = ['{"file_path": "src/a"}', {path = "src/b"}]
not_match = ['{"file_path": "a"}', {file_path = "src/../a"}, "{}"]

tool = "web_fetch"
arguments = "example"
decision = "deny"
match = [{prompt = "example.org"}]
not_match = ["{}"]

tool = "t"
server = "s"
decision = "deny"
match = ["{}"]

tool = "run_shell_command"
arguments = "secret"
decision = "deny"
match = ["cat secret", {command = "cat secret"}]

tool = "run_shell_command"
path = "private/**"
decision = "deny"
match = ["cat private/x"]
not_match = ["cat x"]

command = "ls"
decision = "allow"
modes = ["yolo"]
project = "/p"
match = ["ls"]

command = "ls"
decision = "allow"
match = []
not_match = []
"""


@pytest.mark.parametrize("table", HOLDING.strip().split("\n\n"))
def test_examples_that_hold(table: str) -> None:
    check(table)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('command = "ls"\ndecision = "allow"\nmatch = ["ls", "rm"]', "p:4: match: 'rm'"),
        ('command = "ls"\ndecision = "deny"\nnot_match = ["env ls"]', "p:4: not_match: 'env ls'"),
        ('tool = "t"\ndecision = "deny"\nmatch = ["ls"]', "p:4: match: 'ls' must be a JSON object"),
        ('tool = "t"\ndecision = "deny"\nmatch = ["[1]"]', "p:4: match: '[1]' must be a JSON object"),
        ('tool = "t"\ndecision = "deny"\nmatch = [1]', "p:4: match: an example must be"),
        ('tool = "t"\ndecision = "deny"\nmatch = "{}"', "p:4: match must be a list"),
        ('tool = "t"\narguments = "x"\ndecision = "deny"\nmatch = [{a = 2000-01-01}]', "p:5: match: "),
    ],
)
def test_examples_that_do_not(table: str, told: str) -> None:
    with pytest.raises(PolicyError) as caught:
        check(table)
    assert str(caught.value).startswith(told)
