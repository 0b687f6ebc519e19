import pytest

from tejat.core.messages.declaration import Kind
from tejat.policy.evaluation.coverage import LineAssessment, assess_line, find_coverage_gap
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

ROOT = "/w/project"
PROGRAMS = {"git": "/usr/bin/git", "shadow": f"{ROOT}/bin/shadow"}


def call(text: str, *, wants_network: bool = False) -> ShellCall:
    line = parse_command_line(text)
    facts = CallFacts(
        "run_shell_command",
        Kind.EXECUTE,
        {"command": text},
        (ROOT,),
        "/home/me",
        line=line,
        directory=f"{ROOT}/sub",
        programs=PROGRAMS,
        wants_network=wants_network,
    )
    return ShellCall(facts, line)


def rule(
    prefix: str | None, *, allows_redirection: bool = False, allows_network: bool = False, arguments: str | None = None
) -> PolicyRule:
    command = None if prefix is None else tuple(prefix.split())
    return PolicyRule(
        Decision.ALLOW,
        Tier.USER,
        "x",
        "run_shell_command",
        command=command,
        arguments=arguments,
        allows_redirection=allows_redirection,
        allows_network=allows_network,
    )


def gaps(given: PolicyRule, call: ShellCall) -> list[str | None]:
    assessment = assess_line(call)
    return [find_coverage_gap(given, command, call, assessment) for command in call.line.commands]


def is_covered(given: PolicyRule, text: str) -> bool:
    found = gaps(given, call(text))
    return bool(found) and all(gap is None for gap in found)


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("git log", "git log"),
        ("git log", "git  log -3"),
        ("git log", "git\tlog"),
        ("git log", "git log; git log -1 && git log | git log"),
        ("git log", "git log 2>&1"),
        ("git log", "git log > /dev/null"),
        ("cat", "cat a b/c ../d"),
        ("cat", f"cat {ROOT}/a"),
        ("cat /etc/hosts", "cat /etc/hosts a"),
        ("rm", "rm -rf x"),
        ("rm -rf", "rm -rf x"),
        ("python -c", "python -c 1"),
        ("npm test", "npm test"),
        ("env ls", "env ls -l"),
        ("env rm", "env rm x"),
        ("./run.sh", "./run.sh x"),
    ],
)
def test_what_a_rule_with_a_command_covers(prefix: str, text: str) -> None:
    assert is_covered(rule(prefix), text)


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("git log", "git logout"),
        ("git log", "git log-x"),
        ("git log", "'git' log"),
        ("git log", "g\\it log"),
        ("git log", "/usr/bin/git log"),
        ("git log", "git -C x log"),
        ("git log", "git --no-pager log"),
        ("git log", "git log && ls"),
        ("git log", "git log --output=x"),
        ("git log", "git log $X"),
        ("git log", "git log *"),
        ("git log", "PAGER=x git log"),
        ("git log", "git log > out"),
        ("git log", "env git log"),
        ("git log", "git log # c"),
        ("git log", "git log\rtouch x"),
        ("git log", "git log\u00a0x"),
        ("sort", "sort -o x"),
        ("find", "find . -delete"),
        ("cat", "cat ../../secret"),
        ("cat", "cat /etc/passwd"),
        ("cat", "cat ~/.ssh/id_rsa"),
        ("cat", "cat link/../secret"),
        ("cat", "cat a /proc/self/environ"),
        ("cat /etc/hosts", "cat /etc/hosts /etc/passwd"),
        ("env", "env ls"),
        ("env ls", "env rm ls"),
        ("env ls", "env ls; env rm x"),
        ("env ls", "xargs ls"),
        ("env rm", "env rm -rf /etc"),
        ("bash -c", "bash -c 'rm x'"),
        ("xargs", "ls | xargs rm"),
        ("shadow", "shadow"),
        ("git push", "git push --force"),
    ],
)
def test_what_it_does_not_cover(prefix: str, text: str) -> None:
    assert not is_covered(rule(prefix), text)


@pytest.mark.parametrize("text", ["ls", "git push; npm test", "cp a b", "python -c 1", "cat /etc/passwd"])
def test_a_rule_for_the_tool_covers_plain_lines(text: str) -> None:
    assert is_covered(rule(None), text)


@pytest.mark.parametrize("text", ["rm x", "ls; rm x", "ls $X", "ls > out", "find . -delete", "env rm x", "eval x"])
def test_but_nothing_that_destroys_or_is_not_plain(text: str) -> None:
    assert not is_covered(rule(None), text)


@pytest.mark.parametrize(
    ("text", "covered"),
    [("git log -3", True), ("git log; ls", False), ("git log --output=x", False), ("git push", False), ("ls ..", True)],
)
def test_a_rule_with_a_pattern_covers_one_command_that_does_no_more_than_read(text: str, covered: bool) -> None:
    assert is_covered(rule(None, arguments="."), text) == covered


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("echo hi > out.txt", True),
        ("echo hi >> ../out.txt", True),
        ("echo hi > ../../out.txt", False),
        ("echo hi > /etc/x", False),
        ("echo hi > ~/x", False),
        ("echo $X > out", False),
        ("cat < in", False),
        ("echo hi > out; ls", False),
    ],
)
def test_a_rule_may_let_a_command_write_to_files_inside(text: str, covered: bool) -> None:
    assert is_covered(rule("echo", allows_redirection=True), text) == covered
    assert not is_covered(rule("echo"), text)


def test_the_network_has_to_be_allowed_by_name() -> None:
    shell_call = call("git log", wants_network=True)
    assert gaps(rule("git log"), shell_call) == ["it uses the network, which the rule does not allow"]
    assert gaps(rule("git log", allows_network=True), shell_call) == [None]


def test_the_gap_in_words() -> None:
    assert gaps(rule("sort"), call("sort -o x")) == ["it writes a file (-o), which the rule does not mention"]
    assert gaps(rule("cat"), call("cat /etc/x")) == ["/etc/x may be outside the workspace"]
    assert gaps(rule("shadow"), call("shadow")) == [f"shadow would run {ROOT}/bin/shadow, a file in the workspace"]


def test_the_shape_of_a_line() -> None:
    assert assess_line(call("ls")) == LineAssessment(None)
    assert assess_line(call("ls > a")) == LineAssessment(None, writes_files=True)
    assert assess_line(call("ls $X")).doubt
    assert assess_line(call("")).doubt
    assert assess_line(call("ls > /etc/a")) == LineAssessment("it writes to /etc/a, which may be outside the workspace")
