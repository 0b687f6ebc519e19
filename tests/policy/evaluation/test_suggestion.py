import pytest

from tejat.core.tools.base import Kind
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.suggestion import suggest_prefix
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts


def prefix(text: str) -> str | None:
    line = parse_command_line(text)
    call = ShellCall(CallFacts("run_shell_command", Kind.EXECUTE, {}, ("/r",), "/h", line=line), line)
    words = suggest_prefix(line.commands, call)
    return None if words is None else " ".join(words)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("ls -la src", "ls"),
        ("git log -3", "git log"),
        ("git stash list", "git stash list"),
        ("git commit -m x", "git commit"),
        ("git status; git status -s", "git status"),
        ("npm test", "npm test"),
        ("npm run build -- --x", "npm run build"),
        ("cargo build --release", "cargo build"),
        ("docker compose up", "docker compose up"),
        ("kubectl get pods", "kubectl get"),
        ("pip install x", "pip install"),
        ("go test ./...", "go test"),
        ("make test", "make test"),
    ],
)
def test_the_words_that_say_what_it_does(text: str, offered: str) -> None:
    assert prefix(text) == offered


@pytest.mark.parametrize(
    "text",
    [
        "git",
        "git -C x log",
        "git log; ls",
        "git push --force",
        "git stash",
        "rm x",
        "python -c 1",
        "bash -c ls",
        "env ls",
        "sudo ls",
        "npm exec x",
        "uv run x",
        "docker run x",
        "docker exec x",
        "poetry run x",
        "npm run",
        "npm --silent test",
        "ls $X",
        "ls > out",
        "ls *",
        "$X",
        "ls &&",
        "",
    ],
)
def test_where_nothing_is_suggested(text: str) -> None:
    assert prefix(text) is None
