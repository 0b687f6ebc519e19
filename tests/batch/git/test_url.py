"""Addresses of repositories, and the problems of fetching."""

import asyncio
from pathlib import Path

import pytest

from support.packages import write_tree
from tejat.batch.git.commands import GitOutput
from tejat.batch.git.environment import fetching_environment
from tejat.batch.git.url import fetch_failure, is_path, owner_problem, shown_url, ssh_variables
from tejat.batch.result import TaskFailure


def test_paths() -> None:
    assert is_path("/a/b")
    assert not any(map(is_path, ("https://h/x", "git@h:x", "file:///x", "ext::sh", "")))


def test_passwords_are_not_shown() -> None:
    assert shown_url("https://u:secret@h/x.git") == "https://h/x.git"
    assert shown_url("git@h:x\n") == "git@h:x<U+000A>"


@pytest.mark.parametrize(
    ("repo", "is_ssh"),
    [("git@h:x/y.git", True), ("ssh://h/x", True), ("h:x", True), ("https://h/x", False), ("/a:b", False)],
)
def test_ssh_does_not_ask(repo: str, is_ssh: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_SSH", "GIT_SSH_COMMAND"):
        monkeypatch.delenv(name, raising=False)
    environment = fetching_environment({}, is_local=False)
    found = asyncio.run(ssh_variables(repo, environment))
    assert ("BatchMode=yes" in found.get("GIT_SSH_COMMAND", "")) == is_ssh
    assert asyncio.run(ssh_variables(repo, {**environment, "GIT_SSH": "/mine"})) == {}


def test_the_ssh_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"settings": "[core]\n\tsshCommand = ssh -i key\n"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    assert asyncio.run(ssh_variables("git@h:x", fetching_environment({}, is_local=False))) == {}


@pytest.mark.parametrize(
    ("stderr", "failure", "words"),
    [
        (
            "fatal: unable to access 'https://h/': Could not resolve host: h",
            TaskFailure.SERVICE,
            "could not be reached",
        ),
        ("ssh: connect to host h port 22: Connection refused", TaskFailure.SERVICE, "could not be reached"),
        ("error: RPC failed; HTTP 503", TaskFailure.SERVICE, "could not be reached"),
        ("fatal: Authentication failed for 'https://h/'", TaskFailure.REPOSITORY, "refused access"),
        ("fatal: could not read Username for 'https://h'", TaskFailure.REPOSITORY, "git ls-remote"),
        ("fatal: repository 'x' not found", TaskFailure.REPOSITORY, "could not be fetched"),
        ("fatal: detected dubious ownership in repository", TaskFailure.REPOSITORY, "safe.directory"),
    ],
)
def test_problems(stderr: str, failure: TaskFailure, words: str) -> None:
    problem = fetch_failure("https://u:secret@h/", GitOutput(128, b"", stderr))
    assert problem.failure is failure
    assert words in problem.message
    assert "secret" not in problem.message


def test_a_password_in_the_answer() -> None:
    output = GitOutput(128, b"", "fatal: unable to access 'https://u:secret@h/': odd")
    assert "secret" not in fetch_failure("https://u:secret@h/", output).message


def test_another_owner() -> None:
    assert "--add safe.directory /a/b`" in owner_problem("/a/b").message
