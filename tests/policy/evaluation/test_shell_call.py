import pytest

from tejat.core.tools.base import Kind
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts


def call(text: str, directory: str | None = "/w/project/sub") -> ShellCall:
    line = parse_command_line(text)
    roots = ("/w/project",)
    return ShellCall(
        CallFacts("run_shell_command", Kind.EXECUTE, {}, roots, "/home/me", line=line, directory=directory), line
    )


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
    assert call("ls").is_inside_roots(word) == inside


def test_a_control_file_that_the_line_would_change() -> None:
    assert call("cp a ../.git/hooks/pre-commit").control_file_warning()
    assert call("echo x > ../.envrc").control_file_warning()
    assert call("rm -rf ../.git").control_file_warning()
    assert call("cd ../.git && echo x >> config").control_file_warning()
    assert call("cd ..; cd .git/hooks; tee pre-commit").control_file_warning()
    assert call("git config core.hooksPath get").control_file_warning()
    assert call("git config --list").control_file_warning() is None
    assert call("cat ../.git/config").control_file_warning() is None
