import pytest

from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier


def call(text: str, directory: str | None = "/w/project/sub") -> ShellCall:
    line = parse_command_line(text)
    roots = ("/w/project",)
    facts = CallFacts("run_shell_command", Kind.EXECUTE, {"command": text}, roots, "/home/me", line=line)
    return ShellCall(replace(facts, directory=directory), line)


def test_the_places_that_the_line_names() -> None:
    found = call("cat a ../b && sort x -o /etc/y > out 2>/dev/null").paths
    assert {"/w/project/sub/a", "/w/project/b", "/etc/y", "/w/project/sub/out"} <= set(found)


def test_the_places_that_the_line_changes() -> None:
    found = call("cat a; cp b c; cat d > e; ls f > /dev/null").written_paths
    assert {"/w/project/sub/b", "/w/project/sub/c", "/w/project/sub/e"} <= set(found)
    assert {"/w/project/sub/a", "/w/project/sub/d", "/w/project/sub/f", "/dev/null"}.isdisjoint(found)


def test_the_places_after_a_change_of_directory() -> None:
    found = call("cd a && touch b; pushd ../c; touch d").written_paths
    assert {"/w/project/sub/b", "/w/project/sub/a/b", "/w/project/sub/c/d"} <= set(found)


def test_without_a_directory_it_runs_in_the_first_root() -> None:
    assert call("cat a", directory=None).resolve("a") == "/w/project/a"


@pytest.mark.parametrize(
    ("word", "inside"),
    [
        ("a", True),
        ("..", True),
        ("../..", False),
        ("/w/project/x", True),
        ("/etc", False),
        ("~/x", False),
        ("a/..", False),
    ],
)
def test_is_plainly_inside(word: str, inside: bool) -> None:
    assert (call("ls").find_outside(["a", word]) is None) == inside


def test_a_control_file_that_the_line_would_change() -> None:
    assert call("cp a ../.git/hooks/pre-commit").control_file_warning()
    assert call("echo x > ../.envrc").control_file_warning()
    assert call("rm -rf ../.git").control_file_warning()
    assert call("cd ../.git && echo x >> config").control_file_warning()
    assert call("cd ..; cd .git/hooks; tee pre-commit").control_file_warning()
    assert call("git config core.hooksPath get").control_file_warning()
    assert call("git config --list").control_file_warning() is None
    assert call("cat ../.git/config").control_file_warning() is None


NO_RM = PolicyRule(Decision.DENY, Tier.USER, "rules:1", "run_shell_command", arguments=r'"command":"rm')


@pytest.mark.parametrize(
    "text",
    [
        "rm x",
        "echo hello && rm -rf x",
        "echo $(rm x)",
        "(rm x)",
        "sudo rm x",
        "bash -c 'ls; rm x'",
        "/bin/rm x",
        "'rm' x",
        "if true; then rm x; fi",
    ],
)
def test_a_pattern_for_the_arguments_is_applied_to_each_command(text: str) -> None:
    assert call(text).matches_rule(NO_RM)


@pytest.mark.parametrize("text", ["echo rm", "ls && echo rm x", "git rm x"])
def test_a_pattern_for_the_arguments_does_not_match_in_the_middle_of_a_command(text: str) -> None:
    assert not call(text).matches_rule(NO_RM)


def test_a_pattern_that_allows_is_for_the_whole_line() -> None:
    allowed = replace(NO_RM, decision=Decision.ALLOW)
    assert call("rm x").matches_rule(allowed)
    assert not call("ls; rm x").matches_rule(allowed)


def test_a_pattern_sees_the_other_arguments_beside_each_command() -> None:
    both = replace(NO_RM, arguments=r'"command":"rm[^"]*","description":"clean')
    given = call("ls; rm x")
    facts = replace(given.facts, arguments={"command": "ls; rm x", "description": "clean up"})
    assert ShellCall(facts, given.line).matches_rule(both)
