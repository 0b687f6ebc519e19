import pytest

from tejat.core.messages.declaration import Kind
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.suggestion import suggest_prefixes
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts


def prefix(text: str) -> list[str]:
    line = parse_command_line(text)
    call = ShellCall(CallFacts("run_shell_command", Kind.EXECUTE, {}, ("/r",), "/h", line=line), line)
    found = suggest_prefixes(line.commands, call)
    assert bool(found.prefixes) != bool(found.refusal)
    return [" ".join(words) for words in found.prefixes]


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
        ("git log; ls", "git log; ls"),
        ("pytest -q", "pytest"),
        ("python -m pytest -x tests", "python -m pytest"),
        ("python3.12 -m unittest discover", "python3.12 -m unittest"),
        ("uv run pytest -q", "uv run pytest"),
        ("npx tsc --noEmit", "npx tsc"),
        ("./gradlew test", "./gradlew test"),
    ],
)
def test_the_words_that_say_what_it_does(text: str, offered: str) -> None:
    assert prefix(text) == offered.split("; ")


@pytest.mark.parametrize(
    "text",
    [
        "git",
        "git -C x log",
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
        "python x.py",
        "python -m http.server",
        "uv run --with x pytest",
        "a; b; c; d; e; f",
        "",
    ],
)
def test_where_nothing_is_suggested(text: str) -> None:
    assert prefix(text) == []
